"""Cache of results that depend on nothing but a registry: kept in the registry, so that both are freed together."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")


def cached_in_registry(function: Callable[P, R]) -> Callable[P, R]:
    """Caches the results of a function whose first argument is a registry, or an endpoint of one.

    The other arguments must be hashable and few: nothing is dropped before the registry is.
    """

    @functools.wraps(function)
    def cached(*arguments: P.args, **named: P.kwargs) -> R:
        first: Any = arguments[0]
        registry = getattr(first, "registry", first)
        results = registry.derived
        key = function, arguments, *named.items()
        if key in results:
            registry.derived_counts.hits += 1
        else:
            registry.derived_counts.misses += 1
            results.setdefault(key, function(*arguments, **named))  # threads at the same time share the first result
        result: R = results[key]
        return result

    return cached
