"""Pages of a list: by offset or by cursor, with an exact count, an estimated one, or none.

A cursor is a position in the order of a list (:mod:`netinv_core.read.keyset`), sealed for the list, its filters and its
order. It is encrypted, because sort keys may be of objects that the user may not view.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from netinv_core import crypto
from netinv_core.errors import Invalid
from netinv_core.read import counts, keyset, listing, ordering
from netinv_core.read.keyset import Position
from netinv_core.read.listing import Parameters, Slice
from netinv_core.read.ordering import Order

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.uow import UnitOfWork

CURSOR, COUNT = "cursor", "count"  # query parameters
EXACT, ESTIMATE, NONE = COUNTS = ("exact", "estimate", "none")
BOUNDED = "bounded"  # exact up to the setting ``exact_count_limit``
COUNTED = 10_000  # objects of a filtered list that are counted for an estimate, without the setting
INVALID_CURSOR = "It is no cursor of this list with these filters and this order."


@dataclasses.dataclass(frozen=True)
class ListPage:
    """Ids of part of a list, in order, and the parts around it; ``count`` is the length of the list, if asked for."""

    keys: list[Any]
    count: int | None
    following: Slice | None = None
    preceding: Slice | None = None


def page(
    uow: UnitOfWork, endpoint: Endpoint, parameters: Parameters, window: Slice, within: Sequence[Any] = (), of: str = ""
) -> ListPage:
    """Returns the ids of a page; see :func:`netinv_core.read.listing.ids` for the parameters.

    :param of: identifies the list among those with other conditions ``within``, for cursors
    :raises Denied: without permission
    :raises Invalid: for an unknown parameter or a bad value, or a cursor of another list
    """
    names, filters = ordering.split(endpoint, parameters)
    conditions = [*listing.conditions_of(uow, endpoint, endpoint.table, filters, "view"), *within]
    if window.cursor is None:
        return _by_offset(uow, endpoint, conditions, window, names)
    order = ordering.requested_order(uow, endpoint, names) if names else endpoint.ordering
    context = json.dumps([of or endpoint.path, names, sorted(filters), *keyset.signature(order)])
    return _by_cursor(uow, endpoint, conditions, window, order, context)


def _by_offset(
    uow: UnitOfWork, endpoint: Endpoint, conditions: Sequence[Any], window: Slice, names: Sequence[str]
) -> ListPage:
    """A page by offset. Without the exact count, one more id tells whether there is a next page."""
    limit, extra = window.limit, int(window.count != EXACT and window.limit > 0)
    keys = listing.selected(uow, endpoint, conditions, dataclasses.replace(window, limit=limit + extra), names)
    found, keys = len(keys), keys[:limit] if limit else keys
    seen = window.offset + found if found else 0
    is_last = (found > 0 or not window.offset) and (not limit or found < limit + extra)
    count = seen if is_last and window.count != NONE else _count(uow, endpoint, conditions, window.count, seen)
    has_next = limit > 0 and (found > limit if extra else window.offset + limit < (count or 0))
    following = dataclasses.replace(window, offset=window.offset + limit) if has_next else None
    has_previous = limit > 0 and window.offset > 0
    preceding = dataclasses.replace(window, offset=max(window.offset - limit, 0)) if has_previous else None
    return ListPage(keys, count, following, preceding)


def _by_cursor(
    uow: UnitOfWork, endpoint: Endpoint, conditions: Sequence[Any], window: Slice, order: Order, context: str
) -> ListPage:
    """A page by cursor. Its neighbours begin after its last row and before its first one."""
    secret = uow.registry.settings["secret"]
    position = _position(secret, window.cursor or "", context)
    with listing.filter_errors_as_400():
        values, more = keyset.rows(uow, order, conditions, position, window.limit, window.offset)
    backward, is_start = position.backward, not position.values and not window.offset
    count = len(values) if is_start and not more and window.count != NONE else None
    if count is None:
        count = _count(uow, endpoint, conditions, window.count, len(values))

    def beyond(row: tuple[Any, ...], *, backward: bool) -> Slice:
        cursor = crypto.seal(secret, keyset.dumps(Position(row, backward)), context)
        return dataclasses.replace(window, offset=0, cursor=cursor)

    following = beyond(values[-1], backward=False) if values and (more or backward) else None
    has_previous = more if backward else not is_start
    preceding = beyond(values[0], backward=True) if values and has_previous else None
    return ListPage([row[-1] for row in values], count, following, preceding)


def _position(secret: str, cursor: str, context: str) -> Position:
    """The position that a cursor stands for; the start of the list for a blank one.

    :raises Invalid: for a cursor of another context
    """
    try:
        return keyset.loads(crypto.unseal(secret, cursor, context)) if cursor else Position()
    except ValueError:
        raise Invalid.field(CURSOR, INVALID_CURSOR) from None


def _count(uow: UnitOfWork, endpoint: Endpoint, conditions: Sequence[Any], count: str, seen: int) -> int | None:
    """The length of a list of which ``seen`` objects are known."""
    if count == NONE:
        return None
    found = None if count == EXACT else _estimate(uow, endpoint, conditions, count)
    return listing.count_of(uow, endpoint, conditions) if found is None else max(found, seen)


def _estimate(uow: UnitOfWork, endpoint: Endpoint, conditions: Sequence[Any], count: str) -> int | None:
    """The length of a list without counting many objects; ``None`` where the database does not tell it."""
    if conditions:
        most = uow.registry.settings["exact_count_limit"] or COUNTED
        with listing.filter_errors_as_400():
            return counts.bounded_count(uow, endpoint, conditions, most)
    statement = uow.registry.driver.estimated_count(endpoint.table) if count == ESTIMATE else None
    estimated = 0 if statement is None else int(uow.execute(statement).scalar() or 0)
    return estimated if estimated > 0 else None
