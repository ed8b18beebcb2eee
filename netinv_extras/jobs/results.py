"""Job results and log entries: a result is the queue entry of a run until a worker has claimed it."""

from __future__ import annotations

import datetime
import json
import logging
import uuid
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
from pyramid.request import Request
from sqlalchemy.orm import Mapped

from netinv_core import answer_size, crypto
from netinv_core.auth.models import User
from netinv_core.errors import Conflict
from netinv_core.http.actions import documented
from netinv_core.http.views import key_of
from netinv_core.models.base import Customizable, Model, now, table_of
from netinv_core.models.columns import (
    CASCADE,
    SET_NULL,
    Choices,
    Ref,
    choice,
    column,
    foreign_key,
    integer,
    json_document,
)
from netinv_core.models.types import Chars, LongText
from netinv_core.presentation import Presentation
from netinv_core.read import filters, listing
from netinv_core.resource import Resource, computed
from netinv_core.sql.lookups import NUMBER, convert_flag
from netinv_core.sql.plans import plan_of
from netinv_core.tasks import queue as task_queue
from netinv_core.tasks.retention import Retention, older_than
from netinv_extras.change_requests.models import ChangeRequest
from netinv_extras.content_types import content_type_parameter
from netinv_extras.jobs.job_log import DEFAULT, FAILURE, INFO, SUCCESS, WARNING
from netinv_extras.jobs.models import Job
from netinv_extras.jobs.schedules import ScheduledJob

if TYPE_CHECKING:
    from netinv_core.registry import Registry
    from netinv_core.uow import UnitOfWork

log = logging.getLogger(__name__)
LABEL, JOBS = "extras.jobresult", "extras.job"
ASIDE = "Runs of jobs cannot be proposed: enter a change request, and run the job in it."
RUN = "run_jobs"  # name of the task that runs pending jobs
PENDING, RUNNING, COMPLETED, ERRORED, FAILED = "pending", "running", "completed", "errored", "failed"
STATES = Choices.of(
    (PENDING, "Pending"),
    (RUNNING, "Running"),
    (COMPLETED, "Completed"),
    (ERRORED, "Errored"),
    (FAILED, "Failed"),
)
TOLD_AGAIN_AFTER = datetime.timedelta(hours=1)  # that a user may not run a job
LEVELS = Choices.of(
    (DEFAULT, "Default"),
    (SUCCESS, "Success"),
    (INFO, "Info"),
    (WARNING, "Warning"),
    (FAILURE, "Failure"),
)


class JobResult(Customizable):
    """A run of a job: ``pending``, then ``running``, finally ``completed``, ``failed`` or ``errored``.

    ``job_id`` is the request id of its changes; those of a run in a change request are added to it, and counted by
    ``proposed_changes``. ``arguments`` are encrypted, and deleted when the run ends. The worker ``claimed_by`` has a
    lease on the run until ``claimed_until``. ``unfinished`` is true for a run that ended before its job did: it was not
    started, or its process or worker was gone.
    """

    __tablename__ = "extras_job_result"
    __table_args__ = (
        sa.Index("ix_extras_job_result_waiting", "status", "created"),
        sa.Index("ix_extras_job_result_order", "created", "id"),
    )

    created: Mapped[datetime.datetime] = column(default=now, read_only=True)
    completed: Mapped[datetime.datetime | None] = column(default=None, read_only=True)
    name: Mapped[str] = column(Chars(255), read_only=True, index=True)
    job_model_id: Mapped[Ref | None] = foreign_key(Job, on_delete=SET_NULL, read_only=True)
    obj_type: Mapped[str] = column(Chars(100), read_only=True, index=True)
    status: Mapped[str] = choice(STATES, 30, default=PENDING, read_only=True)
    user_id: Mapped[Ref | None] = foreign_key(
        User, on_delete=SET_NULL, read_only=True, when_cleared="Those that have not begun fail, with the reason."
    )
    data: Mapped[Any | None] = json_document(read_only=True)
    job_id: Mapped[uuid.UUID] = column(read_only=True, unique=True)
    job_kwargs: Mapped[Any | None] = json_document(read_only=True)
    schedule_id: Mapped[Ref | None] = foreign_key(ScheduledJob, on_delete=SET_NULL, read_only=True)
    proposed_in_id: Mapped[Ref | None] = foreign_key(ChangeRequest, on_delete=SET_NULL, read_only=True)
    proposed_changes: Mapped[int | None] = integer(default=None, read_only=True)
    arguments: Mapped[str] = column(LongText(), hidden=True, confidential=True, encrypted=True, default="")
    claimed_by: Mapped[uuid.UUID | None] = column(default=None, hidden=True)
    claimed_until: Mapped[datetime.datetime | None] = column(default=None, hidden=True)
    unfinished: Mapped[bool] = column(default=False, hidden=True)


class JobLogEntry(Model):
    """A log entry of a job; ``position`` is its number within the run."""

    __tablename__ = "extras_job_log_entry"
    __table_args__ = (sa.Index("ix_extras_job_log_entry_order", "created", "position", "id"),)

    absolute_url: Mapped[str | None] = column(Chars(255), default=None, read_only=True)
    created: Mapped[datetime.datetime] = column(default=now, read_only=True)
    grouping: Mapped[str] = column(Chars(100), default="main", read_only=True)
    job_result_id: Mapped[Ref] = foreign_key(JobResult, on_delete=CASCADE, plain=True, read_only=True)
    log_level: Mapped[str] = choice(LEVELS, 32, default=DEFAULT, plain=True, read_only=True)
    log_object: Mapped[str | None] = column(Chars(200), default=None, read_only=True)
    message: Mapped[str] = column(LongText(), default="", read_only=True)
    position: Mapped[int] = column(hidden=True, default=0)


_table = table_of(JobResult)
# A run that waits or runs is kept. Its log goes with it.
retention = Retention(_table, older_than("job_result_retention", _table.c.created, _table.c.completed.is_not(None)))
_STATUS = {
    "type": "object",
    "properties": {"value": {"type": "string"}, "label": {"type": "string"}},
    "required": ["value", "label"],
}


def result_display_name(job_name: str | None, path: str, created: datetime.datetime) -> str:
    """The name of the job, without one the last part of its path, and the time at which the run was asked for."""
    return f"{job_name or path.rpartition('/')[2]} {created.replace(tzinfo=None):%Y-%m-%d %H:%M:%S} UTC"


def _label_status(status: str) -> dict[str, str]:
    """Returns the status as the full form represents it."""
    return {"value": status, "label": STATES.labels[status]}


job_results = Resource(
    JobResult,
    "job-results",
    display=(result_display_name, "job_model.name", "name", "created"),
    brief=["name", "created", "completed", "user", "status"],
    brief_fields=[computed("status", _label_status, "status", openapi=_STATUS)],
    order=["-created"],
    search=["name", "user.username"],
    filters=[
        content_type_parameter("obj_type"),
        *(filters.value(name, lookup_names=NUMBER) for name in ("created", "completed")),
    ],
    recorded=False,
    writes=["delete"],
    exempt_by_name_only=True,
    presentation=Presentation(
        empty="Run a job, and its result appears here.",
        columns=["status", "user", "created", "completed", "schedule"],
        facets=["status", "user"],
        summary=["status", "job_model", "user", "completed"],
        hidden=["data", "obj_type"],
    ),
)


@job_results.filter("unfinished", multiple=False, kind="boolean")
def filter_unfinished(uow: UnitOfWork, table: Any, values: list[str]) -> Any:
    """Filters by the runs that could not be started, or were broken off from outside."""
    return table.c.unfinished.is_(convert_flag(values[-1]))


job_logs = Resource(
    JobLogEntry,
    "job-logs",
    title="job log entry",
    plural="job log entries",
    display=(datetime.datetime.isoformat, "created"),
    brief=[],
    order=["created", "position"],
    search=["message", "log_object", "grouping"],
    filters=[
        filters.value("created", lookup_names=NUMBER),
        filters.related("job_result", by=(), multiple=False),
        filters.one_of("log_level", LEVELS, multiple=False),
    ],
    writable=False,
    recorded=False,
    exempt_by_name_only=True,
    presentation=Presentation(empty="Run a job, and what it logs appears here."),
)


def row(
    registry: Registry,
    job: Any,
    user_id: uuid.UUID | None,
    data: dict[str, Any],
    *,
    commit: bool,
    at: datetime.datetime,
    schedule_id: uuid.UUID | None = None,
    shown: dict[str, Any] | None = None,
    proposed_in: uuid.UUID | None = None,
) -> dict[str, Any]:
    """Returns the row of a new pending run, in the change request ``proposed_in`` if there is one.

    ``job`` is the job's row, ``data`` the stored values of its variables, ``shown`` those that answers show if others.
    The arguments name the change request, too: a run whose change request is deleted must not write elsewhere.
    """
    visible = {"data": data if shown is None else shown, "commit": commit}
    arguments = {"data": data, "commit": commit, "proposed_in": None if proposed_in is None else str(proposed_in)}
    return {
        "id": uuid.uuid4(),
        "created": at,
        "name": job["path"][:255],
        "job_model_id": job["id"],
        "obj_type": JOBS,
        "status": PENDING,
        "user_id": user_id,
        "job_id": uuid.uuid4(),
        "job_kwargs": None if job["has_sensitive_variables"] else visible,
        "schedule_id": schedule_id,
        "proposed_in_id": proposed_in,
        "proposed_changes": None if proposed_in is None else 0,
        "custom_field_data": {},
        "arguments": crypto.encrypt(registry.settings["secret"], json.dumps(arguments)),
    }


def enqueue(uow: UnitOfWork, rows: Sequence[dict[str, Any]]) -> None:
    """Inserts rows of :func:`row` in one statement, and notifies the worker after the commit.

    In a change request the answer has them, and they are inserted again once its changes are rolled back.

    :raises Conflict: for runs that are not in the change request of the unit of work
    """
    if uow.aside is not None:
        if uow.aside.key is None or any(item["proposed_in_id"] != uow.aside.key for item in rows):
            raise Conflict(ASIDE)
        uow.aside.then.append(lambda: _insert(uow, rows))
    _insert(uow, rows)


def add_failed(uow: UnitOfWork, refused: Sequence[tuple[Any, str]]) -> None:
    """Inserts results of jobs that were not started, each with the reason in its log: three statements. A job that the
    user was refused for the same reason within the last hour gets no further one.

    :param refused: rows of jobs, with the reasons
    """
    entries = table_of(JobLogEntry)
    told = set(
        uow.execute(
            sa.select(_table.c.job_model_id, entries.c.message)
            .join_from(_table, entries, entries.c.job_result_id == _table.c.id)
            .where(
                _table.c.job_model_id.in_({job["id"] for job, _ in refused}),
                _table.c.user_id == uow.identity.user_id,
                _table.c.status == FAILED,
                _table.c.created > uow.now - TOLD_AGAIN_AFTER,
                entries.c.message.in_({text for _, text in refused}),
            )
        ).tuples()
    )
    runs = [
        (row(uow.registry, job, uow.identity.user_id, {}, commit=True, at=uow.now), text)
        for job, text in refused
        if (job["id"], text) not in told
    ]
    if runs:
        insert_failed(uow.execute, runs, uow.now)


def insert_failed(
    execute: Callable[..., Any], refused: Sequence[tuple[dict[str, Any], str]], at: datetime.datetime
) -> None:
    """Inserts rows of :func:`row` as failed runs, each with the reason in its log: two statements.

    :param execute: executes a statement with a list of parameters
    """
    ended = {"status": FAILED, "completed": at, "job_kwargs": None, "arguments": "", "unfinished": True}
    entry = {"created": at, "grouping": "main", "log_level": FAILURE, "position": 0}
    for run, text in refused:
        log.warning("the run %s of the job %s was not started: %s", run["id"], run["name"], text)
    execute(sa.insert(_table), [{**run, **ended} for run, _ in refused])
    entries = [{"id": uuid.uuid4(), "job_result_id": run["id"], "message": text, **entry} for run, text in refused]
    execute(sa.insert(table_of(JobLogEntry)), entries)


def _insert(uow: UnitOfWork, rows: Sequence[dict[str, Any]]) -> None:
    uow.execute(sa.insert(_table), list(rows))
    task_queue.notify_worker(uow, RUN)


_LOG_MEMBERS: dict[str, dict[str, Any]] = {
    "id": {"type": "string", "format": "uuid"},
    "url": {"type": "string", "format": "uri"},
    "absolute_url": {"type": "string", "nullable": True},
    "created": {"type": "string", "format": "date-time"},
    "grouping": {"type": "string"},
    "log_level": {"type": "string", "enum": [level for level, _ in LEVELS.items]},
    "log_object": {"type": "string", "nullable": True},
    "message": {"type": "string"},
}
_ENTRY = {"type": "object", "properties": {"display": {"type": "string"}, **_LOG_MEMBERS}}


@documented(_ENTRY, form="list")
def list_logs(request: Request) -> list[dict[str, Any]]:
    """Lists the log entries of a result, in order."""
    uow, key = request.uow, key_of(request)
    listing.detail(uow, request.context.endpoint, key, shape="nested")
    entries = table_of(JobLogEntry)
    of_result = sa.select(entries.c.id).where(entries.c.job_result_id == key)
    keys = list(uow.execute(of_result.order_by(entries.c.position, entries.c.created, entries.c.id)).scalars())
    answer_size.check(uow.registry, len(keys), 0)
    items = plan_of(uow.registry["extras.joblogentry"]).represent(uow, keys)
    return [{"display": item["message"], **{name: item[name] for name in _LOG_MEMBERS}} for item in items]


def includeme(config: Any) -> None:
    """Adds ``job-results/{id}/logs/``."""
    config.add_netinv_action("extras/job-results", "logs", get=list_logs, permission="view")
