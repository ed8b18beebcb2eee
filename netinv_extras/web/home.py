"""Additions to the home page: the latest changes, failed deliveries, and jobs that wait for approval."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from pyramid.request import Request

from netinv_core.auth import permissions
from netinv_core.models.base import table_of
from netinv_extras.changelog.web import recent_changes
from netinv_extras.jobs.schedules import ScheduledJob, waiting
from netinv_extras.webhooks.deliveries import FAILED, WebhookDelivery
from netinv_extras.webhooks.web import delivery_queue
from netinv_web.extensions import Attention, Widget
from netinv_web.menu import may
from netinv_web.paths import page_path

WIDGETS = (
    Widget(
        "recent-changes",
        "Recently changed",
        recent_changes.content,
        template="netinv_extras:changelog/web/templates/recent_changes.jinja2",
        position=200,
    ),
)


def attention(request: Request) -> list[Attention]:
    """Failed deliveries, and jobs that wait for approval, as far as the user may view them; one statement."""
    uow = request.uow
    deliveries, schedules = table_of(WebhookDelivery), table_of(ScheduledJob)
    sources = [
        (WebhookDelivery, deliveries, deliveries.c.state == FAILED),
        (ScheduledJob, schedules, waiting(schedules)),
    ]
    queries: list[Any] = []
    for number, (model, table, condition) in enumerate(sources):
        endpoint = uow.registry.of_model(model)
        if may(uow, endpoint, "view"):
            limits = permissions.visible(uow, endpoint, table)
            position: Any = sa.literal_column(str(number))
            queries.append(sa.select(position, sa.func.count()).select_from(table).where(condition, *limits))
    counts = dict(uow.execute(sa.union_all(*queries)).tuples().all()) if queries else {}
    items = []
    if failed := counts.get(0):
        text = "1 webhook delivery failed" if failed == 1 else f"{failed:,} webhook deliveries failed"
        items.append(Attention(text, f"{delivery_queue.PATH}?state={FAILED}"))
    if jobs := counts.get(1):
        text = "1 job waits for approval" if jobs == 1 else f"{jobs:,} jobs wait for approval"
        path = page_path(uow.registry.of_model(ScheduledJob))
        items.append(Attention(text, f"{path}?awaits_approval=true", "Review"))
    return items
