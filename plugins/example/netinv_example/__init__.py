"""Example: a plugin, whole. Maintenance windows of sites, and what sites learn from them; docs/plugins.md walks through
it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from netinv_core import (
    App,
    Endpoint,
    FieldFactory,
    MenuEntry,
    MenuSection,
    Registry,
    Rule,
    SearchProvider,
    UnitOfWork,
    hookimpl,
)
from netinv_example import searching, sites, template_filters, tidying
from netinv_example.maintenance_windows import count_active, maintenance_windows

if TYPE_CHECKING:
    import click

app = App(
    "example",
    "Example",
    [maintenance_windows],
    migrations="netinv_example:migrations",
    plugin=True,
    includes=["netinv_example.closing"],
    web=["netinv_example.pages"],
    menu=[
        MenuSection(
            "Plugins",
            ["maintenance-windows", MenuEntry("Maintenance overview", "/plugins/example/overview/")],
            icon="puzzle-piece",
            position=800,
        ),
    ],
    description="Maintenance windows of sites",
    author="The netinv authors",
    distribution="netinv-example",
)


@hookimpl
def netinv_app() -> App:
    """The application, served under /api/plugins/example/."""
    return app


@hookimpl
def netinv_fields(registry: Registry, endpoint: Endpoint) -> Iterable[FieldFactory]:
    """``next_maintenance`` on sites."""
    return [sites.next_maintenance] if endpoint.label == sites.LABEL else []


@hookimpl
def netinv_rules(registry: Registry, endpoint: Endpoint) -> Iterable[Rule]:
    """A site stays in service while it is being worked on."""
    return [sites.no_retirement_during_maintenance] if endpoint.label == sites.LABEL else []


@hookimpl
def netinv_commands() -> dict[str, Iterable[click.Command]]:
    """``netinv maintenance``."""
    from netinv_example import commands  # the service does without click

    return {"netinv": [commands.maintenance]}


@hookimpl
def netinv_jobs(registry: Registry) -> Iterable[type]:
    """A job that tidies up."""
    return [tidying.CancelForgotten]


@hookimpl
def netinv_template_filters(registry: Registry) -> Mapping[str, Callable[..., Any]]:
    """A filter for templates."""
    return {"ticket": template_filters.ticket}


@hookimpl
def netinv_status(uow: UnitOfWork) -> dict[str, Any]:
    """Number of windows that are active now."""
    return {"active-maintenance-windows": count_active(uow)}


@hookimpl
def netinv_search(registry: Registry) -> Iterable[SearchProvider]:
    """Finds the windows of a day."""
    return [SearchProvider("day", 10, searching.windows_of_day)]
