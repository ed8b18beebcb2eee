"""Pages and panels of webhooks and deliveries."""

from __future__ import annotations

from typing import Any

from netinv_core.models.base import table_of
from netinv_extras.webhooks.deliveries import FAILED, LABEL, WebhookDelivery
from netinv_extras.webhooks.web import delivery_panels, delivery_queue, messages
from netinv_web.extensions import CountedAttention, Panel

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
FAILED_DELIVERIES = CountedAttention(
    "{:,} webhook deliveries failed",
    f"{delivery_queue.PATH}?state={FAILED}",
    one="1 webhook delivery failed",
    label=LABEL,
    condition=table_of(WebhookDelivery).c.state == FAILED,
)


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
