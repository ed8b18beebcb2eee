"""Approving of scheduled jobs by somebody else than who asked for them: ``approve/``, ``deny/`` and ``dry-run/``."""

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
from netinv_core.http.openapi_parameters import query
from netinv_core.http.request_uow import RequestUnitOfWork
from netinv_core.http.views import no_content
from netinv_core.models.base import table_of
from netinv_core.read import listing
from netinv_core.tasks import queue as task_queue
from netinv_core.write import delete
from netinv_extras.jobs import models as job_models
from netinv_extras.jobs import results as job_results
from netinv_extras.jobs import schedules as job_schedules
from netinv_extras.jobs.run_views import runnable
from netinv_extras.jobs.schedules import ScheduledJob, first_run

OWN = "You cannot approve a job that you asked for yourself."
NOT_ASKED = "This scheduled job does not wait for approval."
PAST = "The time of this scheduled job is over; to run it nevertheless, approve it with force=true."
GRACE = datetime.timedelta(minutes=5)  # for who approves at once what is to run at once
_table = table_of(ScheduledJob)
Row = Mapping[str, Any]


def _opened(request: Request, action: str) -> tuple[RequestUnitOfWork, Row]:
    """The request and the schedule that it is about, held; the user needs ``action`` on the schedule.

    :raises NotFound: when there is no such schedule for the user
    """
    uow, endpoint = request.uow, request.context.endpoint
    found = listing.rows_for_change(uow, endpoint, [request.context.key], action).get(request.context.key) if request.context.key else None
    if found is None:
        raise NotFound()
    return uow, found


def _may_approve(uow: RequestUnitOfWork, schedule: Row) -> None:
    """Only who may approve runs of the job does.

    :raises Denied: without permission to approve runs of this job, and for who asked for it
    """
    jobs = uow.registry[job_models.LABEL]
    if schedule["job_model_id"] not in listing.rows(uow, jobs, [schedule["job_model_id"]], "approve"):
        raise Denied()
    if schedule["user_id"] == uow.identity.user_id:
        raise Denied(OWN)


@documented(job_schedules.LABEL, status=200, query=[query("force", {"type": "boolean"}, "Approves what should have run already; it then runs at once.")])
def approve(request: Request) -> dict[str, Any]:
    """Lets a scheduled job run that waits for approval.

    :raises Denied: when the user may not change approved schedules such as this one
    :raises Conflict: when it does not wait, or its time is over and ``force`` is not said
    """
    uow, schedule = _opened(request, "change")
    _may_approve(uow, schedule)
    if not schedule["approval_required"] or schedule["approved_at"] is not None:
        raise Conflict(NOT_ASKED)
    late = schedule["interval"] in (job_schedules.FUTURE, job_schedules.IMMEDIATELY) and schedule["start_time"] < uow.now - GRACE
    if late and uow.query.get("force", [""])[-1].lower() not in ("true", "1"):
        raise Conflict(PAST)
    start = max(schedule["start_time"], uow.now)
    values = {
        "approved_by_user_id": uow.identity.user_id,
        "approved_at": uow.now,
        "date_changed": uow.now,
        "next_run": job_schedules.following_run(schedule, uow.now) if schedule["interval"] in job_schedules.STEPS and start == uow.now
        else first_run(schedule["interval"], start, schedule["crontab"]),
    }  # fmt: skip
    uow.write(sa.update(_table).where(_table.c.id == schedule["id"]).values(values))
    permissions.verify(uow, uow.registry[job_schedules.LABEL], "change", [schedule["id"]])
    task_queue.notify_worker(uow, job_results.RUN)
    return uow.registry[job_schedules.LABEL].plan().represent(uow, [schedule["id"]])[0]


@documented(status=204)
def deny(request: Request) -> Response:
    """Deletes a scheduled job that waits for approval.

    :raises Conflict: when it does not wait
    """
    uow, schedule = _opened(request, "delete")
    _may_approve(uow, schedule)
    if not schedule["approval_required"] or schedule["approved_at"] is not None:
        raise Conflict(NOT_ASKED)
    delete.delete(uow, uow.registry[job_schedules.LABEL], [{"id": str(schedule["id"])}], single=True)
    return no_content()


@documented(job_results.LABEL, status=200)
def dry_run(request: Request) -> dict[str, Any]:
    """Has the job of a schedule run now for the user who asks, without committing."""
    uow, schedule = _opened(request, "view")
    jobs = uow.registry[job_models.LABEL]
    row, _ = runnable(uow, jobs, schedule["job_model_id"])
    made = job_results.row(uow.registry, row, uow.identity.user_id, schedule["kwargs"]["data"], commit=False, at=uow.now)
    job_results.enqueue(uow, [made])
    key: uuid.UUID = made["id"]
    return uow.registry[job_results.LABEL].plan().represent(uow, [key])[0]


def includeme(config: Any) -> None:
    """Adds the routes."""
    config.add_netinv_action("extras/scheduled-jobs", "approve", post=approve, permission="change")
    config.add_netinv_action("extras/scheduled-jobs", "deny", post=deny, permission="delete")
    config.add_netinv_action("extras/scheduled-jobs", "dry-run", post=dry_run, permission="view")
