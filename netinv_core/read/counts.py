"""Counts of lists: exact and cached in the process for the lists that take long to count; estimates of filtered ones.

A cached count is that of the last number of a change record: changes that wait for numbers are left out of it. That of
a whole list is brought up to date by the change records with later numbers and without: it adds the created objects and
subtracts the deleted ones. That of a filtered list counts until the next change of any object. Both statements see one
snapshot each, so the count is exact for every change made through the service. :data:`LIFETIME` bounds what rows
changed by other means, or a retention in progress, make of it.
"""

from __future__ import annotations

import dataclasses
import hashlib
import time
from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from netinv_core.caches import BoundedCache, lru_cache
from netinv_core.changelog.models import CREATE, DELETE, ChangeNumbering, ObjectChange
from netinv_core.db.engine import inlined_int
from netinv_core.driver.explain import rows_of_plan
from netinv_core.models.base import table_of
from netinv_core.registry_cache import cached_in_registry

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.registry import Registry
    from netinv_core.uow import UnitOfWork

CACHED_FROM = 20_000  # rows; fewer are counted each time
MAX_CHANGES = 1000  # change records read to bring a count up to date
MAX_COUNTS = 500  # cached
LIFETIME = 60.0  # seconds

_change, _numbering = table_of(ObjectChange), table_of(ChangeNumbering)
_given = sa.select(_numbering.c.given).scalar_subquery()


@dataclasses.dataclass(frozen=True)
class CachedCount:
    """The ``count`` of a table in a snapshot, without the changes that had no number; ``number`` was the last one.

    ``number`` is ``None`` when more than :data:`MAX_CHANGES` had none: the next request counts again.
    """

    count: int
    number: int | None
    until: float


@dataclasses.dataclass(frozen=True)
class _Counts:
    """The cached counts of a registry, and the labels of lists that have one."""

    lists: BoundedCache[CachedCount]
    long_lists: set[str]


@cached_in_registry
def counts_of(registry: Registry) -> _Counts:
    return _Counts(BoundedCache("list counts", MAX_COUNTS), set())


def cached_count(uow: UnitOfWork, endpoint: Endpoint, conditions: Sequence[Any] = ()) -> int | None:
    """Returns the number of the objects of an endpoint that meet the conditions; ``None`` when they are to be counted
    without the cache.

    At most two statements, one as a rule.
    """
    counts = counts_of(uow.registry)
    if uow.writing or not _has_records(endpoint) or (conditions and endpoint.label not in counts.long_lists):
        return None
    key = _key(uow, endpoint, conditions)
    known = counts.lists.get(key)
    if known is None:
        return None
    if known.number is not None and time.monotonic() < known.until:
        values = {"number": known.number, "label": endpoint.label}
        seen, change = uow.execute(_since(of_changes=endpoint.table is _change), values).one()
        if seen <= (0 if conditions else MAX_CHANGES):
            return known.count + int(change)
    count, number, waiting, change = uow.execute(_select_count(endpoint, conditions), {"label": endpoint.label}).one()
    counted = CachedCount(
        count if conditions else count - int(change),
        number if waiting <= (0 if conditions else MAX_CHANGES) else None,
        time.monotonic() + LIFETIME,
    )
    counts.lists.set(key, counted)
    return int(count)


def remember(uow: UnitOfWork, endpoint: Endpoint, conditions: Sequence[Any], count: int) -> None:
    """Marks a long list, of :data:`CACHED_FROM` objects or more, that was counted without the cache."""
    if uow.writing or not _has_records(endpoint):
        return
    counts = counts_of(uow.registry)
    counts.long_lists.add(endpoint.label)
    counts.lists.get_or_make(_key(uow, endpoint, conditions), lambda: CachedCount(count, None, 0.0))


def bounded_count(uow: UnitOfWork, endpoint: Endpoint, conditions: Sequence[Any], most: int) -> int | None:
    """Returns the number of the objects that meet the conditions: exact up to ``most``, and beyond it what PostgreSQL
    expects by its statistics; ``None`` on databases that tell no such number.

    Two statements at most.
    """
    table = endpoint.table
    rows = sa.select(table.c.id).where(*conditions)
    expected = uow.registry.driver.expected_rows(rows)
    if expected is None:
        return None
    first = rows.limit(inlined_int("most", most + 1)).subquery()
    count = int(uow.execute(sa.select(sa.func.count()).select_from(first)).scalar() or 0)
    if count <= most:
        return count
    return max(count, rows_of_plan(uow.execute(expected).scalar_one()))


def _key(uow: UnitOfWork, endpoint: Endpoint, conditions: Sequence[Any]) -> Hashable:
    """The key of a list in the cache: its label, with conditions their SQL and its parameters too."""
    if not conditions:
        return endpoint.label
    compiled = sa.select(endpoint.table.c.id).where(*conditions).compile(dialect=uow.connection.dialect)
    parameters = sorted((name, repr(value)) for name, value in compiled.params.items())
    return endpoint.label, hashlib.sha256(repr((compiled.string, parameters)).encode()).digest()


def _has_records(endpoint: Endpoint) -> bool:
    return endpoint.table is _change or (endpoint.resource.recorded and endpoint.resource.of is None)


def _select_count(endpoint: Endpoint, conditions: Sequence[Any]) -> sa.Select[tuple[int, int, int, int]]:
    """SELECT of the count, the last number given, the number of change records that wait for numbers, and what they
    have added to the count.
    """
    count = sa.select(sa.func.count()).select_from(endpoint.table).where(*conditions).scalar_subquery()
    waiting = _records(_change.c.number.is_(None))
    totals = _totals(waiting, of_changes=endpoint.table is _change)
    return sa.select(count, _given, *totals).select_from(waiting)


@lru_cache("SQL statements", 2)
def _since(*, of_changes: bool) -> sa.Select[Any]:
    """SELECT of the number of change records since a number, and of what they add to the count."""
    parts = [
        _records(condition) for condition in (_change.c.number > sa.bindparam("number"), _change.c.number.is_(None))
    ]
    records = sa.union_all(*(sa.select(part) for part in parts)).subquery()
    return sa.select(*_totals(records, of_changes=of_changes)).select_from(records)


def _records(condition: Any) -> Any:
    """Subquery of the first change records that meet a condition of their number, one more than are read."""
    # The order has PostgreSQL use the index: it takes a third of the table for newer than an unknown number.
    selected = sa.select(_change.c.action, _change.c.changed_object_type.label("type")).where(condition)
    return selected.order_by(_change.c.number).limit(sa.literal_column(str(MAX_CHANGES + 1))).subquery()


def _totals(records: Any, *, of_changes: bool) -> tuple[Any, Any]:
    """The number of change records, and what they add to the count of objects of a label, or of themselves."""
    if of_changes:
        return sa.func.count(), sa.func.count()
    mine = records.c.type == sa.bindparam("label")
    change = sa.case((sa.and_(mine, records.c.action == CREATE), 1), (sa.and_(mine, records.c.action == DELETE), -1))
    return sa.func.count(), sa.func.coalesce(sa.func.sum(change), 0)
