"""Counts of whole lists: exact and cached in the process for the lists that take long to count.

A cached count is that of the last number of a change record: changes that wait for numbers are left out of it. It is
brought up to date by the change records with later numbers and without: it adds the created objects and subtracts the
deleted ones. Both statements see one snapshot each, so the sum is exact for every change made through the service.
:data:`LIFETIME` bounds what rows changed by other means, or a retention in progress, make of it.
"""

from __future__ import annotations

import dataclasses
import time
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from netinv_core.changelog.models import CREATE, DELETE, ChangeNumbering, ObjectChange
from netinv_core.models.base import table_of

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.uow import UnitOfWork

CACHED_FROM = 20_000  # rows; fewer are counted each time
MOST_CHANGES = 1000  # change records read to bring a count up to date
LIFETIME = 60.0  # seconds

_change, _numbering = table_of(ObjectChange), table_of(ChangeNumbering)
_given = sa.select(_numbering.c.given).scalar_subquery()


@dataclasses.dataclass(frozen=True)
class CachedCount:
    """The ``count`` of a table in a snapshot, without the changes that had no number; ``number`` was the last one.

    ``number`` is ``None`` when more than :data:`MOST_CHANGES` had none: the next request counts again.
    """

    count: int
    number: int | None
    until: float


def cached_count(uow: UnitOfWork, endpoint: Endpoint) -> int | None:
    """Returns the number of all objects of an endpoint; ``None`` when it is to be counted without the cache.

    At most two statements, one as a rule.
    """
    cache = uow.registry.list_counts
    known = cache.get(endpoint.label)
    if known is None or uow.writing or not _has_records(endpoint):
        return None
    if known.number is not None and time.monotonic() < known.until:
        seen, change = uow.execute(_since(endpoint), {"number": known.number, "label": endpoint.label}).one()
        if seen <= MOST_CHANGES:
            uow.registry.list_count_counts.hits += 1
            return known.count + int(change)
    uow.registry.list_count_counts.misses += 1
    count, number, waiting, change = uow.execute(_counted(endpoint), {"label": endpoint.label}).one()
    known_number = number if waiting <= MOST_CHANGES else None
    cache[endpoint.label] = CachedCount(count - int(change), known_number, time.monotonic() + LIFETIME)
    return int(count)


def remember(uow: UnitOfWork, endpoint: Endpoint, count: int) -> None:
    """Marks an endpoint whose list was counted without the cache, if the list is long."""
    if count >= CACHED_FROM and not uow.writing and _has_records(endpoint):
        uow.registry.list_counts.setdefault(endpoint.label, CachedCount(count, None, 0.0))


def _has_records(endpoint: Endpoint) -> bool:
    return endpoint.table is _change or (endpoint.resource.recorded and endpoint.resource.of is None)


def _counted(endpoint: Endpoint) -> sa.Select[tuple[int, int, int, int]]:
    """SELECT of the count, the last number given, the number of change records that wait for numbers, and what they
    have added to the count.
    """
    count = sa.select(sa.func.count()).select_from(endpoint.table).scalar_subquery()
    waiting = _records(_change.c.number.is_(None))
    return sa.select(count, _given, *_totals(endpoint, waiting)).select_from(waiting)


def _since(endpoint: Endpoint) -> sa.Select[tuple[int, int]]:
    """SELECT of the number of change records since a number, and of what they add to the count."""
    parts = [
        _records(condition) for condition in (_change.c.number > sa.bindparam("number"), _change.c.number.is_(None))
    ]
    records = sa.union_all(*(sa.select(part) for part in parts)).subquery()
    return sa.select(*_totals(endpoint, records)).select_from(records)


def _records(condition: Any) -> Any:
    """Subquery of the first change records that meet a condition of their number, one more than are read."""
    # The order has PostgreSQL use the index: it takes a third of the table for newer than an unknown number.
    selected = sa.select(_change.c.action, _change.c.changed_object_type.label("type")).where(condition)
    return selected.order_by(_change.c.number).limit(sa.literal_column(str(MOST_CHANGES + 1))).subquery()


def _totals(endpoint: Endpoint, records: Any) -> tuple[Any, Any]:
    """The number of change records, and what they add to the count of an endpoint."""
    if endpoint.table is _change:
        return sa.func.count(), sa.func.count()
    mine = records.c.type == sa.bindparam("label")
    change = sa.case((sa.and_(mine, records.c.action == CREATE), 1), (sa.and_(mine, records.c.action == DELETE), -1))
    return sa.func.count(), sa.func.coalesce(sa.func.sum(change), 0)
