"""The outbox: workers claim queued deliveries and record the outcomes of their attempts.

A delivery is claimed for a limited time (a lease), in a transaction that is over before the message is sent. A
worker that dies loses its claims when their leases end, and another worker sends the deliveries. Of one object and
one receiver only the oldest queued delivery can be claimed, so that messages arrive in order with any number of
workers.
"""

from __future__ import annotations

import contextlib
import dataclasses
import datetime
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection, Engine

from netinv_core.changelog.models import ObjectChange
from netinv_core.db.engine import commit_without_disk, inlined_int
from netinv_core.db.expressions import in_parameter
from netinv_core.models.base import now, table_of
from netinv_core.tasks.leases import RELEASED, Leases
from netinv_extras.webhooks.change_records import CLAIMED
from netinv_extras.webhooks.claims import (
    DELIVERY_COLUMNS,
    WINDOW,
    Claiming,
    is_ready,
)
from netinv_extras.webhooks.deliveries import FAILED, QUEUED, SUCCEEDED, WebhookAttempt, WebhookDelivery
from netinv_extras.webhooks.models import Webhook
from netinv_extras.webhooks.recording import Recording

_delivery, _attempt, _webhook, _change = (
    table_of(model) for model in (WebhookDelivery, WebhookAttempt, Webhook, ObjectChange)
)
# Scalar subqueries rather than EXISTS: no planner turns them into joins with the whole queue.
_first_ready_id = (
    sa.select(_delivery.c.id)
    .where(_delivery.c.webhook_id == _webhook.c.id, is_ready)
    .order_by(_delivery.c.due, _delivery.c.id)
    .limit(sa.literal_column("1"))
    .scalar_subquery()
)
_any_queued_id = (
    sa.select(_delivery.c.id)
    .where(_delivery.c.webhook_id == _webhook.c.id, _delivery.c.state == QUEUED)
    .order_by(_delivery.c.due, _delivery.c.id)
    .limit(inlined_int("any", 1))
    .scalar_subquery()
)
_webhooks_with_queued = sa.select(_webhook.c.id).where(_any_queued_id.is_not(None))
_webhooks_with_ready = sa.select(_webhook).where(sa.not_(_webhook.c.paused), _first_ready_id.is_not(None))
_webhook_columns = tuple(_webhook.c.keys())
# A lane is the queued deliveries of one object to one webhook. The WHERE clause selects it by the object alone; the
# webhook is compared in a CASE. With the webhook as a condition, a planner with outdated statistics (from when the
# table was empty) prefers the index of all queued deliveries and reads the whole queue. This statement postpones a
# lane to the next attempt of its first delivery, which the others have to follow.
_postpone_lane = (
    sa.update(_delivery)
    .where(
        _delivery.c.changed_object_id == sa.bindparam("changed"),
        _delivery.c.state == QUEUED,
        sa.case((_delivery.c.webhook_id == sa.bindparam("webhook"), _delivery.c.due)) < sa.bindparam("again"),
    )
    .values(due=sa.bindparam("again"))
)
ATTEMPTS = (False, False, True)  # of a claim: whether it waits for workers that claim the same deliveries
GONE = 410  # status of a receiver that wants no more messages (RFC 9110, 15.5.11; Standard Webhooks)
MAX_WEBHOOKS = 32  # of one claim, those first that were not among the last ones
Row = Mapping[str, Any]


def seconds_until(first: int, number: int) -> int:
    """Seconds before the retry with a ``number``, 1 for the second attempt: twice as many each time, at most a year."""
    return min(first * 2 ** (number - 1), 366 * 24 * 3600)


@dataclasses.dataclass(frozen=True)
class ClaimedDelivery:
    """A claimed delivery: its row, the row of its webhook, and that of the change record unless it was pruned, with
    packed states.
    """

    delivery: Row
    webhook: Row
    change: Row | None


@dataclasses.dataclass(frozen=True)
class AttemptOutcome:
    """Outcome of an attempt that began at ``time``. ``final``: further attempts would fail in the same way."""

    claimed: ClaimedDelivery
    time: datetime.datetime
    seconds: float
    status: int | None
    error: str
    answer: str
    good: bool
    final: bool = False

    @property
    def number(self) -> int:
        """Number of the attempt, from 1."""
        return int(self.claimed.delivery["attempts"]) + 1

    @property
    def again(self) -> datetime.datetime | None:
        """Time of the next attempt, with exponential backoff; ``None`` after the last attempt.

        An answer 410 Gone pauses the webhook, and the delivery waits with the others.
        """
        webhook = self.claimed.webhook
        if self.status == GONE:
            return now() + datetime.timedelta(seconds=webhook["retry_after"])
        if self.good or self.final or self.number > webhook["retries"]:
            return None
        return now() + datetime.timedelta(seconds=seconds_until(webhook["retry_after"], self.number))


class Outbox(Leases):
    """The outbox of a database, for one worker; ``lease`` is the duration of its claims."""

    def __init__(self, engine: Engine, lease: datetime.timedelta) -> None:
        super().__init__(engine, _delivery)
        self._lease = lease
        self._worker = uuid.uuid4()
        self._rounds: dict[Any, int] = {}  # the last claim of each webhook
        self._round = 0

    @contextlib.contextmanager
    def _brief_transaction(self) -> Iterator[Connection]:
        """A transaction that does not wait for the disk. What a crash of the database server undoes of it is done
        again: messages of the last second are sent twice, none is lost.
        """
        with self.transaction() as connection:
            commit_without_disk(connection)
            yield connection

    def _in(self, column: Any) -> Any:
        return in_parameter(column)

    def claim_ready(self, room: Callable[[Row], int], suspects: int = 1) -> list[ClaimedDelivery]:
        """Claims ready deliveries: of each webhook at most ``room(row of the webhook)``.

        At most ``suspects`` of them are deliveries whose claims were lost
        :data:`netinv_extras.webhooks.claims.SUSPECT` times. With one at a time, the delivery that crashes workers is
        told apart from those that were claimed together with it.
        """
        with self.transaction(writing=False) as connection:
            found = self._driver.execute(connection, _webhooks_with_ready, {"now": now()}).tuples().all()
        rows = (dict(zip(_webhook_columns, row, strict=True)) for row in found)
        webhooks: dict[Any, Row] = {row["id"]: row for row in rows}
        capacities = {key: count for key, row in webhooks.items() if (count := room(row)) > 0}
        if not capacities:
            return []
        self._round += 1
        chosen = sorted(capacities, key=lambda key: self._rounds.get(key, 0))[:MAX_WEBHOOKS]
        self._rounds.update(dict.fromkeys(chosen, self._round))
        others: set[int] = set()
        for waits in ATTEMPTS:
            at = now()
            values = {
                "webhooks": chosen,
                "counts": [capacities[key] for key in chosen],
                "now": at,
                "suspects": suspects,
                "worker": self._worker,
                "until": at + self._lease,
            }
            claimed = self._driver.execute_alone(self._engine, Claiming(others, waits=waits), values)
            if claimed is not None:
                return [_split_row(row, webhooks) for row in claimed]
        return []

    def record(self, outcomes: Sequence[AttemptOutcome]) -> list[AttemptOutcome]:
        """Records the outcomes of attempts and ends the claims.

        Returns the outcomes that were not recorded, because the claim was lost or the delivery was deleted.
        """
        later = {outcome.claimed.delivery["id"]: again for outcome in outcomes if (again := outcome.again) is not None}
        recording = Recording()
        values = {"outcomes": [_attempt_columns(outcome, later) for outcome in outcomes], "worker": self._worker}
        if not later:
            held = self._driver.execute_alone(self._engine, recording, values)
        else:
            with self._brief_transaction() as connection:
                held = self._driver.execute(connection, recording, values)
                retried = [outcome for outcome in outcomes if outcome.claimed.delivery["id"] in later.keys() & held]
                if retried:
                    lanes = [_lane_parameters(outcome, later[outcome.claimed.delivery["id"]]) for outcome in retried]
                    connection.execute(_postpone_lane, lanes)
        return [outcome for outcome in outcomes if outcome.claimed.delivery["id"] not in held]

    def release(self, claimed: Sequence[ClaimedDelivery]) -> None:
        """Ends the claims on deliveries that were not sent."""
        with self._brief_transaction() as connection:
            held = self._in(_delivery.c.id), _delivery.c.claimed_by == self._worker, _delivery.c.state == QUEUED
            keys = sorted(item.delivery["id"] for item in claimed)
            connection.execute(sa.update(_delivery).where(*held).values(RELEASED), {"keys": keys})

    def next_due(self) -> datetime.datetime | None:
        """Earliest future time at which a delivery can be claimed: its due time, or the end of a worker's lease."""
        with self.transaction(writing=False) as connection:
            webhooks = list(connection.execute(_webhooks_with_queued).scalars())
            if not webhooks:
                return None
            earliest: datetime.datetime | None = connection.execute(_next_due(webhooks), {"now": now()}).scalar()
        return earliest


def _next_due(webhooks: Sequence[Any]) -> Any:
    """SELECT of the earliest time after ``now`` at which one of the webhooks has a delivery that can be claimed.

    Of each webhook it reads the first delivery that is due later, and the leases of its first :data:`WINDOW` ready
    ones: the cost does not grow with the queue. The ends of further leases are met by the periodic task.
    """
    selects = []
    for webhook in webhooks:
        queued = sa.and_(_delivery.c.state == QUEUED, _delivery.c.webhook_id == webhook)
        in_order = sa.select(_delivery.c.due, _delivery.c.claimed_until).order_by(_delivery.c.due, _delivery.c.id)
        later = in_order.where(queued, _delivery.c.due > sa.bindparam("now")).limit(inlined_int("first", 1)).subquery()
        ready = in_order.where(queued, _delivery.c.due <= sa.bindparam("now"))
        leased = ready.limit(inlined_int("window", WINDOW)).subquery()
        is_held = leased.c.claimed_until > sa.bindparam("now")
        selects += [sa.select(later.c.due.label("at")), sa.select(leased.c.claimed_until).where(is_held)]
    return sa.select(sa.func.min(sa.union_all(*selects).subquery().c.at))


def _split_row(row: Sequence[Any], webhooks: Mapping[Any, Row]) -> ClaimedDelivery:
    """Splits a joined row into the delivery and its change record, which may be missing (LEFT JOIN)."""
    delivery = dict(zip(DELIVERY_COLUMNS, row, strict=False))
    change: Row = dict(zip(CLAIMED, row[len(DELIVERY_COLUMNS) :], strict=False))
    return ClaimedDelivery(delivery, webhooks[delivery["webhook_id"]], change if change["id"] is not None else None)


def _attempt_of(outcome: AttemptOutcome) -> dict[str, Any]:
    return {
        "delivery_id": outcome.claimed.delivery["id"],
        "number": outcome.number,
        "time": outcome.time,
        "duration_ms": round(outcome.seconds * 1000),
        "status": outcome.status,
        "error": outcome.error,
        "answer": outcome.answer,
    }


def _attempt_columns(outcome: AttemptOutcome, later: Mapping[int, datetime.datetime]) -> dict[str, Any]:
    """The columns of an attempt, with the state of its delivery, as JSON has them."""
    is_ended = outcome.claimed.delivery["id"] not in later
    return {
        **_attempt_of(outcome),
        "state": (SUCCEEDED if outcome.good else FAILED) if is_ended else QUEUED,
        "finished": now() if is_ended else None,
    }


def _lane_parameters(outcome: AttemptOutcome, again: datetime.datetime) -> dict[str, Any]:
    delivery = outcome.claimed.delivery
    return {"webhook": delivery["webhook_id"], "changed": delivery["changed_object_id"], "again": again}
