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
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection, Engine

from netinv_core.changelog.models import ObjectChange
from netinv_core.db.driver import driver_of
from netinv_core.db.engine import commit_without_disk, in_parameter, inlined_int
from netinv_core.models.base import now, table_of
from netinv_core.tasks.leases import RELEASED, Leases
from netinv_extras.webhooks.claims import (
    CHANGE_COLUMNS,
    DELIVERY_COLUMNS,
    SUSPECT,
    WINDOW,
    all_candidates,
    change_columns,
    claim_at_once,
    first_candidates,
    is_ready,
)
from netinv_extras.webhooks.deliveries import FAILED, QUEUED, SUCCEEDED, WebhookAttempt, WebhookDelivery
from netinv_extras.webhooks.models import Webhook
from netinv_extras.webhooks.recording import record_at_once

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
MAX_WEBHOOKS = 32  # of one claim, those first that were not among the last ones
Row = Mapping[str, Any]


@dataclasses.dataclass(frozen=True)
class Claimed:
    """A claimed delivery: its row, the row of its webhook, and that of the change record unless it was pruned."""

    delivery: Row
    webhook: Row
    change: Row | None


@dataclasses.dataclass(frozen=True)
class Outcome:
    """Outcome of an attempt that began at ``time``. ``final``: further attempts would fail in the same way."""

    claimed: Claimed
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
        """Time of the next attempt, with exponential backoff; ``None`` after the last attempt."""
        webhook = self.claimed.webhook
        if self.good or self.final or self.number > webhook["retries"]:
            return None
        seconds = min(webhook["retry_after"] * 2 ** (self.number - 1), 366 * 24 * 3600)
        return now() + datetime.timedelta(seconds=seconds)


class Outbox(Leases):
    """The outbox of a database, for one worker; ``lease`` is the duration of its claims."""

    def __init__(self, engine: Engine, dialect: str, lease: datetime.timedelta) -> None:
        super().__init__(engine, dialect, _delivery)
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
        return in_parameter(self._dialect, column)

    def claim_ready(self, room: Callable[[Row], int], suspects: int = 1) -> list[Claimed]:
        """Claims ready deliveries: of each webhook at most ``room(row of the webhook)``.

        At most ``suspects`` of them are deliveries whose claims were lost :data:`SUSPECT` times. With one at a
        time, the delivery that crashes workers is told apart from those that were claimed together with it.
        """
        with self.transaction(writing=False) as connection:
            found = driver_of(self._dialect).execute(connection, _webhooks_with_ready, {"now": now()}).tuples()
        rows = (dict(zip(_webhook_columns, row, strict=True)) for row in found)
        webhooks: dict[Any, Row] = {row["id"]: row for row in rows}
        capacities = {key: count for key, row in webhooks.items() if (count := room(row)) > 0}
        if not capacities:
            return []
        self._round += 1
        chosen = sorted(capacities, key=lambda key: self._rounds.get(key, 0))[:MAX_WEBHOOKS]
        self._rounds.update(dict.fromkeys(chosen, self._round))
        if self._dialect == "postgresql":
            return self._claim_at_once([(key, capacities[key]) for key in chosen], suspects, webhooks)
        others: set[int] = set()
        claimed = None
        for waits in ATTEMPTS:
            with self._brief_transaction() as connection:
                limits = [{"webhook": key, "count": capacities[key]} for key in chosen]
                claimed = self._claim(connection, limits, suspects, others, waits=waits)
            if claimed is not None:
                break
        return [_claimed(row, webhooks) for row in claimed or ()]

    def _claim_at_once(
        self, limits: Sequence[tuple[Any, int]], suspects: int, webhooks: Mapping[Any, Row]
    ) -> list[Claimed]:
        at = now()
        values = {
            "webhooks": [key for key, _ in limits],
            "counts": [count for _, count in limits],
            "now": at,
            "suspects": suspects,
            "worker": self._worker,
            "until": at + self._lease,
        }
        with self.transaction(writing=False) as connection:
            rows = claim_at_once(connection, values)
        return [_claimed(row, webhooks) for row in rows]

    def _claim(
        self, connection: Connection, limits: Sequence[Row], suspects: int, others: set[int], *, waits: bool
    ) -> Sequence[Sequence[Any]] | None:
        """Claims deliveries within the ``limits``; ``None`` if other workers claim all candidates.

        These are added to ``others``. The next attempt takes those behind them; one that ``waits`` takes the same,
        when the other workers have committed.
        """
        at, passed = now(), set() if waits else set(others)
        limits = [{**limit, "now": at, "count": limit["count"] + len(passed)} for limit in limits]
        # Where the window holds only followers of deliveries that cannot be claimed now, all are searched.
        candidates = _ids(connection, first_candidates, limits, passed)
        candidates = candidates or _ids(connection, all_candidates, limits, passed)
        if not candidates:
            return None if passed else []
        keys = self._lock_held(connection, candidates, _claimable(at, suspects), skip_locked=not waits)
        if not keys:
            others.update(candidates)
            return None
        # lost_claims first: in MariaDB an expression sees the values assigned before it in the statement.
        lost = _delivery.c.lost_claims + sa.case((_delivery.c.claimed_by.is_not(None), 1), else_=0)
        values = (
            (_delivery.c.lost_claims, lost),
            (_delivery.c.claimed_by, self._worker),
            (_delivery.c.claimed_until, at + self._lease),
        )
        claim = sa.update(_delivery).where(self._in(_delivery.c.id)).ordered_values(*values)
        connection.execute(claim, {"keys": keys})
        selected = (
            sa.select(_delivery, *change_columns)
            .join_from(_delivery, _change, _change.c.id == _delivery.c.change_id, isouter=True)
            .where(self._in(_delivery.c.id))
            .order_by(_delivery.c.id)
        )
        return connection.execute(selected, {"keys": keys}).all()

    def record(self, outcomes: Sequence[Outcome]) -> list[Outcome]:
        """Records the outcomes of attempts and ends the claims.

        Returns the outcomes that were not recorded, because the claim was lost or the delivery was deleted.
        """
        later = {outcome.claimed.delivery["id"]: again for outcome in outcomes if (again := outcome.again) is not None}
        at_once = self._dialect == "postgresql"
        is_alone = at_once and not later  # a single statement, which commits by itself
        with self.transaction(writing=False) if is_alone else self._brief_transaction() as connection:
            if at_once:
                held = record_at_once(connection, self._worker, [_recorded(outcome, later) for outcome in outcomes])
            else:
                held = self._record(connection, outcomes, later)
            retried = [outcome for outcome in outcomes if outcome.claimed.delivery["id"] in later.keys() & held]
            if retried:
                lanes = [_lane_parameters(outcome, later[outcome.claimed.delivery["id"]]) for outcome in retried]
                connection.execute(_postpone_lane, lanes)
        return [outcome for outcome in outcomes if outcome.claimed.delivery["id"] not in held]

    def _record(
        self, connection: Connection, outcomes: Sequence[Outcome], later: Mapping[int, datetime.datetime]
    ) -> set[int]:
        """Records outcomes of which those in ``later`` are tried again. Returns the ids of those recorded."""
        keys = [outcome.claimed.delivery["id"] for outcome in outcomes]
        held = set(self._lock_held(connection, keys, lambda row: row.claimed_by == self._worker))
        valid = [outcome for outcome in outcomes if outcome.claimed.delivery["id"] in held]
        if valid:
            connection.execute(sa.insert(_attempt), [_attempt_of(outcome) for outcome in valid])
        ended = [outcome for outcome in valid if outcome.claimed.delivery["id"] not in later]
        self._end(connection, SUCCEEDED, [outcome.claimed.delivery["id"] for outcome in ended if outcome.good])
        self._end(connection, FAILED, [outcome.claimed.delivery["id"] for outcome in ended if not outcome.good])
        if retried := [key for key in later if key in held]:
            connection.execute(_ending(sa.update(_delivery).where(self._in(_delivery.c.id))), {"keys": retried})
        return held

    def _lock_held(
        self, connection: Connection, keys: Sequence[int], fit: Callable[[Any], bool], *, skip_locked: bool = False
    ) -> list[int]:
        """Locks deliveries; returns the ids of those that are queued and ``fit``.

        The WHERE clause has the keys alone. With further conditions a planner might not use the primary key.
        """
        columns = [_delivery.c[name] for name in ("id", "state", "claimed_by", "claimed_until", "lost_claims")]
        selected = sa.select(*columns).where(self._in(_delivery.c.id)).order_by(_delivery.c.id)
        rows = connection.execute(selected.with_for_update(skip_locked=skip_locked), {"keys": keys})
        return [row.id for row in rows if row.state == QUEUED and fit(row)]

    def _end(self, connection: Connection, state: str, keys: list[int]) -> None:
        if keys:
            statement = _ending(sa.update(_delivery).where(self._in(_delivery.c.id)))
            connection.execute(statement.values(state=state, finished=now()), {"keys": keys})

    def release(self, claimed: Sequence[Claimed]) -> None:
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


def _ids(
    connection: Connection, statement: Any, limits: Sequence[Mapping[str, Any]], passed: Collection[int]
) -> list[int]:
    """The ids that a SELECT returns for each of the limits, without those ``passed``."""
    found: list[int] = []
    for limit in limits:
        keys = [key for key in connection.execute(statement, limit).scalars() if key not in passed]
        found += keys[: limit["count"] - len(passed)]
    return found


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


def _claimed(row: Sequence[Any], webhooks: Mapping[Any, Row]) -> Claimed:
    """Splits a joined row into the delivery and its change record, which may be missing (LEFT JOIN)."""
    delivery = dict(zip(DELIVERY_COLUMNS, row, strict=False))
    change: Row = dict(zip(CHANGE_COLUMNS, row[len(DELIVERY_COLUMNS) :], strict=False))
    return Claimed(delivery, webhooks[delivery["webhook_id"]], change if change["id"] is not None else None)


def _attempt_of(outcome: Outcome) -> dict[str, Any]:
    return {
        "delivery_id": outcome.claimed.delivery["id"],
        "number": outcome.number,
        "time": outcome.time,
        "duration_ms": round(outcome.seconds * 1000),
        "status": outcome.status,
        "error": outcome.error,
        "answer": outcome.answer,
    }


def _recorded(outcome: Outcome, later: Mapping[int, datetime.datetime]) -> dict[str, Any]:
    """The columns of an attempt, with the state of its delivery, as JSON has them."""
    is_ended = outcome.claimed.delivery["id"] not in later
    return {
        **_attempt_of(outcome),
        "state": (SUCCEEDED if outcome.good else FAILED) if is_ended else QUEUED,
        "finished": now() if is_ended else None,
    }


def _lane_parameters(outcome: Outcome, again: datetime.datetime) -> dict[str, Any]:
    delivery = outcome.claimed.delivery
    return {"webhook": delivery["webhook_id"], "changed": delivery["changed_object_id"], "again": again}


def _ending(statement: Any) -> Any:
    """Adds to an UPDATE: one attempt more, claim released."""
    return statement.values(attempts=_delivery.c.attempts + 1, lost_claims=0, **RELEASED)


def _claimable(at: datetime.datetime, suspects: int) -> Callable[[Any], bool]:
    """Returns a stateful predicate for rows: not claimed at the time, and at most ``suspects`` suspects altogether."""
    remaining = suspects

    def fits(row: Any) -> bool:
        nonlocal remaining
        if row.claimed_until is not None and row.claimed_until >= at:
            return False
        if row.lost_claims >= SUSPECT:
            remaining -= 1
            return remaining >= 0
        return True

    return fits
