"""Asking for runs of jobs: ``run/`` and ``variables/`` below jobs."""

from __future__ import annotations

import datetime
import uuid
from collections.abc import Mapping
from typing import Any

import colander
import sqlalchemy as sa
from pyramid.request import Request

from netinv_core.endpoint import Endpoint
from netinv_core.errors import Denied, Invalid, NotFound
from netinv_core.http.actions import documented
from netinv_core.http.serialization import body_of
from netinv_core.http.views import key_of
from netinv_core.models.base import table_of
from netinv_core.models.columns import ColumnInfo
from netinv_core.read import listing
from netinv_core.uow import UnitOfWork
from netinv_core.write import schema
from netinv_extras.jobs import input as job_input
from netinv_extras.jobs import results as job_results
from netinv_extras.jobs import schedules as job_schedules
from netinv_extras.jobs.catalog import JobClass
from netinv_extras.jobs.crontab import Crontab
from netinv_extras.jobs.models import DEFAULT_QUEUES, class_of
from netinv_extras.jobs.schedules import CUSTOM, IMMEDIATELY, INTERVALS, STEPS, ScheduledJob

NOT_ENABLED = "This job is not enabled to be run."
NOT_INSTALLED = "This job is not presently installed and cannot be run."
SENSITIVE = "A job that may have sensitive variables can only be run immediately: its input would be kept in clear until then."
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
TAKES = {
    "type": "object",
    "properties": {
        "data": {"type": "object", "additionalProperties": True},
        "commit": {"type": "boolean"},
        "schedule": _SCHEDULE,
        "task_queue": {"type": "string"},
    },
}
GIVES = {
    "type": "object",
    "properties": {"schedule": {"type": "object", "nullable": True}, "job_result": {"type": "object", "nullable": True}},
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


# -- what may be run


def runnable(uow: UnitOfWork, endpoint: Endpoint, key: Any) -> tuple[Row, JobClass]:
    """The row and the class of a job that the user may run.

    :raises NotFound: when there is no such job for the user
    :raises Denied: without permission to run it, and for a job that is not there or not enabled
    """
    row = listing.rows(uow, endpoint, [key], "run").get(key)
    if row is None:
        _check_visible(uow, endpoint, key)
        raise Denied()
    if not row["installed"] or (found := class_of(uow, row)) is None:
        raise Denied(NOT_INSTALLED)
    if not row["enabled"]:
        raise Denied(NOT_ENABLED)
    return row, found


def _check_visible(uow: UnitOfWork, endpoint: Endpoint, key: Any) -> None:
    """Answers a job that the user may not view like one that is not there, also without any permission to view jobs.

    :raises NotFound: for both
    """
    try:
        listing.detail(uow, endpoint, key, shape="nested")
    except Denied:
        raise NotFound() from None


# -- asking


def start(uow: UnitOfWork, endpoint: Endpoint, key: Any, body: Any) -> tuple[uuid.UUID | None, uuid.UUID | None]:
    """Takes a request to run a job: the id of its result, or of its schedule when it is to run later or after approval."""
    row, found = runnable(uow, endpoint, key)
    if not isinstance(body, dict):
        raise Invalid.whole(f"Invalid data. Expected a dictionary, but got {type(body).__name__}.")
    commit = _committing(row, body.get("commit"))
    queue = _queue(row, body.get("task_queue"))
    schedule = _schedule(uow, row, body.get("schedule"))
    data = job_input.read(uow, found.job, body.get("data", {}))
    if schedule["interval"] != IMMEDIATELY or row["approval_required"]:
        return None, _add_schedule(uow, row, schedule, {"data": data, "commit": commit}, queue)
    made = job_results.row(uow.registry, row, uow.identity.user_id, data, commit=commit, at=uow.now)
    job_results.enqueue(uow, [made])
    return made["id"], None


def _committing(row: Row, given: Any) -> bool:
    if given is None:
        given = row["commit_default"]
    try:
        return bool(schema.parse(_commit, given)) and not row["read_only"]
    except colander.Invalid as error:
        raise Invalid({"commit": schema.messages(error)}) from None


def _queue(row: Row, given: Any) -> str | None:
    """The queue: one of the job's, the first when none is given."""
    queues = tuple(row["task_queues"]) or DEFAULT_QUEUES
    if given in (None, ""):
        return queues[0] if row["task_queues"] else None
    if given not in queues:
        raise Invalid.field("task_queue", f'"{given}" is not a valid choice.')
    return str(given)


def _schedule(uow: UnitOfWork, row: Row, given: Any) -> dict[str, Any]:
    """When to run: name, interval, start_time and crontab."""
    if given is None:
        given = {"interval": IMMEDIATELY}
    if not isinstance(given, dict):
        raise Invalid({"schedule": {"non_field_errors": [f"Invalid data. Expected a dictionary, but got {type(given).__name__}."]}})
    errors: dict[str, list[str]] = {}
    found: dict[str, Any] = {"name": "", "start_time": None, "crontab": ""}
    for name, node in (("interval", _interval), ("name", _name), ("start_time", _moment)):
        if given.get(name) is None:
            if name == "interval":
                errors[name] = [schema.REQUIRED]
            continue
        try:
            found[name] = schema.parse(node, given[name])
        except colander.Invalid as error:
            errors[name] = schema.messages(error)
    if not errors:
        errors = _faults(uow, row, found, given.get("crontab"))
    if errors:
        raise Invalid({"schedule": errors})
    return found


def _faults(uow: UnitOfWork, row: Row, found: dict[str, Any], crontab: Any) -> dict[str, list[str]]:
    """What is missing or does not fit together; completes what was found."""
    interval, errors = found["interval"], {}
    if interval == IMMEDIATELY:
        found["start_time"] = uow.now
        found["name"] = found["name"] or f"{row['name']} - {uow.now:%Y-%m-%d %H:%M:%S}"
        return {}
    if row["has_sensitive_variables"]:
        errors["interval"] = [SENSITIVE]
    if not found["name"]:
        errors["name"] = [schema.REQUIRED]
    if found["start_time"] is None and interval == CUSTOM:
        found["start_time"] = uow.now
    elif found["start_time"] is None:
        errors["start_time"] = [schema.REQUIRED]
    elif found["start_time"] < uow.now - datetime.timedelta(minutes=1):
        errors["start_time"] = ["The time must not be in the past."]
    if interval == CUSTOM:
        try:
            if not isinstance(crontab, str) or not crontab.strip():
                raise ValueError(schema.REQUIRED)
            found["crontab"] = schema.parse(_crontab, crontab)
            Crontab(crontab)
        except colander.Invalid as error:
            errors["crontab"] = schema.messages(error)
        except ValueError as error:
            errors["crontab"] = [str(error)]
    return errors


def _add_schedule(uow: UnitOfWork, row: Row, schedule: Row, kwargs: dict[str, Any], queue: str | None) -> uuid.UUID:
    """Writes a schedule; it is looked at when its time has come."""
    interval, beginning, key = schedule["interval"], schedule["start_time"], uuid.uuid4()
    values = {
        "id": key,
        **schedule,
        "user_id": uow.identity.user_id,
        "job_model_id": row["id"],
        "task": job_schedules.TASK,
        "queue": queue,
        "job_class": row["path"],
        "last_run_at": beginning - STEPS[interval] if interval in STEPS else None,
        "total_run_count": 0,
        "date_changed": uow.now,
        "description": f"Nautobot job {schedule['name']} scheduled by {uow.identity.username} on {beginning}",
        "approval_required": row["approval_required"],
        "kwargs": kwargs,
        "next_run": job_schedules.first_run(interval, beginning, schedule["crontab"]),
    }
    uow.write(sa.insert(table_of(ScheduledJob)), [values])
    return key


# -- answering


def shown(uow: UnitOfWork, label: str, key: Any, shape: str = "brief") -> dict[str, Any] | None:
    """The representation of what was asked for, if there is an id; one statement."""
    return uow.registry[label].plan(shape).represent(uow, [key])[0] if key is not None else None


def answered(uow: UnitOfWork, result: Any, schedule: Any) -> dict[str, Any]:
    """What a request for a run is answered with: its result or its schedule."""
    return {"schedule": shown(uow, job_schedules.LABEL, schedule), "job_result": shown(uow, job_results.LABEL, result)}


@documented(GIVES, takes=TAKES, status=201)
def run(request: Request) -> dict[str, Any]:
    """Has a job run: now, or when its schedule says."""
    uow = request.uow
    result, schedule = start(uow, request.context.endpoint, key_of(request), body_of(request))
    request.response.status_int = 201
    return answered(uow, result, schedule)


@documented(_VARIABLE, form="list")
def variables(request: Request) -> list[dict[str, Any]]:
    """What a job asks of whoever starts it."""
    uow, key = request.uow, key_of(request)
    row = listing.rows(uow, request.context.endpoint, [key], "view").get(key)
    if row is None:
        raise NotFound()
    found = class_of(uow, row)
    if found is None:
        raise Denied(NOT_INSTALLED)
    return [variable.described(name) for name, variable in found.job.variables().items()]


def includeme(config: Any) -> None:
    """Adds ``run/`` and ``variables/``."""
    config.add_netinv_action("extras/jobs", "run", post=run, permission="run")
    config.add_netinv_action("extras/jobs", "variables", get=variables, permission="view")
