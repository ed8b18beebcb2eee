"""Feature ``plans``: documents of several models, their execution and differences."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from netinv_core import settings
from netinv_core.app import Feature
from netinv_core.hookspecs import hookimpl
from netinv_core.presentation import MenuSection
from netinv_core.tasks.retention import Retention
from netinv_extras.plans import models

if TYPE_CHECKING:
    import click

    from netinv_core.registry import Registry

feature = Feature(
    "plans",
    "Plans",
    [models.plans],
    includes=["netinv_extras.plans.applying"],
    web=["netinv_extras.plans.web.panel"],
    settings={"plan_retention": (settings.count, 90)},
    menu=[MenuSection("Operations", ["plans"], icon="queue-list", position=704)],
)


@hookimpl
def netinv_commands() -> dict[str, list[click.Command]]:
    """The commands ``plan`` and ``apply``."""
    from netinv_extras.plans import commands

    return {"netinv": [commands.plan, commands.apply]}


@hookimpl
def netinv_retention(registry: Registry) -> Iterable[Retention]:
    """Plans."""
    return [models.retention]
