"""Enqueues webhook deliveries in the transaction of the change (transactional outbox).

A rolled back change leaves no delivery. A committed delivery is sent even if this process ends.
"""

from __future__ import annotations

import dataclasses
import uuid
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from netinv_core.auth import permissions
from netinv_core.changelog.models import ObjectChange
from netinv_core.changelog.recorder import RelatedInsert
from netinv_core.db.expressions import in_parameter
from netinv_core.models.base import table_of
from netinv_core.tasks import queue as task_queue
from netinv_core.write.dry_run import Effects
from netinv_extras.change_judging import ChangeJudge
from netinv_extras.webhooks.deliveries import QUEUED, WebhookDelivery
from netinv_extras.webhooks.models import DELIVER, EVENTS, Webhook, webhook_types

if TYPE_CHECKING:
    from netinv_core.changelog.change_set import Change
    from netinv_core.uow import UnitOfWork

Subscribed = Mapping[tuple[str, str], int]  # number of enabled webhooks by label and action

_change, _webhook = table_of(ObjectChange), table_of(Webhook)
_lock: Any = sa.text(f"FOR KEY SHARE OF {_webhook.name}")
judge = ChangeJudge("webhook", _webhook, webhook_types)
_enabled = (
    sa.select(
        webhook_types.c.label,
        *(sa.func.sum(sa.case((_webhook.c[name], 1), else_=0)).label(action) for name, action in EVENTS.items()),
    )
    .join_from(_webhook, webhook_types, webhook_types.c.owner_id == _webhook.c.id)
    .where(_webhook.c.enabled)
    .group_by(webhook_types.c.label)
)


def related_inserts(uow: UnitOfWork, changes: Sequence[Change]) -> Sequence[RelatedInsert]:
    """Returns the INSERT of a delivery for each change and matching webhook, in the order of the changes; none without
    a match, and none for what the conditions of a webhook leave out.

    The INSERT locks the webhooks, so that they cannot be deleted before the change is committed.
    """
    told = judge.judge(uow, changes)
    most = _most_subscribed(uow, changes)
    if not most:
        return ()
    _lock_webhooks(uow)
    return (dataclasses.replace(_insert_judged(told) if told else _deliveries, rows_per_record=most),)


def effects(uow: UnitOfWork, changes: Sequence[Change]) -> Effects:
    """Returns the messages that recorded changes would send, of the webhooks that the user may view."""
    if not _most_subscribed(uow, changes):
        return Effects(0, ())
    columns = (
        _webhook.c.id,
        _webhook.c.name,
        _change.c.action,
        _change.c.changed_object_type,
        _change.c.changed_object_id,
        _change.c.id,
    )
    statement = matches(*columns).where(in_parameter(_change.c.id))
    ordered = statement.order_by(_change.c.position, _webhook.c.name)
    found = uow.execute(ordered, {"keys": [change.record for change in changes]}).all()
    rows = [row for *row, record in found if judge.is_told(uow, row[0], record)]
    visible = permissions.visible_ids(uow, uow.registry["extras.webhook"], [key for key, *_ in rows])
    listed = [
        {"webhook": {"id": str(key), "name": name}, "event": event, "object_type": label, "object_id": str(object_id)}
        for key, name, event, label, object_id in rows
        if key in visible
    ]
    return Effects(len(rows), listed)


def _most_subscribed(uow: UnitOfWork, changes: Sequence[Change]) -> int:
    """Returns the number of enabled webhooks that match one of the changes, of the change with the most."""
    subscribed: Subscribed = uow.cached_config("webhooks", _read_subscriptions)
    kinds = {(change.endpoint.label, change.action) for change in changes}
    return max((subscribed.get(kind, 0) for kind in kinds), default=0)


def _read_subscriptions(uow: UnitOfWork) -> Subscribed:
    """Returns the number of enabled webhooks that match a content type and action, where there are any."""
    rows = uow.execute(_enabled).mappings()
    return {(row["label"], action): int(row[action]) for row in rows for action in EVENTS.values() if row[action]}


def row(change: Any) -> dict[str, Any]:
    """Returns the columns of a new delivery as expressions over webhooks and changes (:func:`matches`)."""
    copied = ("changed_object_type", "changed_object_id", "object_repr", "request_id", "user_name", "time")
    return {
        "webhook_id": _webhook.c.id,
        "change_id": change.c.id,
        "event": change.c.action,
        **{name: change.c[name] for name in copied},
        "state": sa.literal(QUEUED),
        "attempts": sa.literal(0),
        "lost_claims": sa.literal(0),
        "due": change.c.time,
    }


def matches(*columns: Any, change: Any = _change) -> Any:
    """SELECT of recorded changes, joined with every enabled webhook that matches."""
    has_event = sa.or_(*(sa.and_(change.c.action == action, _webhook.c[name]) for name, action in EVENTS.items()))
    return (
        sa.select(*columns)
        .join_from(_webhook, webhook_types, webhook_types.c.owner_id == _webhook.c.id)
        .join(change, change.c.changed_object_type == webhook_types.c.label)
        .where(_webhook.c.enabled, has_event)
    )


def _insert_from(names: Sequence[str], select: Any) -> sa.Insert:
    """INSERT … SELECT of deliveries. Takes shared row locks on the webhooks until the transaction ends."""
    # MySQL and MariaDB lock what an INSERT reads, also changes of other transactions, and SQLite its database.
    locking = select.suffix_with(_lock, dialect="postgresql")
    statement = sa.insert(table_of(WebhookDelivery)).from_select(list(names), locking, include_defaults=False)
    return statement.execution_options(preserve_rowcount=True)  # psycopg closes the cursor before the count is read


def _lock_webhooks(uow: UnitOfWork) -> None:
    """Locks the webhooks on MySQL and MariaDB, where the INSERT cannot."""
    if uow.registry.driver.locks_what_it_reads:
        uow.execute(sa.select(_webhook.c.id).where(_webhook.c.enabled).with_for_update(read=True))


def write(uow: UnitOfWork, columns: Mapping[str, Any], select: Any) -> int:
    """Inserts a delivery for each row of a SELECT of ``columns``, and returns the number of deliveries."""
    _lock_webhooks(uow)
    return int(uow.execute(_insert_from(list(columns), select)).rowcount)


def _insert(recorded: Any, *conditions: Any) -> sa.Insert:
    columns = row(recorded)
    select = matches(*columns.values(), change=recorded).where(*conditions).order_by(recorded.c.position)
    return _insert_from(list(columns), select)


def _notify(uow: UnitOfWork, count: int) -> None:
    if count:
        task_queue.notify_worker(uow, DELIVER)


_deliveries = RelatedInsert(_insert, _notify)


@dataclasses.dataclass(frozen=True)
class _JudgedInsert:
    """INSERT of deliveries in which a number of webhooks are told of some changes only: the parameters ``webhook_0`` …
    and ``told_0`` … have their ids and those of the change records.
    """

    count: int

    def __call__(self, recorded: Any) -> sa.Insert:
        conditions = []
        for number in range(self.count):
            webhook = sa.bindparam(f"webhook_{number}", type_=_webhook.c.id.type)
            is_told = in_parameter(recorded.c.id, f"told_{number}")
            conditions.append(sa.or_(_webhook.c.id != webhook, is_told))
        return _insert(recorded, *conditions)


def _insert_judged(told: Mapping[Any, Collection[uuid.UUID]]) -> RelatedInsert:
    """INSERT of deliveries in which these webhooks are told of these changes only."""

    def parameters(records: Sequence[uuid.UUID]) -> dict[str, Any]:
        values: dict[str, Any] = {}
        for number, (webhook, of_webhook) in enumerate(told.items()):
            those = [record for record in records if record in of_webhook]
            values |= {f"webhook_{number}": webhook, f"told_{number}": those}
        return values

    return RelatedInsert(_JudgedInsert(len(told)), _notify, parameters=parameters)
