"""Replay of recorded changes: new deliveries for receivers that lost data or were set up late."""

from __future__ import annotations

import dataclasses
import datetime
import uuid
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from netinv_core.changelog.models import ObjectChange
from netinv_core.models.base import table_of
from netinv_core.tasks import queue as task_queue
from netinv_extras.webhooks import enqueue
from netinv_extras.webhooks.models import DELIVER, Webhook

if TYPE_CHECKING:
    from netinv_core.uow import UnitOfWork

BATCH_SIZE = 500  # changes in one transaction
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
        yield _webhook.c.conditions.is_(None)  # which are about states that are gone
        if self.before is not None:
            yield _change.c.time < self.before
        if self.label is not None:
            yield _change.c.changed_object_type == self.label
        if self.webhook is not None:
            yield _webhook.c.id == self.webhook


def left_out(uow: UnitOfWork, span: ReplaySpan) -> list[str]:
    """The names of the enabled webhooks that no replay tells: those with conditions, which judge changes as they are
    made.
    """
    own = [] if span.webhook is None else [_webhook.c.id == span.webhook]
    conditional = sa.select(_webhook.c.name).where(_webhook.c.enabled, _webhook.c.conditions.is_not(None), *own)
    return list(uow.execute(conditional.order_by(_webhook.c.name)).scalars())


def count(uow: UnitOfWork, span: ReplaySpan) -> tuple[int, int]:
    """Returns the numbers of matching changes and of deliveries that a replay would enqueue."""
    columns = sa.func.count(sa.distinct(_change.c.id)), sa.func.count()
    changes, deliveries = uow.execute(enqueue.matches(*columns).where(*span.conditions())).one()
    return changes, deliveries


def replay(uow: UnitOfWork, span: ReplaySpan, behind: int) -> tuple[int, int, int]:
    """Enqueues deliveries of the next :data:`BATCH_SIZE` changes after the number ``behind``, due now, in their order.

    Returns the number of the last change, and the numbers of changes and deliveries, which are 0 at the end.
    """
    conditions = [*span.conditions(), _change.c.number > behind]
    following = (
        enqueue.matches(_change.c.number).where(*conditions).distinct().order_by(_change.c.number).limit(BATCH_SIZE)
    )
    numbers = uow.execute(following).scalars().all()
    if not numbers:
        return behind, 0, 0
    now = sa.literal(uow.now, _change.c.time.type)
    row = {**enqueue.row(_change), "time": now, "due": now}
    in_batch = [*conditions, _change.c.number <= numbers[-1]]
    written = enqueue.write(uow, row, enqueue.matches(*row.values()).where(*in_batch).order_by(_change.c.number))
    task_queue.notify_worker(uow, DELIVER)
    return numbers[-1], len(numbers), written
