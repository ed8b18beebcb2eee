"""Order of the rows of a tab in which objects are below others: the members of a LAG, the parts of a part."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from netinv_web.lists.columns import presentation_of

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.uow import UnitOfWork

MAX_NESTED = 2000  # rows of a list that is arranged; longer ones are flat
MAX_DEPTH = 3  # further ones are indented alike


def nests(endpoint: Endpoint) -> bool:
    """True for a resource whose presentation says what its objects are below of."""
    return bool(presentation_of(endpoint).nested_below)


def arrange(
    uow: UnitOfWork, endpoint: Endpoint, keys: Sequence[Any], conditions: Sequence[Any]
) -> list[tuple[Any, int]]:
    """The keys with their depths, each below the first of its references that is among the keys; one statement.

    :param conditions: those of the list that the keys are of
    """
    table = endpoint.table
    columns = [table.c[f"{name}_id"] for name in presentation_of(endpoint).nested_below]
    refers = sa.or_(*[column.is_not(None) for column in columns])
    rows = uow.execute(sa.select(table.c.id, *columns).where(refers, *conditions)).tuples() if keys else ()
    among = set(keys)
    parents = {key: next((target for target in targets if target in among), None) for key, *targets in rows}
    below: dict[Any, list[Any]] = {}
    for key in keys:
        below.setdefault(parents.get(key), []).append(key)
    found: dict[Any, int] = {}
    for root in [*below.get(None, ()), *keys]:  # what is left after the roots refers to each other in a circle
        _collect(below, root, found)
    return list(found.items())


def _collect(below: dict[Any, list[Any]], root: Any, found: dict[Any, int]) -> None:
    """Adds a key and all that are below it, in order, unless they are there."""
    waiting = [(root, 0)]
    while waiting:
        key, depth = waiting.pop()
        if key not in found:
            found[key] = min(depth, MAX_DEPTH)
            waiting += [(child, depth + 1) for child in reversed(below.get(key, ()))]
