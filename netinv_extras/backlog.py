"""How webhooks are doing: what waits to be sent, what could not be, for who watches the service."""

from __future__ import annotations

import dataclasses
import datetime
from collections.abc import Iterator
from typing import Any

import sqlalchemy as sa

from netinv_core.context import Context
from netinv_core.http.metrics import Sample
from netinv_core.model import now, table_of
from netinv_extras.deliveries import FAILED, QUEUED, STATES, WebhookDelivery
from netinv_extras.webhooks import Webhook

_delivery, _webhook = table_of(WebhookDelivery), table_of(Webhook)
_columns = (_delivery.c.state, sa.func.count(_delivery.c.id), sa.func.min(_delivery.c.time))
_open = sa.select(*_columns).where(_delivery.c.state.in_((QUEUED, FAILED))).group_by(_delivery.c.state)
_by_webhook = (
    sa.select(_webhook.c.name, _webhook.c.enabled, *_columns, sa.func.sum(_delivery.c.attempts), sa.func.min(_delivery.c.due))
    .join_from(_webhook, _delivery, _delivery.c.webhook_id == _webhook.c.id, isouter=True)
    .group_by(_webhook.c.name, _webhook.c.enabled, _delivery.c.state)
    .order_by(_webhook.c.name)
)


@dataclasses.dataclass
class Backlog:
    """The deliveries of one webhook: how many in each state, the sendings they took, when the oldest one that waits was made and the next is due."""

    webhook: str
    enabled: bool
    counts: dict[str, int]
    attempts: int = 0
    oldest: datetime.datetime | None = None
    due: datetime.datetime | None = None


def backlogs(context: Context) -> list[Backlog]:
    """Those of all webhooks, by name: one statement."""
    found: dict[str, Backlog] = {}
    for name, enabled, state, count, oldest, attempts, due in context.execute(_by_webhook):
        backlog = found.setdefault(name, Backlog(name, enabled, dict.fromkeys(STATES.labels, 0)))
        if state is None:
            continue
        backlog.counts[state] = count
        backlog.attempts += int(attempts)
        if state == QUEUED:
            backlog.oldest, backlog.due = oldest, due
    return list(found.values())


def status(context: Context) -> dict[str, Any]:
    """``queued``, ``failed`` and ``oldest_queued_seconds`` (null when nothing waits), over all webhooks: one statement."""
    found = {state: (count, oldest) for state, count, oldest in context.execute(_open)}
    queued, oldest = found.get(QUEUED, (0, None))
    return {"queued": queued, "failed": found.get(FAILED, (0, None))[0], "oldest_queued_seconds": None if oldest is None else int(_age(oldest))}


def samples(context: Context) -> Iterator[Sample]:
    """The figures for ``/metrics``, by webhook."""
    for backlog in backlogs(context):
        labels = {"webhook": backlog.webhook}
        for state, count in backlog.counts.items():
            yield Sample("netinv_webhook_deliveries", "Deliveries that are kept, by webhook and state.", count, labels={**labels, "state": state})
        yield Sample("netinv_webhook_attempts", "Sendings of the deliveries that are kept.", backlog.attempts, labels=labels)
        oldest = 0.0 if backlog.oldest is None else _age(backlog.oldest)
        yield Sample("netinv_webhook_oldest_queued_seconds", "How long the oldest delivery waits that is not sent; 0 when none does.", oldest, labels=labels)


def _age(moment: datetime.datetime) -> float:
    return max(0.0, (now() - moment).total_seconds())
