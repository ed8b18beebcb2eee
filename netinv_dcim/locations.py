"""Locations: places within a site, of user-defined types that say what nests in what and what may stand where."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

import colander
import sqlalchemy as sa
from sqlalchemy.orm import Mapped, mapped_column

from netinv_core import fields as kinds
from netinv_core.context import Context
from netinv_core.model import (
    CASCADE,
    PROTECT,
    SELF,
    Description,
    Name,
    Organizational,
    Primary,
    Ref,
    Slug,
    Tree,
    known,
    labels_of,
    natural,
    switch,
    to,
    unique_together,
)
from netinv_core.read.filters import content_type, descendants, key, resolve
from netinv_core.registry import Endpoint, Registry
from netinv_core.resource import Resource, Spec
from netinv_core.write.draft import Draft
from netinv_core.write.trees import depth
from netinv_dcim.sites import Site
from netinv_extras.statuses import status
from netinv_tenancy.tenants import Tenant, tenant_filters

SEPARATOR = " → "


class LocationType(Tree, Organizational):
    """A kind of place, such as a building or a floor, and what may be there."""

    __tablename__ = "dcim_location_type"

    name: Mapped[Name] = mapped_column(unique=True)
    slug: Mapped[Slug]
    parent_id: Mapped[Ref | None] = to(SELF, on_delete=CASCADE, back="children")
    nestable: Mapped[bool] = switch(False, "Allow Locations of this type to be parents/children of other Locations of this same type")
    description: Mapped[Description]


class Location(Tree, Primary):
    """A place within a site; locations nest as their types do."""

    __tablename__ = "dcim_location"
    __table_args__ = (unique_together("parent_id", "name"),)

    name: Mapped[Name]
    name_key: Mapped[str] = natural("name")
    slug: Mapped[Slug]
    status_id: Mapped[Ref] = status()
    location_type_id: Mapped[Ref] = to(LocationType, on_delete=PROTECT, back="locations")
    parent_id: Mapped[Ref | None] = to(SELF, on_delete=CASCADE, back="children")
    site_id: Mapped[Ref | None] = to(Site, on_delete=CASCADE, back="locations")
    tenant_id: Mapped[Ref | None] = to(Tenant, on_delete=PROTECT, back="locations")
    description: Mapped[Description]


location_type_labels = labels_of("dcim_location_type_label", "dcim_location_type")


@dataclasses.dataclass(eq=False, kw_only=True)
class LocatedTypes(kinds.Labels):
    """The content types that may be at locations of a type: models with a location of their own."""

    def accept(self, draft: Draft, value: Any) -> None:
        super().accept(draft, value)
        for label in draft.many.get(self.name, ()):
            endpoint = self.registry.get(label)
            if endpoint is not None and not _located(self.registry, endpoint):
                raise colander.Invalid(None, f"Invalid content type: {label}")


def _located(registry: Registry, endpoint: Endpoint) -> bool:
    place = registry.of_model(Location)
    return endpoint is not place and any(registry.target(known(column).link) is place for column in endpoint.table.c)


def _content_types(registry: Registry, endpoint: Endpoint) -> kinds.Field:
    return LocatedTypes(name="content_types", table=location_type_labels, registry=registry)


def _depth() -> Spec:
    return depth("tree_depth", kind="field", nested="null")


location_types = Resource(
    LocationType,
    "location-types",
    title="location type",
    display=(SEPARATOR.join, "tree_names"),
    brief=["name", "slug", "tree_depth"],
    order=["name"],
    search=["name", "description"],
    fields=[Spec("content_types", _content_types), _depth()],
)

locations = Resource(
    Location,
    "locations",
    display=(SEPARATOR.join, "tree_names"),
    brief=["name", "slug", "tree_depth"],
    order=["name_key"],
    search=["name", "description"],
    fields=[_depth()],
    filters=[
        *tenant_filters(),
        content_type("content_type", lambda endpoint, table, labels: table.c.location_type_id.in_(_types_with(labels))),
    ],
)


def _types_with(labels: Sequence[str]) -> Any:
    return sa.select(location_type_labels.c.owner_id).where(location_type_labels.c.label.in_(labels))


def _named(context: Context, name: str, target: Endpoint, values: list[str]) -> list[Any]:
    """The ids of what the values of a parameter name, by id or natural key."""
    found = resolve(context, name, target, values, by=(target.natural,))
    return [item for items in found.values() for item in items]


@locations.filter("subtree")
def in_subtree(context: Context, table: Any, values: list[str]) -> Any:
    """The locations named and everything below them."""
    here = context.registry.of_model(Location)
    return table.c.id.in_(descendants(context, here, _named(context, "subtree", here, values)))


@locations.filter("base_site")
def in_base_site(context: Context, table: Any, values: list[str]) -> Any:
    """Everything within the sites named, at any depth."""
    here = Location.__table__
    roots = sa.select(here.c.id).where(here.c.site_id.in_(_named(context, "base_site", context.registry.of_model(Site), values)))
    return table.c.id.in_(descendants(context, context.registry.of_model(Location), roots))


@locations.filter("child_location_type")
def may_hold_type(context: Context, table: Any, values: list[str]) -> Any:
    """The locations that may be the parent of a location of the types named."""
    types = LocationType.__table__
    named = _named(context, "child_location_type", context.registry.of_model(LocationType), values)
    above = sa.select(types.c.parent_id).where(types.c.id.in_(named), types.c.parent_id.is_not(None))
    same = sa.select(types.c.id).where(types.c.id.in_(named), types.c.nestable)
    return table.c.location_type_id.in_(above) | table.c.location_type_id.in_(same)
