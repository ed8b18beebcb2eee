"""Feature ``plans``: documents of several models, their execution and differences."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from netinv_core import settings
from netinv_core.app import Feature
from netinv_core.hookspecs import hookimpl
from netinv_core.presentation import MenuSection
from netinv_core.tasks.retention import Retention
from netinv_extras.plans import models

if TYPE_CHECKING:
    import click

    from netinv_core.endpoint import Endpoint
    from netinv_core.registry import Registry

feature = Feature(
    "plans",
    "Plans",
    [models.plans],
    includes=["netinv_extras.plans.applying"],
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


@hookimpl
def netinv_web_includes(registry: Registry) -> Iterable[str]:
    """The page that applies a plan."""
    return ["netinv_extras.plans.web.panel"]


@hookimpl
def netinv_web_panels(registry: Registry, endpoint: Endpoint) -> Iterable[Any]:
    """The changes of a plan."""
    from netinv_extras.plans.web import panel

    return [panel.PANEL] if endpoint.label == models.LABEL else []
