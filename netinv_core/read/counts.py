"""Counts of whole lists: exact and cached in the process for the lists that take long to count.

A cached count is brought up to date by the change records that were committed since: it adds the created objects and
subtracts the deleted ones. Both statements see one snapshot each, so the sum is exact for every change made through the
service. :data:`LIFETIME` bounds what rows changed by other means, or a retention in progress, make of it.
"""

from __future__ import annotations

import dataclasses
import time
from typing import TYPE_CHECKING

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
    """The ``count`` of a table in a snapshot in which all change records had numbers, up to ``number``.

    ``number`` is ``None`` when some had none: the next request counts again.
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
    count, number, is_waiting = uow.execute(_counted(endpoint)).one()
    cache[endpoint.label] = CachedCount(count, None if is_waiting else number, time.monotonic() + LIFETIME)
    return int(count)


def remember(uow: UnitOfWork, endpoint: Endpoint, count: int) -> None:
    """Marks an endpoint whose list was counted without the cache, if the list is long."""
    if count >= CACHED_FROM and not uow.writing and _has_records(endpoint):
        uow.registry.list_counts.setdefault(endpoint.label, CachedCount(count, None, 0.0))


def _has_records(endpoint: Endpoint) -> bool:
    return endpoint.table is _change or (endpoint.resource.recorded and endpoint.resource.of is None)


def _counted(endpoint: Endpoint) -> sa.Select[tuple[int, int, bool]]:
    """SELECT of the count, the last number given, and whether change records wait for numbers."""
    count = sa.select(sa.func.count()).select_from(endpoint.table).scalar_subquery()
    return sa.select(count, _given, sa.exists().where(_change.c.number.is_(None)))


def _since(endpoint: Endpoint) -> sa.Select[tuple[int, int]]:
    """SELECT of the number of change records since a number, and of what they add to the count."""
    # The order has PostgreSQL use the index: it takes a third of the table for newer than an unknown number.
    newer = [_change.c.number > sa.bindparam("number"), _change.c.number.is_(None)]
    columns = (_change.c.action, _change.c.changed_object_type.label("type"))
    parts = [
        sa.select(*columns)
        .where(condition)
        .order_by(_change.c.number)
        .limit(sa.literal_column(str(MOST_CHANGES + 1)))
        .subquery()
        for condition in newer
    ]
    records = sa.union_all(*(sa.select(part) for part in parts)).subquery()
    if endpoint.table is _change:
        return sa.select(sa.func.count(), sa.func.count()).select_from(records)
    mine = records.c.type == sa.bindparam("label")
    change = sa.case((sa.and_(mine, records.c.action == CREATE), 1), (sa.and_(mine, records.c.action == DELETE), -1))
    return sa.select(sa.func.count(), sa.func.coalesce(sa.func.sum(change), 0)).select_from(records)
