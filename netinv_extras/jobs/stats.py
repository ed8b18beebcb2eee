"""Job statistics for ``/api/status/`` and ``/metrics``: pending and running jobs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from netinv_core.http.metrics import Sample
from netinv_core.models.base import now, table_of
from netinv_extras.jobs.results import PENDING, RUNNING, JobResult

if TYPE_CHECKING:
    from netinv_core.uow import UnitOfWork

_result = table_of(JobResult)
_counts = (
    sa.select(_result.c.status, sa.func.count(_result.c.id), sa.func.min(_result.c.created))
    .where(_result.c.status.in_((PENDING, RUNNING)))
    .group_by(_result.c.status)
)


def status(uow: UnitOfWork) -> dict[str, Any]:
    """Returns ``pending``, ``running`` and ``oldest_pending_seconds`` (``None`` if none is pending). One statement."""
    counts = {state: (count, oldest) for state, count, oldest in uow.execute(_counts)}
    pending, oldest = counts.get(PENDING, (0, None))
    running, _ = counts.get(RUNNING, (0, None))
    seconds = None if oldest is None else max(0, int((now() - oldest).total_seconds()))
    return {"pending": pending, "running": running, "oldest_pending_seconds": seconds}


def samples(uow: UnitOfWork) -> Iterator[Sample]:
    """Yields the samples for ``/metrics``."""
    values = status(uow)
    for state in (PENDING, RUNNING):
        help_text = "Number of pending and running jobs."
        yield Sample("netinv_jobs", help_text, values[state], labels={"status": state})
    yield Sample(
        "netinv_jobs_oldest_pending_seconds",
        "Age of the oldest pending job in seconds; 0 if none is pending.",
        values["oldest_pending_seconds"] or 0,
    )
