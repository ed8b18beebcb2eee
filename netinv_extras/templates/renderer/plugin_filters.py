"""Filters of packages: functions of files that are loaded alone, before files and imports are refused."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterable
from typing import Any

from netinv_extras.templates.renderer.filters import with_plain_values

LONGEST_REASON = 100  # characters


def load(located: Iterable[tuple[str, str, str]]) -> tuple[dict[str, Callable[..., Any]], list[str]]:
    """Returns the filters by name, and of those that cannot be loaded names and reasons."""
    filters: dict[str, Callable[..., Any]] = {}
    failed = []
    for name, path, function in located:
        try:
            filters[name] = with_plain_values(name, _load(name, path, function))
        except Exception as error:  # of any kind, from the code of a package
            failed.append(f"{name} ({error})"[:LONGEST_REASON])
    return filters, failed


def _load(name: str, path: str, function: str) -> Callable[..., Any]:
    spec = importlib.util.spec_from_file_location(f"netinv_filters_{name}", path)
    if spec is None or spec.loader is None:
        raise ImportError(path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    found: Callable[..., Any] = getattr(module, function)
    return found
