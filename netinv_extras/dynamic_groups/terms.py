"""Number of values that a group compares one by one, with those of the groups within it; no membership and no filter
may lead a group above the limit.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from netinv_core.sql.lookups import max_terms
from netinv_extras import saved_filters

if TYPE_CHECKING:
    from netinv_core.uow import UnitOfWork
    from netinv_extras.dynamic_groups.models import Groups

TOO_MANY = (
    "The group “{name}”, with those within it, compares more than {most} values one by one "
    "(netinv.max_compared_values). Whole values, without a lookup, may be more."
)
TOGETHER = (
    "With this, a group would compare {count} values one by one, with the groups within it: at most {most} are "
    "possible (netinv.max_compared_values). Whole values, without a lookup, may be more."
)


def terms_of(uow: UnitOfWork, groups: Groups, keys: Iterable[Any]) -> dict[Any, int]:
    """Returns the number of values that each group compares one by one, by id; each occurrence of a group within it
    counts. No statement.
    """
    terms: dict[Any, int] = {}

    def count(key: Any) -> int:
        if key not in terms:
            own = filter_terms(uow, groups[key].content_type, groups[key].filter)
            terms[key] = own + sum(count(child) for _, child in groups[key].children)
        return terms[key]

    return {key: count(key) for key in keys}


def filter_terms(uow: UnitOfWork, label: str, parameters: Mapping[str, Any]) -> int:
    """Returns the number of values that a filter of a content type compares one by one."""
    endpoint = uow.registry.get(label)
    return saved_filters.terms_of(uow, endpoint, parameters) if endpoint is not None and parameters else 0


def faults(uow: UnitOfWork, groups: Groups, keys: Iterable[Any]) -> dict[Any, str]:
    """Returns why groups, or those that they are within, compare too many values, by id. No statement."""
    terms = terms_of(uow, groups, groups)
    parents: dict[Any, list[Any]] = {}
    for key, group in groups.items():
        for _, child in group.children:
            parents.setdefault(child, []).append(key)
    most: dict[Any, int] = {}

    def largest(key: Any) -> int:
        if key not in most:
            most[key] = max([terms[key], *map(largest, parents.get(key, ()))])
        return most[key]

    limit = max_terms(uow.settings)
    return {key: TOGETHER.format(count=largest(key), most=limit) for key in keys if largest(key) > limit}
