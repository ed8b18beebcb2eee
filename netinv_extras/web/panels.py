"""Panels of this application on the pages of objects."""

from __future__ import annotations

from netinv_core.endpoint import Endpoint
from netinv_extras.git.web import syncs as git_syncs
from netinv_extras.jobs.web import results as job_results
from netinv_extras.plans.web import panel as plans
from netinv_web.extensions import Panel

PANELS = {
    "extras.gitrepository": (
        Panel("sync", "Synchronisation", git_syncs.panel, template=git_syncs.TEMPLATE, position=100),
    ),
    "extras.job": (
        Panel(
            "run",
            "Run",
            job_results.job_panel,
            template="netinv_extras:jobs/web/templates/job_panel.jinja2",
            position=100,
        ),
    ),
    "extras.jobresult": (
        Panel("log", "Log", job_results.log_panel, side="main", template=job_results.LOG, position=100),
    ),
    "extras.plan": (Panel("changes", "Changes", plans.panel, side="main", template=plans.TEMPLATE, position=100),),
    "extras.scheduledjob": (
        Panel(
            "approval",
            "Schedule",
            job_results.schedule_panel,
            template="netinv_extras:jobs/web/templates/schedule_panel.jinja2",
            position=100,
        ),
    ),
}


def panels_of(endpoint: Endpoint) -> tuple[Panel, ...]:
    """The panels on the page of a resource's objects."""
    return PANELS.get(endpoint.label, ())
