"""Backups that workers make on their own, into the folder of the setting ``netinv.backup_folder``.

One worker at a time: it claims the row :data:`ROW` of ``core_upkeep`` with a lease. The row has the time of the last
backup; after a failure it is free again once the pause is over. A backup is written aside, read again, and counts only
then; older ones are deleted after that, so the last good one always stays.
"""

from __future__ import annotations

import contextlib
import dataclasses
import datetime
import logging
import re
import time
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import sqlalchemy as sa
from sqlalchemy.engine import Connection, Engine

from netinv_core.backups import archive, writing
from netinv_core.db.availability import reason
from netinv_core.db.engine import engine_from
from netinv_core.models.base import now, table_of
from netinv_core.models.types import utc
from netinv_core.tasks.leases import RELEASED, Leases, free
from netinv_core.upkeep import BACKUP_ROW, Upkeep

if TYPE_CHECKING:
    from netinv_core.registry import Registry

log = logging.getLogger(__name__)
LEASE = datetime.timedelta(hours=2)  # renewed after each table
PAUSE = datetime.timedelta(minutes=30)  # after a failure
SLACK = datetime.timedelta(minutes=10)  # by which a backup may be early: the task runs every five minutes
OVERDUE = 2  # intervals
NAME = "netinv-%Y%m%d-%H%M%S.zip"
_NAME = re.compile(r"netinv-\d{8}-\d{6}\.zip")
_UNFINISHED = re.compile(r"\.netinv-\d{8}-\d{6}\.zip\..+")  # of a worker that was killed
_table = table_of(Upkeep)


@dataclasses.dataclass(frozen=True)
class State:
    """``finished`` is the time of the last good backup, ``failed`` is true when a later one failed."""

    finished: datetime.datetime | None
    failed: bool

    def is_overdue(self, interval: float) -> bool:
        """True without a backup in twice the interval, in hours."""
        return self.finished is not None and now() - self.finished > OVERDUE * datetime.timedelta(hours=interval)


def state(connection: Connection) -> State:
    """The state of the backups that workers make."""
    row = connection.execute(sa.select(_table).where(_table.c.id == BACKUP_ROW)).one_or_none()
    if row is None:
        return State(None, failed=False)
    until = None if row.claimed_until is None else utc(row.claimed_until)
    is_running = row.claimed_by is not None and until is not None and until > now()
    return State(None if row.finished is None else utc(row.finished), failed=until is not None and not is_running)


def run_when_due(engine: Engine, registry: Registry) -> None:
    """Task of the worker: makes a backup, unless there is one of the last interval, or another worker is at it."""
    folder = Path(registry.settings["backup_folder"])
    since = now() - datetime.timedelta(hours=registry.settings["backup_interval"]) + SLACK
    leases = Leases(engine, _table)
    claim = _claim(leases, since)
    if claim is None:
        return
    try:
        path = _write(folder, engine, registry, leases, claim)
    except Exception as error:  # of the file system, the database, or of a package's table
        known = isinstance(error, OSError | archive.ArchiveError | sa.exc.SQLAlchemyError)
        text = reason(error) if isinstance(error, sa.exc.SQLAlchemyError) else error
        log.error("the backup to %s failed, and is tried again in %s: %s", folder, PAUSE, text, exc_info=not known)
        _release(leases, claim, claimed_by=None, claimed_until=now() + PAUSE)
        return
    _release(leases, claim, **RELEASED, finished=now())
    _rotate(folder, path, registry.settings["backup_keep"])


def _claim(leases: Leases, since: datetime.datetime) -> uuid.UUID | None:
    """Claims the row, which the first backup creates; ``None`` when none is due, or another worker has it."""
    due = sa.and_(
        _table.c.id == BACKUP_ROW,
        free(_table, now()),
        sa.or_(_table.c.finished.is_(None), _table.c.finished < since),
    )
    with leases.transaction(writing=False) as connection:
        is_there = connection.execute(sa.select(_table.c.id).where(_table.c.id == BACKUP_ROW)).first() is not None
    if not is_there:
        with contextlib.suppress(sa.exc.IntegrityError), leases.transaction() as connection:  # another worker did
            connection.execute(sa.insert(_table).values(id=BACKUP_ROW))
    with leases.transaction() as connection:
        claims = leases.claim(connection, sa.select(_table.c.id).where(due), LEASE)
    return claims[0][1] if claims else None


def _release(leases: Leases, claim: uuid.UUID, **values: object) -> None:
    with leases.transaction() as connection:
        connection.execute(sa.update(_table).where(leases.held(BACKUP_ROW, claim)).values(**values))


def _write(folder: Path, engine: Engine, registry: Registry, leases: Leases, claim: uuid.UUID) -> Path:
    """Writes a backup and reads it again. Returns its path.

    :raises ArchiveError: when it is damaged; it is deleted then
    """
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    path, began = folder / now().strftime(NAME), time.monotonic()
    with _without_timeout(engine) as own:
        if others := writing.left_out(own, registry):
            log.warning("the backup is without tables that belong to no installed package: %s", ", ".join(others))
        done = writing.write(path, own, registry, lambda name: leases.renew(BACKUP_ROW, claim, LEASE))
    try:
        with contextlib.closing(archive.BackupReader(path)) as reader:
            reader.verify()
    except BaseException:
        path.unlink()
        raise
    size, seconds, rows = path.stat().st_size / 2**20, time.monotonic() - began, sum(done.rows.values())
    log.info("backup: wrote %s, %d rows, %d files, %.1f MiB, %.0f s", path, rows, done.files, size, seconds)
    if not done.has_secret:
        log.warning("backup: netinv.secret decrypts nothing of what is stored, and %s is marked so", path)
    return path


@contextlib.contextmanager
def _without_timeout(engine: Engine) -> Iterator[Engine]:
    """An engine for the same database without a statement timeout, which that of a service has."""
    own = engine_from(engine.url.render_as_string(hide_password=False), poolclass=sa.NullPool)
    try:
        yield own
    finally:
        own.dispose()


def _rotate(folder: Path, last: Path, keep: int) -> None:
    """Deletes all but the newest backups, ``last`` among them, and what killed workers left."""
    names = sorted(path.name for path in folder.iterdir())
    older = [name for name in names if _NAME.fullmatch(name) and name < last.name]
    old_parts = [
        name
        for name in names
        if _UNFINISHED.fullmatch(name) and time.time() - (folder / name).stat().st_mtime > LEASE.total_seconds()
    ]
    for name in [*older[: max(len(older) + 1 - keep, 0)], *old_parts]:
        try:
            (folder / name).unlink()
        except OSError as error:
            log.warning("backup: %s cannot be deleted: %s", folder / name, error.strerror)
        else:
            log.info("backup: deleted %s", folder / name)
