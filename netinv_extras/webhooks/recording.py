"""Records of outcomes of attempts: the deliveries are locked, the attempts inserted and the deliveries updated.

On PostgreSQL one statement does all of it. Statements of their own take a transaction, with a round trip each, and
execute the INSERT for each attempt.
"""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import ARRAY, JSONB

from netinv_core.db.expressions import in_parameter
from netinv_core.driver.combined import Combined, Run, without_disk
from netinv_core.models.base import table_of
from netinv_core.tasks.leases import RELEASED
from netinv_extras.webhooks.claims import lock_held
from netinv_extras.webhooks.deliveries import QUEUED, WebhookAttempt, WebhookDelivery

_delivery, _attempt = table_of(WebhookDelivery), table_of(WebhookAttempt)
_ATTEMPT = [column for column in _attempt.c if column.name != "id"]


def _recording_statement() -> sa.Select[Any]:
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
    return sa.select(held.c.delivery_id, without_disk).add_cte(attempts, updated)


_record = _recording_statement()


class Recording(Combined):
    """Records outcomes of attempts and ends the claims. The values: ``outcomes``, the columns of attempts with
    ``state`` and ``finished`` of their deliveries, and the ``worker``.

    Its result are the ids of the deliveries whose outcomes were recorded: those that the worker still has claimed.
    """

    def at_once(self, run: Run, values: Any) -> set[int]:
        keys = [outcome["delivery_id"] for outcome in values["outcomes"]]
        return set(run(_record, {**values, "keys": keys}).scalars())

    def in_steps(self, run: Run, values: Any) -> set[int]:
        keys = [outcome["delivery_id"] for outcome in values["outcomes"]]
        held = set(lock_held(run, keys, lambda row: row.claimed_by == values["worker"]))
        recorded = [outcome for outcome in values["outcomes"] if outcome["delivery_id"] in held]
        if recorded:
            names = [column.name for column in _ATTEMPT]
            run(sa.insert(_attempt), [{name: outcome[name] for name in names} for outcome in recorded])
        by_state: dict[str, list[dict[str, Any]]] = {}
        for outcome in recorded:
            by_state.setdefault(outcome["state"], []).append(outcome)
        for state, outcomes in by_state.items():
            ended = sa.update(_delivery).where(in_parameter(_delivery.c.id))
            ended = ended.values(attempts=_delivery.c.attempts + 1, lost_claims=0, **RELEASED)
            if state != QUEUED:
                ended = ended.values(state=state, finished=max(outcome["finished"] for outcome in outcomes))
            run(ended, {"keys": [outcome["delivery_id"] for outcome in outcomes]})
        return held
