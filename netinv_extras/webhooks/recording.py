"""The statement that records outcomes of attempts on PostgreSQL: it locks the deliveries, inserts the attempts and
updates the deliveries.

Statements of their own for these take a transaction, with a round trip each, and execute the INSERT for each attempt.
"""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import ARRAY, JSONB
from sqlalchemy.engine import Connection

from netinv_core.db.driver import driver_of
from netinv_core.models.base import table_of
from netinv_core.tasks.leases import RELEASED
from netinv_extras.webhooks.deliveries import QUEUED, WebhookAttempt, WebhookDelivery

_delivery, _attempt = table_of(WebhookDelivery), table_of(WebhookAttempt)
_ATTEMPT = [column for column in _attempt.c if column.name != "id"]


def _recording() -> sa.Select[Any]:
    """The statement; it returns the ids of the deliveries that the worker still has claimed.

    What another worker did between the snapshot and the lock is seen in the locked rows.
    """
    columns = [sa.column(column.name, column.type) for column in (*_ATTEMPT, _delivery.c.state, _delivery.c.finished)]
    given = (
        sa.func.jsonb_to_recordset(sa.bindparam("outcomes", type_=JSONB()))
        .table_valued(*columns, name="given")
        .render_derived(with_types=True)
    )
    keys = _delivery.c.id == sa.any_(sa.bindparam("keys", type_=ARRAY(_delivery.c.id.type)))
    locked = (
        sa.select(_delivery.c.id, _delivery.c.state, _delivery.c.claimed_by)
        .where(keys)
        .order_by(_delivery.c.id)
        .with_for_update()
        .cte("locked")
    )
    worker = sa.bindparam("worker", type_=_delivery.c.claimed_by.type)
    held = (
        sa.select(*given.c)
        .join_from(given, locked, locked.c.id == given.c.delivery_id)
        .where(locked.c.state == sa.literal_column(f"'{QUEUED}'"), locked.c.claimed_by == worker)
        .cte("held")
    )
    names = [column.name for column in _ATTEMPT]
    rows = sa.select(*(held.c[name] for name in names))
    attempts = sa.insert(_attempt).from_select(names, rows, include_defaults=False).cte("attempts")
    updated = (
        sa.update(_delivery)
        .where(_delivery.c.id == held.c.delivery_id)
        .values(
            state=held.c.state,
            finished=held.c.finished,
            attempts=_delivery.c.attempts + sa.literal_column("1"),
            lost_claims=sa.literal_column("0"),
            **dict.fromkeys(RELEASED, sa.null()),
        )
        .cte("updated")
    )
    # The commit does not wait for the disk (netinv_core.db.engine.commit_without_disk).
    without_disk = sa.select(sa.literal_column("set_config('synchronous_commit', 'off', true)")).scalar_subquery()
    return sa.select(held.c.delivery_id, without_disk.label("without_disk")).add_cte(attempts, updated)


_record = _recording()


def record_at_once(connection: Connection, worker: uuid.UUID, outcomes: Sequence[dict[str, Any]]) -> set[int]:
    """Records outcomes on PostgreSQL: the columns of attempts, with ``state`` and ``finished`` of the deliveries.

    Returns the ids of the deliveries whose outcomes were recorded: those that the worker still has claimed.
    """
    keys = [outcome["delivery_id"] for outcome in outcomes]
    values = {"outcomes": outcomes, "keys": keys, "worker": worker}
    return set(driver_of("postgresql").execute(connection, _record, values).scalars())
