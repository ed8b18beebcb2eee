"""How webhooks are doing: what waits to be sent, what could not be, for who watches the service."""

from __future__ import annotations

import dataclasses
import datetime
from collections.abc import Iterator
from typing import Any

import sqlalchemy as sa

from netinv_core.auth import permissions
from netinv_core.errors import Denied
from netinv_core.http.metrics import Sample
from netinv_core.models.base import now, table_of
from netinv_core.uow import UnitOfWork
from netinv_extras.webhooks.deliveries import FAILED, QUEUED, STATES, WebhookDelivery
from netinv_extras.webhooks.models import Webhook

_delivery, _webhook = table_of(WebhookDelivery), table_of(Webhook)
_columns = (_delivery.c.state, sa.func.count(_delivery.c.id), sa.func.min(_delivery.c.time))
_open = sa.select(*_columns).where(_delivery.c.state.in_((QUEUED, FAILED))).group_by(_delivery.c.state)


@dataclasses.dataclass
class QueueStats:
    """The deliveries of one webhook: how many in each state, the sendings they took, when the oldest one that waits was made and the next is due.

    ``webhook`` is its name; ``None`` for all webhooks together that the user may not view.
    """

    webhook: str | None
    enabled: bool
    counts: dict[str, int]
    attempts: int = 0
    oldest: datetime.datetime | None = None
    due: datetime.datetime | None = None


def queue_stats(uow: UnitOfWork) -> list[QueueStats]:
    """Those of all webhooks, by name, of those that the user may not view together, nameless and last: one statement."""
    visible = _visible(uow)
    name = sa.case((visible, _webhook.c.name), else_=sa.null()).label("name")
    enabled = sa.case((visible, _webhook.c.enabled), else_=sa.true()).label("enabled")
    grouped = (
        sa.select(name, enabled, _delivery.c.state, _delivery.c.id, _delivery.c.time, _delivery.c.attempts, _delivery.c.due)
        .join_from(_webhook, _delivery, _delivery.c.webhook_id == _webhook.c.id, isouter=True)
        .subquery()
    )
    of = grouped.c
    figures = (sa.func.count(of.id), sa.func.min(of.time), sa.func.sum(of.attempts), sa.func.min(of.due))
    statement = sa.select(of.name, of.enabled, of.state, *figures).group_by(of.name, of.enabled, of.state).order_by(of.name.is_(None), of.name)
    found: dict[str | None, QueueStats] = {}
    for name, enabled, state, count, oldest, attempts, due in uow.execute(statement):
        backlog = found.setdefault(name, QueueStats(name, enabled, dict.fromkeys(STATES.labels, 0)))
        if state is None:
            continue
        backlog.counts[state] = count
        backlog.attempts += int(attempts)
        if state == QUEUED:
            backlog.oldest, backlog.due = oldest, due
    return list(found.values())


def _visible(uow: UnitOfWork) -> Any:
    """The condition that the user may view a webhook."""
    try:
        scope = permissions.scope(uow, uow.registry.of_model(Webhook), "view", _webhook)
    except Denied:
        return sa.false()
    return sa.true() if scope is None else scope


def status(uow: UnitOfWork) -> dict[str, Any]:
    """``queued``, ``failed`` and ``oldest_queued_seconds`` (null when nothing waits), over all webhooks: one statement."""
    found = {state: (count, oldest) for state, count, oldest in uow.execute(_open)}
    queued, oldest = found.get(QUEUED, (0, None))
    return {"queued": queued, "failed": found.get(FAILED, (0, None))[0], "oldest_queued_seconds": None if oldest is None else int(_age(oldest))}


def samples(uow: UnitOfWork) -> Iterator[Sample]:
    """The figures for ``/metrics``, by webhook; of those that the user may not view together, without a name."""
    for backlog in queue_stats(uow):
        labels = {} if backlog.webhook is None else {"webhook": backlog.webhook}
        for state, count in backlog.counts.items():
            yield Sample("netinv_webhook_deliveries", "Deliveries that are kept, by webhook and state.", count, labels={**labels, "state": state})
        yield Sample("netinv_webhook_attempts", "Sendings of the deliveries that are kept.", backlog.attempts, labels=labels)
        oldest = 0.0 if backlog.oldest is None else _age(backlog.oldest)
        yield Sample("netinv_webhook_oldest_queued_seconds", "How long the oldest delivery waits that is not sent; 0 when none does.", oldest, labels=labels)


def _age(moment: datetime.datetime) -> float:
    return max(0.0, (now() - moment).total_seconds())
