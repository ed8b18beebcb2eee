"""Upkeep: what is kept for a limited time is deleted, and change records of older releases are packed, by one process
at a time.

A worker runs it once an hour, whichever is first: it claims a row of ``core_upkeep`` with a lease. A worker
that dies loses the lease, and another one goes on. Packages name what is deleted with the hook ``netinv_retention``.
"""

from __future__ import annotations

import datetime
import logging
import time
import uuid
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
from sqlalchemy.engine import Engine
from sqlalchemy.orm import Mapped, mapped_column

from netinv_core import stored_answers
from netinv_core.changelog import older_records, sequence
from netinv_core.db.availability import is_away
from netinv_core.models.base import Base, now, table_of
from netinv_core.packages import CORE
from netinv_core.tasks.leases import RELEASED, Leases, free
from netinv_core.tasks.retention import Retention, count_old, delete_old

if TYPE_CHECKING:
    from netinv_core.registry import Registry

log = logging.getLogger(__name__)
LEASE = datetime.timedelta(minutes=5)
RENEWAL = 60.0  # seconds between renewals of the lease
PERIOD = datetime.timedelta(minutes=50)  # since the last upkeep, before a worker begins another
MAX_SECONDS = 600.0  # of one run of a worker; the next one goes on
ROW, BACKUP_ROW = 1, 2


class Upkeep(Base):
    """A row for the upkeep (id 1) and one for the backups of workers (id 2): the lease of the process at work, and when
    the last one ``finished``.
    """

    __tablename__ = "core_upkeep"

    id: Mapped[int] = mapped_column(sa.Integer(), primary_key=True, autoincrement=False)
    claimed_by: Mapped[uuid.UUID | None]
    claimed_until: Mapped[datetime.datetime | None]
    finished: Mapped[datetime.datetime | None]


_table = table_of(Upkeep)


class Busy(Exception):
    """Another process does the upkeep."""


def retentions(registry: Registry) -> list[Retention]:
    """The retention rules of the core, then those of packages."""
    return [retention for _, retention in _by_package(registry)]


def _by_package(registry: Registry) -> list[tuple[str, Retention]]:
    added = [
        (name, item) for name, found in registry.call_each("netinv_retention", registry=registry) for item in found
    ]
    return [(CORE, sequence.retention), (CORE, stored_answers.retention), *added]


def counts(engine: Engine, registry: Registry) -> Iterator[tuple[str, int]]:
    """The tables, each with the number of rows that would be deleted."""
    for retention in retentions(registry):
        with engine.connect() as connection:
            yield retention.table.name, count_old(connection, registry, retention)


def run(
    engine: Engine, registry: Registry, *, since: datetime.datetime | None = None, seconds: float = float("inf")
) -> Iterator[tuple[str, int]]:
    """Deletes what is too old, and yields the tables, each with the number of deleted rows.

    :param since: do nothing when an upkeep finished after this time
    :param seconds: after which no further chunk is begun
    :raises Busy: when another process is at it
    """
    leases = Leases(engine, _table)
    claim = _claim(leases, since)
    goes_on, ended = _watch(leases, claim, seconds), False
    try:
        for package, retention in _by_package(registry):
            try:
                deleted = delete_old(engine, registry, retention, goes_on)
            except Exception as error:
                if package == CORE or not registry.is_plugin(package) or is_away(error):
                    raise
                registry.faults.note(registry, package, error)
                log.exception("old rows of the package %s are kept, because it failed", package)
            else:
                yield retention.table.name, deleted
        packed = older_records.pack_older(engine, goes_on)
        if packed:
            log.info("upkeep: %d change records of an older release packed", packed)
        ended = True
    finally:
        with leases.transaction() as connection:
            values = {**RELEASED, "finished": now()} if ended else RELEASED
            connection.execute(sa.update(_table).where(leases.held(ROW, claim)).values(**values))


def _claim(leases: Leases, since: datetime.datetime | None) -> uuid.UUID:
    """Claims the row. Returns the claim.

    :raises Busy: when another process has it, or one finished lately
    """
    due = [_table.c.id == ROW, free(_table, now())]
    if since is not None:
        due.append(sa.or_(_table.c.finished.is_(None), _table.c.finished < since))
    with leases.transaction() as connection:
        claims = leases.claim(connection, sa.select(_table.c.id).where(*due), LEASE)
    if not claims:
        raise Busy()
    return claims[0][1]


def _watch(leases: Leases, claim: uuid.UUID, seconds: float) -> Callable[[], bool]:
    """A function that renews the lease now and then. It is false once the lease is lost, or the time is over."""
    began = renewed = time.monotonic()

    def goes_on() -> bool:
        nonlocal renewed
        at = time.monotonic()
        if at - renewed > RENEWAL:
            renewed = at
            return leases.renew(ROW, claim, LEASE)
        return at - began < seconds

    return goes_on


def run_hourly(engine: Engine, registry: Registry) -> Any:
    """Task of the worker: deletes what is too old, unless another worker did so lately."""
    try:
        deleted = dict(run(engine, registry, since=now() - PERIOD, seconds=MAX_SECONDS))
    except Busy:
        return
    for table, count in deleted.items():
        if count:
            log.info("upkeep: %d rows of %s deleted", count, table)
