"""Feature ``change_requests``: changes made aside, seen as if they were made, and merged in one transaction."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from huey import crontab
from sqlalchemy.engine import Engine

from netinv_core import settings
from netinv_core.app import Feature
from netinv_core.changelog.guards import ChangeGuard
from netinv_core.hookspecs import hookimpl
from netinv_core.presentation import MenuSection
from netinv_core.tasks.queue import Task
from netinv_extras.change_requests import models, requirements, review_rules, waiting

if TYPE_CHECKING:
    from netinv_core.registry import Registry
    from netinv_core.uow import UnitOfWork

waiting.register()
feature = Feature(
    "change_requests",
    "Change requests",
    [models.change_requests, review_rules.review_rules],
    includes=[
        "netinv_extras.change_requests.entering",
        "netinv_extras.change_requests.actions",
        "netinv_extras.change_requests.documents",
    ],
    web=[
        "netinv_extras.change_requests.web.steps",
        "netinv_extras.change_requests.web.entered",
        "netinv_extras.change_requests.web.panel",
        "netinv_extras.change_requests.web.marks",
        "netinv_extras.change_requests.web.proposing",
        "netinv_extras.change_requests.web.rule_form",
    ],
    settings={"max_proposed_changes": (settings.count, 5000), "change_request_approvals": (settings.count, 0)},
    menu=[MenuSection("Operations", ["change-requests", "review-rules"], icon="queue-list", position=704)],
)


@hookimpl
def netinv_tasks(registry: Registry) -> Iterable[Task]:
    """The tasks that merge change requests at their time, and match them with changed review rules."""
    return [
        Task(models.MERGE_DUE, _merge_due, crontab(), run_at_startup=True),
        Task(models.MATCH_RULES, _match_again, run_at_startup=True),
    ]


def _merge_due(engine: Engine, registry: Registry) -> None:
    """Imports the merges on first use, so that a service process does not load them."""
    from netinv_extras.change_requests import scheduled

    scheduled.merge_due(engine, registry)


def _match_again(engine: Engine, registry: Registry) -> None:
    """Imports the matching on first use, as :func:`_merge_due`."""
    from netinv_extras.change_requests import rematching

    rematching.match_again(engine, registry)


@hookimpl
def netinv_change_guards(registry: Registry) -> Iterable[ChangeGuard]:
    """The guard that refuses direct changes of objects under a review rule."""
    return [requirements.GUARD]


@hookimpl
def netinv_reverted(uow: UnitOfWork, changes: Sequence[Any]) -> None:
    """The state of change requests whose merge was undone."""
    from netinv_extras.change_requests import lifecycle

    lifecycle.follow_revert(uow, changes)
