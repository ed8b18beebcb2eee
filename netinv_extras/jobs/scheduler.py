"""Schedules whose time has come: each becomes a pending run, once, however many workers look, and however late they do."""

from __future__ import annotations

import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Engine

from netinv_core.db.engine import options_for
from netinv_core.models.base import now, table_of
from netinv_core.registry import Registry
from netinv_extras.jobs import results as job_results
from netinv_extras.jobs.models import Job
from netinv_extras.jobs.results import JobResult
from netinv_extras.jobs.schedules import ScheduledJob, following_run

_schedule, _job, _result = table_of(ScheduledJob), table_of(Job), table_of(JobResult)
# What nobody answers for does not run: the account is gone, or the job.
_ready = sa.and_(
    _schedule.c.next_run.is_not(None),
    sa.or_(~_schedule.c.approval_required, _schedule.c.approved_at.is_not(None)),
    _schedule.c.user_id.is_not(None),
    _schedule.c.job_model_id.is_not(None),
)
_MOST = 100  # schedules in one transaction


def start_due(engine: Engine, registry: Registry) -> int:
    """Asks for the runs that are due, and sets when each schedule's next one is; how many there were.

    Run and schedule are written in one transaction, in which the schedule is held. What was due while no worker looked runs once.
    """
    found = 0
    while started := _start_some(engine, registry):
        found += started
    return found


def _start_some(engine: Engine, registry: Registry) -> int:
    at = now()
    due = sa.select(_schedule).where(_ready, _schedule.c.next_run <= at).order_by(_schedule.c.next_run, _schedule.c.id).limit(_MOST)
    with engine.connect().execution_options(**options_for(registry.dialect, writing=False)) as connection, connection.begin():
        if connection.execute(due.with_only_columns(_schedule.c.id)).first() is None:
            return 0
    with engine.connect().execution_options(**options_for(registry.dialect, writing=True)) as connection, connection.begin():
        rows = [dict(row) for row in connection.execute(due.with_for_update(skip_locked=True)).mappings()]
        keys = {row["job_model_id"] for row in rows}
        jobs = {row["id"]: dict(row) for row in connection.execute(sa.select(_job).where(_job.c.id.in_(keys))).mappings()}
        runs: list[dict[str, Any]] = []
        for row in rows:
            asked = row["kwargs"]
            made = job_results.row(registry, jobs[row["job_model_id"]], row["user_id"], asked["data"], commit=asked["commit"], at=at, schedule_id=row["id"])
            runs.append(made)
            values = {"last_run_at": at, "total_run_count": row["total_run_count"] + 1, "next_run": following_run(row, at), "date_changed": at}
            connection.execute(sa.update(_schedule).where(_schedule.c.id == row["id"]).values(values))
        if runs:
            connection.execute(sa.insert(_result), runs)
    return len(runs)


def next_due(engine: Engine, registry: Registry) -> datetime.datetime | None:
    """When the next run of a schedule begins."""
    with engine.connect().execution_options(**options_for(registry.dialect, writing=False)) as connection, connection.begin():
        found: datetime.datetime | None = connection.execute(sa.select(sa.func.min(_schedule.c.next_run)).where(_ready)).scalar()
    return found
