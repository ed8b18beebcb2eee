"""Locations: places within a site, of user-defined types that say what nests in what and what may stand where."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from typing import Any
from uuid import UUID

import colander
import sqlalchemy as sa
from sqlalchemy.orm import Mapped, mapped_column

from netinv_core import fields
from netinv_core.db.locks import lock_for
from netinv_core.endpoint import Endpoint
from netinv_core.models.associations import content_type_table, unique_set
from netinv_core.models.base import Organizational, Primary, Tree
from netinv_core.models.columns import CASCADE, PROTECT, SELF, Description, Name, Ref, Slug, boolean, column_info, foreign_key
from netinv_core.read import listing
from netinv_core.read.filters import descendants
from netinv_core.read.lookups import negated
from netinv_core.read.name_lookup import NameQuery, ids_of
from netinv_core.registry import Registry
from netinv_core.resource import FieldFactory, Resource
from netinv_core.uow import UnitOfWork
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
    parent_id: Mapped[Ref | None] = foreign_key(SELF, on_delete=CASCADE, related_name="children")
    nestable: Mapped[bool] = boolean(False, "Allow Locations of this type to be parents/children of other Locations of this same type")
    description: Mapped[Description]


class Location(Tree, Primary):
    """A place within a site; locations nest as their types do."""

    __tablename__ = "dcim_location"
    __table_args__ = (unique_set("parent_id", "name"),)

    name: Mapped[Name]
    slug: Mapped[Slug]
    status_id: Mapped[Ref] = status()
    location_type_id: Mapped[Ref] = foreign_key(LocationType, on_delete=PROTECT, related_name="locations")
    parent_id: Mapped[Ref | None] = foreign_key(SELF, on_delete=CASCADE, related_name="children")
    site_id: Mapped[Ref | None] = foreign_key(Site, on_delete=CASCADE, related_name="locations")
    tenant_id: Mapped[Ref | None] = foreign_key(Tenant, on_delete=PROTECT, related_name="locations")
    description: Mapped[Description]


location_type_labels = content_type_table("dcim_location_type_label", "dcim_location_type")


@dataclasses.dataclass(eq=False, kw_only=True)
class LocatedTypes(fields.ContentTypeList):
    """The content types that may be at locations of a type: models with a location of their own."""

    def accept(self, draft: Draft, value: Any) -> None:
        super().accept(draft, list(value) if isinstance(value, dict) else value)
        for label in draft.many.get(self.name, ()):
            endpoint = self.registry.get(label)
            if endpoint is not None and not _located(self.registry, endpoint):
                raise colander.Invalid(None, f"Invalid content type: {label}")


def _located(registry: Registry, endpoint: Endpoint) -> bool:
    place = registry.of_model(Location)
    return endpoint is not place and any(registry.target(column_info(column).foreign_key) is place for column in endpoint.table.c)


def _content_types(registry: Registry, endpoint: Endpoint) -> fields.Field:
    return LocatedTypes(name="content_types", table=location_type_labels, registry=registry)


def _depth() -> FieldFactory:
    return depth("tree_depth", kind="field", nested="null")


location_types = Resource(
    LocationType,
    "location-types",
    title="location type",
    display=(SEPARATOR.join, "tree_names"),
    called="name",
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
    called="name",
    brief=["name", "slug", "tree_depth"],
    order=["tree_key"],
    search=["name", "description"],
    fields=[_depth()],
    filters=[
        *tenant_filters(),
    ],
    example={"site": ...},
)


def _types_with(labels: Sequence[str]) -> Any:
    return sa.select(location_type_labels.c.owner_id).where(location_type_labels.c.label.in_(labels))


def _named(uow: UnitOfWork, name: str, target: Endpoint, values: list[str]) -> Any:
    """The ids of what the values of a parameter name, by id or natural key."""
    return ids_of(uow, NameQuery(name, target, tuple(values), (target.natural_sort,)))[0]


@location_types.filter("content_types", suffixes=("n",))
def for_objects(uow: UnitOfWork, table: Any, values: list[str], suffix: str) -> Any:
    """The location types that take objects of one of the content types."""
    found = table.c.id.in_(_types_with(_located_labels(uow, values)))
    return negated(found) if suffix == "n" else found


@locations.filter("content_type", suffixes=("n",))
def taking(uow: UnitOfWork, table: Any, values: list[str], suffix: str) -> Any:
    """The locations whose type takes objects of one of the content types."""
    found = table.c.location_type_id.in_(_types_with(_located_labels(uow, values)))
    return negated(found) if suffix == "n" else found


def _located_labels(uow: UnitOfWork, values: list[str]) -> list[str]:
    for label in values:
        endpoint = uow.registry.get(label)
        if uow.registry.content_type(label) is None or (endpoint is not None and not _located(uow.registry, endpoint)):
            raise ValueError(f"Select a valid choice. {label} is not one of the available choices.")
    return values


@locations.filter("subtree")
def in_subtree(uow: UnitOfWork, table: Any, values: list[str]) -> Any:
    """The locations named and everything below them."""
    here = uow.registry.of_model(Location)
    return table.c.id.in_(descendants(uow, here, _named(uow, "subtree", here, values)))


@locations.filter("base_site")
def in_base_site(uow: UnitOfWork, table: Any, values: list[str]) -> Any:
    """Everything within the sites named, at any depth."""
    here = Location.__table__
    roots = sa.select(here.c.id).where(here.c.site_id.in_(_named(uow, "base_site", uow.registry.of_model(Site), values)))
    return table.c.id.in_(descendants(uow, uow.registry.of_model(Location), roots))


@locations.filter("child_location_type")
def may_hold_type(uow: UnitOfWork, table: Any, values: list[str]) -> Any:
    """The locations that may be the parent of a location of the types named."""
    types = LocationType.__table__
    named = _named(uow, "child_location_type", uow.registry.of_model(LocationType), values)
    above = sa.select(types.c.parent_id).where(types.c.id.in_(named), types.c.parent_id.is_not(None))
    same = sa.select(types.c.id).where(types.c.id.in_(named), types.c.nestable)
    return table.c.location_type_id.in_(above) | table.c.location_type_id.in_(same)


RESERVED = {"region", "regions", "site", "sites", "rackgroup", "rackgroups", "rack group", "rack groups"}


@location_types.rule
def reserved_names_are_refused(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """Location types are not named like the models that they may replace in later API versions."""
    for draft in drafts:
        if draft.changed("name") and draft["name"].lower() in RESERVED:
            draft.reject("name", "This name is reserved for future use.")


@location_types.rule
def types_in_use_keep_their_place(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """Where locations of a type exist, its parent stays; where some of them nest, it stays nestable."""
    here, above = Location.__table__, Location.__table__.alias()
    moved = {draft.id: draft for draft in drafts if not draft.new and draft.changed("parent_id")}
    for used in _found(uow, sa.select(here.c.location_type_id).distinct(), here.c.location_type_id, moved):
        moved[used].reject("parent", "This LocationType currently has Locations using it, therefore its parent cannot be changed at this time.")
    flattened = {draft.id: draft for draft in drafts if not draft.new and draft.changed("nestable") and not draft["nestable"]}
    nested = sa.select(here.c.location_type_id).distinct().join(above, above.c.id == here.c.parent_id)
    nested = nested.where(above.c.location_type_id == here.c.location_type_id)
    for used in _found(uow, nested, here.c.location_type_id, flattened):
        flattened[used].reject("nestable", "This LocationType currently has nested Locations using it, therefore it must stay nestable at this time.")


def _found(uow: UnitOfWork, statement: Any, column: Any, keys: Iterable[UUID]) -> list[UUID]:
    wanted = list(keys)
    return list(uow.execute(statement.where(column.in_(wanted))).scalars()) if wanted else []


@locations.rule
def the_type_of_a_location_stays(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """A location keeps its type."""
    moved = [draft for draft in drafts if not draft.new and draft.changed("location_type_id")]
    types = listing.rows_of(uow, LocationType, [key for draft in moved for key in (draft.before["location_type_id"], draft["location_type_id"])])
    for draft in moved:
        change = f"from {types[draft.before['location_type_id']].name} to {types[draft['location_type_id']].name}"
        draft.reject("location_type", f"Changing the type of an existing Location ({change} in this case) is not permitted.")


@locations.rule
def types_below_others_have_no_site(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """A location whose type has a parent type names no site of its own."""
    types = listing.rows_of(uow, LocationType, [draft["location_type_id"] for draft in drafts])
    for draft in drafts:
        kind = types[draft["location_type_id"]]
        if kind.parent_id is not None and draft["site_id"] is not None:
            draft.reject("site", f"A location of type {kind.name} must not have an associated Site.")


@locations.rule
def locations_nest_as_their_types_do(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """A location's parent is of its type's parent type, or of its own type where that is nestable."""
    types = listing.rows_of(uow, LocationType, [draft["location_type_id"] for draft in drafts])
    parents = listing.rows_of(uow, Location, [draft["parent_id"] for draft in drafts])
    above = listing.rows_of(uow, LocationType, [kind.parent_id for kind in types.values()])
    for draft in drafts:
        kind, parent = types[draft["location_type_id"]], parents.get(draft["parent_id"])
        allowed = {key for key in (kind.parent_id, kind.id if kind.nestable else None) if key is not None}
        named = [f"of type {above[kind.parent_id].name}"] if kind.parent_id else []
        if parent is None and kind.parent_id is not None:
            draft.reject("parent", f"A Location of type {kind.name} must have a parent Location.")
        elif parent is not None and not allowed:
            draft.reject("parent", f"A Location of type {kind.name} must not have a parent Location.")
        elif parent is not None and parent.location_type_id not in allowed:
            words = " or ".join(["of the same type"] * kind.nestable + named)
            draft.reject("parent", f"A Location of type {kind.name} can only have a Location {words} as its parent.")


@locations.rule
def topmost_locations_have_a_site(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """A location without a parent names its site; all others are at the site of the one above."""
    types = listing.rows_of(uow, LocationType, [draft["location_type_id"] for draft in drafts])
    for draft in drafts:
        name = types[draft["location_type_id"]].name
        if draft["parent_id"] is None and draft["site_id"] is None:
            draft.reject("site", f"A Location of type {name} must have an associated Site.")
        elif draft["parent_id"] is not None and draft["site_id"] is not None:
            draft.reject("site", f"A Location of type {name} must not have an associated Site.")


@locations.rule
def names_of_topmost_locations_are_unique(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """Locations without a parent have different names, also those written in one batch or at the same time."""
    table = Location.__table__
    topmost = [draft for draft in drafts if draft["parent_id"] is None and draft.changed("name", "parent_id")]
    names = {draft["name"] for draft in topmost}
    lock_for(uow, "name of a topmost location", {(name,) for name in names})
    rows = uow.execute(sa.select(table.c.id, table.c.name).where(table.c.parent_id.is_(None), table.c.name.in_(names))).all() if names else []
    own = {draft.id for draft in drafts}
    taken = {name for key, name in rows if key not in own}
    for draft in topmost:
        if draft["name"] in taken:
            draft.reject("name", "A root-level location with this name already exists.")
        taken.add(draft["name"])


def _upward(uow: UnitOfWork, keys: Iterable[Any]) -> dict[Any, dict[Any, Any]]:
    """Every location with itself and all above it, each with the site it names; read once for all rules of a batch."""
    wanted, seen = {key for key in keys if key is not None}, uow.row_cache.setdefault(_upward, {})
    if missing := wanted - seen.keys():
        here, above = Location.__table__, Location.__table__.alias()
        up = sa.select(here.c.id.label("start"), here.c.id.label("at"), here.c.parent_id, here.c.site_id).where(here.c.id.in_(missing)).cte(recursive=True)
        up = up.union(sa.select(up.c.start, above.c.id, above.c.parent_id, above.c.site_id).where(above.c.id == up.c.parent_id))
        for start, at, site in uow.execute(sa.select(up.c.start, up.c.at, up.c.site_id)):
            seen.setdefault(start, {})[at] = site
    return {key: seen[key] for key in wanted if key in seen}


def base_sites(uow: UnitOfWork, keys: Iterable[Any]) -> dict[Any, Any]:
    """The sites that locations are at, by location: those of their topmost ancestors."""
    return {key: site for key, above in _upward(uow, keys).items() for site in above.values() if site is not None}


def within(uow: UnitOfWork, inner: Iterable[Any]) -> dict[Any, set[Any]]:
    """Every location with itself and all above it, by id."""
    return {key: set(above) for key, above in _upward(uow, inner).items()}


def takers_of(uow: UnitOfWork, label: str, keys: Iterable[Any]) -> set[Any]:
    """Those of the locations whose type takes objects of the content type ``label``."""
    wanted, here = [key for key in keys if key is not None], Location.__table__
    if not wanted:
        return set()
    return set(uow.execute(sa.select(here.c.id).where(here.c.id.in_(wanted), here.c.location_type_id.in_(_types_with([label])))).scalars())


def location_fits(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """A location is at the site named beside it, and of a type that takes objects of this kind.

    A rule for any model with the columns ``site_id`` and ``location_id``.
    """
    _check_locations(uow, drafts, ".")


def location_fits_unpunctuated(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """As :func:`location_fits`, for models whose error about the type has no full stop in the API."""
    _check_locations(uow, drafts, "")


def _check_locations(uow: UnitOfWork, drafts: Sequence[Draft], stop: str) -> None:
    placed = [draft for draft in drafts if draft["location_id"] is not None and draft.changed("location_id", "site_id")]
    if not placed:
        return
    at = base_sites(uow, [draft["location_id"] for draft in placed])
    takers = takers_of(uow, placed[0].endpoint.label, [draft["location_id"] for draft in placed])
    elsewhere = [draft for draft in placed if draft["site_id"] is not None and at.get(draft["location_id"]) != draft["site_id"]]
    _reject_elsewhere(uow, elsewhere)
    _reject_unfit(uow, [draft for draft in placed if draft["location_id"] not in takers and draft not in elsewhere], stop)


def _reject_elsewhere(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """Says which site each draft's location is not at."""
    places = listing.rows_of(uow, Location, [draft["location_id"] for draft in drafts])
    sites = listing.rows_of(uow, Site, [draft["site_id"] for draft in drafts])
    for draft in drafts:
        place, site = places[draft["location_id"]].name, sites[draft["site_id"]].name
        draft.reject("location", f'Location "{place}" does not belong to site "{site}".')


def _reject_unfit(uow: UnitOfWork, drafts: Sequence[Draft], stop: str) -> None:
    """Says which type of location does not take each draft."""
    places = listing.rows_of(uow, Location, [draft["location_id"] for draft in drafts])
    types = listing.rows_of(uow, LocationType, [place.location_type_id for place in places.values()])
    for draft in drafts:
        kind, plural = types[places[draft["location_id"]].location_type_id].name, draft.endpoint.plural
        draft.reject("location", f'{plural[:1].upper()}{plural[1:]} may not associate to locations of type "{kind}"{stop}')
