"""Search: a date leads to the windows of that day."""

from __future__ import annotations

import datetime
from collections.abc import Iterator

import sqlalchemy as sa

from netinv_core import Match, UnitOfWork

LABEL = "example.maintenancewindow"


def windows_of_day(uow: UnitOfWork, text: str) -> Iterator[Match]:
    """Yields the windows that cover a part of the day ``2030-01-02`` (UTC)."""
    try:
        day = datetime.datetime.strptime(text, "%Y-%m-%d").replace(tzinfo=datetime.UTC)
        end = day + datetime.timedelta(days=1)
    except (ValueError, OverflowError):
        return
    yield Match(
        LABEL,
        "maintenance windows of the day",
        "name",
        lambda table: sa.and_(table.c.start < end, table.c.end > day),
        [("start__lte", end.isoformat()), ("end__gte", day.isoformat())],
        order=lambda table: [table.c.start, table.c.id],
    )
