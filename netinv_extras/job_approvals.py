"""Approving of scheduled jobs by somebody else than who asked for them: ``approve/``, ``deny/`` and ``dry-run/``."""

from __future__ import annotations

import datetime
import uuid
from collections.abc import Mapping
from typing import Any

import sqlalchemy as sa
from pyramid.request import Request
from pyramid.response import Response

from netinv_core import work
from netinv_core.auth import permits
from netinv_core.errors import Conflict, Denied, NotFound
from netinv_core.http import services
from netinv_core.http.opening import Opened
from netinv_core.http.parameters import query
from netinv_core.model import table_of
from netinv_core.read import pages
from netinv_core.write import delete
from netinv_extras import installed_jobs, job_results, job_schedules
from netinv_extras.job_requests import runnable
from netinv_extras.job_schedules import ScheduledJob, first_run

OWN = "You cannot approve a job that you asked for yourself."
NOT_ASKED = "This scheduled job does not wait for approval."
PAST = "The time of this scheduled job is over; to run it nevertheless, approve it with force=true."
GRACE = datetime.timedelta(minutes=5)  # for who approves at once what is to run at once
_table = table_of(ScheduledJob)
Row = Mapping[str, Any]


def _opened(request: Request, action: str) -> tuple[Opened, Row]:
    """The request and the schedule that it is about, held; the user needs ``action`` on the schedule.

    :raises NotFound: when there is no such schedule for the user
    """
    context, endpoint = services.open_item(request, ("POST",), action=action)
    found = pages.rows_for_change(context, endpoint, [request.context.key], action).get(request.context.key) if request.context.key else None
    if found is None:
        raise NotFound()
    return context, found


def _may_approve(context: Opened, schedule: Row) -> None:
    """Only who may approve runs of the job does.

    :raises Denied: without permission to approve runs of this job, and for who asked for it
    """
    jobs = context.registry[installed_jobs.LABEL]
    if schedule["job_model_id"] not in pages.rows(context, jobs, [schedule["job_model_id"]], "approve"):
        raise Denied()
    if schedule["user_id"] == context.identity.user_id:
        raise Denied(OWN)


@services.shaped(job_schedules.LABEL, status=200, query=[query("force", {"type": "boolean"}, "Approves what should have run already; it then runs at once.")])
def approve(request: Request) -> Response:
    """Lets a scheduled job run that waits for approval.

    :raises Denied: when the user may not change approved schedules such as this one
    :raises Conflict: when it does not wait, or its time is over and ``force`` is not said
    """
    context, schedule = _opened(request, "change")
    _may_approve(context, schedule)
    if not schedule["approval_required"] or schedule["approved_at"] is not None:
        raise Conflict(NOT_ASKED)
    late = schedule["interval"] in (job_schedules.FUTURE, job_schedules.IMMEDIATELY) and schedule["start_time"] < context.now - GRACE
    if late and context.query.get("force", [""])[-1].lower() not in ("true", "1"):
        raise Conflict(PAST)
    start = max(schedule["start_time"], context.now)
    values = {
        "approved_by_user_id": context.identity.user_id,
        "approved_at": context.now,
        "date_changed": context.now,
        "next_run": job_schedules.following_run(schedule, context.now) if schedule["interval"] in job_schedules.STEPS and start == context.now
        else first_run(schedule["interval"], start, schedule["crontab"]),
    }  # fmt: skip
    context.write(sa.update(_table).where(_table.c.id == schedule["id"]).values(values))
    permits.verify(context, context.registry[job_schedules.LABEL], "change", [schedule["id"]])
    work.wake(context, job_results.RUN)
    return services.answer(context, request, context.registry[job_schedules.LABEL].plan().represent(context, [schedule["id"]])[0])


@services.shaped(status=204)
def deny(request: Request) -> Response:
    """Deletes a scheduled job that waits for approval.

    :raises Conflict: when it does not wait
    """
    context, schedule = _opened(request, "delete")
    _may_approve(context, schedule)
    if not schedule["approval_required"] or schedule["approved_at"] is not None:
        raise Conflict(NOT_ASKED)
    delete.delete(context, context.registry[job_schedules.LABEL], [{"id": str(schedule["id"])}], single=True)
    return Response(status=204, content_type=None)


@services.shaped(job_results.LABEL, status=200)
def dry_run(request: Request) -> Response:
    """Has the job of a schedule run now for the user who asks, without committing."""
    context, schedule = _opened(request, "view")
    jobs = context.registry[installed_jobs.LABEL]
    row, _ = runnable(context, jobs, schedule["job_model_id"])
    made = job_results.row(context.registry, row, context.identity.user_id, schedule["kwargs"]["data"], commit=False, at=context.now)
    job_results.ask_for(context, [made])
    key: uuid.UUID = made["id"]
    return services.answer(context, request, context.registry[job_results.LABEL].plan().represent(context, [key])[0])


def includeme(config: Any) -> None:
    """Adds the routes."""
    actions = services.Actions(config.registry.netinv.of_model(ScheduledJob).app)
    actions.item("scheduled-jobs", "approve", post=approve)
    actions.item("scheduled-jobs", "deny", post=deny)
    actions.item("scheduled-jobs", "dry-run", post=dry_run)
    for service in actions.services:
        config.add_cornice_service(service)
