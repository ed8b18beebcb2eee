"""Racks, rack groups, rack roles, and reservations of rack units."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
from sqlalchemy.orm import Mapped, mapped_column

from netinv_core.auth.models import User
from netinv_core.models.associations import unique_set
from netinv_core.models.base import Organizational, Primary, Tree
from netinv_core.models.columns import (
    CASCADE,
    PROTECT,
    SELF,
    SET_NULL,
    Comments,
    Description,
    Name,
    Ref,
    Slug,
    boolean,
    choice,
    color,
    foreign_key,
    integer,
    json_document,
    natural_sort_key,
    optional_text,
    required_text,
    slug,
    text,
)
from netinv_core.presentation import Presentation
from netinv_core.read import listing
from netinv_core.read.filters import one_of, related, tree, tree_pair, value
from netinv_core.resource import NEW_OBJECT, Resource, computed
from netinv_core.write.draft import ALL
from netinv_core.write.referring_rules import through
from netinv_core.write.trees import count_below, depth
from netinv_dcim.choices import OUTER_UNITS, RACK_TYPES, RACK_WIDTHS
from netinv_dcim.located_objects import LOCATION_READS, PLACE, below_locations, location_fits, within_group
from netinv_dcim.locations import Location
from netinv_dcim.sites import Site
from netinv_extras.statuses import status
from netinv_tenancy.tenants import Tenant, tenant_filters

if TYPE_CHECKING:
    from netinv_core.uow import UnitOfWork
    from netinv_core.write.draft import Draft


class RackGroup(Tree, Organizational):
    """A row, room or other set of racks within a site; groups nest."""

    __tablename__ = "dcim_rack_group"
    __table_args__ = (unique_set("site_id", "name"), unique_set("site_id", "slug"))

    name: Mapped[Name]
    slug: Mapped[str] = slug(unique=False)
    site_id: Mapped[Ref] = foreign_key(Site, on_delete=CASCADE, related_name="rack_groups")
    location_id: Mapped[Ref | None] = foreign_key(Location, on_delete=CASCADE, related_name="rack_groups")
    parent_id: Mapped[Ref | None] = foreign_key(SELF, on_delete=CASCADE, related_name="children")
    description: Mapped[Description]


class RackRole(Organizational):
    """The function of a rack: network, servers, storage."""

    __tablename__ = "dcim_rack_role"

    name: Mapped[Name] = mapped_column(unique=True)
    slug: Mapped[Slug]
    color: Mapped[str] = color()
    description: Mapped[Description]


class Rack(Primary):
    """A frame in which devices are mounted, counted in rack units."""

    __tablename__ = "dcim_rack"
    __table_args__ = (unique_set("group_id", "name"), unique_set("group_id", "facility_id"))

    name: Mapped[Name]
    name_key: Mapped[str] = natural_sort_key("name")
    status_id: Mapped[Ref] = status(initial=["Active", "Available", "Deprecated", "Planned", "Reserved"])
    role_id: Mapped[Ref | None] = foreign_key(
        RackRole, on_delete=PROTECT, related_name="racks", count_field="rack_count", help="Functional role"
    )
    facility_id: Mapped[str | None] = optional_text(50, "Locally-assigned identifier", label="Facility ID")
    site_id: Mapped[Ref] = foreign_key(Site, on_delete=PROTECT, related_name="racks", count_field="rack_count")
    location_id: Mapped[Ref | None] = foreign_key(Location, on_delete=PROTECT, related_name="racks")
    group_id: Mapped[Ref | None] = foreign_key(
        RackGroup, on_delete=SET_NULL, related_name="racks", help="Assigned group"
    )
    tenant_id: Mapped[Ref | None] = foreign_key(Tenant, on_delete=PROTECT, count_field="rack_count")
    serial: Mapped[str] = text(255, label="Serial number")
    asset_tag: Mapped[str | None] = optional_text(
        50, "A unique tag used to identify this rack", unique=True, label="Asset tag"
    )
    type: Mapped[str] = choice(RACK_TYPES)
    width: Mapped[int] = choice(RACK_WIDTHS, length=None, default=19, help="Rail-to-rail width")
    u_height: Mapped[int] = integer(1, 100, "Height in rack units", default=42, label="Height (U)")
    desc_units: Mapped[bool] = boolean(False, "Units are numbered top-to-bottom", label="Descending units")
    outer_width: Mapped[int | None] = integer(0, 32767, "Outer dimension of rack (width)")
    outer_depth: Mapped[int | None] = integer(0, 32767, "Outer dimension of rack (depth)")
    outer_unit: Mapped[str] = choice(OUTER_UNITS)
    comments: Mapped[Comments]


def whole_units(value: object) -> list[int]:
    """Returns a list of rack unit numbers.

    :raises ValueError: for anything but a list of integers
    """
    if not isinstance(value, list):
        raise ValueError(f'Expected a list of items but got type "{type(value).__name__}".')
    try:
        return [int(str(item)) for item in value]
    except ValueError:
        raise ValueError("A valid integer is required.") from None


class RackReservation(Primary):
    """A set of units of a rack that are kept free for someone's purpose."""

    __tablename__ = "dcim_rack_reservation"

    rack_id: Mapped[Ref] = foreign_key(Rack, on_delete=CASCADE, related_name="reservations")
    units: Mapped[list[Any]] = json_document(
        required=True, parse=whole_units, in_object_data=lambda units: json.dumps([str(unit) for unit in units])
    )
    user_id: Mapped[Ref] = foreign_key(User, on_delete=PROTECT)
    tenant_id: Mapped[Ref | None] = foreign_key(Tenant, on_delete=PROTECT)
    description: Mapped[str] = required_text(200)


def rack_display_name(name: str, facility: str | None) -> str:
    """Returns the ``display`` of a rack: its name, followed by its facility id if it has one, as in ``R1 (F-7)``."""
    return f"{name} ({facility})" if facility else name


rack_groups = Resource(
    RackGroup,
    "rack-groups",
    type_order="~1 ",
    title="rack group",
    brief=["name", "slug", "rack_count", "_depth"],
    order=["tree_key"],
    search=["name", "description", "slug"],
    fields=[count_below("rack_count", "dcim.rack", "group_id"), depth("_depth")],
    filters=[
        *tree_pair("region", "site.region"),
        tree("location"),
        related("parent", by="slug", ids=False),
        related("racks", by=()),
    ],
    presentation=Presentation(
        columns=["site", "location", "parent", "rack_count", "description"],
        facets=["site"],
        depends_on={"parent": {"site": "site_id"}, "location": {"site": "site_id"}},
    ),
)

rack_roles = Resource(
    RackRole,
    "rack-roles",
    title="rack role",
    brief=["name", "slug", "rack_count"],
    search=["name", "slug", "description"],
    filters=[related("racks", by=())],
)

racks = Resource(
    Rack,
    "racks",
    display=(rack_display_name, "name", "facility_id"),
    brief=["name", "device_count"],
    order=["site.name_key", "group.name", "name_key"],
    search=["name", "facility_id", "serial", "asset_tag", "comments"],
    filters=[
        *tree_pair("region", "site.region"),
        *tree_pair("group"),
        *tenant_filters(),
        tree("location"),
        related("role", by="slug", ids=False),
        related("devices", by=()),
        related("reservations", by=()),
        one_of("outer_unit", OUTER_UNITS, multiple=False),
        value("serial", lookup="iexact", lookup_names=(), multiple=False),
    ],
    example={"u_height": 100, "outer_width": 600, "outer_unit": "mm"},
    presentation=Presentation(
        counted=True,
        columns=["site", "location", "group", "status", "role", "u_height", "utilization", "device_count", "tenant"],
        facets=["status", "site", "role", "group", "tenant"],
        fieldsets=[
            ("Rack", ["name", "facility_id", "status", "role", "tenant", "serial", "asset_tag"]),
            ("Place", ["site", "location", "group"]),
            ("Dimensions", ["type", "width", "u_height", "desc_units", "outer_width", "outer_depth", "outer_unit"]),
        ],
        summary=["site", "location"],
        leading=["elevation", "utilization", "tray"],
        depends_on={"location": {"site": "site_id"}, "group": {"site": "site_id"}},
        quick_fields=["name", "site", "status"],
    ),
)

rack_reservations = Resource(
    RackReservation,
    "rack-reservations",
    title="rack reservation",
    display=(
        lambda name, facility: f"Reservation for rack {rack_display_name(name, facility)}",
        "rack.name",
        "rack.facility_id",
    ),
    brief=["user", "units"],
    brief_fields=[computed("user", str, "user.username")],
    order=["created"],
    search=["rack.name", "rack.facility_id", "user.username", "description"],
    filters=[
        *tenant_filters(),
        *tree_pair("group", "rack.group"),
        related("site_id", "rack.site", by=()),
        related("site", "rack.site", by="slug", ids=False),
        related("user", by="username", ids=False),
    ],
    example={"rack": NEW_OBJECT, "units": lambda number: [number % 97 + 1]},
    presentation=Presentation(
        columns=["rack", "units", "user", "tenant", "description"],
    ),
)


@rack_reservations.prepare
def reservations_are_made_by_their_user(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """Sets the user of a new reservation to the user of the request."""
    for draft in drafts:
        if draft.new and uow.identity.user_id is not None:
            draft["user_id"] = uow.identity.user_id


@rack_groups.rule(reads=[through("parent", "site_id")])
def groups_nest_within_a_site(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """Rejects a parent group of another site."""
    parents = listing.rows_of(uow, RackGroup, [draft["parent_id"] for draft in drafts])
    elsewhere = [
        draft for draft in drafts if draft["parent_id"] and parents[draft["parent_id"]].site_id != draft["site_id"]
    ]
    sites = listing.rows_of(uow, Site, [draft["site_id"] for draft in elsewhere])
    for draft in elsewhere:
        parent, site = parents[draft["parent_id"]].name, sites[draft["site_id"]].name
        draft.reject(ALL, f"Parent rack group ({parent}) must belong to the same site ({site})")


rack_groups.rule(reads=LOCATION_READS, changing=PLACE)(location_fits)


NOT_BELOW = 'Location "{here}" is not descended from parent rack group "{group}" location "{there}".'
rack_groups.rule(reads=[through("parent", "location_id"), *below_locations(RackGroup)])(
    within_group(RackGroup, "parent", NOT_BELOW, named="location")
)


@racks.prepare
def units_measure_something(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """Clears the unit of outer dimensions when neither dimension is set."""
    for draft in drafts:
        if draft["outer_width"] is None and draft["outer_depth"] is None and draft["outer_unit"]:
            draft["outer_unit"] = ""


@racks.rule(reads=[through("group", "site_id")])
def groups_are_at_the_site_of_their_racks(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """Rejects a rack group of another site."""
    groups = listing.rows_of(uow, RackGroup, [draft["group_id"] for draft in drafts])
    elsewhere = [
        draft for draft in drafts if draft["group_id"] and groups[draft["group_id"]].site_id != draft["site_id"]
    ]
    sites = listing.rows_of(uow, Site, [draft["site_id"] for draft in elsewhere])
    for draft in elsewhere:
        draft.reject(ALL, f"Assigned rack group must belong to parent site ({sites[draft['site_id']].name}).")


racks.rule(reads=LOCATION_READS, changing=PLACE)(location_fits)


OUTSIDE = 'The assigned rack group "{group}" belongs to a location ("{there}") that does not include location "{here}".'
racks.rule(reads=[through("group", "location_id"), *below_locations(Rack)])(within_group(RackGroup, "group", OUTSIDE))


@racks.rule
def outer_dimensions_have_a_unit(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """Rejects an outer dimension without a unit."""
    for draft in drafts:
        if (draft["outer_width"] is not None or draft["outer_depth"] is not None) and not draft["outer_unit"]:
            draft.reject(ALL, "Must specify a unit when setting an outer width/depth")


@rack_reservations.rule
def reservations_name_units(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """Rejects a reservation without units."""
    for draft in drafts:
        if not draft["units"]:
            draft.reject("units", "This field cannot be blank.")


@rack_reservations.rule(reads=[through("rack", "u_height", exclusive=True)])
def reserved_units_are_in_the_rack(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """Rejects units that are not from 1 to the height of the rack."""
    racks = listing.rows_of(uow, Rack, [draft["rack_id"] for draft in drafts])
    for draft in drafts:
        height = racks[draft["rack_id"]].u_height
        outside = [unit for unit in draft["units"] if not 1 <= unit <= height]
        if any(unit < 0 for unit in outside):
            draft.reject("units", "Ensure this value is greater than or equal to 0.")
        if outside:
            draft.reject("units", f"Invalid unit(s) for {height}U rack: {_join_units(outside)}")


@rack_reservations.rule
def units_are_reserved_once(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """Rejects units that another reservation has, also one of the same batch.

    The racks are locked by :func:`reserved_units_are_in_the_rack`, which runs before.
    """
    table = RackReservation.__table__
    rows = uow.execute(
        sa.select(table.c.id, table.c.rack_id, table.c.units).where(table.c.rack_id.in_({d["rack_id"] for d in drafts}))
    )
    draft_ids = {draft.id for draft in drafts}
    reserved = {(rack, unit) for key, rack, units in rows if key not in draft_ids for unit in units}
    for draft in drafts:
        requested = {(draft["rack_id"], unit) for unit in draft["units"]}
        if conflicts := requested & reserved:
            draft.reject(
                "units",
                f"The following units have already been reserved: {_join_units(unit for _, unit in conflicts)}",
            )
        reserved |= requested


def _join_units(units: Iterable[int]) -> str:
    """Returns distinct unit numbers in ascending order, separated by commas."""
    return ", ".join(map(str, sorted(set(units))))
