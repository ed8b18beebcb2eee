"""Replaying: deliveries for changes that were recorded some time ago, for receivers that lost data or were set up late."""

from __future__ import annotations

import dataclasses
import datetime
import uuid
from collections.abc import Iterator
from typing import Any

import sqlalchemy as sa

from netinv_core.changelog.models import ObjectChange
from netinv_core.models.base import table_of
from netinv_core.tasks import queue as task_queue
from netinv_core.uow import UnitOfWork
from netinv_extras.webhooks import enqueue
from netinv_extras.webhooks.deliveries import DELIVER
from netinv_extras.webhooks.models import Webhook

AT_ONCE = 500  # changes in one transaction
_change, _webhook = table_of(ObjectChange), table_of(Webhook)


@dataclasses.dataclass(frozen=True)
class Span:
    """The changes from ``after`` until just before ``before``, of one type of objects and for one webhook where these are said."""

    after: datetime.datetime
    before: datetime.datetime | None = None
    label: str | None = None
    webhook: uuid.UUID | None = None

    def conditions(self) -> Iterator[Any]:
        """What holds for them; changes without a number are too new."""
        yield _change.c.number.is_not(None)
        yield _change.c.time >= self.after
        if self.before is not None:
            yield _change.c.time < self.before
        if self.label is not None:
            yield _change.c.changed_object_type == self.label
        if self.webhook is not None:
            yield _webhook.c.id == self.webhook


def count(uow: UnitOfWork, span: Span) -> tuple[int, int]:
    """How many changes of the span some enabled webhook is told of, and how many deliveries that makes."""
    changes = sa.func.count(sa.distinct(_change.c.id))
    found, deliveries = uow.execute(enqueue.matches(changes, sa.func.count()).where(*span.conditions())).one()
    return found, deliveries


def replay(uow: UnitOfWork, span: Span, behind: int) -> tuple[int, int, int]:
    """Queues the deliveries of the next :data:`AT_ONCE` changes ``behind`` a number, due now, in the order of the changes.

    Gives the number to go on from, and how many changes and deliveries these were: none, when all are done.
    """
    conditions = [*span.conditions(), _change.c.number > behind]
    following = enqueue.matches(_change.c.number).where(*conditions).distinct().order_by(_change.c.number).limit(AT_ONCE)
    numbers = uow.execute(following).scalars().all()
    if not numbers:
        return behind, 0, 0
    row = {**enqueue.row(_change), "time": sa.literal(uow.now, _change.c.time.type), "due": sa.literal(uow.now, _change.c.time.type)}
    found = enqueue.matches(*row.values()).where(*conditions, _change.c.number <= numbers[-1]).order_by(_change.c.number)
    written = enqueue.write(uow, row, found)
    task_queue.notify_worker(uow, DELIVER)
    return numbers[-1], len(numbers), written
