"""Approval of scheduled jobs by a second user: ``approve/``, ``deny/`` and ``dry-run/`` below scheduled jobs."""

from __future__ import annotations

import datetime
import uuid
from collections.abc import Mapping
from typing import Any

import sqlalchemy as sa
from pyramid.request import Request
from pyramid.response import Response

from netinv_core.auth import permissions
from netinv_core.errors import Conflict, Denied, NotFound
from netinv_core.http.actions import documented
from netinv_core.http.query_parameters import query
from netinv_core.http.request_uow import RequestUnitOfWork
from netinv_core.http.views import no_content
from netinv_core.models.base import table_of
from netinv_core.read import listing
from netinv_core.sql.plans import plan_of
from netinv_core.tasks import queue as task_queue
from netinv_core.write import delete
from netinv_extras.jobs import input as job_input
from netinv_extras.jobs import models as job_models
from netinv_extras.jobs import results as job_results
from netinv_extras.jobs import schedules as job_schedules
from netinv_extras.jobs.run_views import runnable
from netinv_extras.jobs.schedules import ScheduledJob, first_run

OWN_REQUEST = "You cannot approve a job that you asked for yourself."
NOT_WAITING = "This scheduled job does not wait for approval."
NO_OWNER = "The account that asked for this job was deleted. It cannot be approved; deny it, and ask for it anew."
TOO_LATE = "The time of this scheduled job is over; to run it nevertheless, approve it with force=true."
APPROVAL_GRACE = datetime.timedelta(minutes=5)  # time to approve a run that is to start immediately
_table = table_of(ScheduledJob)
Row = Mapping[str, Any]


def _open_schedule(request: Request, action: str) -> tuple[RequestUnitOfWork, Row]:
    """Returns the unit of work and the locked row of the schedule. The user needs ``action`` on the schedule.

    :raises NotFound: if there is no such schedule for the user
    """
    uow, key = request.uow, request.context.key
    row = listing.rows_for_change(uow, request.context.endpoint, [key], action).get(key) if key else None
    if row is None:
        raise NotFound()
    return uow, row


def _check_may_approve(uow: RequestUnitOfWork, schedule: Row) -> None:
    """Checks the permission to approve runs of the job.

    :raises Denied: without this permission, and for the user who requested the run
    """
    jobs = uow.registry[job_models.LABEL]
    if schedule["job_model_id"] not in listing.rows(uow, jobs, [schedule["job_model_id"]], "approve"):
        raise Denied()
    if schedule["user_id"] == uow.identity.user_id:
        raise Denied(OWN_REQUEST)


_FORCE = query("force", {"type": "boolean"}, "Approves a schedule whose time is over; the job then runs immediately.")


@documented(job_schedules.LABEL, status=200, query=[_FORCE], ignores_unknown=True)
def approve(request: Request) -> dict[str, Any]:
    """Approves a scheduled job.

    :raises Denied: if the user may not change approved schedules such as this one
    :raises Conflict: if it does not wait for approval, its owner was deleted, or its time is over and ``force`` is not
        true
    """
    uow, schedule = _open_schedule(request, "change")
    _check_may_approve(uow, schedule)
    if not schedule["approval_required"] or schedule["approved_at"] is not None:
        raise Conflict(NOT_WAITING)
    if schedule["user_id"] is None:
        raise Conflict(NO_OWNER)
    runs_once = schedule["interval"] in (job_schedules.FUTURE, job_schedules.IMMEDIATELY)
    is_late = runs_once and schedule["start_time"] < uow.now - APPROVAL_GRACE
    if is_late and uow.query.get("force", [""])[-1].lower() not in ("true", "1"):
        raise Conflict(TOO_LATE)
    values = {
        "approved_by_user_id": uow.identity.user_id,
        "approved_at": uow.now,
        "date_changed": uow.now,
        "next_run": _next_run(schedule, uow.now),
    }
    uow.execute(sa.update(_table).where(_table.c.id == schedule["id"]).values(values))
    permissions.verify(uow, uow.registry[job_schedules.LABEL], "change", [schedule["id"]])
    task_queue.notify_worker(uow, job_results.RUN)
    return plan_of(uow.registry[job_schedules.LABEL]).represent(uow, [schedule["id"]])[0]


def _next_run(schedule: Row, at: datetime.datetime) -> datetime.datetime | None:
    """Returns the first run of a schedule that is approved at this time."""
    if schedule["interval"] in job_schedules.STEPS and schedule["start_time"] <= at:
        return job_schedules.following_run(schedule, at)
    return first_run(schedule["interval"], max(schedule["start_time"], at), schedule["crontab"])


@documented(status=204, ignores_unknown=True)
def deny(request: Request) -> Response:
    """Deletes a scheduled job that waits for approval.

    :raises Conflict: if it does not wait for approval
    """
    uow, schedule = _open_schedule(request, "delete")
    _check_may_approve(uow, schedule)
    if not schedule["approval_required"] or schedule["approved_at"] is not None:
        raise Conflict(NOT_WAITING)
    delete.delete(uow, uow.registry[job_schedules.LABEL], [{"id": str(schedule["id"])}], single=True)
    return no_content()


@documented(job_results.LABEL, status=200, ignores_unknown=True)
def dry_run(request: Request) -> dict[str, Any]:
    """Runs the job of a schedule immediately as the current user, without committing.

    :raises Denied: if the user may not run it, or not view the objects that it is about
    """
    uow, schedule = _open_schedule(request, "view")
    jobs = uow.registry[job_models.LABEL]
    row, job_class = runnable(uow, jobs, schedule["job_model_id"])
    data = schedule["kwargs"]["data"]
    job_input.check_visible(uow, job_class.job, data)
    result = job_results.row(uow.registry, row, uow.identity.user_id, data, commit=False, at=uow.now)
    job_results.enqueue(uow, [result])
    key: uuid.UUID = result["id"]
    return plan_of(uow.registry[job_results.LABEL]).represent(uow, [key])[0]


def includeme(config: Any) -> None:
    """Adds ``approve/``, ``deny/`` and ``dry-run/`` below ``scheduled-jobs/{id}/``."""
    config.add_netinv_action("extras/scheduled-jobs", "approve", post=approve, permission="change")
    config.add_netinv_action("extras/scheduled-jobs", "deny", post=deny, permission="delete")
    config.add_netinv_action("extras/scheduled-jobs", "dry-run", post=dry_run, permission="view")
