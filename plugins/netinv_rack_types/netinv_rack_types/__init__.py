"""Rack types: models of racks, which give racks their form."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from netinv_core import (
    App,
    Change,
    Endpoint,
    FieldFactory,
    MenuSection,
    Registry,
    Relation,
    Rule,
    Source,
    UnitOfWork,
    hookimpl,
    relations,
)
from netinv_rack_types import forms, importing
from netinv_rack_types.rack_types import LABEL, NAME, RACK, field, rack_types, types_of_racks

app = App(
    "rack_types",
    "Rack types",
    [rack_types],
    migrations="netinv_rack_types:migrations",
    web=["netinv_rack_types.pages"],
    plugin=True,
    menu=[MenuSection("Racks", ["rack-types"], icon="server-stack", position=111)],
    description="Models of racks, which give racks their form",
    author="The netinv authors",
    distribution="netinv-rack-types",
)


@hookimpl
def netinv_app() -> App:
    """The application, served under /api/plugins/rack_types/."""
    return app


@hookimpl
def netinv_fields(registry: Registry, endpoint: Endpoint) -> Iterable[FieldFactory]:
    """``rack_type`` on racks."""
    return [field] if endpoint.label == RACK else []


@hookimpl
def netinv_relations(registry: Registry, endpoint: Endpoint) -> Mapping[str, Relation]:
    """The relation of racks to their type."""
    return {NAME: relations.across(registry, LABEL, types_of_racks, single=True)} if endpoint.label == RACK else {}


@hookimpl
def netinv_preparations(registry: Registry, endpoint: Endpoint) -> Iterable[Rule]:
    """Racks have the form of their type."""
    return [forms.take_form_of_type] if endpoint.label == RACK else []


@hookimpl
def netinv_changes_recorded(uow: UnitOfWork, changes: Sequence[Change]) -> None:
    """Racks follow a change of their type."""
    forms.follow_types(uow, changes)


@hookimpl
def netinv_importers(registry: Registry, product: str) -> Mapping[str, Source]:
    """The rack types of NetBox dumps."""
    return importing.models if product == "netbox" else {}
