"""SELECTs of whole lists: their first page and their length, compiled once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from netinv_core.caches import BoundedCache
from netinv_core.db.engine import inlined_int
from netinv_core.registry_cache import cached_in_registry

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.records import Order

MAX_SIZES = 4  # of pages


class ListSelects:
    """The SELECTs of a resource's list in its usual order: whole ones without filters, and those that filters limit."""

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint
        self._first_pages = BoundedCache[sa.Select[Any]]("first pages", MAX_SIZES)
        self.count: sa.Select[Any] = sa.select(sa.func.count()).select_from(endpoint.table)  # of all objects
        self._parts: dict[tuple[bool, bool, bool], sa.Select[Any]] = {}

    def first_page(self, limit: int) -> sa.Select[Any]:
        """The ids of the first ``limit`` objects. The limit is inlined, so that the query planner sees it."""

        def build() -> sa.Select[Any]:
            table, order = self._endpoint.table, self._endpoint.ordering
            statement = sa.select(table.c.id).select_from(order.whole_source).order_by(*order.expressions)
            return statement.limit(sa.literal_column(str(limit)))

        return self._first_pages.get_or_make(limit, build)

    def part(self, *, filtered: bool, limited: bool, skipping: bool) -> sa.Select[Any]:
        """The ids of a part of the list by the parameters ``limit`` and ``offset``; ``filtered``: for conditions."""
        key = filtered, limited, skipping
        if key not in self._parts:
            self._parts[key] = part_of(
                self._endpoint.table, self._endpoint.ordering, filtered=filtered, limited=limited, skipping=skipping
            )
        return self._parts[key]


@cached_in_registry
def selects_of(endpoint: Endpoint) -> ListSelects:
    """The SELECTs of an endpoint's list."""
    return ListSelects(endpoint)


def part_of(table: Any, order: Order, *, filtered: bool, limited: bool, skipping: bool) -> sa.Select[Any]:
    """SELECT of the ids of a list in an order, by the parameters ``limit`` and ``offset`` where it has them."""
    source = order.source_for(filtered=filtered)
    statement = sa.select(table.c.id).select_from(source).order_by(*order.expressions)
    statement = statement.limit(inlined_int("limit")) if limited else statement
    return statement.offset(inlined_int("offset")) if skipping else statement
