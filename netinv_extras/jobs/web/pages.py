"""Pages and panels of jobs, their results, schedules and buttons."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
from pyramid.response import Response

from netinv_core.hookspecs import hookimpl
from netinv_core.http.errors import RelativeRedirect
from netinv_core.models.base import table_of
from netinv_extras.jobs import hooks
from netinv_extras.jobs.hooks import HOOK_LABEL, JobHook
from netinv_extras.jobs.legacy_views import job_id
from netinv_extras.jobs.results import LABEL as RESULT_LABEL
from netinv_extras.jobs.results import JobResult
from netinv_extras.jobs.schedules import LABEL, ScheduledJob, obstacle, waits_for_approval
from netinv_extras.jobs.web import buttons, forms, results, states
from netinv_web.extensions import WARNING, CountedAttention, Panel
from netinv_web.paths import object_path

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint

_TEMPLATES = "netinv_extras:jobs/web/templates"
PANELS = {
    "extras.job": (Panel("run", "Run", results.job_panel, template=f"{_TEMPLATES}/job_panel.jinja2", position=100),),
    "extras.jobresult": (Panel("log", "Log", results.log_panel, side="main", template=results.LOG, position=100),),
    "extras.scheduledjob": (
        Panel(
            "approval",
            "Schedule",
            results.schedule_panel,
            template=f"{_TEMPLATES}/schedule_panel.jinja2",
            position=100,
        ),
    ),
    HOOK_LABEL: (Panel("state", "State", states.hook_panel, template=WARNING, position=10),),
}
_schedule, _result, _hook = (table_of(model) for model in (ScheduledJob, JobResult, JobHook))
RECENT = datetime.timedelta(days=7)  # since a run was asked for, in which its failure needs attention
_WAITING = CountedAttention(
    "{:,} jobs wait for approval",
    "/extras/scheduled-jobs/?awaits_approval=true&cannot_run=false",
    "Review",
    one="1 job waits for approval",
    label=LABEL,
    condition=sa.and_(waits_for_approval(_schedule), obstacle(_schedule).is_(None)),
)
_SCHEDULES = CountedAttention(
    "{:,} scheduled jobs cannot run",
    "/extras/scheduled-jobs/?cannot_run=true",
    one="1 scheduled job cannot run",
    label=LABEL,
    condition=obstacle(_schedule).is_not(None),
)
_HOOKS = CountedAttention(
    "{:,} job hooks start nothing: their jobs are not enabled or not installed",
    "/extras/job-hooks/?cannot_run=true",
    one="1 job hook starts nothing: its job is not enabled or not installed",
    label=HOOK_LABEL,
    condition=hooks.obstacle(_hook).is_not(None),
)


@hookimpl
def netinv_web_attention(request: Any) -> list[CountedAttention]:
    """Jobs that wait for approval, and schedules, job hooks and runs of the last week that could not do their work."""
    since = request.uow.now - RECENT
    runs = CountedAttention(
        "{:,} runs of jobs could not be started, or were broken off",
        f"/extras/job-results/?unfinished=true&created__gte={since:%Y-%m-%dT%H:%M:%SZ}",
        one="1 run of a job could not be started, or was broken off",
        label=RESULT_LABEL,
        condition=sa.and_(_result.c.unfinished, _result.c.created >= since),
    )
    return [_WAITING, _SCHEDULES, _HOOKS, runs]


def _page_of_class(request: Any) -> Response:
    """302 from the path of a job's class, where the API has it before version 1.3, to the page of the job."""
    response: Response = RelativeRedirect(status=302)
    response.headers["Location"] = object_path(request.context.endpoint, job_id(request.uow, request))
    return response


@hookimpl
def netinv_web_panels(endpoint: Endpoint) -> Sequence[Panel]:
    """Panels of jobs, their results and schedules."""
    return PANELS.get(endpoint.label, ())


def includeme(config: Any) -> None:
    """Adds the pages."""
    add, both = config.add_netinv_page, ["GET", "POST"]
    schedules, run = "extras/scheduled-jobs", "/extras/job-buttons/{id}/run/"
    runs = {"methods": both, "runs_aside": True}
    add("/extras/jobs/{id}/run/", forms.run, permission="run", resource="extras/jobs", **runs)
    by_class = "/extras/jobs/{source:plugins|local|system|git\\.[^/]+}/{module_name}/{job_class_name}/"
    add(by_class, _page_of_class, permission="view", resource="extras/jobs")
    add("/extras/job-results/{id}/live-log/", results.show_log, permission="view", resource="extras/job-results")
    decide = "/extras/scheduled-jobs/{id}/decide/"
    add(decide, results.decide, permission="view", methods=["POST"], resource=schedules)
    add(run, buttons.run_button, permission="view", resource="extras/job-buttons", **runs)
