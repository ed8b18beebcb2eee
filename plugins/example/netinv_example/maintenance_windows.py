"""Maintenance windows: when a site is worked on, and may therefore be out of order."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Mapped

from netinv_core import (
    CASCADE,
    Choices,
    Description,
    Draft,
    Name,
    Primary,
    Ref,
    Resource,
    Slug,
    UnitOfWork,
    choice,
    column,
    convert,
    foreign_key,
)
from netinv_dcim.sites import Site

CANCELLED = "cancelled"
STATUSES = Choices.of(planned="Planned", confirmed="Confirmed", cancelled="Cancelled")


class MaintenanceWindow(Primary):
    """A span of time in which a site is worked on: from its start until just before its end."""

    __tablename__ = "example_maintenance_window"

    name: Mapped[Name]
    slug: Mapped[Slug]
    site_id: Mapped[Ref] = foreign_key(Site, on_delete=CASCADE, related_name="maintenance_windows")
    start: Mapped[datetime.datetime] = column(index=True, help="When the work begins")
    end: Mapped[datetime.datetime] = column(index=True, help="When the work is over")
    status: Mapped[str] = choice(STATUSES, default="planned")
    description: Mapped[Description]


maintenance_windows = Resource(
    MaintenanceWindow,
    "maintenance-windows",
    brief=["name", "slug", "start", "end"],
    order=["start", "name"],
    search=["name", "slug", "description", "site.name"],
    example={"start": "2030-01-01T22:00:00Z", "end": "2030-01-02T04:00:00Z"},
)


def active(table: Any, moment: datetime.datetime) -> Any:
    """The condition that a window covers an instant; one that was cancelled covers none."""
    return sa.and_(table.c.status != CANCELLED, table.c.start <= moment, table.c.end > moment)


@maintenance_windows.filter("active_at", help="An instant (ISO 8601): the windows that cover it")
def active_at(uow: UnitOfWork, table: Any, values: list[str]) -> Any:
    """``?active_at=2030-01-02T00:00:00Z``: the windows that cover this instant, or one of several."""
    return sa.or_(*[active(table, convert(table.c.start, value)) for value in values])


@maintenance_windows.rule
def end_follows_start(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """A window ends after it has begun."""
    for draft in drafts:
        if draft["end"] <= draft["start"]:
            draft.reject("end", "The end must be after the start.")


def count_active(uow: UnitOfWork) -> int:
    """Number of windows that are active now."""
    table = MaintenanceWindow.__table__
    return int(uow.execute(sa.select(sa.func.count()).select_from(table).where(active(table, uow.now))).scalar_one())
