"""Pages and panels of webhooks and deliveries."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from netinv_core.hookspecs import hookimpl
from netinv_core.models.base import table_of
from netinv_extras.webhooks.deliveries import FAILED, LABEL, QUEUED, WebhookDelivery
from netinv_extras.webhooks.models import Webhook
from netinv_extras.webhooks.web import delivery_panels, delivery_queue, messages
from netinv_web.extensions import CountedAttention, Panel

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint

_TEMPLATES = "netinv_extras:webhooks/web/templates"
PANELS = {
    LABEL: (
        Panel(
            "attempts",
            "Attempts",
            delivery_panels.attempts,
            side="main",
            template=f"{_TEMPLATES}/delivery_attempts.jinja2",
            position=100,
        ),
        Panel(
            "request",
            "Request",
            delivery_panels.message,
            side="main",
            template=f"{_TEMPLATES}/webhook_message.jinja2",
            position=200,
        ),
        Panel("lane", "Order", delivery_panels.lane, template=f"{_TEMPLATES}/delivery_lane.jinja2", position=300),
    ),
    "extras.webhook": (
        Panel("deliveries", "Deliveries", messages.panel, template=f"{_TEMPLATES}/webhook_panel.jinja2", position=100),
    ),
}
OVERDUE = datetime.timedelta(hours=1)
_delivery, _webhook = table_of(WebhookDelivery), table_of(Webhook)
FAILED_DELIVERIES = CountedAttention(
    "{:,} webhook deliveries failed",
    f"{delivery_queue.PATH}?state={FAILED}",
    one="1 webhook delivery failed",
    label=LABEL,
    condition=_delivery.c.state == FAILED,
)


@hookimpl
def netinv_web_attention(request: Any) -> list[CountedAttention]:
    """Deliveries that failed, and those that nobody sends: the first ones of their objects, due for an hour."""
    since, earlier = request.uow.now - OVERDUE, _delivery.alias()
    is_paused = sa.exists().where(_webhook.c.id == _delivery.c.webhook_id, _webhook.c.paused).correlate(_delivery)
    same = [earlier.c[name] == _delivery.c[name] for name in ("changed_object_id", "webhook_id", "state")]
    is_behind = sa.exists().where(*same, earlier.c.id < _delivery.c.id).correlate(_delivery)
    waiting = CountedAttention(
        "{:,} webhook deliveries are due for more than an hour",
        f"{delivery_queue.PATH}?state={QUEUED}",
        one="1 webhook delivery is due for more than an hour",
        label=LABEL,
        condition=sa.and_(_delivery.c.state == QUEUED, _delivery.c.due < since, sa.not_(is_paused), sa.not_(is_behind)),
    )
    return [FAILED_DELIVERIES, waiting]


@hookimpl
def netinv_web_panels(endpoint: Endpoint) -> Sequence[Panel]:
    """Panels of webhooks and deliveries."""
    return PANELS.get(endpoint.label, ())


def includeme(config: Any) -> None:
    """Adds the pages."""
    add = config.add_netinv_page
    listed, single = "extras/webhook-deliveries", "extras/webhooks"
    add(delivery_queue.PATH, delivery_queue.show, delivery_queue.TEMPLATE, permission="view", resource=listed)
    add(delivery_queue.RETRY, delivery_queue.retry, permission="change", methods=["POST"], resource=listed)
    add("/extras/webhooks/{id}/message/", messages.show, permission="view", resource=single)
    # Nothing is written, and no transaction waits for the receiver.
    send = messages.send_test
    add("/extras/webhooks/{id}/test/", send, permission="change", methods=["POST"], read_only=True, resource=single)
    add("/extras/webhooks/{id}/pause/", messages.pause, permission="change", methods=["POST"], resource=single)
