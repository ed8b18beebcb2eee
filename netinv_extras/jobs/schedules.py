"""Scheduled jobs: runs at a later time, once or repeatedly, after approval if the job requires it."""

from __future__ import annotations

import dataclasses
import datetime
import uuid
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
from sqlalchemy.orm import Mapped

from netinv_core.auth.models import User
from netinv_core.fields.from_column import from_column
from netinv_core.models.base import Model, now, table_of
from netinv_core.models.columns import SET_NULL, Choices, Ref, choice, column, column_info, foreign_key, json_document
from netinv_core.models.types import Chars, LongText
from netinv_core.presentation import Presentation
from netinv_core.read import filters
from netinv_core.resource import FieldFactory, Resource
from netinv_core.sql.lookups import NUMBER, convert_flag, negated
from netinv_extras.jobs.crontab import Crontab
from netinv_extras.jobs.models import Job

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.fields import Field
    from netinv_core.registry import Registry
    from netinv_core.uow import UnitOfWork

LABEL = "extras.scheduledjob"
IMMEDIATELY, FUTURE, CUSTOM = "immediately", "future", "custom"
STEPS = {
    "hourly": datetime.timedelta(hours=1),
    "daily": datetime.timedelta(days=1),
    "weekly": datetime.timedelta(weeks=1),
}
INTERVALS = Choices.of(
    (IMMEDIATELY, "Once immediately"),
    (FUTURE, "Once in the future"),
    ("hourly", "Recurring hourly"),
    ("daily", "Recurring daily"),
    ("weekly", "Recurring weekly"),
    (CUSTOM, "Recurring custom"),
)
NO_OWNER = "The account that asked for it was deleted, or is not active."
NOT_APPROVED = "Its job requires approval by now, for which it was never given. Ask for it anew."
NO_JOB = "Its job was deleted, is not installed, or is not enabled."
TASK = "nautobot.extras.jobs.scheduled_job_handler"  # value that API clients expect


class ScheduledJob(Model):
    """A schedule of a job: runs from ``start_time`` on, repeated by ``interval``.

    ``kwargs`` is ``{"data": …, "commit": …}`` with the values of the job's variables. ``next_run`` is the time of the
    next run, ``None`` if there is none.
    """

    __tablename__ = "extras_scheduled_job"

    name: Mapped[str] = column(Chars(200), read_only=True)
    user_id: Mapped[Ref | None] = foreign_key(
        User, on_delete=SET_NULL, read_only=True, when_cleared="They run no more, and cannot be approved."
    )
    job_model_id: Mapped[Ref | None] = foreign_key(
        Job, on_delete=SET_NULL, read_only=True, when_cleared="They run no more, and cannot be approved."
    )
    task: Mapped[str] = column(Chars(200), default=TASK, read_only=True)
    interval: Mapped[str] = choice(INTERVALS, 255, default=FUTURE, plain=True, read_only=True)
    queue: Mapped[str | None] = column(Chars(200), default=None, read_only=True)
    job_class: Mapped[str] = column(Chars(255), read_only=True)
    last_run_at: Mapped[datetime.datetime | None] = column(default=None, read_only=True)
    total_run_count: Mapped[int] = column(default=0, read_only=True)
    date_changed: Mapped[datetime.datetime] = column(default=now, read_only=True)
    description: Mapped[str] = column(LongText(), default="", read_only=True)
    approved_by_user_id: Mapped[Ref | None] = foreign_key(User, on_delete=SET_NULL, read_only=True)
    approval_required: Mapped[bool] = column(default=False, read_only=True)
    approved_at: Mapped[datetime.datetime | None] = column(default=None, read_only=True)
    crontab: Mapped[str] = column(Chars(255), default="", read_only=True)
    kwargs: Mapped[dict[str, Any]] = json_document(default=dict, hidden=True, confidential=True)
    start_time: Mapped[datetime.datetime] = column(hidden=True)
    next_run: Mapped[datetime.datetime | None] = column(default=None, hidden=True, index=True)


def _start_time(registry: Registry, endpoint: Endpoint) -> Field:
    """Returns the field ``start_time``, which is hidden except in the brief form."""
    table_column = endpoint.table.c.start_time
    info = dataclasses.replace(column_info(table_column), hidden=False, read_only=True)
    field = from_column(registry, "start_time", table_column, info)
    assert field is not None
    return field


scheduled_jobs = Resource(
    ScheduledJob,
    "scheduled-jobs",
    title="scheduled job",
    display=("{}: {}".format, "name", "interval"),
    brief=["name", "start_time", "interval", "crontab"],
    brief_fields=[FieldFactory("start_time", _start_time)],
    order=["name"],
    search=["name", "job_class", "description"],
    filters=[
        filters.value("start_time", lookup_names=NUMBER),
        filters.value("last_run_at", lookup_names=NUMBER),
        filters.related("job_model", by="slug"),
    ],
    recorded=False,
    writes=["delete"],
    exempt_by_name_only=True,
    presentation=Presentation(
        empty="Run a job at a later time, or at an interval, and its schedule appears here.",
        columns=["state", "job_model", "interval", "user", "last_run_at", "total_run_count"],
    ),
)
_users, _jobs = table_of(User), table_of(Job)


@scheduled_jobs.filter("awaits_approval", multiple=False, kind="boolean")
def awaits_approval(uow: UnitOfWork, table: Any, values: list[str]) -> Any:
    """Filters by the runs that another user still has to approve."""
    condition = waits_for_approval(table)
    return condition if convert_flag(values[-1]) else negated(condition)


@scheduled_jobs.filter("cannot_run", multiple=False, kind="boolean")
def cannot_run(uow: UnitOfWork, table: Any, values: list[str]) -> Any:
    """Filters by the schedules whose runs are still to come, and cannot: the account or the job is missing."""
    condition = obstacle(table).is_not(None)
    return condition if convert_flag(values[-1]) else sa.not_(condition)


def waits_for_approval(table: Any) -> Any:
    """The condition that a run needs an approval that it does not have yet."""
    return sa.and_(table.c.approval_required, table.c.approved_at.is_(None))


def obstacle(table: Any) -> Any:
    """The reason why the runs of a schedule that are still to come cannot be started; NULL if nothing is in the way.

    A schedule that was to run once has no run to come after that one.
    """
    is_over = sa.and_(table.c.interval.in_([IMMEDIATELY, FUTURE]), table.c.total_run_count > 0)
    has_owner = sa.exists().where(_users.c.id == table.c.user_id, _users.c.is_active).correlate(table)
    is_job = (_jobs.c.id == table.c.job_model_id, _jobs.c.enabled, _jobs.c.installed)
    has_job = sa.exists().where(*is_job).correlate(table)
    lacks_approval = sa.and_(sa.not_(table.c.approval_required), table.c.approved_at.is_(None))
    needs_it = sa.exists().where(*is_job, _jobs.c.approval_required).correlate(table)
    reasons = (
        (is_over, sa.null()),
        (sa.not_(has_owner), NO_OWNER),
        (sa.not_(has_job), NO_JOB),
        (sa.and_(lacks_approval, needs_it), NOT_APPROVED),
    )
    return sa.case(*reasons, else_=sa.null())


def immediately(uow: UnitOfWork, job: Mapping[str, Any]) -> dict[str, Any]:
    """Returns ``name``, ``interval``, ``start_time`` and ``crontab`` of a schedule that runs a job once, at once."""
    name = f"{job['name']} - {uow.now:%Y-%m-%d %H:%M:%S}"
    return {"name": name, "interval": IMMEDIATELY, "start_time": uow.now, "crontab": ""}


def row(
    uow: UnitOfWork, job: Mapping[str, Any], schedule: Mapping[str, Any], kwargs: dict[str, Any], queue: str | None
) -> dict[str, Any]:
    """Returns the row of a new schedule of the user: of a job's row, with the members of :func:`immediately`."""
    interval, start_time = schedule["interval"], schedule["start_time"]
    return {
        "id": uuid.uuid4(),
        **schedule,
        "user_id": uow.identity.user_id,
        "job_model_id": job["id"],
        "task": TASK,
        "queue": queue,
        "job_class": job["path"],
        "last_run_at": start_time - STEPS[interval] if interval in STEPS else None,
        "total_run_count": 0,
        "date_changed": uow.now,
        "description": f"Nautobot job {schedule['name']} scheduled by {uow.identity.username} on {start_time}",
        "approval_required": job["approval_required"],
        "kwargs": kwargs,
        "next_run": first_run(interval, start_time, schedule["crontab"]),
    }


def add(uow: UnitOfWork, rows: Sequence[dict[str, Any]]) -> list[uuid.UUID]:
    """Inserts rows of :func:`row` in one statement; returns their ids."""
    uow.execute(sa.insert(table_of(ScheduledJob)), list(rows))
    return [item["id"] for item in rows]


def first_run(interval: str, start: datetime.datetime, crontab: str) -> datetime.datetime | None:
    """Returns the time of the first run, at or after ``start``."""
    if interval != CUSTOM:
        return start
    return Crontab(crontab).after(start - datetime.timedelta(microseconds=1))


def following_run(row: Mapping[str, Any], at: datetime.datetime) -> datetime.datetime | None:
    """Returns the first run of a schedule after ``at``, ``None`` if there is none. Missed runs are skipped."""
    if row["interval"] == CUSTOM:
        return Crontab(row["crontab"]).after(at)
    step = STEPS.get(row["interval"])
    if step is None:
        return None
    start: datetime.datetime = row["start_time"]
    return start + step * ((at - start) // step + 1)
