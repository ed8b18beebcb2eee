"""Claims of deliveries; on PostgreSQL one statement finds, locks, claims and reads them."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import ARRAY

from netinv_core.changelog.models import ObjectChange
from netinv_core.db.expressions import in_parameter
from netinv_core.driver.combined import Combined, Run, without_disk
from netinv_core.driver.results import Row
from netinv_core.models.base import table_of
from netinv_core.tasks.leases import free
from netinv_extras.webhooks.change_records import claimed_columns
from netinv_extras.webhooks.deliveries import QUEUED, WebhookDelivery

_delivery, _change = table_of(WebhookDelivery), table_of(ObjectChange)
_lane_delivery, _locked_delivery = _delivery.alias(), _delivery.alias("to_lock")
SUSPECT = 2  # lost claims in a row after which a delivery may be what crashes the workers that claim it
WINDOW, EVERY = 1000, 2**31 - 1  # ready deliveries of a webhook to search; EVERY: no limit
DELIVERY_COLUMNS = tuple(_delivery.c.keys())
change_columns = [column.label(f"record_{column.name}") for column in claimed_columns]
is_ready = sa.and_(
    _delivery.c.state == QUEUED, _delivery.c.due <= sa.bindparam("now"), free(_delivery, sa.bindparam("now"))
)


def _ready(webhook: Any, window: int) -> Any:
    """SELECT of the first ready deliveries of a webhook."""
    return (
        sa.select(_delivery.c.id, _delivery.c.webhook_id, _delivery.c.changed_object_id, _delivery.c.due)
        .where(_delivery.c.webhook_id == webhook, is_ready)
        .order_by(_delivery.c.due, _delivery.c.id)
        .limit(sa.literal_column(str(window)))
    )


def _is_first(ready: Any) -> Any:
    """The condition that a delivery is the oldest queued one of its lane (same object, same webhook)."""
    older = (
        sa.select(_lane_delivery.c.id)
        .where(
            _lane_delivery.c.changed_object_id == ready.c.changed_object_id,
            _lane_delivery.c.webhook_id == ready.c.webhook_id,
            _lane_delivery.c.state == QUEUED,
            _lane_delivery.c.id < ready.c.id,
        )
        .limit(sa.literal_column("1"))
        .scalar_subquery()
    )
    return older.is_(None)


def _candidates(window: int) -> Any:
    """SELECT of the ids to claim of the parameter ``webhook``: at most ``count`` of its first ``window`` ready ones.

    A ready delivery is selected when it is the oldest queued one of its lane. The form of the statement is for the
    planners:

    * The subquery ``ready`` reads the index ``(state, webhook_id, due, id)`` and ends after ``window`` rows: the cost
      does not grow with the queue. The number is in the text of the statement; for a parameter, PostgreSQL's generic
      plans assume a tenth of all rows, and sort them.
    * ``older`` is a correlated scalar subquery rather than a join with the whole queue. It stops at the first row of
      the index ``(changed_object_id, webhook_id, state, id)``, however long the lane is.
    * One statement for each webhook, which is prepared. For 200 webhooks, one with UNION ALL was planned for 0.3 s.
    """
    ready = _ready(sa.bindparam("webhook"), window).subquery()
    return sa.select(ready.c.id).where(_is_first(ready)).limit(sa.bindparam("count"))


_first_candidates, _all_candidates = _candidates(WINDOW), _candidates(EVERY)


# -- PostgreSQL


def _select_locked(window: int) -> Any:
    """SELECT that locks of each of the ``webhooks`` as many of its first ``window`` ready deliveries as its number in
    ``counts`` says. Rows that other workers lock are passed, and those behind them locked.
    """
    wanted = (
        sa.func.unnest(
            sa.bindparam("webhooks", type_=ARRAY(_delivery.c.webhook_id.type)),
            sa.bindparam("counts", type_=ARRAY(sa.Integer)),
        )
        .table_valued(sa.column("webhook", _delivery.c.webhook_id.type), sa.column("count", sa.Integer), name="wanted")
        .render_derived()
    )
    ready = _ready(wanted.c.webhook, window).correlate(wanted).lateral("ready")
    found = (
        sa.select(_locked_delivery)
        .join_from(ready, _locked_delivery, _locked_delivery.c.id == ready.c.id)
        .where(_is_first(ready))
        .limit(wanted.c.count)
        .correlate(wanted)
        .with_for_update(skip_locked=True, of=_locked_delivery)
        .lateral("found")
    )
    return sa.select(found).select_from(wanted).join(found, sa.true())


def _select_claims(window: int) -> sa.Select[Any]:
    """Statement that claims the deliveries locked by :func:`_select_locked` and returns them with their change records.

    What another worker claimed between the snapshot and the lock is seen in the locked rows. The planner is kept to
    the primary key by conditions on these that are outside of the subquery.
    """
    locked = _select_locked(window).cte("locked")
    is_suspect = locked.c.lost_claims >= SUSPECT
    place = sa.func.row_number().over(partition_by=is_suspect, order_by=locked.c.id)
    columns = [locked.c[name] for name in ("id", "claimed_by", "lost_claims")]
    fit = (
        sa.select(*columns, place.label("place"))
        .where(locked.c.state == QUEUED, free(locked, sa.bindparam("now")))
        .cte("fit")
    )
    claim = (
        sa.update(_delivery)
        .where(
            _delivery.c.id == fit.c.id,
            sa.or_(fit.c.lost_claims < SUSPECT, fit.c.place <= sa.bindparam("suspects", type_=sa.Integer)),
        )
        .values(
            lost_claims=fit.c.lost_claims + sa.case((fit.c.claimed_by.is_not(None), 1), else_=0),
            claimed_by=sa.bindparam("worker", type_=_delivery.c.claimed_by.type),
            claimed_until=sa.bindparam("until", type_=_delivery.c.claimed_until.type),
        )
        .returning(*_delivery.c)
        .cte("claimed")
    )
    return (
        sa.select(*claim.c, *change_columns, without_disk)
        .join_from(claim, _change, _change.c.id == claim.c.change_id, isouter=True)
        .order_by(claim.c.id)
    )


_claim_first, _claim_any = _select_claims(WINDOW), _select_claims(EVERY)


# -- elsewhere


def lock_held(run: Run, keys: Sequence[int], fit: Callable[[Any], bool], *, skip_locked: bool = False) -> list[int]:
    """Locks deliveries; returns the ids of those that are queued and ``fit``.

    The WHERE clause has the keys alone. With further conditions a planner might not use the primary key.
    """
    columns = [_delivery.c[name] for name in ("id", "state", "claimed_by", "claimed_until", "lost_claims")]
    selected = sa.select(*columns).where(in_parameter(_delivery.c.id)).order_by(_delivery.c.id)
    rows = run(selected.with_for_update(skip_locked=skip_locked), {"keys": keys})
    return [row.id for row in rows if row.state == QUEUED and fit(row)]


def _ids(run: Run, statement: Any, limits: Sequence[Mapping[str, Any]], passed: Collection[int]) -> list[int]:
    """The ids that a SELECT returns for each of the limits, without those ``passed``."""
    found: list[int] = []
    for limit in limits:
        keys = [key for key in run(statement, limit).scalars() if key not in passed]
        found += keys[: limit["count"] - len(passed)]
    return found


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


class Claiming(Combined):
    """Claims deliveries for a worker. The values: ``webhooks`` and, of each, the most to claim (``counts``); ``now``;
    the most ``suspects``; ``worker``, and ``until``, the end of the lease.

    Its result are rows of deliveries with their change records; ``None`` if other workers claim all candidates. These
    are added to ``others``. The next attempt takes those behind them; one that ``waits`` takes the same, when the other
    workers have committed.
    """

    def __init__(self, others: set[int], *, waits: bool) -> None:
        self._others, self._waits = others, waits

    def at_once(self, run: Run, values: Any) -> Sequence[Row] | None:
        # Where the window holds only followers of deliveries that cannot be claimed now, all are searched.
        found: Sequence[Row] = run(_claim_first, values).tuples().all() or run(_claim_any, values).tuples().all()
        return found

    def in_steps(self, run: Run, values: Any) -> Sequence[Row] | None:
        passed = set() if self._waits else set(self._others)
        counts = zip(values["webhooks"], values["counts"], strict=True)
        at = values["now"]
        limits = [{"webhook": key, "now": at, "count": count + len(passed)} for key, count in counts]
        candidates = _ids(run, _first_candidates, limits, passed) or _ids(run, _all_candidates, limits, passed)
        if not candidates:
            return None if passed else []
        claimable = _claimable(at, values["suspects"])
        keys = lock_held(run, candidates, claimable, skip_locked=not self._waits)
        if not keys:
            self._others.update(candidates)
            return None
        is_claimed = in_parameter(_delivery.c.id)
        # lost_claims first: in MariaDB an expression sees the values assigned before it in the statement.
        lost = _delivery.c.lost_claims + sa.case((_delivery.c.claimed_by.is_not(None), 1), else_=0)
        written = (
            (_delivery.c.lost_claims, lost),
            (_delivery.c.claimed_by, values["worker"]),
            (_delivery.c.claimed_until, values["until"]),
        )
        run(sa.update(_delivery).where(is_claimed).ordered_values(*written), {"keys": keys})
        selected = (
            sa.select(_delivery, *change_columns)
            .join_from(_delivery, _change, _change.c.id == _delivery.c.change_id, isouter=True)
            .where(is_claimed)
            .order_by(_delivery.c.id)
        )
        rows: Sequence[Row] = run(selected, {"keys": keys}).all()
        return rows
