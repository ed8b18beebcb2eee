"""Additions to a resource of another package: a field and a rule on sites."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa

from netinv_core import Draft, UnitOfWork, batch_loaded, in_parameter, permissions
from netinv_example.maintenance_windows import CANCELLED, MaintenanceWindow, active
from netinv_extras.statuses import Status

LABEL = "dcim.site"
RETIRED = "retired"


def _starts(uow: UnitOfWork, sites: list[Any]) -> dict[Any, datetime.datetime]:
    """Start of the first window of each site that is not over: one statement for any number of sites."""
    table = MaintenanceWindow.__table__
    statement = (
        sa.select(table.c.site_id, sa.func.min(table.c.start))
        .where(in_parameter(table.c.site_id), table.c.status != CANCELLED, table.c.end > uow.now)
        .group_by(table.c.site_id)
    )
    return dict(uow.execute(statement, {"keys": sites}).tuples().all())


next_maintenance = batch_loaded(
    "next_maintenance",
    _starts,
    help="When the maintenance window begins that is active or comes next",
    nullable=True,
    openapi={"type": "string", "format": "date-time"},
)


def no_retirement_during_maintenance(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """A site with an active maintenance window may not become retired: two statements, however many sites."""
    moved = {draft.id: draft for draft in drafts if not draft.new and draft.changed("status_id")}
    if not moved:
        return
    statuses, windows = Status.__table__, MaintenanceWindow.__table__
    retired = set(uow.execute(sa.select(statuses.c.id).where(statuses.c.slug == RETIRED)).scalars())
    leaving = [key for key, draft in moved.items() if draft["status_id"] in retired]
    if not leaving:
        return
    visible = sa.and_(sa.true(), *permissions.visible(uow, uow.registry.of_model(MaintenanceWindow), windows))
    columns = windows.c.site_id, windows.c.name, visible
    under_way = sa.select(*columns).where(in_parameter(windows.c.site_id), active(windows, uow.now))
    for site, name, named in uow.execute(under_way, {"keys": leaving}):
        moved[site].reject(
            "status", f"The site cannot be retired during its maintenance window {name if named else ''}".rstrip() + "."
        )
