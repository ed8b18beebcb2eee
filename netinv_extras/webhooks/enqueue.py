"""Emission: which webhooks are to be told of a change, written down in the transaction of the change itself.

A delivery row is the whole promise: what is rolled back leaves none, and what is committed is sent, whatever becomes of this process.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import sqlalchemy as sa

from netinv_core.changelog.change_set import Change
from netinv_core.changelog.models import ObjectChange
from netinv_core.changelog.recorder import RelatedInsert
from netinv_core.models.base import table_of
from netinv_core.tasks import queue as task_queue
from netinv_core.uow import UnitOfWork
from netinv_extras.webhooks.deliveries import DELIVER, QUEUED, WebhookDelivery
from netinv_extras.webhooks.models import EVENTS, Webhook, webhook_types

Told = frozenset[tuple[str, str]]  # label and action

_change, _webhook = table_of(ObjectChange), table_of(Webhook)
_enabled = (
    sa.select(webhook_types.c.label, *(_webhook.c[name].label(action) for name, action in EVENTS.items()))
    .join_from(_webhook, webhook_types, webhook_types.c.owner_id == _webhook.c.id)
    .where(_webhook.c.enabled)
    .distinct()
)


def related_inserts(uow: UnitOfWork, changes: Sequence[Change]) -> Sequence[RelatedInsert]:
    """A delivery for each change and each webhook that is to be told of it, in the order of the changes; nothing when nobody is to be told.

    What decides is the webhook as it is at that moment; its row is held, so that it does not go before the change is committed.
    """
    told: Told = uow.cached_config("webhooks", _told)
    if not any((change.endpoint.label, change.action) in told for change in changes):
        return ()
    _hold(uow)
    return (_deliveries,)


def _told(uow: UnitOfWork) -> Told:
    """The changes that any enabled webhook is told of."""
    rows = uow.execute(_enabled).mappings()
    return frozenset((row["label"], action) for row in rows for action in EVENTS.values() if row[action])


def row(change: Any) -> dict[str, Any]:
    """The columns of a delivery, selected from webhooks and changes (:func:`matches`)."""
    same = ("changed_object_type", "changed_object_id", "object_repr", "request_id", "user_name", "time")
    found = {"webhook_id": _webhook.c.id, "change_id": change.c.id, "event": change.c.action, **{name: change.c[name] for name in same}}
    return {**found, "state": sa.literal(QUEUED), "attempts": sa.literal(0), "lost_claims": sa.literal(0), "due": change.c.time}


def matches(*columns: Any, change: Any = _change) -> Any:
    """A select of recorded changes, each with every enabled webhook that is told of it."""
    chosen = sa.or_(*(sa.and_(change.c.action == action, _webhook.c[name]) for name, action in EVENTS.items()))
    return (
        sa.select(*columns)
        .join_from(_webhook, webhook_types, webhook_types.c.owner_id == _webhook.c.id)
        .join(change, change.c.changed_object_type == webhook_types.c.label)
        .where(_webhook.c.enabled, chosen)
    )


def _writing(dialect: str, names: Sequence[str], found: Any) -> sa.Insert:
    """The statement that writes a delivery for each row of a select; it holds the webhooks until the transaction ends."""
    if dialect != "mysql":  # there it would hold every row that the statement reads, changes of others among them
        found = found.with_for_update(read=True, key_share=True, of=_webhook)
    statement = sa.insert(table_of(WebhookDelivery)).from_select(list(names), found, include_defaults=False)
    return statement.execution_options(preserve_rowcount=True)  # psycopg's cursor is closed by the time it is asked for


def _hold(uow: UnitOfWork) -> None:
    """Holds the webhooks where the statement that writes deliveries cannot."""
    if uow.registry.dialect == "mysql":
        uow.execute(sa.select(_webhook.c.id).where(_webhook.c.enabled).with_for_update(read=True))


def write(uow: UnitOfWork, columns: Mapping[str, Any], found: Any) -> int:
    """Writes a delivery for each row of a select of its columns, and gives how many."""
    _hold(uow)
    return int(uow.write(_writing(uow.registry.dialect, list(columns), found)).rowcount)


def _insert(dialect: str, recorded: Any) -> sa.Insert:
    columns = row(recorded)
    return _writing(dialect, list(columns), matches(*columns.values(), change=recorded).order_by(recorded.c.position))


def _wrote(uow: UnitOfWork, count: int) -> None:
    if count:
        task_queue.notify_worker(uow, DELIVER)


_deliveries = RelatedInsert(_insert, _wrote)
