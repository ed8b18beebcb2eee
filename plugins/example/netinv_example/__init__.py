"""Example: a plugin, whole. Maintenance windows of sites, and what sites learn from them; docs/plugins.md walks through it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from netinv_core import App, Endpoint, FieldFactory, Registry, Rule, UnitOfWork, hookimpl
from netinv_example import sites, tidying
from netinv_example.maintenance_windows import count_active, maintenance_windows

app = App(
    "example",
    "Example",
    [maintenance_windows],
    migrations="netinv_example:migrations",
    plugin=True,
    includes=["netinv_example.closing"],
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
def netinv_jobs(registry: Registry) -> Iterable[type]:
    """A job that tidies up."""
    return [tidying.CancelForgotten]


@hookimpl
def netinv_status(uow: UnitOfWork) -> dict[str, Any]:
    """How many windows are active now."""
    return {"active-maintenance-windows": count_active(uow)}
