"""How jobs are doing: what waits for a worker and what runs, for who watches the service."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import sqlalchemy as sa

from netinv_core.http.metrics import Sample
from netinv_core.models.base import now, table_of
from netinv_core.uow import UnitOfWork
from netinv_extras.jobs.results import PENDING, RUNNING, JobResult

_result = table_of(JobResult)
_open = (
    sa.select(_result.c.status, sa.func.count(_result.c.id), sa.func.min(_result.c.created))
    .where(_result.c.status.in_((PENDING, RUNNING)))
    .group_by(_result.c.status)
)


def status(uow: UnitOfWork) -> dict[str, Any]:
    """``pending``, ``running`` and ``oldest_pending_seconds`` (null when nothing waits): one statement."""
    found = {state: (count, oldest) for state, count, oldest in uow.execute(_open)}
    pending, oldest = found.get(PENDING, (0, None))
    seconds = None if oldest is None else max(0, int((now() - oldest).total_seconds()))
    return {"pending": pending, "running": found.get(RUNNING, (0, None))[0], "oldest_pending_seconds": seconds}


def samples(uow: UnitOfWork) -> Iterator[Sample]:
    """The figures for ``/metrics``."""
    found = status(uow)
    for state in (PENDING, RUNNING):
        yield Sample("netinv_jobs", "Runs of jobs that wait for a worker, and that run.", found[state], labels={"status": state})
    yield Sample("netinv_jobs_oldest_pending_seconds", "How long the oldest run waits; 0 when none does.", found["oldest_pending_seconds"] or 0)
