"""Scheduler of jobs: creates one pending run for each due schedule, with any number of workers."""

from __future__ import annotations

import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Engine

from netinv_core.db.engine import options_for
from netinv_core.models.base import now, table_of
from netinv_core.types import Registry
from netinv_extras.jobs import results as job_results
from netinv_extras.jobs.models import Job
from netinv_extras.jobs.results import JobResult
from netinv_extras.jobs.schedules import ScheduledJob, following_run

_schedule, _job, _result = table_of(ScheduledJob), table_of(Job), table_of(JobResult)
# Schedules without an owner or a job (the account or the job was deleted) do not run.
_ready = sa.and_(
    _schedule.c.next_run.is_not(None),
    sa.or_(~_schedule.c.approval_required, _schedule.c.approved_at.is_not(None)),
    _schedule.c.user_id.is_not(None),
    _schedule.c.job_model_id.is_not(None),
)
_BATCH_SIZE = 100  # schedules in one transaction


def start_due(engine: Engine, registry: Registry) -> int:
    """Creates the due runs and sets the next run of each schedule. Returns the number of runs.

    Run and schedule are written in one transaction, which locks the schedule. Runs missed while no worker was
    active are made up for by one run.
    """
    count = 0
    while started := _start_some(engine, registry):
        count += started
    return count


def _start_some(engine: Engine, registry: Registry) -> int:
    at = now()
    due = sa.select(_schedule).where(_ready, _schedule.c.next_run <= at)
    due = due.order_by(_schedule.c.next_run, _schedule.c.id).limit(_BATCH_SIZE)
    reading = options_for(registry.dialect, writing=False)
    with engine.connect().execution_options(**reading) as connection, connection.begin():
        if connection.execute(due.with_only_columns(_schedule.c.id)).first() is None:
            return 0
    writing = options_for(registry.dialect, writing=True)
    with engine.connect().execution_options(**writing) as connection, connection.begin():
        rows = [dict(row) for row in connection.execute(due.with_for_update(skip_locked=True)).mappings()]
        keys = {row["job_model_id"] for row in rows}
        job_rows = connection.execute(sa.select(_job).where(_job.c.id.in_(keys))).mappings()
        jobs = {row["id"]: dict(row) for row in job_rows}
        runs: list[dict[str, Any]] = []
        for row in rows:
            arguments = row["kwargs"]
            run = job_results.row(
                registry,
                jobs[row["job_model_id"]],
                row["user_id"],
                arguments["data"],
                commit=arguments["commit"],
                at=at,
                schedule_id=row["id"],
            )
            runs.append(run)
            values = {
                "last_run_at": at,
                "total_run_count": row["total_run_count"] + 1,
                "next_run": following_run(row, at),
                "date_changed": at,
            }
            connection.execute(sa.update(_schedule).where(_schedule.c.id == row["id"]).values(values))
        if runs:
            connection.execute(sa.insert(_result), runs)
    return len(runs)


def next_due(engine: Engine, registry: Registry) -> datetime.datetime | None:
    """Returns the earliest time of a schedule's next run, or None."""
    statement = sa.select(sa.func.min(_schedule.c.next_run)).where(_ready)
    reading = options_for(registry.dialect, writing=False)
    with engine.connect().execution_options(**reading) as connection, connection.begin():
        earliest: datetime.datetime | None = connection.execute(statement).scalar()
    return earliest
