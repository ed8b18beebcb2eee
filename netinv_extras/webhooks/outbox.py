"""The outbox: the queued deliveries as workers take them in hand and give them back with what came of them.

A delivery is claimed for a time (a lease), in a transaction that is over before anything is sent: a worker that dies loses what it
had in hand when the lease ends, and another sends it. Of one object and one receiver only the oldest queued delivery can be claimed,
so that they arrive in order, however many workers there are.
"""

from __future__ import annotations

import dataclasses
import datetime
import uuid
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection, Engine

from netinv_core.changelog.models import ObjectChange
from netinv_core.db.engine import in_parameter
from netinv_core.models.base import now, table_of
from netinv_core.tasks.leases import RELEASED, Leases, free
from netinv_extras.webhooks.deliveries import FAILED, QUEUED, SUCCEEDED, WebhookAttempt, WebhookDelivery
from netinv_extras.webhooks.models import Webhook

_delivery, _attempt, _webhook, _change = (table_of(model) for model in (WebhookDelivery, WebhookAttempt, Webhook, ObjectChange))
_other = _delivery.alias()
_ready = sa.and_(_delivery.c.state == QUEUED, _delivery.c.due <= sa.bindparam("now"), free(_delivery, sa.bindparam("now")))
# Scalar subqueries rather than EXISTS: no planner turns them into joins with the whole queue.
_first = sa.select(_delivery.c.id).where(_delivery.c.webhook_id == _webhook.c.id, _ready).order_by(_delivery.c.due, _delivery.c.id).limit(1).scalar_subquery()
_asking = sa.select(_webhook).where(_first.is_not(None))
_message = [_change.c[name].label(f"record_{name}") for name in ("id", "time", "user_name", "request_id", "action", "changed_object_type", "before", "after")]
# A lane is what waits for one object and one webhook. It is found by the object: with the webhook as a condition of its own, a planner that
# knows nothing of the table (it was empty when it last looked) takes the index of all that wait for as good, and reads the whole queue.
# What follows a delivery in its lane cannot be sent before it: let nobody look at it.
_lane_waits = (
    sa.update(_delivery)
    .where(
        _delivery.c.changed_object_id == sa.bindparam("changed"),
        _delivery.c.state == QUEUED,
        sa.case((_delivery.c.webhook_id == sa.bindparam("webhook"), _delivery.c.due)) < sa.bindparam("again"),
    )
    .values(due=sa.bindparam("again"))
)
SUSPECT = 2  # lost claims in a row, after which a delivery may be what ends the workers that have it in hand
WINDOW, EVERY = 1000, 2**31 - 1
Row = Mapping[str, Any]


@dataclasses.dataclass(frozen=True)
class Claimed:
    """A delivery in hand: its row, that of its webhook, and that of the change record, when it is still there."""

    delivery: Row
    webhook: Row
    change: Row | None


@dataclasses.dataclass(frozen=True)
class Outcome:
    """What came of an attempt that began at ``time``; ``final`` says that another one could not end otherwise."""

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
        """Which attempt it was, from 1."""
        return int(self.claimed.delivery["attempts"]) + 1

    @property
    def again(self) -> datetime.datetime | None:
        """When to try again; ``None`` when this was the last time."""
        webhook = self.claimed.webhook
        if self.good or self.final or self.number > webhook["retries"]:
            return None
        return now() + datetime.timedelta(seconds=min(webhook["retry_after"] * 2 ** (self.number - 1), 366 * 24 * 3600))


class Outbox(Leases):
    """The outbox of a database, for one worker; ``lease`` is for how long it takes deliveries in hand."""

    def __init__(self, engine: Engine, dialect: str, lease: datetime.timedelta) -> None:
        super().__init__(engine, dialect, _delivery)
        self._lease = lease
        self._worker = uuid.uuid4()

    def _in(self, column: Any) -> Any:
        return in_parameter(self._dialect, column)

    def claim_ready(self, room: Callable[[Row], int], suspects: int = 1) -> list[Claimed]:
        """Takes deliveries in hand: of each webhook that has any ready, at most as many as there is ``room`` for (by its row).

        So many ``suspects`` may be among them: deliveries whose claims were lost :data:`SUSPECT` times. One at a time tells the one that ends the
        worker from those that were in hand with it.
        """
        with self.transaction(writing=False) as connection:
            webhooks: dict[Any, Row] = {row["id"]: dict(row) for row in connection.execute(_asking, {"now": now()}).mappings()}
        wanted = {key: count for key, row in webhooks.items() if (count := room(row)) > 0}
        if not wanted:
            return []
        with self.transaction() as connection:
            at = now()
            keys = list(connection.execute(_candidates(wanted, WINDOW), {"now": at}).scalars())
            if not keys:  # so many changes of few objects wait that they hide all others
                keys = list(connection.execute(_candidates(wanted, EVERY), {"now": at}).scalars())
            keys = self._lock_held(connection, keys, _claimable(at, suspects), skip_locked=True) if keys else []
            if not keys:
                return []
            # In this order: MariaDB evaluates an expression with the values that stand before it.
            lost = _delivery.c.lost_claims + sa.case((_delivery.c.claimed_by.is_not(None), 1), else_=0)
            values = ((_delivery.c.lost_claims, lost), (_delivery.c.claimed_by, self._worker), (_delivery.c.claimed_until, at + self._lease))
            connection.execute(sa.update(_delivery).where(self._in(_delivery.c.id)).ordered_values(*values), {"keys": keys})
            rows = (
                sa.select(_delivery, *_message)
                .join_from(_delivery, _change, _change.c.id == _delivery.c.change_id, isouter=True)
                .where(self._in(_delivery.c.id))
                .order_by(_delivery.c.id)
            )
            return [_claimed(dict(row), webhooks) for row in connection.execute(rows, {"keys": keys}).mappings()]

    def record(self, outcomes: Sequence[Outcome]) -> list[Outcome]:
        """Writes outcomes down, and ends the claims; gives those that are of no account any more, because the claim was over or the delivery is gone."""
        with self.transaction() as connection:
            keys = [outcome.claimed.delivery["id"] for outcome in outcomes]
            held = set(self._lock_held(connection, keys, lambda row: row.claimed_by == self._worker))
            valid = [outcome for outcome in outcomes if outcome.claimed.delivery["id"] in held]
            if valid:
                connection.execute(sa.insert(_attempt), [_attempt_of(outcome) for outcome in valid])
            later = {outcome.claimed.delivery["id"]: again for outcome in valid if (again := outcome.again) is not None}
            ended = [outcome for outcome in valid if outcome.claimed.delivery["id"] not in later]
            self._end(connection, SUCCEEDED, [outcome.claimed.delivery["id"] for outcome in ended if outcome.good])
            self._end(connection, FAILED, [outcome.claimed.delivery["id"] for outcome in ended if not outcome.good])
            if later:
                connection.execute(_ending(sa.update(_delivery).where(self._in(_delivery.c.id))), {"keys": list(later)})
                waiting = [outcome for outcome in valid if outcome.claimed.delivery["id"] in later]
                connection.execute(_lane_waits, [_lane_of(outcome, later[outcome.claimed.delivery["id"]]) for outcome in waiting])
        return [outcome for outcome in outcomes if outcome.claimed.delivery["id"] not in held]

    def _lock_held(self, connection: Connection, keys: Sequence[int], fit: Callable[[Any], bool], *, skip_locked: bool = False) -> list[int]:
        """Those of the deliveries that are queued and fit, locked. They are found by their keys alone: for more, planners may take another way."""
        columns = (_delivery.c.id, _delivery.c.state, _delivery.c.claimed_by, _delivery.c.claimed_until, _delivery.c.lost_claims)
        statement = sa.select(*columns).where(self._in(_delivery.c.id)).order_by(_delivery.c.id).with_for_update(skip_locked=skip_locked)
        return [row.id for row in connection.execute(statement, {"keys": keys}) if row.state == QUEUED and fit(row)]

    def _end(self, connection: Connection, state: str, keys: list[int]) -> None:
        if keys:
            statement = _ending(sa.update(_delivery).where(self._in(_delivery.c.id))).values(state=state, finished=now())
            connection.execute(statement, {"keys": keys})

    def release(self, claimed: Sequence[Claimed]) -> None:
        """Gives back what was not sent."""
        with self.transaction() as connection:
            mine = sa.update(_delivery).where(self._in(_delivery.c.id), _delivery.c.claimed_by == self._worker, _delivery.c.state == QUEUED)
            keys = sorted(item.delivery["id"] for item in claimed)
            connection.execute(mine.values(RELEASED), {"keys": keys})

    def next_due(self) -> datetime.datetime | None:
        """When the next delivery may be claimed that may not be now: when it is due, or when the time of another worker is over that has it in hand."""
        held = sa.and_(_delivery.c.claimed_until.is_not(None), _delivery.c.claimed_until > _delivery.c.due)
        free = sa.case((held, _delivery.c.claimed_until), else_=_delivery.c.due)
        statement = sa.select(sa.func.min(free)).where(_delivery.c.state == QUEUED, free > sa.bindparam("now", type_=_delivery.c.due.type))
        with self.transaction(writing=False) as connection:
            found: datetime.datetime | None = connection.execute(statement, {"now": now()}).scalar()
        return found


def _candidates(wanted: Mapping[Any, int], window: int) -> Any:
    """The ids of the deliveries that may be claimed next, of each webhook at most its number, among the first ``window`` that are due."""
    parts = []
    for webhook, count in wanted.items():
        columns = (_delivery.c.id, _delivery.c.webhook_id, _delivery.c.changed_object_id)
        due = sa.select(*columns).where(_delivery.c.webhook_id == webhook, _ready).order_by(_delivery.c.due, _delivery.c.id).limit(window).subquery()
        same = sa.case((_other.c.webhook_id == due.c.webhook_id, _other.c.id))
        oldest = sa.select(sa.func.min(same)).where(_other.c.changed_object_id == due.c.changed_object_id, _other.c.state == QUEUED).scalar_subquery()
        parts.append(sa.select(sa.select(due.c.id).where(due.c.id == oldest).limit(count).subquery().c.id))
    return parts[0] if len(parts) == 1 else sa.union_all(*parts)


def _claimed(row: Row, webhooks: Mapping[Any, Row]) -> Claimed:
    change = {column.name.removeprefix("record_"): row[column.name] for column in _message} if row["record_time"] is not None else None
    return Claimed({column.name: row[column.name] for column in _delivery.c}, webhooks[row["webhook_id"]], change)


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


def _lane_of(outcome: Outcome, again: datetime.datetime) -> dict[str, Any]:
    delivery = outcome.claimed.delivery
    return {"webhook": delivery["webhook_id"], "changed": delivery["changed_object_id"], "again": again}


def _ending(statement: Any) -> Any:
    """One attempt more, and no claim."""
    return statement.values(attempts=_delivery.c.attempts + 1, lost_claims=0, **RELEASED)


def _claimable(at: datetime.datetime, suspects: int) -> Callable[[Any], bool]:
    """Tells of one row after another whether it may be claimed now; not of more than so many suspects."""
    left = suspects

    def fits(row: Any) -> bool:
        nonlocal left
        if row.claimed_until is not None and row.claimed_until >= at:
            return False
        if row.lost_claims >= SUSPECT:
            left -= 1
            return left >= 0
        return True

    return fits
