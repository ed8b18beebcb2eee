"""Replay of recorded changes: new deliveries for receivers that lost data or were set up late."""

from __future__ import annotations

import dataclasses
import datetime
import uuid
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from netinv_core.changelog.models import ObjectChange
from netinv_core.changelog.states import record_columns
from netinv_core.models.base import table_of
from netinv_core.tasks import queue as task_queue
from netinv_extras.webhooks import condition_preview, enqueue
from netinv_extras.webhooks.models import DELIVER, Webhook

if TYPE_CHECKING:
    from netinv_core.uow import UnitOfWork

BATCH_SIZE = 500  # changes in one transaction
JUDGED_BATCH = 50  # where webhooks have conditions: the objects are written as they were, and rolled back
_change, _webhook = table_of(ObjectChange), table_of(Webhook)


@dataclasses.dataclass(frozen=True)
class ReplaySpan:
    """Selection of changes from ``after`` (inclusive) to ``before`` (exclusive), optionally of one content type and
    webhook.
    """

    after: datetime.datetime
    before: datetime.datetime | None = None
    label: str | None = None
    webhook: uuid.UUID | None = None

    def conditions(self) -> Iterator[Any]:
        """Yields the conditions of the selection. Changes without a number are too recent."""
        yield _change.c.number.is_not(None)
        yield _change.c.time >= self.after
        if self.before is not None:
            yield _change.c.time < self.before
        if self.label is not None:
            yield _change.c.changed_object_type == self.label
        if self.webhook is not None:
            yield _webhook.c.id == self.webhook


@dataclasses.dataclass(frozen=True)
class Replayed:
    """A part of a replay: the number of its last change, and the numbers of changes and deliveries, which are 0 at the
    end. ``unknown`` has the numbers of changes that the conditions of a webhook cannot judge any more, by its name.
    """

    last: int
    changes: int = 0
    deliveries: int = 0
    unknown: Mapping[str, int] = dataclasses.field(default_factory=dict)


def count(uow: UnitOfWork, span: ReplaySpan) -> tuple[int, int, int]:
    """Returns the numbers of matching changes, of deliveries that a replay would enqueue at most, and how many of these
    depend on conditions.
    """
    conditional = sa.func.count(_webhook.c.conditions)
    columns = sa.func.count(sa.distinct(_change.c.id)), sa.func.count(), conditional
    changes, deliveries, judged = uow.execute(enqueue.matches(*columns).where(*span.conditions())).one()
    return changes, deliveries, judged


def replay(uow: UnitOfWork, span: ReplaySpan, behind: int, *, judging: bool = True) -> Replayed:
    """Enqueues deliveries of the next changes after the number ``behind``, due now, in their order.

    :param judging: webhooks with conditions are among those of the span
    """
    conditions = [*span.conditions(), _change.c.number > behind]
    following = enqueue.matches(_change.c.number).where(*conditions).distinct().order_by(_change.c.number)
    numbers = uow.execute(following.limit(JUDGED_BATCH if judging else BATCH_SIZE)).scalars().all()
    if not numbers:
        return Replayed(behind)
    now = sa.literal(uow.now, _change.c.time.type)
    row = {**enqueue.row(_change), "time": now, "due": now}
    in_batch = [*conditions, _change.c.number <= numbers[-1]]
    told, unknown = _judge_changes(uow, in_batch) if judging else ({}, {})
    unconditional = _webhook.c.conditions.is_(None)
    chosen = [unconditional, *(sa.and_(_webhook.c.id == key, _change.c.id.in_(own)) for key, own in told.items())]
    select = enqueue.matches(*row.values()).where(*in_batch, sa.or_(*chosen))
    written = enqueue.write(uow, row, select.order_by(_change.c.number))
    task_queue.notify_worker(uow, DELIVER)
    return Replayed(numbers[-1], len(numbers), written, unknown)


def _judge_changes(uow: UnitOfWork, in_batch: Sequence[Any]) -> tuple[dict[uuid.UUID, list[uuid.UUID]], dict[str, int]]:
    """The changes that meet the conditions of webhooks, by the ids of these; and the numbers of those that cannot be
    judged any more, by the names of webhooks.
    """
    columns = [_webhook.c.id, _webhook.c.name, _webhook.c.conditions, _change.c.id]
    conditional = enqueue.matches(*columns).where(*in_batch, _webhook.c.conditions.is_not(None))
    pairs = uow.execute(conditional.order_by(_webhook.c.name, _change.c.number)).tuples().all()
    keys = {change for *_, change in pairs}
    recorded = sa.select(*record_columns()).where(_change.c.id.in_(keys))
    changes = {change["id"]: dict(change) for change in uow.execute(recorded).mappings()} if keys else {}
    told: dict[uuid.UUID, list[uuid.UUID]] = {}
    unknown: dict[str, int] = {}
    for key, name, conditions, change in pairs:
        match condition_preview.is_met(uow, conditions, changes[change]):
            case True:
                told.setdefault(key, []).append(change)
            case None:
                unknown[name] = unknown.get(name, 0) + 1
    return told, unknown
