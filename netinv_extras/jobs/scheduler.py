"""Scheduler of jobs: creates one pending run for each due schedule, with any number of workers."""

from __future__ import annotations

import datetime
import logging
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
from sqlalchemy.engine import Engine

from netinv_core.models.base import now, table_of
from netinv_extras.jobs import results as job_results
from netinv_extras.jobs.models import Job
from netinv_extras.jobs.results import JobResult
from netinv_extras.jobs.schedules import ScheduledJob, following_run

if TYPE_CHECKING:
    from netinv_core.registry import Registry

log = logging.getLogger(__name__)
_schedule, _job, _result = table_of(ScheduledJob), table_of(Job), table_of(JobResult)
_ready = sa.and_(
    _schedule.c.next_run.is_not(None),
    sa.or_(~_schedule.c.approval_required, _schedule.c.approved_at.is_not(None)),
)
NO_OWNER = "The account that asked for this job was deleted. The schedule has ended."
NO_JOB = "The job was deleted. The schedule has ended."
_BATCH_SIZE = 100  # schedules in one transaction


def start_due(engine: Engine, registry: Registry) -> int:
    """Creates the due runs and sets the next run of each schedule. Returns the number of runs.

    Run and schedule are written in one transaction, which locks the schedule. Runs missed while no worker was
    active are made up for by one run. A schedule whose owner or job was deleted ends with a failed result.
    """
    count = 0
    while started := _start_some(engine, registry):
        count += started
    return count


def _start_some(engine: Engine, registry: Registry) -> int:
    at = now()
    due = sa.select(_schedule).where(_ready, _schedule.c.next_run <= at)
    due = due.order_by(_schedule.c.next_run, _schedule.c.id).limit(_BATCH_SIZE)
    reading = registry.driver.connection_options(writing=False)
    with engine.connect().execution_options(**reading) as connection, connection.begin():
        if connection.execute(due.with_only_columns(_schedule.c.id)).first() is None:
            return 0
    writing = registry.driver.connection_options(writing=True)
    with engine.connect().execution_options(**writing) as connection, connection.begin():
        rows = [dict(row) for row in connection.execute(due.with_for_update(skip_locked=True)).mappings()]
        keys = {row["job_model_id"] for row in rows}
        job_rows = connection.execute(sa.select(_job).where(_job.c.id.in_(keys))).mappings()
        jobs = {row["id"]: dict(row) for row in job_rows}
        runs: list[dict[str, Any]] = []
        refused: list[tuple[dict[str, Any], str]] = []
        for row in rows:
            job = jobs.get(row["job_model_id"]) or {
                "id": None,
                "path": row["job_class"],
                "has_sensitive_variables": False,
            }
            arguments = row["kwargs"]
            run = job_results.row(
                registry,
                job,
                row["user_id"],
                arguments["data"],
                commit=arguments["commit"],
                at=at,
                schedule_id=row["id"],
            )
            reason = NO_JOB if job["id"] is None else NO_OWNER if row["user_id"] is None else ""
            values = {"date_changed": at, "next_run": None if reason else following_run(row, at)}
            if reason:
                refused.append((run, reason))
                log.warning("the schedule %s ended: %s", row["name"], reason)
            else:
                runs.append(run)
                values |= {"last_run_at": at, "total_run_count": row["total_run_count"] + 1}
            connection.execute(sa.update(_schedule).where(_schedule.c.id == row["id"]).values(values))
        if runs:
            connection.execute(sa.insert(_result), runs)
        if refused:
            job_results.insert_failed(connection.execute, refused, at)
    return len(rows)


def next_due(engine: Engine, registry: Registry) -> datetime.datetime | None:
    """Returns the earliest time of a schedule's next run, or None."""
    statement = sa.select(sa.func.min(_schedule.c.next_run)).where(_ready)
    reading = registry.driver.connection_options(writing=False)
    with engine.connect().execution_options(**reading) as connection, connection.begin():
        earliest: datetime.datetime | None = connection.execute(statement).scalar()
    return earliest
