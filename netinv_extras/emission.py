"""Emission: which webhooks are to be told of a change, written down in the transaction of the change itself.

A delivery row is the whole promise: what is rolled back leaves none, and what is committed is sent, whatever becomes of this process.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa

from netinv_core import work
from netinv_core.changes import Change, ObjectChange
from netinv_core.context import Context
from netinv_core.database import among
from netinv_core.model import table_of
from netinv_extras.deliveries import DELIVER, QUEUED, WebhookDelivery
from netinv_extras.webhooks import EVENTS, Webhook, webhook_types

Told = frozenset[tuple[str, str]]  # label and action

_change, _webhook = table_of(ObjectChange), table_of(Webhook)
_enabled = (
    sa.select(webhook_types.c.label, *(_webhook.c[name].label(action) for name, action in EVENTS.items()))
    .join_from(_webhook, webhook_types, webhook_types.c.owner_id == _webhook.c.id)
    .where(_webhook.c.enabled)
    .distinct()
)
ROW = {
    "webhook_id": _webhook.c.id,
    "change_id": _change.c.id,
    "event": _change.c.action,
    "changed_object_type": _change.c.changed_object_type,
    "changed_object_id": _change.c.changed_object_id,
    "object_repr": _change.c.object_repr,
    "request_id": _change.c.request_id,
    "user_name": _change.c.user_name,
    "time": _change.c.time,
    "state": sa.literal(QUEUED),
    "attempts": sa.literal(0),
    "due": _change.c.time,
}


def emit(context: Context, changes: Sequence[Change]) -> None:
    """Writes a delivery for each change and each webhook that is to be told of it, and has the worker look for them.

    One statement, whatever their number, and none when nobody is to be told. What decides is the webhook as it is at that moment; its row is
    held, so that it does not go before the change is committed.
    """
    told: Told = context.configured("webhooks", _told)
    keys = [change.record for change in changes if (change.endpoint.label, change.action) in told]
    if keys and write(context, _recorded(context.registry.dialect), {"keys": keys}):
        work.wake(context, DELIVER)


def _told(context: Context) -> Told:
    """The changes that any enabled webhook is told of."""
    rows = context.execute(_enabled).mappings()
    return frozenset((row["label"], action) for row in rows for action in EVENTS.values() if row[action])


def matches(*columns: Any) -> Any:
    """A select of recorded changes, each with every enabled webhook that is told of it."""
    chosen = sa.or_(*(sa.and_(_change.c.action == action, _webhook.c[name]) for name, action in EVENTS.items()))
    return (
        sa.select(*columns)
        .join_from(_webhook, webhook_types, webhook_types.c.owner_id == _webhook.c.id)
        .join(_change, _change.c.changed_object_type == webhook_types.c.label)
        .where(_webhook.c.enabled, chosen)
    )


def writing(dialect: str, found: Any) -> Any:
    """The statement that writes a delivery for each row of a select of :data:`ROW`; it holds the webhooks until the transaction ends."""
    if dialect != "mysql":  # there it would hold every row that the statement reads, changes of others among them
        found = found.with_for_update(read=True, key_share=True, of=_webhook)
    statement = sa.insert(table_of(WebhookDelivery)).from_select(list(ROW), found, include_defaults=False)
    return statement.execution_options(preserve_rowcount=True)  # psycopg's cursor is closed by the time it is asked for


def write(context: Context, statement: Any, parameters: Any = None) -> int:
    """Writes deliveries with a statement of :func:`writing`, and gives how many."""
    if context.registry.dialect == "mysql":
        context.execute(sa.select(_webhook.c.id).where(_webhook.c.enabled).with_for_update(read=True))
    return int(context.write(statement, parameters).rowcount)


@functools.cache
def _recorded(dialect: str) -> Any:
    """The statement that writes the deliveries for the changes of a unit of work: their records are ``keys``."""
    return writing(dialect, matches(*ROW.values()).where(among(dialect, _change.c.id)).order_by(_change.c.position))
