"""Panels of a webhook delivery: attempts, the request, and what waits for what."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
from pyramid.request import Request

from netinv_core.auth import permissions
from netinv_core.read import listing
from netinv_extras.webhooks import preview
from netinv_extras.webhooks.deliveries import FAILED, QUEUED
from netinv_extras.webhooks.web import delivery_queue
from netinv_web.markup import time_markup
from netinv_web.menu import may
from netinv_web.paths import object_path

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint

MAX_LANE = 20  # deliveries of a lane that are listed
HIDDEN_WEBHOOK = "You may not view the webhook, so its request is not shown."
HIDDEN_CHANGE = "The change is no longer recorded, or you may not view it, so the request is not shown."


def attempts(request: Request, endpoint: Endpoint, delivery: Mapping[str, Any]) -> dict[str, Any]:
    """The attempts in order, each with its answer, and the button that sends a failed delivery again."""
    state = delivery["state"]["value"]
    history = [{**attempt, "time": time_markup(attempt["time"])} for attempt in delivery["history"]]
    changes, change = request.uow.registry["extras.objectchange"], delivery["change_id"]
    return {
        "history": history,
        "object": delivery_queue.object_link(request.uow, delivery, delivery_queue.names_of(request.uow, [delivery])),
        "change": object_path(changes, change) if permissions.visible_ids(request.uow, changes, [change]) else "",
        "next": time_markup(delivery["due"]) if state == QUEUED else "",
        "key": delivery["id"],
        "retry": delivery_queue.RETRY if state == FAILED and may(request.uow, endpoint, "change") else "",
        "path": f"/extras/webhook-deliveries/{delivery['id']}/",
    }


def message(request: Request, endpoint: Endpoint, delivery: Mapping[str, Any]) -> dict[str, Any]:
    """The request as the next attempt sends it, for users who may view both the webhook and the change."""
    uow = request.uow
    webhooks = uow.registry["extras.webhook"]
    if not may(uow, webhooks, "view"):
        return {"message": preview.MessagePreview(error=HIDDEN_WEBHOOK)}
    key = delivery["webhook"]["id"]
    webhook = listing.rows(uow, webhooks, [key], "view").get(key)
    if webhook is None:
        return {"message": preview.MessagePreview(error=HIDDEN_WEBHOOK)}
    change = preview.change_of(uow, delivery["change_id"])
    if change is None:
        return {"message": preview.MessagePreview(error=HIDDEN_CHANGE)}
    return {"message": preview.preview(uow, webhook, change, delivery)}


def lane(request: Request, endpoint: Endpoint, delivery: Mapping[str, Any]) -> dict[str, Any] | None:
    """The queued deliveries of the same object to the same webhook: earlier ones are sent first, later ones wait."""
    if delivery["state"]["value"] != QUEUED:
        return None
    uow, table = request.uow, endpoint.table
    in_lane = [
        table.c.changed_object_id == delivery["changed_object_id"],
        table.c.state == QUEUED,
        table.c.webhook_id == delivery["webhook"]["id"],
        table.c.id != delivery["id"],
        *permissions.visible(uow, endpoint, table),
    ]
    columns = table.c.id, table.c.event, table.c.time
    rows = uow.execute(sa.select(*columns).where(*in_lane).order_by(table.c.id).limit(MAX_LANE)).all()
    return {
        "earlier": [_entry(row) for row in rows if row.id < delivery["id"]],
        "later": [_entry(row) for row in rows if row.id > delivery["id"]],
    }


def _entry(row: Any) -> dict[str, Any]:
    return {"path": f"/extras/webhook-deliveries/{row.id}/", "event": row.event, "time": time_markup(row.time)}
