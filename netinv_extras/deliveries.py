"""Deliveries: one row for each change that a webhook is to be told of, written with the change itself, and what came of sending it.

A delivery's number grows in the order in which changes of one object were made: what changes an object holds its row from before its
delivery is written until it commits.
"""

from __future__ import annotations

import datetime
import logging
import uuid
from collections.abc import Mapping, Sequence
from typing import Any

import sqlalchemy as sa
from huey import crontab
from pyramid.request import Request
from pyramid.response import Response
from sqlalchemy.engine import Engine
from sqlalchemy.orm import Mapped, mapped_column

from netinv_core import work
from netinv_core.auth import permits
from netinv_core.changes import ACTIONS
from netinv_core.columns import Chars, LongText
from netinv_core.context import Context
from netinv_core.database import WRITING, among, lock_rows
from netinv_core.errors import Conflict, NotFound
from netinv_core.http import services
from netinv_core.model import CASCADE, Base, Choices, Column, Ref, choice, column, now, table_of, to
from netinv_core.read import filters, pages
from netinv_core.read.lookups import NUMBER
from netinv_core.registry import Registry
from netinv_core.resource import Resource, batched
from netinv_extras.content_types import content_type_pair
from netinv_extras.webhooks import Webhook

log = logging.getLogger(__name__)
LABEL = "extras.webhookdelivery"
DELIVER = "deliver"  # the worker's task that sends what is queued
QUEUED, SUCCEEDED, FAILED = "queued", "succeeded", "failed"
STATES = Choices.of((QUEUED, "Queued"), (SUCCEEDED, "Succeeded"), (FAILED, "Failed"))
KEPT = 1024  # characters of a receiver's answer

_BIG = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


class WebhookDelivery(Base):
    """That a receiver is to be told of a change: ``queued`` until an attempt succeeds or the last one has failed.

    ``due`` is when it may be sent; ``claimed_until`` until when a worker (``claimed_by``) has it in hand; ``lost_claims`` how many times in a row
    a worker had it in hand and recorded nothing. What is sent is made from the
    change record ``change_id``.
    """

    __tablename__ = "extras_webhook_delivery"
    __table_args__ = (
        sa.Index("ix_extras_webhook_delivery_waiting", "state", "webhook_id", "due", "id"),
        sa.Index("ix_extras_webhook_delivery_object", "changed_object_id", "state", "id"),
    )

    id: Mapped[int] = mapped_column(_BIG, primary_key=True, autoincrement=True, info={"netinv": Column(read_only=True)})
    webhook_id: Mapped[Ref] = to(Webhook, on_delete=CASCADE, read_only=True)
    change_id: Mapped[uuid.UUID] = column(index=True, read_only=True)
    event: Mapped[str] = choice(ACTIONS, default=None, read_only=True)
    changed_object_type: Mapped[str] = column(Chars(100), read_only=True)
    changed_object_id: Mapped[uuid.UUID] = column(read_only=True)
    object_repr: Mapped[str] = column(Chars(200), read_only=True)
    request_id: Mapped[uuid.UUID] = column(index=True, read_only=True)
    user_name: Mapped[str] = column(Chars(150), read_only=True)
    time: Mapped[datetime.datetime] = column(default=now, index=True, read_only=True)
    state: Mapped[str] = choice(STATES, 20, default=QUEUED, read_only=True)
    attempts: Mapped[int] = column(default=0, read_only=True)
    due: Mapped[datetime.datetime] = column(default=now, read_only=True)
    finished: Mapped[datetime.datetime | None] = column(default=None, read_only=True)
    lost_claims: Mapped[int] = column(default=0, hidden=True)
    claimed_by: Mapped[uuid.UUID | None] = column(default=None, hidden=True)
    claimed_until: Mapped[datetime.datetime | None] = column(default=None, hidden=True)


class WebhookAttempt(Base):
    """One sending of a delivery: the ``status`` of the answer and its first :data:`KEPT` characters, or the ``error`` that came instead."""

    __tablename__ = "extras_webhook_attempt"

    id: Mapped[int] = mapped_column(_BIG, primary_key=True, autoincrement=True)
    delivery_id: Mapped[int] = mapped_column(sa.ForeignKey("extras_webhook_delivery.id", ondelete="CASCADE"), index=True)
    number: Mapped[int]
    time: Mapped[datetime.datetime]
    duration_ms: Mapped[int]
    status: Mapped[int | None]
    error: Mapped[str] = mapped_column(LongText(), default="")
    answer: Mapped[str] = mapped_column(LongText(), default="")


_table, _attempt = table_of(WebhookDelivery), table_of(WebhookAttempt)
_SHOWN = {name: _attempt.c[name] for name in ("number", "time", "duration_ms", "status", "error", "answer")}
_HISTORY = {
    "type": "array",
    "items": {
        "type": "object",
        "properties": {
            "number": {"type": "integer"},
            "time": {"type": "string", "format": "date-time"},
            "duration_ms": {"type": "integer"},
            "status": {"type": "integer", "nullable": True},
            "error": {"type": "string"},
            "answer": {"type": "string"},
        },
    },
}


def _history(context: Context, keys: list[Any]) -> dict[Any, list[dict[str, Any]]]:
    """The attempts of each delivery, in order: one statement for a page."""
    clause = among(context.registry.dialect, _attempt.c.delivery_id)
    statement = sa.select(_attempt.c.delivery_id, *_SHOWN.values()).where(clause).order_by(_attempt.c.id)
    found: dict[Any, list[dict[str, Any]]] = {}
    for delivery, *values in context.execute(statement, {"keys": keys}):
        found.setdefault(delivery, []).append(dict(zip(_SHOWN, values, strict=True)))
    return found


webhook_deliveries = Resource(
    WebhookDelivery,
    "webhook-deliveries",
    title="webhook delivery",
    plural="webhook deliveries",
    display=("{} {}: {}".format, "webhook.name", "event", "object_repr"),
    brief=["state"],
    order=["-id"],
    search=["object_repr", "user_name", "changed_object_type", "webhook.name"],
    fields=[batched("history", _history, missing=[], costly=True, help="Every sending of it, in order", openapi=_HISTORY)],
    filters=[
        *content_type_pair("changed_object_type"),
        *(filters.value(name, lookup_names=NUMBER) for name in ("time", "due", "finished")),
    ],
    writable=False,
    recorded=False,
    exempt_by_name_only=True,
)


@services.shaped(LABEL, status=200)
def retry(request: Request) -> Response:
    """Sends a failed delivery again.

    :raises Denied: when the user may not change queued deliveries such as this one
    :raises Conflict: when it has not failed
    """
    context, endpoint = services.open_item(request, ("POST",), action="change")
    key = request.context.key
    row = pages.rows_for_change(context, endpoint, [key], "change").get(key)
    if row is None:
        raise NotFound()
    if row["state"] != FAILED:
        raise Conflict(f"Only a failed delivery is sent again; this one is {row['state']}.")
    requeue(context, [_table.c.id == key])
    permits.verify(context, endpoint, "change", [key])
    return services.answer(context, request, endpoint.plan().represent(context, [key])[0])


@services.shaped({"type": "object", "properties": {"retried": {"type": "integer"}}, "required": ["retried"]}, status=200)
def retry_some(request: Request) -> Response:
    """Sends every failed delivery again that the query's filters select.

    :raises Denied: when the user may not change one of them once it is queued
    """
    context, endpoint = services.open_item(request, ("POST",), action="change")
    conditions = pages.conditions_of(context, endpoint, endpoint.table, services.parameters_of(context, endpoint), "change")
    if permits.scope(context, endpoint, "change", _table) is None:
        return services.answer(context, request, {"retried": requeue(context, conditions)})
    selected = sa.select(_table.c.id).where(_table.c.state == FAILED, *conditions).order_by(_table.c.id)
    keys = list(context.execute(lock_rows(selected)).scalars())
    retried = requeue(context, [among(context.registry.dialect, _table.c.id)], {"keys": keys})
    permits.verify(context, endpoint, "change", keys)
    return services.answer(context, request, {"retried": retried})


def requeue(context: Context, conditions: Sequence[Any], parameters: Mapping[str, Any] | None = None) -> int:
    """Queues failed deliveries anew, due now, and has the worker look for them: one statement; gives how many there were.

    ``parameters`` are those of the conditions.
    """
    values = {"state": QUEUED, "due": context.now, "finished": None, "claimed_by": None, "claimed_until": None, "lost_claims": 0}
    found = context.write(sa.update(_table).where(_table.c.state == FAILED, *conditions).values(values), parameters).rowcount
    if found:
        work.wake(context, DELIVER)
    return int(found)


def prune(engine: Engine, registry: Registry) -> int:
    """Deletes deliveries that are done and older than ``netinv.changelog_retention`` days (0 keeps all); gives how many."""
    days = registry.settings.get("changelog_retention") or 0
    if not days:
        return 0
    old = _table.c.time < now() - datetime.timedelta(days=days)
    with engine.execution_options(**{WRITING: True}).begin() as connection:
        found = connection.execute(sa.delete(_table).where(old, _table.c.state != QUEUED)).rowcount
    log.info("%d webhook deliveries older than %d days deleted", found, days)
    return int(found)


pruning = work.Task("prune_deliveries", prune, crontab(minute="27", hour="3"))


def includeme(config: Any) -> None:
    """Adds the routes."""
    actions = services.Actions(config.registry.netinv.apps["extras"])
    actions.item("webhook-deliveries", "retry", post=retry)
    actions.whole("webhook-deliveries", "retry", post=retry_some)
    for service in actions.services:
        config.add_cornice_service(service)
