"""Proofs after a mixed load: what the clients wrote, the change log, the deliveries and the receiver agree."""

from __future__ import annotations

import collections
import time
from typing import Any

import sqlalchemy as sa

from bench.mixed import RECORDED, Load
from bench.receiver import Receiver
from netinv_core.changelog.models import ObjectChange
from netinv_core.db.engine import engine_from
from netinv_core.models.base import table_of
from netinv_extras.webhooks.deliveries import QUEUED, WebhookDelivery

PATIENCE = 600.0  # seconds for the worker to send the rest
_change, _delivery = table_of(ObjectChange), table_of(WebhookDelivery)


def last_change(database: str) -> Any:
    """The time of the last change record."""
    engine = engine_from(database)
    with engine.connect() as connection:
        found = connection.execute(sa.select(sa.func.max(_change.c.time))).scalar()
    engine.dispose()
    return found


def prove(load: Load, since: Any, given: Receiver) -> dict[str, tuple[int, int]]:
    """Returns pairs of numbers by what they say; the two of a pair are equal when nothing was lost or doubled."""
    client = load.service.client()
    deadline = time.monotonic() + PATIENCE
    queued = f"extras/webhook-deliveries/?state={QUEUED}&limit=1"
    while client.call("GET", queued)["count"] and time.monotonic() < deadline:
        time.sleep(1)
    counters = {key: int(client.call("GET", f"dcim/devices/{key}/")["comments"]) for key in load.counters}
    lost = sum(abs(value - load.written[key, "update"]) for key, value in counters.items())
    records, deliveries = _recorded(load.service.database, since)
    return {
        "counters: sum, successful PATCHes": (
            sum(counters.values()),
            sum(load.written[key, "update"] for key in counters),
        ),
        "counters: updates lost or doubled, 0": (lost, 0),
        "allocated: addresses, different ones": (len(load.allocated), len(set(load.allocated))),
        "writes answered, change records": (load.written.total(), records.total()),
        "writes without a record of their own or records without a write, 0": (_difference(load.written, records), 0),
        "change records, deliveries": (records.total(), sum(deliveries)),
        "change records without exactly one delivery, 0": (sum(number != 1 for number in deliveries), 0),
        "deliveries, messages received": (sum(deliveries), given.total("messages")),
        "deliveries, different ones received": (sum(deliveries), given.total("deliveries")),
    }


def _difference(one: collections.Counter[Any], other: collections.Counter[Any]) -> int:
    return (one - other).total() + (other - one).total()


def _recorded(database: str, since: Any) -> tuple[collections.Counter[tuple[str, str]], list[int]]:
    """Change records by object and action, and the number of deliveries of each record."""
    engine = engine_from(database)
    number = sa.select(sa.func.count()).where(_delivery.c.change_id == _change.c.id).scalar_subquery()
    selected = sa.select(_change.c.changed_object_id, _change.c.action, number).where(
        _change.c.time > since, _change.c.changed_object_type.in_(RECORDED)
    )
    with engine.connect() as connection:
        rows = connection.execute(selected).all()
    engine.dispose()
    return collections.Counter((str(key), action) for key, action, _ in rows), [row[2] for row in rows]
