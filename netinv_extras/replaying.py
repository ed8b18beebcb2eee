"""Replaying: deliveries for changes that were recorded some time ago, for receivers that lost data or were set up late."""

from __future__ import annotations

import dataclasses
import datetime
import uuid
from collections.abc import Iterator
from typing import Any

import sqlalchemy as sa

from netinv_core import work
from netinv_core.changes import ObjectChange
from netinv_core.context import Context
from netinv_core.model import table_of
from netinv_extras import emission
from netinv_extras.deliveries import DELIVER
from netinv_extras.webhooks import Webhook

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


def count(context: Context, span: Span) -> tuple[int, int]:
    """How many changes of the span some enabled webhook is told of, and how many deliveries that makes."""
    changes = sa.func.count(sa.distinct(_change.c.id))
    found, deliveries = context.execute(emission.matches(changes, sa.func.count()).where(*span.conditions())).one()
    return found, deliveries


def replay(context: Context, span: Span, behind: int) -> tuple[int, int, int]:
    """Queues the deliveries of the next :data:`AT_ONCE` changes ``behind`` a number, due now, in the order of the changes.

    Gives the number to go on from, and how many changes and deliveries these were: none, when all are done.
    """
    conditions = [*span.conditions(), _change.c.number > behind]
    following = emission.matches(_change.c.number).where(*conditions).distinct().order_by(_change.c.number).limit(AT_ONCE)
    numbers = context.execute(following).scalars().all()
    if not numbers:
        return behind, 0, 0
    row = {**emission.row(_change), "time": sa.literal(context.now, _change.c.time.type), "due": sa.literal(context.now, _change.c.time.type)}
    found = emission.matches(*row.values()).where(*conditions, _change.c.number <= numbers[-1]).order_by(_change.c.number)
    written = emission.write(context, row, found)
    work.wake(context, DELIVER)
    return numbers[-1], len(numbers), written
