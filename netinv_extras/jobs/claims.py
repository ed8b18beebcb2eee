"""Leases on the runs of jobs: claimed, extended, and ended when their worker is gone.

The worker of a run extends its lease while the process of the job lives. The end of a run is written in one transaction
with what the job wrote, and only by the process that holds the claim. A job whose process or worker died has written
nothing; the next worker that looks marks it as errored when its lease has ended.
"""

from __future__ import annotations

import datetime
import logging
import uuid
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection, Engine

from netinv_core.db.expressions import in_parameter
from netinv_core.models.base import now, table_of
from netinv_core.tasks.leases import RELEASED, Leases
from netinv_extras.jobs.job_log import FAILURE, GROUPING
from netinv_extras.jobs.results import ERRORED, PENDING, RUNNING, JobLogEntry, JobResult

log = logging.getLogger(__name__)
_result, _entry = table_of(JobResult), table_of(JobLogEntry)
ABANDONED = "The worker that ran the job is gone; nothing that the job wrote was kept."


class Claims(Leases):
    """The leases on the results of jobs in one database."""

    def __init__(self, engine: Engine) -> None:
        super().__init__(engine, _result)

    def sweep(self) -> int:
        """Ends the runs whose lease has ended. Returns their number."""
        dead = sa.and_(_result.c.status == RUNNING, _result.c.claimed_until < now())
        with self.transaction(writing=False) as connection:
            if connection.execute(sa.select(_result.c.id).where(dead)).first() is None:
                return 0
        with self.transaction() as connection:
            keys = list(
                connection.execute(
                    sa.select(_result.c.id).where(dead).order_by(_result.c.id).with_for_update(skip_locked=True)
                ).scalars()
            )
            _end(connection, keys, ABANDONED)
        return len(keys)

    def claim_pending(self, room: int, lease: datetime.timedelta) -> list[tuple[uuid.UUID, uuid.UUID]]:
        """Claims the oldest pending results, at most ``room``. Returns their ids, each with its claim."""
        pending = (
            sa.select(_result.c.id)
            .where(_result.c.status == PENDING)
            .order_by(_result.c.created, _result.c.id)
            .limit(room)
        )
        with self.transaction(writing=False) as connection:
            if connection.execute(pending).first() is None:
                return []
        with self.transaction() as connection:
            return self.claim(connection, pending, lease, status=RUNNING)

    def held(self, key: uuid.UUID, claim: uuid.UUID) -> sa.ColumnElement[bool]:
        """The condition that a run is claimed by this claim and has not ended."""
        return sa.and_(super().held(key, claim), _result.c.status == RUNNING)

    def store(self, key: uuid.UUID, entries: list[dict[str, Any]]) -> None:
        """Writes log entries of a job."""
        rows = [
            {
                **entry,
                "id": uuid.UUID(entry["id"]),
                "created": datetime.datetime.fromisoformat(entry["created"]),
                "job_result_id": key,
            }
            for entry in entries
        ]
        with self.transaction() as connection:
            connection.execute(sa.insert(_entry), rows)

    def give_up(self, key: uuid.UUID, claim: uuid.UUID, reason: str) -> None:
        """Ends a run whose process is gone, if it has not ended."""
        unfinished = sa.select(_result.c.id).where(self.held(key, claim))
        with self.transaction() as connection:
            _end(connection, list(connection.execute(unfinished.with_for_update()).scalars()), reason)


def _end(connection: Connection, keys: list[uuid.UUID], reason: str) -> None:
    """Marks runs as errored, with the reason in their log."""
    if not keys:
        return
    for key in keys:
        log.warning("the run %s was broken off: %s", key, reason)
    values = {"status": ERRORED, "completed": now(), "arguments": "", "unfinished": True, **RELEASED}
    connection.execute(sa.update(_result).where(in_parameter(_result.c.id)).values(values), {"keys": keys})
    entry = {"log_level": FAILURE, "grouping": GROUPING, "message": reason, "position": 2**31 - 1, "created": now()}
    connection.execute(sa.insert(_entry), [{"id": uuid.uuid4(), "job_result_id": key, **entry} for key in keys])
