"""Circuits: providers, their networks, circuits and circuit terminations."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from netinv_circuits import nautobot2, netbox
from netinv_circuits.circuits import circuit_types, circuits
from netinv_circuits.menu import MENU
from netinv_circuits.providers import provider_networks, providers
from netinv_circuits.terminations import CircuitTermination, circuit_terminations
from netinv_core.app import App
from netinv_core.hookspecs import hookimpl
from netinv_core.importing.dump import Declaration
from netinv_core.read.filters import related
from netinv_core.read.recognisers import Match, SearchProvider
from netinv_core.resource import count_of
from netinv_dcim.searching import as_number_matches

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.read.filters import Filter
    from netinv_core.registry import Registry
    from netinv_core.resource import FieldFactory
    from netinv_core.uow import UnitOfWork

SITE = "dcim.site"

app = App(
    "circuits",
    "Circuits",
    [providers, circuit_types, circuits, provider_networks, circuit_terminations],
    migrations="netinv_circuits:migrations",
    web=["netinv_circuits.pages"],
    needs=["extras.statuses"],
    distribution="netinv-circuits",
    menu=MENU,
)


@hookimpl
def netinv_app() -> App:
    """Returns the application."""
    return app


def _circuit_count(registry: Registry, table: Any) -> Any:
    """Returns the scalar subquery that counts the circuits with a termination at a site."""
    termination = CircuitTermination.__table__.alias()
    return (
        sa.select(sa.func.count(termination.c.circuit_id.distinct()))
        .where(termination.c.site_id == table.c.id)
        .scalar_subquery()
    )


@hookimpl
def netinv_fields(registry: Registry, endpoint: Endpoint) -> Iterable[FieldFactory]:
    """Adds the number of circuits to sites."""
    return [count_of("circuit_count", _circuit_count)] if endpoint.label == SITE else []


@hookimpl
def netinv_filters(registry: Registry, endpoint: Endpoint) -> Iterable[Filter]:
    """Filters sites by circuit terminations, by id only because terminations have no name."""
    return [related("circuit_terminations", by=())] if endpoint.label == SITE else []


@hookimpl
def netinv_importers(registry: Registry, product: str) -> dict[str, Declaration]:
    """Returns how the models of another service become those of this application."""
    return nautobot2.models if product == "nautobot2" else netbox.models


def _of_as_number(uow: UnitOfWork, text: str) -> Iterable[Match]:
    """Returns the providers with the number of an autonomous system."""
    return as_number_matches("circuits.provider", "providers", text)


@hookimpl
def netinv_search(registry: Registry) -> Iterable[SearchProvider]:
    """Recognises the AS numbers of providers in searches."""
    return [SearchProvider("AS number of providers", 20, _of_as_number)]
