"""Jobs on pages: the panel that runs one, the log of a run, and the approval of schedules."""

from __future__ import annotations

import json
import uuid
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
from pyramid.request import Request
from pyramid.response import Response

from netinv_core.auth import permissions
from netinv_core.changelog.models import ObjectChange
from netinv_core.errors import Conflict, Denied, error_text
from netinv_core.http.views import key_of
from netinv_core.models.base import table_of
from netinv_core.read import listing
from netinv_core.read.names import visible_pairs
from netinv_extras.jobs import approval_views, live_log
from netinv_extras.jobs.results import COMPLETED, PENDING, RUNNING, STATES, JobLogEntry, JobResult
from netinv_extras.jobs.run_views import refusal_aside, runnable
from netinv_extras.jobs.schedules import IMMEDIATELY, ScheduledJob, obstacle
from netinv_extras.jobs.web.states import schedule_state
from netinv_web import notices
from netinv_web.markup import time_markup
from netinv_web.menu import may
from netinv_web.pages import form_of, fragment, local_path, see_other
from netinv_web.paths import object_at, object_path

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.uow import UnitOfWork

LOG = "netinv_extras:jobs/web/templates/job_log.jinja2"
CHANGE_REQUEST = "extras.changerequest"
MAX_ENTRIES = 1000  # of a log, the last ones
MAX_RESULTS = 5  # of a job, on its page
_entries, _results, _schedules, _changes = (
    table_of(model) for model in (JobLogEntry, JobResult, ScheduledJob, ObjectChange)
)
_COLUMNS = ("created", "position", "grouping", "log_level", "log_object", "absolute_url", "message")


# -- the page of a job


def job_panel(request: Request, endpoint: Endpoint, job: Mapping[str, Any]) -> dict[str, Any]:
    """The way to the form that runs the job, or why it cannot be run, and its last results."""
    uow, refusal, enable = request.uow, "", ""
    if not job["installed"]:
        refusal = "This job is not installed."
    elif not job["enabled"]:
        refusal = "This job is not enabled, so that nobody can run it."
        if may(uow, endpoint, "change"):
            enable = f"/extras/jobs/{job['id']}/edit/#field-enabled"
        else:
            refusal += " Users who may change jobs can enable it, with Edit on this page."
    elif not may(uow, endpoint, "run"):
        refusal = "You may not run this job."
    elif uow.aside is not None:
        refusal = _refusal_aside(uow, endpoint, job["id"])
    run = f"/extras/jobs/{job['id']}/run/"
    return {
        "description": job["description"],
        "refusal": refusal,
        "enable": enable,
        "run": run,
        "results": _last_results(uow, job["id"]),
    }


def _refusal_aside(uow: UnitOfWork, endpoint: Endpoint, key: Any) -> str:
    """The reason why a job cannot be run in the change request of the unit of work; blank if it can."""
    try:
        return refusal_aside(*runnable(uow, endpoint, uuid.UUID(str(key))))
    except Denied as error:
        return error_text(error.body["detail"])


def _last_results(uow: UnitOfWork, job_id: Any) -> list[dict[str, Any]]:
    limits = permissions.visible(uow, uow.registry["extras.jobresult"], _results)
    columns = _results.c.id, _results.c.status, _results.c.created
    statement = sa.select(*columns).where(_results.c.job_model_id == job_id, *limits)
    rows = uow.execute(statement.order_by(_results.c.created.desc(), _results.c.id).limit(MAX_RESULTS))
    return [
        {
            "path": f"/extras/job-results/{row.id}/",
            "status": STATES.labels[row.status],
            "time": time_markup(row.created),
        }
        for row in rows
    ]


# -- the page of a result


def log_panel(request: Request, endpoint: Endpoint, result: Mapping[str, Any]) -> dict[str, Any]:
    """The log of a run. While it runs, a script reloads it."""
    return log_values(request.uow, result)


def log_values(uow: UnitOfWork, result: Mapping[str, Any]) -> dict[str, Any]:
    """The values of the template of a log: its last entries, in order."""
    columns = [_entries.c[name] for name in _COLUMNS]
    of_result = _entries.c.job_result_id == result["id"]
    newest = (_entries.c.position.desc(), _entries.c.created.desc(), _entries.c.id.desc())
    statement = sa.select(*columns).where(of_result).order_by(*newest).limit(MAX_ENTRIES)
    rows = [dict(row) for row in uow.execute(statement).mappings()][::-1]
    status = result["status"]["value"]
    if status == RUNNING:
        last = rows[-1]["position"] if rows else 0
        rows += [row for row in live_log.shared_entries(uow.registry, result["id"]) if row["position"] > last]
    return {
        "entries": _entries_of(uow, rows),
        "output": _output(result["data"]),
        "truncated": len(rows) >= MAX_ENTRIES,
        "running": status in (PENDING, RUNNING),
        "completed": status == COMPLETED,
        "status": result["status"]["label"],
        "path": f"/extras/job-results/{result['id']}/",
        "changes": f"/extras/object-changes/?request_id={result['job_id']}" if _has_changes(uow, result) else "",
        "proposed_in": _change_request(uow, result),
    }


def _has_changes(uow: UnitOfWork, result: Mapping[str, Any]) -> bool:
    """True when a run has left changes that the user may view: one that failed is rolled back."""
    limits = permissions.visible(uow, uow.registry.of_model(ObjectChange), _changes)
    found = sa.select(sa.literal(1)).where(_changes.c.request_id == result["job_id"], *limits).limit(1)
    return uow.execute(found).first() is not None


def _change_request(uow: UnitOfWork, result: Mapping[str, Any]) -> dict[str, Any] | None:
    """The change request that a run is in, and the number of changes that it added; ``None`` for other runs."""
    named, count = result.get("proposed_in"), result["proposed_changes"]
    if count is None:
        return None
    name = named["display"] if named else ""
    seen = visible_pairs(uow, [(CHANGE_REQUEST, named["id"])]) if named else ()
    path = object_path(uow.registry[CHANGE_REQUEST], named["id"]) if named and seen else ""
    return {"path": path, "name": name, "added": f"{count:,} {'change' if count == 1 else 'changes'} added"}


def _output(data: Any) -> str:
    """The return value of a job as text; other data as JSON."""
    if isinstance(data, Mapping) and set(data) == {"output"}:
        return str(data["output"]).strip()
    return json.dumps(data, indent=2, ensure_ascii=False) if data else ""


def _entries_of(uow: UnitOfWork, rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The entries; those about an object that the user may not view have its name alone."""
    paths = [local_path((row["absolute_url"] or "").removeprefix("/api")) for row in rows]
    objects = {path: pair for path in paths if (pair := object_at(uow.registry, path)) is not None}
    seen = visible_pairs(uow, objects.values())
    shown = [path if path != "/" and objects.get(path) in {None, *seen} else "" for path in paths]
    return [_entry(row, path) for row, path in zip(rows, shown, strict=True)]


def _entry(row: Mapping[str, Any], path: str) -> dict[str, Any]:
    return {
        "time": time_markup(row["created"]),
        "grouping": row["grouping"],
        "level": row["log_level"],
        "object": row["log_object"],
        "path": path,
        "message": row["message"],
    }


def show_log(request: Request) -> Response:
    """The log as a part of a page, for the script that reloads it."""
    result = listing.detail(request.uow, request.context.endpoint, key_of(request))
    return fragment(request, LOG, log_values(request.uow, result))


# -- the page of a schedule


def schedule_panel(request: Request, endpoint: Endpoint, schedule: Mapping[str, Any]) -> dict[str, Any] | None:
    """The buttons that approve or deny a schedule, or run its job without committing."""
    uow = request.uow
    row = listing.rows(uow, endpoint, [schedule["id"]], "view").get(schedule["id"])
    if row is None:
        return None
    jobs = uow.registry["extras.job"]
    reason = uow.execute(sa.select(obstacle(_schedules)).where(_schedules.c.id == row["id"])).scalar()
    waiting = row["approval_required"] and row["approved_at"] is None
    once = row["interval"] in (IMMEDIATELY, "future")
    return {
        "waiting": waiting and reason is None,
        "state": schedule_state(reason, row["next_run"], waits=waiting),
        "runs": reason is None and not waiting and row["next_run"] is not None,
        "start": time_markup(row["start_time"]),
        "late": waiting and once and row["start_time"] < uow.now - approval_views.APPROVAL_GRACE,
        "own": row["user_id"] == uow.identity.user_id,
        "may_approve": reason is None,
        "may_decide": waiting and may(uow, jobs, "approve") and may(uow, endpoint, "change"),
        "may_run": may(uow, jobs, "run"),
        "path": f"/extras/scheduled-jobs/{row['id']}/decide/",
    }


def decide(request: Request) -> Response:
    """Approves or denies a schedule, or runs its job without committing: through the functions of the API."""
    own_page = f"/extras/scheduled-jobs/{key_of(request)}/"
    try:
        if "approve" in form_of(request):
            approval_views.approve(request)
            return notices.add(request, see_other(own_page), notices.Notice("The schedule is approved."))
        if "deny" in form_of(request):
            approval_views.deny(request)
            notice = notices.Notice("The request was denied, and its schedule deleted.")
            return notices.add(request, see_other("/extras/scheduled-jobs/"), notice)
        if "dry_run" in form_of(request):
            return see_other(f"/extras/job-results/{approval_views.dry_run(request)['id']}/")
    except Conflict as error:
        notice = notices.Notice(error_text(error.body), "danger")
        return notices.add(request, see_other(own_page), notice)
    return see_other(own_page)
