"""SELECTs of whole lists: their first page and their length, compiled once."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

import sqlalchemy as sa

from netinv_core.caches import BoundedCache
from netinv_core.db.row_select import RowSelect

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint

MAX_SIZES = 4  # of pages


class ListSelects:
    """The SELECTs of a resource's list without filters, in its usual order."""

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint
        self._first_pages = BoundedCache[RowSelect]("first pages", MAX_SIZES)

    @functools.cached_property
    def count(self) -> RowSelect:
        """The number of all objects."""
        return RowSelect(sa.select(sa.func.count()).select_from(self._endpoint.table))

    def first_page(self, limit: int) -> RowSelect:
        """The ids of the first ``limit`` objects. The limit is inlined, so that the query planner sees it."""

        def build() -> RowSelect:
            table, order = self._endpoint.table, self._endpoint.ordering
            statement = sa.select(table.c.id).select_from(order.source).order_by(*order.expressions)
            return RowSelect(statement.limit(sa.literal_column(str(limit))))

        return self._first_pages.get_or_make(limit, build)
