"""Pages and panels of jobs, their results, schedules and buttons."""

from __future__ import annotations

from typing import Any

from netinv_core.models.base import table_of
from netinv_extras.jobs.schedules import ScheduledJob, waiting
from netinv_extras.jobs.web import buttons, forms, results
from netinv_web.extensions import CountedAttention, Panel

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
}
WAITING_JOBS = CountedAttention(
    "{:,} jobs wait for approval",
    "/extras/scheduled-jobs/?awaits_approval=true",
    "Review",
    one="1 job waits for approval",
    label="extras.scheduledjob",
    condition=waiting(table_of(ScheduledJob)),
)


def includeme(config: Any) -> None:
    """Adds the pages."""
    add, both = config.add_netinv_page, ["GET", "POST"]
    schedules, run = "extras/scheduled-jobs", "/extras/job-buttons/{id}/run/"
    runs = {"methods": both, "runs_aside": True}
    add("/extras/jobs/{id}/run/", forms.run, permission="run", resource="extras/jobs", **runs)
    add("/extras/job-results/{id}/live-log/", results.show_log, permission="view", resource="extras/job-results")
    decide = "/extras/scheduled-jobs/{id}/decide/"
    add(decide, results.decide, permission="view", methods=["POST"], resource=schedules)
    add(run, buttons.run_button, permission="view", resource="extras/job-buttons", **runs)
