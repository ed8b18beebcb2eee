"""Preview and test of a webhook's messages, and the panel that leads to both."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
from pyramid.request import Request
from pyramid.response import Response

from netinv_core.auth import permissions
from netinv_core.errors import NotFound
from netinv_core.read import listing
from netinv_core.write import save
from netinv_extras.webhooks import condition_preview, payload, preview
from netinv_extras.webhooks.deliveries import STATES
from netinv_extras.webhooks.web import delivery_queue
from netinv_web import notices
from netinv_web.menu import may
from netinv_web.objects.details import object_values
from netinv_web.pages import form_of, page, see_other
from netinv_web.paths import object_path

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_extras.webhooks.http_client import DeliveryAnswer

TEMPLATE = "netinv_extras:webhooks/web/templates/webhook_test.jinja2"


def panel(request: Request, endpoint: Endpoint, webhook: Mapping[str, Any]) -> dict[str, Any]:
    """The numbers of the webhook's deliveries by state, the button that pauses them, and the way to its message."""
    uow = request.uow
    deliveries = uow.registry["extras.webhookdelivery"]
    table = deliveries.table
    counts: dict[str, int] = {}
    if may(uow, deliveries, "view"):
        limits = permissions.visible(uow, deliveries, table)
        statement = sa.select(table.c.state, sa.func.count()).where(table.c.webhook_id == webhook["id"], *limits)
        counts = dict(uow.execute(statement.group_by(table.c.state)).all())
    return {
        "counts": [(state, label, counts[state]) for state, label in STATES.items if state in counts],
        "queue": f"{delivery_queue.PATH}?webhook_id={webhook['id']}",
        "message_path": f"/extras/webhooks/{webhook['id']}/message/",
        "paused": webhook["paused"],
        "enabled": webhook["enabled"],
        "pause_path": f"/extras/webhooks/{webhook['id']}/pause/" if may(uow, endpoint, "change") else "",
    }


def pause(request: Request) -> Response:
    """Pauses the deliveries of the webhook, or resumes them: an update of its field ``paused``."""
    paused = form_of(request).get("paused") == "true"
    key = request.context.key
    endpoint = request.context.endpoint
    save.update(request.uow, endpoint, [{"id": key, "paused": paused}], partial=True, single=True)
    text = "Deliveries wait until they are resumed." if paused else "What waited is sent now."
    return notices.add(request, see_other(object_path(endpoint, key)), notices.Notice(text))


def show(request: Request) -> Response:
    """The message that the webhook would send for the newest change of its models and events, and which parts of its
    conditions hold for it.
    """
    webhook = _webhook(request, "view")
    change = preview.sample_change(request.uow, webhook)
    return _page(request, webhook, change, preview.preview(request.uow, webhook, change))


def send_test(request: Request) -> Response:
    """Sends the message of the preview once, and shows the answer. No delivery is recorded.

    The addresses of the receiver are checked as for deliveries (:mod:`netinv_outgoing.ssrf`).
    """
    from netinv_extras.webhooks.http_client import Sender  # requests and urllib3, which a service needs here only

    uow = request.uow
    webhook = _webhook(request, "change")
    change = preview.sample_change(uow, webhook)
    try:
        message = preview.build(uow, webhook, change)
    except (payload.PayloadError, payload.Postponed) as error:
        return _page(request, webhook, change, preview.MessagePreview(error=str(error)))
    uow.release()  # the receiver may take its time
    sender = Sender(uow.registry.settings)
    try:
        answer = sender.send(message)
    finally:
        sender.close()
    return _page(request, webhook, change, preview.preview(uow, webhook, change), answer)


def _webhook(request: Request, action: str) -> dict[str, Any]:
    """The row of the webhook of the path.

    :raises NotFound: when there is none that the user has permission for
    """
    key = request.context.key
    row = listing.rows(request.uow, request.context.endpoint, [key], action).get(key) if key is not None else None
    if row is None:
        raise NotFound()
    return row


def _page(
    request: Request,
    webhook: Mapping[str, Any],
    change: Mapping[str, Any],
    message: preview.MessagePreview,
    answer: DeliveryAnswer | None = None,
) -> Response:
    uow, endpoint = request.uow, request.context.endpoint
    representation = listing.detail(uow, endpoint, request.context.key)
    values = object_values(request, endpoint, representation, "message")
    sample = preview.sample_name(uow.registry, change)
    own: dict[str, Any] = {
        "message": message,
        "answer": answer,
        "sample": sample,
        "test_path": f"{values['path']}test/",
    }
    parts = condition_preview.parts(uow, webhook, change)
    own |= {"conditions": parts, "is_sent": all(part.holds for part in parts)}
    return page(request, TEMPLATE, values | own)
