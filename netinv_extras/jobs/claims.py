"""The runs of jobs in a database as one worker claims them, keeps them, and ends them when nobody else can.

A run is claimed for a time (the lease) that its worker extends while the job's process lives. What ends a run is written in one transaction with what the
job wrote, and only by the process that has the claim: a job whose process or worker died has written nothing, and is marked errored when its
lease ends, by whichever worker looks next.
"""

from __future__ import annotations

import contextlib
import datetime
import uuid
from collections.abc import Iterator
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection, Engine

from netinv_core.db.engine import in_parameter, options_for
from netinv_core.models.base import now, table_of
from netinv_extras.jobs.api import FAILURE, GROUPING
from netinv_extras.jobs.results import ERRORED, PENDING, RUNNING, JobLogEntry, JobResult

_result, _entry = table_of(JobResult), table_of(JobLogEntry)
ABANDONED = "The worker that ran the job is gone; nothing that the job wrote was kept."


class Claims:
    """The results of a database as one worker claims them, keeps them and lets them go."""

    def __init__(self, engine: Engine, dialect: str) -> None:
        self._engine = engine
        self._dialect = dialect

    @contextlib.contextmanager
    def transaction(self, *, writing: bool = True) -> Iterator[Connection]:
        """A transaction of its own."""
        with self._engine.connect().execution_options(**options_for(self._dialect, writing=writing)) as connection, connection.begin():
            yield connection

    def sweep(self) -> int:
        """Ends what nobody answers for any more; how many there were."""
        dead = sa.and_(_result.c.status == RUNNING, _result.c.claimed_until < now())
        with self.transaction(writing=False) as connection:
            if connection.execute(sa.select(_result.c.id).where(dead)).first() is None:
                return 0
        with self.transaction() as connection:
            keys = list(connection.execute(sa.select(_result.c.id).where(dead).order_by(_result.c.id).with_for_update(skip_locked=True)).scalars())
            _end(connection, self._dialect, keys, ABANDONED)
        return len(keys)

    def claim(self, room: int, lease: datetime.timedelta) -> list[tuple[uuid.UUID, uuid.UUID]]:
        """Takes pending results in hand, at most ``room``; their ids, each with the claim."""
        waiting = sa.select(_result.c.id).where(_result.c.status == PENDING).order_by(_result.c.created, _result.c.id).limit(room)
        with self.transaction(writing=False) as connection:
            if connection.execute(waiting).first() is None:
                return []
        with self.transaction() as connection:
            keys = list(connection.execute(waiting.with_for_update(skip_locked=True)).scalars())
            found = [(key, uuid.uuid4()) for key in keys]
            claiming = sa.update(_result).where(_result.c.id == sa.bindparam("of_id"))
            values = {"status": RUNNING, "claimed_by": sa.bindparam("claim"), "claimed_until": now() + lease}
            if found:
                connection.execute(claiming.values(values), [{"of_id": key, "claim": claim} for key, claim in found])
        return found

    def keep(self, key: uuid.UUID, claim: uuid.UUID, lease: datetime.timedelta) -> bool:
        """Extends a claim; whether it still stands."""
        mine = sa.update(_result).where(_result.c.id == key, _result.c.claimed_by == claim, _result.c.status == RUNNING)
        with self.transaction() as connection:
            return bool(connection.execute(mine.values(claimed_until=now() + lease)).rowcount)

    def store(self, key: uuid.UUID, entries: list[dict[str, Any]]) -> None:
        """Writes what a job said."""
        rows = [{**said, "id": uuid.UUID(said["id"]), "created": datetime.datetime.fromisoformat(said["created"]), "job_result_id": key} for said in entries]
        with self.transaction() as connection:
            connection.execute(sa.insert(_entry), rows)

    def give_up(self, key: uuid.UUID, claim: uuid.UUID, reason: str) -> None:
        """Ends a run whose process is no more, if it has not ended."""
        mine = sa.select(_result.c.id).where(_result.c.id == key, _result.c.claimed_by == claim, _result.c.status == RUNNING)
        with self.transaction() as connection:
            _end(connection, self._dialect, list(connection.execute(mine.with_for_update()).scalars()), reason)


def _end(connection: Connection, dialect: str, keys: list[uuid.UUID], reason: str) -> None:
    """Marks runs as errored, and says why where people look."""
    if not keys:
        return
    values = {"status": ERRORED, "completed": now(), "arguments": "", "claimed_by": None, "claimed_until": None}
    connection.execute(sa.update(_result).where(in_parameter(dialect, _result.c.id)).values(values), {"keys": keys})
    said = {"log_level": FAILURE, "grouping": GROUPING, "message": reason, "position": 2**31 - 1, "created": now()}
    connection.execute(sa.insert(_entry), [{"id": uuid.uuid4(), "job_result_id": key, **said} for key in keys])
