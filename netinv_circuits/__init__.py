"""Circuits: the lines that providers sell, and where they end."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import sqlalchemy as sa

from netinv_circuits import netbox
from netinv_circuits.circuits import circuit_types, circuits
from netinv_circuits.providers import provider_networks, providers
from netinv_circuits.terminations import CircuitTermination, circuit_terminations
from netinv_core.app import App
from netinv_core.endpoint import Endpoint
from netinv_core.hookspecs import hookimpl
from netinv_core.importing.dump import Source
from netinv_core.read.filters import Filter, related
from netinv_core.registry import Registry
from netinv_core.resource import FieldFactory, count_of

SITE = "dcim.site"

app = App(
    "circuits",
    "Circuits",
    [providers, circuit_types, circuits, provider_networks, circuit_terminations],
    migrations="netinv_circuits:migrations",
    distribution="netinv-circuits",
)


@hookimpl
def netinv_app() -> App:
    """The application."""
    return app


def _circuits_at(registry: Registry, table: Any) -> Any:
    there = CircuitTermination.__table__.alias()
    return sa.select(sa.func.count(there.c.circuit_id.distinct())).where(there.c.site_id == table.c.id).scalar_subquery()


@hookimpl
def netinv_fields(registry: Registry, endpoint: Endpoint) -> Iterable[FieldFactory]:
    """How many circuits end at a site."""
    return [count_of("circuit_count", _circuits_at)] if endpoint.label == SITE else []


@hookimpl
def netinv_filters(registry: Registry, endpoint: Endpoint) -> Iterable[Filter]:
    """Sites by the terminations at them, which have no name of their own."""
    return [related("circuit_terminations", by=())] if endpoint.label == SITE else []


@hookimpl
def netinv_importers(registry: Registry) -> dict[str, Source]:
    """The models of a NetBox dump that this application takes."""
    return netbox.models
