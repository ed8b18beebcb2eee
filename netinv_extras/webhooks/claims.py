"""Statements that find the deliveries to claim; on PostgreSQL one statement finds, locks, claims and reads them."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import ARRAY
from sqlalchemy.engine import Connection

from netinv_core.changelog.models import ObjectChange
from netinv_core.changelog.states import record_columns
from netinv_core.db.driver import driver_of
from netinv_core.db.driver.results import Row
from netinv_core.models.base import table_of
from netinv_core.tasks.leases import free
from netinv_extras.webhooks.deliveries import QUEUED, WebhookDelivery

_delivery, _change = table_of(WebhookDelivery), table_of(ObjectChange)
_lane_delivery, _locked_delivery = _delivery.alias(), _delivery.alias("to_lock")
SUSPECT = 2  # lost claims in a row after which a delivery may be what crashes the workers that claim it
WINDOW, EVERY = 1000, 2**31 - 1  # ready deliveries of a webhook to search; EVERY: no limit
DELIVERY_COLUMNS = tuple(_delivery.c.keys())
CHANGE_COLUMNS = ("id", "time", "user_name", "request_id", "action", "changed_object_type", "before", "after")
change_columns = [column.label(f"record_{column.name}") for column in record_columns(CHANGE_COLUMNS)]
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


first_candidates, all_candidates = _candidates(WINDOW), _candidates(EVERY)


# -- PostgreSQL


def _locked(window: int) -> Any:
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


def _claiming(window: int) -> sa.Select[Any]:
    """Statement that claims the deliveries that :func:`_locked` locks, and returns them with their change records.

    What another worker claimed between the snapshot and the lock is seen in the locked rows. The planner is kept to
    the primary key by conditions on these that are outside of the subquery.
    """
    locked = _locked(window).cte("locked")
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
    # The commit does not wait for the disk (netinv_core.db.engine.commit_without_disk).
    without_disk = sa.select(sa.literal_column("set_config('synchronous_commit', 'off', true)")).scalar_subquery()
    return (
        sa.select(*claim.c, *change_columns, without_disk.label("without_disk"))
        .join_from(claim, _change, _change.c.id == claim.c.change_id, isouter=True)
        .order_by(claim.c.id)
    )


_claim_first, _claim_any = _claiming(WINDOW), _claiming(EVERY)


def claim_at_once(connection: Connection, values: dict[str, Any]) -> Sequence[Row]:
    """Claims deliveries on PostgreSQL. Returns their columns and those of their change records.

    Where the window holds only followers of deliveries that cannot be claimed now, all are searched.
    """
    run = functools.partial(driver_of("postgresql").execute, connection)
    found: Sequence[Row] = run(_claim_first, values).tuples().all() or run(_claim_any, values).tuples().all()
    return found
