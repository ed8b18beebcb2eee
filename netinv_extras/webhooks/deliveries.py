"""Webhook deliveries and their attempts: one delivery for each change and matching webhook, written with the change.

Ids of deliveries grow in the order of the changes of one object, because a change locks the object's row until commit.
"""

from __future__ import annotations

import datetime
import logging
import uuid
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
from pyramid.request import Request
from sqlalchemy.orm import Mapped, mapped_column

from netinv_core.auth import permissions
from netinv_core.changelog.models import ACTIONS
from netinv_core.db.engine import lock_rows
from netinv_core.db.expressions import in_parameter
from netinv_core.errors import Conflict, NotFound
from netinv_core.http import views
from netinv_core.http.actions import documented
from netinv_core.models.base import Base, now, table_of
from netinv_core.models.columns import CASCADE, Choices, ColumnInfo, Ref, choice, column, foreign_key
from netinv_core.models.types import Chars, LongText
from netinv_core.presentation import Presentation
from netinv_core.read import filters, listing
from netinv_core.resource import Resource, batch_loaded
from netinv_core.sql.lookups import NUMBER
from netinv_core.sql.plans import plan_of
from netinv_core.tasks import queue as task_queue
from netinv_core.tasks.retention import Retention, older_than
from netinv_extras.content_types import content_type_pair
from netinv_extras.webhooks.models import DELIVER, Webhook

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.uow import UnitOfWork

log = logging.getLogger(__name__)
LABEL = "extras.webhookdelivery"
QUEUED, SUCCEEDED, FAILED = "queued", "succeeded", "failed"
STATES = Choices.of((QUEUED, "Queued"), (SUCCEEDED, "Succeeded"), (FAILED, "Failed"))
MAX_ANSWER_LENGTH = 1024  # stored characters of a receiver's answer

_BIG = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


class WebhookDelivery(Base):
    """Delivery of a change to a webhook: ``queued`` until an attempt succeeds or the last one fails.

    ``due`` is the earliest time of the next attempt. ``claimed_by`` and ``claimed_until`` are the lease of a worker;
    ``lost_claims`` counts consecutive leases that ended without a recorded attempt. The message is built from the
    change record ``change_id``.
    """

    __tablename__ = "extras_webhook_delivery"
    __table_args__ = (
        sa.Index("ix_extras_webhook_delivery_waiting", "state", "webhook_id", "due", "id"),
        sa.Index("ix_extras_webhook_delivery_lane", "changed_object_id", "webhook_id", "state", "id"),
    )

    id: Mapped[int] = mapped_column(
        _BIG, primary_key=True, autoincrement=True, info={"netinv": ColumnInfo(read_only=True)}
    )
    webhook_id: Mapped[Ref] = foreign_key(Webhook, on_delete=CASCADE, read_only=True)
    change_id: Mapped[uuid.UUID] = column(index=True, read_only=True, label="Recorded change")
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
    """Attempt to send a delivery: status and first :data:`MAX_ANSWER_LENGTH` characters of the answer, or an error."""

    __tablename__ = "extras_webhook_attempt"

    id: Mapped[int] = mapped_column(_BIG, primary_key=True, autoincrement=True)
    delivery_id: Mapped[int] = mapped_column(
        sa.ForeignKey("extras_webhook_delivery.id", ondelete="CASCADE"), index=True
    )
    number: Mapped[int]
    time: Mapped[datetime.datetime]
    duration_ms: Mapped[int]
    status: Mapped[int | None]
    error: Mapped[str] = mapped_column(LongText(), default="")
    answer: Mapped[str] = mapped_column(LongText(), default="")


_table, _attempt = table_of(WebhookDelivery), table_of(WebhookAttempt)
_ATTEMPT_COLUMNS = {name: _attempt.c[name] for name in ("number", "time", "duration_ms", "status", "error", "answer")}
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


def _history(uow: UnitOfWork, keys: list[Any]) -> dict[Any, list[dict[str, Any]]]:
    """Returns the attempts of each delivery in order: one statement for a page."""
    clause = in_parameter(_attempt.c.delivery_id)
    statement = sa.select(_attempt.c.delivery_id, *_ATTEMPT_COLUMNS.values()).where(clause).order_by(_attempt.c.id)
    attempts: dict[Any, list[dict[str, Any]]] = {}
    for delivery, *values in uow.execute(statement, {"keys": keys}):
        attempts.setdefault(delivery, []).append(dict(zip(_ATTEMPT_COLUMNS, values, strict=True)))
    return attempts


webhook_deliveries = Resource(
    WebhookDelivery,
    "webhook-deliveries",
    title="webhook delivery",
    plural="webhook deliveries",
    about=[("changed_object_type", "changed_object_id")],
    display=("{} {}: {}".format, "webhook.name", "event", "object_repr"),
    brief=["state"],
    order=["-id"],
    search=["object_repr", "user_name", "changed_object_type", "webhook.name"],
    fields=[
        batch_loaded(
            "history", _history, missing=[], costly=True, help="Every sending of it, in order", openapi=_HISTORY
        )
    ],
    filters=[
        *content_type_pair("changed_object_type"),
        *(filters.value(name, lookup_names=NUMBER) for name in ("time", "due", "finished")),
    ],
    writable=False,
    recorded=False,
    exempt_by_name_only=True,
    presentation=Presentation(
        icon="paper-airplane",
        hidden=["history", "change_id"],
        empty="Add a webhook: the message about each matching change appears here, with the answer to it.",
    ),
)


@documented(LABEL, status=200)
def retry(request: Request) -> dict[str, Any]:
    """Sends a failed delivery again.

    :raises Denied: when the user may not change queued deliveries such as this one
    :raises Conflict: when it has not failed
    """
    uow, endpoint = request.uow, request.context.endpoint
    key = request.context.key
    row = listing.rows_for_change(uow, endpoint, [key], "change").get(key)
    if row is None:
        raise NotFound()
    if row["state"] != FAILED:
        raise Conflict(f"Only a failed delivery is sent again; this one is {row['state']}.")
    requeue(uow, [_table.c.id == key])
    permissions.verify(uow, endpoint, "change", [key])
    return plan_of(endpoint).represent(uow, [key])[0]


@documented(
    {"type": "object", "properties": {"retried": {"type": "integer"}}, "required": ["retried"]},
    status=200,
    filtered=True,
)
def retry_some(request: Request) -> dict[str, int]:
    """Sends every failed delivery again that the query's filters select.

    :raises Denied: when constraints of the user's permission exclude one of them once it is queued
    """
    uow, endpoint = request.uow, request.context.endpoint
    return {"retried": retry_selected(uow, endpoint, views.parameters_of(uow, endpoint))}


def retry_selected(
    uow: UnitOfWork, endpoint: Endpoint, parameters: listing.Parameters, within: Sequence[Any] = ()
) -> int:
    """Sends the failed deliveries again that parameters and further conditions select. Returns their number.

    :raises Denied: when constraints of the user's permission exclude one of them once it is queued
    """
    conditions = [*listing.conditions_of(uow, endpoint, endpoint.table, parameters, "change"), *within]
    if not permissions.limits(uow, endpoint, "change", _table):
        return requeue(uow, conditions)
    selected = sa.select(_table.c.id).where(_table.c.state == FAILED, *conditions).order_by(_table.c.id)
    keys = list(uow.execute(lock_rows(selected)).scalars())
    count = requeue(uow, [in_parameter(_table.c.id)], {"keys": keys})
    permissions.verify(uow, endpoint, "change", keys)
    return count


def requeue(uow: UnitOfWork, conditions: Sequence[Any], parameters: Mapping[str, Any] | None = None) -> int:
    """Enqueues failed deliveries again, due now, and notifies the worker: one UPDATE. Returns their number.

    :param parameters: bound values of the conditions
    """
    values = {
        "state": QUEUED,
        "due": uow.now,
        "finished": None,
        "claimed_by": None,
        "claimed_until": None,
        "lost_claims": 0,
    }
    statement = sa.update(_table).where(_table.c.state == FAILED, *conditions).values(values)
    count = uow.execute(statement, parameters).rowcount
    if count:
        task_queue.notify_worker(uow, DELIVER)
    return int(count)


# A delivery that waits is kept, however old it is.
retention = Retention(_table, older_than("webhook_delivery_retention", _table.c.time, _table.c.state != QUEUED))


def includeme(config: Any) -> None:
    """Adds the routes."""
    config.add_netinv_action("extras/webhook-deliveries", "retry", post=retry, permission="change")
    config.add_netinv_action("extras/webhook-deliveries", "retry", on_list=True, post=retry_some, permission="change")
