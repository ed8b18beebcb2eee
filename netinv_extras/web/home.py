"""Additions to the home page: the latest changes, and jobs that wait for approval."""

from __future__ import annotations

from netinv_core.models.base import table_of
from netinv_extras.changelog.web import recent_changes
from netinv_extras.jobs.schedules import ScheduledJob, waiting
from netinv_web.extensions import CountedAttention, Widget

WIDGETS = (
    Widget(
        "recent-changes",
        "Recently changed",
        recent_changes.content,
        template="netinv_extras:changelog/web/templates/recent_changes.jinja2",
        position=200,
    ),
)


WAITING_JOBS = CountedAttention(
    "{:,} jobs wait for approval",
    "/extras/scheduled-jobs/?awaits_approval=true",
    "Review",
    one="1 job waits for approval",
    label="extras.scheduledjob",
    condition=waiting(table_of(ScheduledJob)),
)
