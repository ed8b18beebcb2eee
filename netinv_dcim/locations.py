"""Locations within sites, and location types. A type limits the parents and the content types of its locations."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any
from uuid import UUID

import colander
import sqlalchemy as sa
from sqlalchemy.orm import Mapped, mapped_column

from netinv_core import fields
from netinv_core.db.expressions import in_parameter
from netinv_core.db.locks import lock_for
from netinv_core.models.associations import content_type_table, unique_set
from netinv_core.models.base import Organizational, Primary, Tree
from netinv_core.models.columns import (
    CASCADE,
    PROTECT,
    SELF,
    Description,
    Name,
    Ref,
    Slug,
    boolean,
    column_info,
    foreign_key,
)
from netinv_core.presentation import Presentation
from netinv_core.read import listing
from netinv_core.read.name_lookup import NameQuery, descendants, ids_of
from netinv_core.resource import FieldFactory, Resource
from netinv_core.sql.lookups import negated
from netinv_core.write.trees import depth
from netinv_dcim.sites import Site
from netinv_extras.content_types import used_types_stay
from netinv_extras.statuses import status
from netinv_tenancy.tenants import Tenant, tenant_filters

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.fields import Field
    from netinv_core.registry import Registry
    from netinv_core.uow import UnitOfWork
    from netinv_core.write.draft import Draft

SEPARATOR = " → "


class LocationType(Tree, Organizational):
    """A kind of place, such as a building or a floor, and what may be there."""

    __tablename__ = "dcim_location_type"

    name: Mapped[Name] = mapped_column(unique=True)
    slug: Mapped[Slug]
    parent_id: Mapped[Ref | None] = foreign_key(SELF, on_delete=CASCADE, related_name="children")
    nestable: Mapped[bool] = boolean(
        False, "Allow Locations of this type to be parents/children of other Locations of this same type"
    )
    description: Mapped[Description]


class Location(Tree, Primary):
    """A place within a site; locations nest as their types do."""

    __tablename__ = "dcim_location"
    __table_args__ = (unique_set("parent_id", "name"),)

    name: Mapped[Name]
    slug: Mapped[Slug]
    status_id: Mapped[Ref] = status(initial=["Active", "Decommissioning", "Planned", "Retired", "Staging"])
    location_type_id: Mapped[Ref] = foreign_key(LocationType, on_delete=PROTECT, related_name="locations")
    parent_id: Mapped[Ref | None] = foreign_key(SELF, on_delete=CASCADE, related_name="children")
    site_id: Mapped[Ref | None] = foreign_key(Site, on_delete=CASCADE, related_name="locations")
    tenant_id: Mapped[Ref | None] = foreign_key(Tenant, on_delete=PROTECT, related_name="locations")
    description: Mapped[Description]


location_type_labels = content_type_table("dcim_location_type_label", "dcim_location_type")


@dataclasses.dataclass(eq=False, kw_only=True)
class LocatedTypes(fields.ContentTypeList):
    """Field with the content types that may be at locations of a type: models with a foreign key to locations."""

    def check_label(self, label: Any) -> None:
        super().check_label(label)
        endpoint = self.registry.get(label)
        if endpoint is not None and not _has_location(self.registry, endpoint):
            raise colander.Invalid(None, f"Invalid content type: {label}")


def _has_location(registry: Registry, endpoint: Endpoint) -> bool:
    """Tells if the model of an endpoint, other than location itself, has a foreign key to locations."""
    location = registry.of_model(Location)
    return endpoint is not location and any(
        registry.target(column_info(column).foreign_key) is location for column in endpoint.table.c
    )


def _content_types(registry: Registry, endpoint: Endpoint) -> Field:
    return LocatedTypes(name="content_types", table=location_type_labels, registry=registry)


def _depth() -> FieldFactory:
    return depth("tree_depth", kind="field", nested="null")


location_types = Resource(
    LocationType,
    "location-types",
    title="location type",
    display=(SEPARATOR.join, "tree_names"),
    name_attribute="name",
    brief=["name", "slug", "tree_depth"],
    order=["tree_key"],
    search=["name", "description"],
    fields=[FieldFactory("content_types", _content_types), _depth()],
    example={"nestable": True},
)

locations = Resource(
    Location,
    "locations",
    display=(SEPARATOR.join, "tree_names"),
    name_attribute="name",
    brief=["name", "slug", "tree_depth"],
    order=["tree_key"],
    search=["name", "description"],
    fields=[_depth()],
    filters=[
        *tenant_filters(),
    ],
    example={"site": ...},
    presentation=Presentation(depends_on={"parent": {"site": "site_id"}}),
)


def _types_accepting(labels: Sequence[str]) -> Any:
    """Selects the ids of the location types that accept one of these content types."""
    return sa.select(location_type_labels.c.owner_id).where(location_type_labels.c.label.in_(labels))


def _ids(uow: UnitOfWork, name: str, target: Endpoint, values: list[str], *, tree: bool = False) -> Any:
    """Returns the ids of the objects that the values of a parameter refer to by id or natural key.

    With a ``tree``, those of their descendants too.
    """
    return ids_of(uow, NameQuery(name, target, tuple(values), (target.natural_sort,), tree=tree))[0]


@location_types.filter("content_types", suffixes=("n",), listed=True)
def for_objects(uow: UnitOfWork, table: Any, values: list[str], suffix: str) -> Any:
    """Filters location types by the content types that they accept."""
    condition = table.c.id.in_(_types_accepting(_checked_labels(uow, values)))
    return negated(condition) if suffix == "n" else condition


@locations.filter("content_type", suffixes=("n",), listed=True)
def takes_content_type(uow: UnitOfWork, table: Any, values: list[str], suffix: str) -> Any:
    """Filters locations by the content types that their types accept."""
    condition = table.c.location_type_id.in_(_types_accepting(_checked_labels(uow, values)))
    return negated(condition) if suffix == "n" else condition


def _checked_labels(uow: UnitOfWork, values: list[str]) -> list[str]:
    """Returns the labels. Raises ``ValueError`` for a content type that is unknown or has no location."""
    for label in values:
        endpoint = uow.registry.get(label)
        if uow.registry.content_type(label) is None or (
            endpoint is not None and not _has_location(uow.registry, endpoint)
        ):
            raise ValueError(f"Select a valid choice. {label} is not one of the available choices.")
    return values


@locations.filter("subtree", listed=True)
def in_subtree(uow: UnitOfWork, table: Any, values: list[str]) -> Any:
    """Filters by ancestor. The locations given are included."""
    endpoint = uow.registry.of_model(Location)
    return table.c.id.in_(_ids(uow, "subtree", endpoint, values, tree=True))


@locations.filter("base_site", listed=True)
def in_base_site(uow: UnitOfWork, table: Any, values: list[str]) -> Any:
    """Filters by site, at any depth of the tree of locations."""
    location = Location.__table__
    roots = sa.select(location.c.id).where(
        location.c.site_id.in_(_ids(uow, "base_site", uow.registry.of_model(Site), values))
    )
    return table.c.id.in_(descendants(uow.registry.of_model(Location), roots))


@locations.filter("child_location_type", listed=True)
def may_hold_type(uow: UnitOfWork, table: Any, values: list[str]) -> Any:
    """Filters by the location types that may be children: returns the locations that may be their parents."""
    types = LocationType.__table__
    keys = _ids(uow, "child_location_type", uow.registry.of_model(LocationType), values)
    parent_types = sa.select(types.c.parent_id).where(types.c.id.in_(keys), types.c.parent_id.is_not(None))
    nestable_types = sa.select(types.c.id).where(types.c.id.in_(keys), types.c.nestable)
    return table.c.location_type_id.in_(parent_types) | table.c.location_type_id.in_(nestable_types)


RESERVED = {"region", "regions", "site", "sites", "rackgroup", "rackgroups", "rack group", "rack groups"}


@location_types.rule
def reserved_names_are_refused(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """Rejects names of models that location types may replace in later API versions."""
    for draft in drafts:
        if draft.changed("name") and draft["name"].lower() in RESERVED:
            draft.reject("name", "This name is reserved for future use.")


@location_types.rule
def types_in_use_keep_their_place(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """Rejects another parent for a type with locations, and ``nestable`` false for a type with nested locations."""
    location, parent = Location.__table__, Location.__table__.alias()
    moved = {draft.id: draft for draft in drafts if not draft.new and draft.changed("parent_id")}
    for type_id in _scalars(uow, sa.select(location.c.location_type_id).distinct(), location.c.location_type_id, moved):
        moved[type_id].reject(
            "parent",
            "This LocationType currently has Locations using it, therefore its parent cannot be changed at this time.",
        )
    flattened = {
        draft.id: draft for draft in drafts if not draft.new and draft.changed("nestable") and not draft["nestable"]
    }
    nested = sa.select(location.c.location_type_id).distinct().join(parent, parent.c.id == location.c.parent_id)
    nested = nested.where(parent.c.location_type_id == location.c.location_type_id)
    for type_id in _scalars(uow, nested, location.c.location_type_id, flattened):
        flattened[type_id].reject(
            "nestable",
            "This LocationType currently has nested Locations using it, therefore it must stay nestable at this time.",
        )


def _types_at(registry: Registry, label: str) -> Any:
    """SELECT of the types of the locations at which there are objects of a content type."""
    endpoint, location = registry.get(label), registry.of_model(Location)
    columns = [] if endpoint is None else endpoint.table.c
    at = next((column for column in columns if registry.target(column_info(column).foreign_key) is location), None)
    if at is None or endpoint is location:
        return None
    kind = location.table.c.location_type_id
    joined = sa.select(kind).join(at.table, at == location.table.c.id)
    return joined.where(in_parameter(kind)).distinct()


location_types.rule(used_types_stay(_types_at))


def _scalars(uow: UnitOfWork, statement: Any, column: Any, keys: Iterable[UUID]) -> list[UUID]:
    """Executes a statement, limited to rows with these keys in ``column``. Without keys there is no statement."""
    key_list = list(keys)
    return list(uow.execute(statement.where(column.in_(key_list))).scalars()) if key_list else []


@locations.rule
def the_type_of_a_location_stays(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """Rejects a change of the type of a location."""
    moved = [draft for draft in drafts if not draft.new and draft.changed("location_type_id")]
    types = listing.rows_of(
        uow,
        LocationType,
        [key for draft in moved for key in (draft.before["location_type_id"], draft["location_type_id"])],
    )
    for draft in moved:
        change = f"from {types[draft.before['location_type_id']].name} to {types[draft['location_type_id']].name}"
        draft.reject(
            "location_type", f"Changing the type of an existing Location ({change} in this case) is not permitted."
        )


@locations.rule
def types_below_others_have_no_site(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """Rejects a site for a location whose type has a parent type."""
    types = listing.rows_of(uow, LocationType, [draft["location_type_id"] for draft in drafts])
    for draft in drafts:
        kind = types[draft["location_type_id"]]
        if kind.parent_id is not None and draft["site_id"] is not None:
            draft.reject("site", f"A location of type {kind.name} must not have an associated Site.")


@locations.rule
def locations_nest_as_their_types_do(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """Rejects a parent whose type is neither the parent of the location's type, nor the same type if nestable."""
    types = listing.rows_of(uow, LocationType, [draft["location_type_id"] for draft in drafts])
    parents = listing.rows_of(uow, Location, [draft["parent_id"] for draft in drafts])
    parent_types = listing.rows_of(uow, LocationType, [kind.parent_id for kind in types.values()])
    for draft in drafts:
        kind, parent = types[draft["location_type_id"]], parents.get(draft["parent_id"])
        allowed = {key for key in (kind.parent_id, kind.id if kind.nestable else None) if key is not None}
        type_phrase = [f"of type {parent_types[kind.parent_id].name}"] if kind.parent_id else []
        if parent is None and kind.parent_id is not None:
            draft.reject("parent", f"A Location of type {kind.name} must have a parent Location.")
        elif parent is not None and not allowed:
            draft.reject("parent", f"A Location of type {kind.name} must not have a parent Location.")
        elif parent is not None and parent.location_type_id not in allowed:
            phrase = " or ".join(["of the same type"] * kind.nestable + type_phrase)
            draft.reject("parent", f"A Location of type {kind.name} can only have a Location {phrase} as its parent.")


@locations.rule
def topmost_locations_have_a_site(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """Rejects a topmost location without a site, and any other location with one."""
    types = listing.rows_of(uow, LocationType, [draft["location_type_id"] for draft in drafts])
    for draft in drafts:
        name = types[draft["location_type_id"]].name
        if draft["parent_id"] is None and draft["site_id"] is None:
            draft.reject("site", f"A Location of type {name} must have an associated Site.")
        elif draft["parent_id"] is not None and draft["site_id"] is not None:
            draft.reject("site", f"A Location of type {name} must not have an associated Site.")


@locations.rule
def names_of_topmost_locations_are_unique(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """Rejects duplicate names of topmost locations, also within a batch. Locks the names."""
    table = Location.__table__
    topmost = [draft for draft in drafts if draft["parent_id"] is None and draft.changed("name", "parent_id")]
    names = {draft["name"] for draft in topmost}
    lock_for(uow, "name of a topmost location", {(name,) for name in names})
    rows = (
        uow.execute(
            sa.select(table.c.id, table.c.name).where(table.c.parent_id.is_(None), table.c.name.in_(names))
        ).all()
        if names
        else []
    )
    draft_ids = {draft.id for draft in drafts}
    taken = {name for key, name in rows if key not in draft_ids}
    for draft in topmost:
        if draft["name"] in taken:
            draft.reject("name", "A root-level location with this name already exists.")
        taken.add(draft["name"])


def _ancestors(uow: UnitOfWork, keys: Iterable[Any]) -> dict[Any, dict[Any, Any]]:
    """Returns location → itself and each ancestor → ``site_id``. Reads a recursive CTE, cached in the unit of work."""
    location_ids, cache = {key for key in keys if key is not None}, uow.row_cache.setdefault(_ancestors, {})
    if missing := location_ids - cache.keys():
        location, parent = Location.__table__, Location.__table__.alias()
        chain = (
            sa.select(location.c.id.label("start"), location.c.id.label("at"), location.c.parent_id, location.c.site_id)
            .where(location.c.id.in_(missing))
            .cte(recursive=True, nesting=True)
        )
        chain = chain.union(
            sa.select(chain.c.start, parent.c.id, parent.c.parent_id, parent.c.site_id).where(
                parent.c.id == chain.c.parent_id
            )
        )
        for start, at, site in uow.execute(sa.select(chain.c.start, chain.c.at, chain.c.site_id)):
            cache.setdefault(start, {})[at] = site
    return {key: cache[key] for key in location_ids if key in cache}


def base_sites(uow: UnitOfWork, keys: Iterable[Any]) -> dict[Any, Any]:
    """Returns the site of each location by the id of the location: the site of its topmost ancestor."""
    return {key: site for key, sites in _ancestors(uow, keys).items() for site in sites.values() if site is not None}


def within(uow: UnitOfWork, inner: Iterable[Any]) -> dict[Any, set[Any]]:
    """Returns the ids of each location and its ancestors by the id of the location."""
    return {key: set(sites) for key, sites in _ancestors(uow, inner).items()}


def takers_of(uow: UnitOfWork, label: str, keys: Iterable[Any]) -> set[Any]:
    """Returns the ids of the locations whose type accepts the content type ``label``."""
    location_ids, location = [key for key in keys if key is not None], Location.__table__
    if not location_ids:
        return set()
    return set(
        uow.execute(
            sa.select(location.c.id).where(
                location.c.id.in_(location_ids), location.c.location_type_id.in_(_types_accepting([label]))
            )
        ).scalars()
    )
