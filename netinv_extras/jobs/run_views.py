"""Views that run jobs: ``run/`` and ``variables/`` below jobs."""

from __future__ import annotations

import datetime
import uuid
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import colander
from pyramid.request import Request

from netinv_core.errors import Conflict, Denied, Invalid, NotFound, not_an_object
from netinv_core.fields import schema
from netinv_core.http.actions import documented
from netinv_core.http.serialization import body_of
from netinv_core.http.views import key_of
from netinv_core.models.columns import ColumnInfo
from netinv_core.read import listing
from netinv_core.sql.plans import plan_of
from netinv_extras.jobs import input as job_input
from netinv_extras.jobs import results as job_results
from netinv_extras.jobs import schedules as job_schedules
from netinv_extras.jobs.catalog import JobClass
from netinv_extras.jobs.crontab import Crontab
from netinv_extras.jobs.declarations import settings_of
from netinv_extras.jobs.models import DEFAULT_QUEUES, class_of
from netinv_extras.jobs.schedules import CUSTOM, IMMEDIATELY, INTERVALS

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.uow import UnitOfWork

NOT_ENABLED = "This job is not enabled to be run."
NOT_INSTALLED = "This job is not presently installed and cannot be run."
OF_SERVICE = "This job is run by the service itself."
SENSITIVE = (
    "A job that may have sensitive variables can only be run immediately: its input would be kept in clear until then."
)
FILES = "A job that is given files can only be run immediately, without approval: they are not kept until then."
IMMEDIATELY_ASIDE = "In a change request a job can only be run immediately."
APPROVED_ASIDE = "A job that requires approval cannot be run in a change request."
EFFECTS_ASIDE = "This job has effects outside of the inventory (in_change_requests): no change request can have them."
CLOCK_TOLERANCE = datetime.timedelta(minutes=1)  # start times up to this long ago are accepted
_commit = schema.node("commit", bool, ColumnInfo(), length=None, digits=None)
_interval = schema.node("interval", str, ColumnInfo(choices=INTERVALS, plain=True), length=None, digits=None)
_moment = schema.node("start_time", datetime.datetime, ColumnInfo(), length=None, digits=None)
_name = schema.node("name", str, ColumnInfo(), length=200, digits=None)
_crontab = schema.node("crontab", str, ColumnInfo(), length=255, digits=None)
Row = Mapping[str, Any]

_SCHEDULE = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "maxLength": 200},
        "interval": {"type": "string", "enum": [name for name, _ in INTERVALS.items]},
        "start_time": {"type": "string", "format": "date-time"},
        "crontab": {"type": "string", "maxLength": 255},
    },
    "required": ["interval"],
}
REQUEST = {
    "type": "object",
    "properties": {
        "data": {"type": "object", "additionalProperties": True},
        "commit": {"type": "boolean"},
        "schedule": _SCHEDULE,
        "task_queue": {"type": "string"},
    },
}
RESPONSE = {
    "type": "object",
    "properties": {
        "schedule": {"type": "object", "nullable": True},
        "job_result": {"type": "object", "nullable": True},
    },
    "required": ["schedule", "job_result"],
}
_TEXTS = ("name", "type", "label", "help_text", "model")
_VARIABLE = {
    "type": "object",
    "properties": {
        **{name: {"type": "string"} for name in _TEXTS},
        "required": {"type": "boolean"},
        **{name: {"type": "integer"} for name in ("min_length", "max_length", "min_value", "max_value")},
        "choices": {"type": "array", "items": {"type": "array", "items": {}}},
        "default": {},
    },
    "required": ["name", "type", "required"],
}


# -- checks


def runnable(uow: UnitOfWork, endpoint: Endpoint, key: Any) -> tuple[Row, JobClass]:
    """Returns the row and the class of a job that the user may run.

    :raises NotFound: if the job does not exist, or the user may not view it
    :raises Denied: if the user may not run it, or it is not enabled or not installed
    """
    row = listing.rows(uow, endpoint, [key], "run").get(key)
    if row is None:
        _check_visible(uow, endpoint, key)
        raise Denied()
    job_class = class_of(uow, row) if row["installed"] else None
    if job_class is None:
        raise Denied(NOT_INSTALLED)
    if job_class.job.system:
        raise Denied(OF_SERVICE)
    if not row["enabled"]:
        raise Denied(NOT_ENABLED)
    return row, job_class


def _check_visible(uow: UnitOfWork, endpoint: Endpoint, key: Any) -> None:
    """Checks that the user may view a job.

    :raises NotFound: if not; 404 instead of 403 does not reveal that the job exists
    """
    try:
        listing.detail(uow, endpoint, key, shape="nested")
    except Denied:
        raise NotFound() from None


# -- requests


def start(uow: UnitOfWork, endpoint: Endpoint, key: Any, body: Any) -> tuple[uuid.UUID | None, uuid.UUID | None]:
    """Enqueues a run of a job, or schedules it if it is to run later or after approval.

    Returns the id of the result or that of the schedule, the other is ``None``.

    :raises Invalid: if the body is not valid
    :raises Conflict: for a job that cannot be run in the change request of the unit of work
    """
    row, job_class = runnable(uow, endpoint, key)
    if not isinstance(body, dict):
        raise Invalid(not_an_object(body))
    proposed_in = None if uow.aside is None else uow.aside.key
    if uow.aside is not None and (reason := refusal_aside(row, job_class)):
        raise Conflict(reason)
    commit = _commit_flag(row, body.get("commit"))
    queue = _queue_name(row, body.get("task_queue"))
    schedule = _parse_schedule(uow, row, body.get("schedule"))
    data = job_input.read(uow, job_class.job, body.get("data", {}))
    shown = job_input.without_files(job_class.job, data)
    if uow.aside is not None and schedule["interval"] != IMMEDIATELY:
        raise Invalid({"schedule": {"interval": [IMMEDIATELY_ASIDE]}})
    if schedule["interval"] != IMMEDIATELY or row["approval_required"]:
        if shown != data:
            raise Invalid({"schedule": {"interval": [FILES]}})
        kwargs = {"data": data, "commit": commit}
        (key,) = job_schedules.add(uow, [job_schedules.row(uow, row, schedule, kwargs, queue)])
        return None, key
    result = job_results.row(
        uow.registry,
        row,
        uow.identity.user_id,
        data,
        commit=commit,
        at=uow.now,
        shown=shown,
        proposed_in=proposed_in,
    )
    job_results.enqueue(uow, [result])
    return result["id"], None


def refusal_aside(row: Row, job_class: JobClass) -> str:
    """Returns the reason why a job cannot be run in a change request; blank if it can."""
    if row["approval_required"]:
        return APPROVED_ASIDE
    return "" if settings_of(job_class.job)["in_change_requests"] else EFFECTS_ASIDE


def _commit_flag(row: Row, value: Any) -> bool:
    """Returns true if the run commits; the default is the job's. Read-only jobs never commit."""
    if value is None:
        value = row["commit_default"]
    try:
        return bool(schema.parse(_commit, value)) and not row["read_only"]
    except colander.Invalid as error:
        raise Invalid({"commit": schema.messages(error)}) from None


def _queue_name(row: Row, value: Any) -> str | None:
    """Returns the queue: one of the job's, by default its first."""
    queues = tuple(row["task_queues"]) or DEFAULT_QUEUES
    if value in (None, ""):
        return queues[0] if row["task_queues"] else None
    if value not in queues:
        raise Invalid.field("task_queue", f'"{value}" is not a valid choice.')
    return str(value)


def _parse_schedule(uow: UnitOfWork, row: Row, value: Any) -> dict[str, Any]:
    """Returns ``name``, ``interval``, ``start_time`` and ``crontab`` of a request's schedule, by default immediately.

    :raises Invalid: ``{"schedule": {member: [message]}}``
    """
    if value is None:
        value = {"interval": IMMEDIATELY}
    if not isinstance(value, dict):
        raise Invalid({"schedule": not_an_object(value)})
    errors: dict[str, list[str]] = {}
    schedule: dict[str, Any] = {"name": "", "start_time": None, "crontab": ""}
    for name, node in (("interval", _interval), ("name", _name), ("start_time", _moment)):
        if value.get(name) is None:
            if name == "interval":
                errors[name] = [schema.REQUIRED]
            continue
        try:
            schedule[name] = schema.parse(node, value[name])
        except colander.Invalid as error:
            errors[name] = schema.messages(error)
    if not errors:
        errors = _complete_schedule(uow, row, schedule, value.get("crontab"))
    if errors:
        raise Invalid({"schedule": errors})
    return schedule


def _complete_schedule(uow: UnitOfWork, row: Row, schedule: dict[str, Any], crontab: Any) -> dict[str, list[str]]:
    """Sets the defaults of a schedule and checks that its members fit together; returns errors by member."""
    interval = schedule["interval"]
    if interval == IMMEDIATELY:
        at_once = job_schedules.immediately(uow, row)
        schedule["start_time"], schedule["name"] = at_once["start_time"], schedule["name"] or at_once["name"]
        return {}
    errors: dict[str, list[str]] = {}
    if row["has_sensitive_variables"]:
        errors["interval"] = [SENSITIVE]
    if not schedule["name"]:
        errors["name"] = [schema.REQUIRED]
    if schedule["start_time"] is None and interval == CUSTOM:
        schedule["start_time"] = uow.now
    elif schedule["start_time"] is None:
        errors["start_time"] = [schema.REQUIRED]
    elif schedule["start_time"] < uow.now - CLOCK_TOLERANCE:
        errors["start_time"] = ["The time must not be in the past."]
    if interval == CUSTOM:
        try:
            schedule["crontab"] = _parse_crontab(crontab)
        except colander.Invalid as error:
            errors["crontab"] = schema.messages(error)
        except ValueError as error:
            errors["crontab"] = [str(error)]
    return errors


def _parse_crontab(value: Any) -> str:
    """Returns a valid crontab expression.

    :raises ValueError: if it is missing or not valid
    :raises colander.Invalid: if it is not a text of the column's length
    """
    if not isinstance(value, str) or not value.strip():
        raise ValueError(schema.REQUIRED)
    text: str = schema.parse(_crontab, value)
    Crontab(value)
    return text


# -- responses


def represent(uow: UnitOfWork, label: str, key: Any, shape: str = "brief") -> dict[str, Any] | None:
    """Returns the representation of an object by id, ``None`` without id. One statement."""
    return plan_of(uow.registry[label], shape).represent(uow, [key])[0] if key is not None else None


def represent_run(uow: UnitOfWork, result_id: Any, schedule_id: Any) -> dict[str, Any]:
    """Returns the response to a request for a run: its result or its schedule."""
    schedule = represent(uow, job_schedules.LABEL, schedule_id)
    return {"schedule": schedule, "job_result": represent(uow, job_results.LABEL, result_id)}


@documented(RESPONSE, request_body=REQUEST, status=201, ignores_unknown=True)
def run(request: Request) -> dict[str, Any]:
    """Runs a job, immediately or on a schedule."""
    uow = request.uow
    result_id, schedule_id = start(uow, request.context.endpoint, key_of(request), body_of(request))
    request.response.status_int = 201
    return represent_run(uow, result_id, schedule_id)


@documented(_VARIABLE, form="list")
def variables(request: Request) -> list[dict[str, Any]]:
    """Lists the variables of a job."""
    uow, key = request.uow, key_of(request)
    row = listing.rows(uow, request.context.endpoint, [key], "view").get(key)
    if row is None:
        raise NotFound()
    job_class = class_of(uow, row)
    if job_class is None:
        raise Denied(NOT_INSTALLED)
    return [variable.represent(name) for name, variable in job_class.job.variables().items()]


def includeme(config: Any) -> None:
    """Adds ``jobs/{id}/run/`` and ``jobs/{id}/variables/``."""
    config.add_netinv_action("extras/jobs", "run", post=run, permission="run", runs_aside=True)
    config.add_netinv_action("extras/jobs", "variables", get=variables, permission="view")
