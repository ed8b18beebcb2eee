"""Feature ``webhooks``: webhooks, their deliveries, and the worker that sends them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from huey import crontab
from sqlalchemy.engine import Engine

from netinv_core import settings
from netinv_core.app import Feature
from netinv_core.changelog.guards import ChangeGuard
from netinv_core.changelog.recorder import RelatedInsert
from netinv_core.findings import Finding
from netinv_core.hookspecs import hookimpl
from netinv_core.http.metrics import Sample
from netinv_core.presentation import MenuEntry, MenuSection
from netinv_core.tasks.queue import Task
from netinv_core.tasks.retention import Retention
from netinv_core.write.dry_run import Effects
from netinv_extras import allowed_files
from netinv_extras.webhooks import deliveries, enqueue, models, stats

if TYPE_CHECKING:
    import click

    from netinv_core.changelog.change_set import Change
    from netinv_core.registry import Registry
    from netinv_core.uow import UnitOfWork

feature = Feature(
    "webhooks",
    "Webhooks",
    [models.webhooks, deliveries.webhook_deliveries],
    includes=["netinv_extras.webhooks.deliveries", "netinv_extras.webhooks.event_documents"],
    web=[
        "netinv_extras.webhooks.web.pages",
        "netinv_extras.webhooks.web.retry_control",
        "netinv_extras.webhooks.web.form_part",
    ],
    settings={
        "webhook_allow": (settings.targets, ()),
        "webhook_ca_folders": (allowed_files.folders, ()),
        "webhook_connect_timeout": (settings.seconds, 3.0),
        "webhook_read_timeout": (settings.seconds, 10.0),
        "webhook_total_timeout": (settings.seconds, 30.0),
        "webhook_threads": (int, 32),
        "webhook_delivery_retention": (settings.count, 90),
    },
    menu=[
        MenuSection(
            "Operations",
            [
                "webhooks",
                MenuEntry("Webhook deliveries", "/extras/webhook-deliveries/queue/", "extras.webhookdelivery"),
            ],
            icon="queue-list",
            position=702,
        )
    ],
)


@hookimpl
def netinv_change_guards(registry: Registry) -> Iterable[ChangeGuard]:
    """The conditions of webhooks look at objects before they are changed."""
    return [enqueue.judge.guard]


@hookimpl
def netinv_change_inserts(uow: UnitOfWork, changes: Sequence[Change]) -> Iterable[RelatedInsert]:
    """Inserts of deliveries for matching webhooks."""
    return enqueue.related_inserts(uow, changes)


@hookimpl
def netinv_change_effects(uow: UnitOfWork, changes: Sequence[Change]) -> Mapping[str, Effects]:
    """Webhooks that the changes would send."""
    return {"webhooks": enqueue.effects(uow, changes)}


@hookimpl
def netinv_status(uow: UnitOfWork) -> dict[str, Any]:
    """Numbers of queued and failed deliveries."""
    return {"webhooks": stats.status(uow)}


@hookimpl
def netinv_metrics(uow: UnitOfWork) -> Iterable[Sample]:
    """Metrics of deliveries, by webhook."""
    return stats.samples(uow)


@hookimpl
def netinv_commands() -> dict[str, list[click.Command]]:
    """The commands ``webhooks`` and ``webhook-listener``."""
    from netinv_extras.webhooks.commands import webhooks
    from netinv_extras.webhooks.listener import webhook_listener

    return {"netinv": [webhooks, webhook_listener]}


@hookimpl
def netinv_checks(engine: Engine, registry: Registry) -> Iterable[Finding]:
    """Checks of the addresses that webhooks may reach, of the folders with certificates, and of conditions."""
    from netinv_extras import checks

    named = [("webhook_ca_folders", path) for path in registry.settings["webhook_ca_folders"]]
    allowed = checks.guard(registry, "webhook_allow", "webhook guard")
    return [allowed, *checks.missing_folders(named), *checks.conditions(engine, registry, enqueue.judge)]


@hookimpl
def netinv_retention(registry: Registry) -> Iterable[Retention]:
    """Deliveries."""
    return [deliveries.retention]


@hookimpl
def netinv_tasks(registry: Registry) -> Iterable[Task]:
    """The task that sends deliveries."""
    return [Task(models.DELIVER, _deliver, crontab(), run_at_startup=True)]


def _deliver(engine: Engine, registry: Registry) -> None:
    """Imports the worker on first use, so that a service process does not load it."""
    from netinv_extras.webhooks import worker

    worker.deliver(engine, registry)
