"""The first addresses of a prefix that is too large for the grid of its addresses and has no child prefixes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from netinv_core.auth import permissions
from netinv_core.sql.plan import Row
from netinv_core.sql.plans import custom_plan
from netinv_ipam.taken_space import ADDRESSES, SpaceTaker, children
from netinv_web.cells import cell

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.sql.plan import JoinedTable, ReadPlan, RowSet
    from netinv_core.uow import UnitOfWork

COLUMNS = ("address", "status", "assigned_object", "dns_name", "description")
MAX = 25  # addresses that are listed


def is_taken(uow: UnitOfWork, prefix: Mapping[str, Any], what: SpaceTaker) -> bool:
    """True when objects take space of a prefix, given its representation: one statement."""
    found = uow.execute(sa.select(what.low.table.c.id).where(children(prefix, what)).limit(1))
    return found.first() is not None


def first_addresses(uow: UnitOfWork, endpoint: Endpoint, prefix: Mapping[str, Any]) -> tuple[list[Any], bool]:
    """The cells of the first addresses that the user may view, by name of the field, and whether there are more."""
    table = endpoint.table
    statement = sa.select(table.c.id).where(children(prefix, ADDRESSES), *permissions.visible(uow, endpoint, table))
    order = (table.c.host, table.c.prefix_length, table.c.id)
    keys = list(uow.execute(statement.order_by(*order).limit(MAX + 1)).scalars())
    shown = keys[:MAX]
    cells = dict(custom_plan(endpoint, ("addresses of a prefix",), _build).fetch(uow, shown)) if shown else {}
    return [(key, cells[key]) for key in shown if key in cells], len(keys) > MAX


def _build(plan: ReadPlan, place: JoinedTable) -> Any:
    """The reader of the cells of an address."""
    written = plan.read(place, "address")
    cells = [(name, cell(plan, place, place.endpoint.fields[name])) for name in COLUMNS[1:]]

    def read(row: Row, page: RowSet) -> dict[str, Any]:
        return {"address": written(row, page)} | {name: markup(row, page) for name, markup in cells}

    return read
