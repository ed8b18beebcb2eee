"""Statistics of webhook deliveries for ``/api/status/``, ``/metrics`` and the command line."""

from __future__ import annotations

import dataclasses
import datetime
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from netinv_core.auth import permissions
from netinv_core.http.metrics import Sample
from netinv_core.models.base import now, table_of
from netinv_extras.webhooks.deliveries import FAILED, QUEUED, STATES, WebhookDelivery
from netinv_extras.webhooks.models import Webhook

if TYPE_CHECKING:
    from netinv_core.uow import UnitOfWork

_delivery, _webhook = table_of(WebhookDelivery), table_of(Webhook)
_columns = (_delivery.c.state, sa.func.count(_delivery.c.id), sa.func.min(_delivery.c.time))
_open = sa.select(*_columns).where(_delivery.c.state.in_((QUEUED, FAILED))).group_by(_delivery.c.state)


@dataclasses.dataclass
class QueueStats:
    """Deliveries of one webhook: numbers by state, attempts, creation of the oldest queued one, and the next due date.

    ``webhook`` is its name; ``None`` stands for all webhooks that the user may not view.
    """

    webhook: str | None
    enabled: bool
    paused: bool
    counts: dict[str, int]
    attempts: int = 0
    oldest: datetime.datetime | None = None
    due: datetime.datetime | None = None


def queue_stats(uow: UnitOfWork) -> list[QueueStats]:
    """Returns the statistics of all webhooks by name, those that the user may not view in one last entry: one
    statement.
    """
    visible = _visible(uow)
    name = sa.case((visible, _webhook.c.name), else_=sa.null()).label("name")
    enabled = sa.case((visible, _webhook.c.enabled), else_=sa.true()).label("enabled")
    paused = sa.case((visible, _webhook.c.paused), else_=sa.false()).label("paused")
    of_delivery = (_delivery.c[name] for name in ("state", "id", "time", "attempts", "due"))
    grouped = (
        sa.select(name, enabled, paused, *of_delivery)
        .join_from(_webhook, _delivery, _delivery.c.webhook_id == _webhook.c.id, isouter=True)
        .subquery()
    )
    of = grouped.c
    figures = (sa.func.count(of.id), sa.func.min(of.time), sa.func.sum(of.attempts), sa.func.min(of.due))
    statement = (
        sa.select(of.name, of.enabled, of.paused, of.state, *figures)
        .group_by(of.name, of.enabled, of.paused, of.state)
        .order_by(of.name.is_(None), of.name)
    )
    by_name: dict[str | None, QueueStats] = {}
    for name, enabled, paused, state, count, oldest, attempts, due in uow.execute(statement):
        stats = by_name.setdefault(name, QueueStats(name, enabled, paused, dict.fromkeys(STATES.labels, 0)))
        if state is None:
            continue
        stats.counts[state] = count
        stats.attempts += int(attempts)
        if state == QUEUED:
            stats.oldest, stats.due = oldest, due
    return list(by_name.values())


def _visible(uow: UnitOfWork) -> Any:
    """Condition for webhooks that the user may view."""
    return sa.and_(sa.true(), *permissions.visible(uow, uow.registry.of_model(Webhook), _webhook))


def status(uow: UnitOfWork) -> dict[str, Any]:
    """Returns ``queued``, ``failed`` and ``oldest_queued_seconds`` (or null) over all webhooks: one statement."""
    by_state = {state: (count, oldest) for state, count, oldest in uow.execute(_open)}
    queued, oldest = by_state.get(QUEUED, (0, None))
    failed, _ = by_state.get(FAILED, (0, None))
    seconds = None if oldest is None else int(_age(oldest))
    return {"queued": queued, "failed": failed, "oldest_queued_seconds": seconds}


def samples(uow: UnitOfWork) -> Iterator[Sample]:
    """Yields the metrics by webhook; those that the user may not view have one entry without a name."""
    for backlog in queue_stats(uow):
        labels = {} if backlog.webhook is None else {"webhook": backlog.webhook}
        for state, count in backlog.counts.items():
            yield Sample(
                "netinv_webhook_deliveries",
                "Deliveries that are kept, by webhook and state.",
                count,
                labels={**labels, "state": state},
            )
        yield Sample(
            "netinv_webhook_attempts", "Sendings of the deliveries that are kept.", backlog.attempts, labels=labels
        )
        oldest = 0.0 if backlog.oldest is None else _age(backlog.oldest)
        yield Sample(
            "netinv_webhook_oldest_queued_seconds",
            "How long the oldest delivery waits that is not sent; 0 when none does.",
            oldest,
            labels=labels,
        )


def _age(moment: datetime.datetime) -> float:
    return max(0.0, (now() - moment).total_seconds())
