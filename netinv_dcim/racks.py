"""Racks, the groups and roles they are sorted by, and reservations of their units."""

from __future__ import annotations

from typing import Any

from sqlalchemy.orm import Mapped, mapped_column

from netinv_core.auth.models import User
from netinv_core.model import (
    CASCADE,
    PROTECT,
    SELF,
    SET_NULL,
    Comments,
    Description,
    Name,
    Organizational,
    Primary,
    Ref,
    Slug,
    Tree,
    choice,
    color,
    document,
    natural,
    optional_text,
    required_text,
    slug,
    switch,
    text,
    to,
    unique_set,
    whole,
)
from netinv_core.read.filters import key, one_of, tree, tree_pair, value
from netinv_core.resource import Resource, computed
from netinv_core.write.trees import count_below, depth
from netinv_dcim.choices import OUTER_UNITS, RACK_TYPES, RACK_WIDTHS
from netinv_dcim.locations import Location
from netinv_dcim.sites import Site
from netinv_extras.statuses import status
from netinv_tenancy.tenants import Tenant, tenant_filters


class RackGroup(Tree, Organizational):
    """A row, room or other set of racks within a site; groups nest."""

    __tablename__ = "dcim_rack_group"
    __table_args__ = (unique_set("site_id", "name"), unique_set("site_id", "slug"))

    name: Mapped[Name]
    slug: Mapped[str] = slug(unique=False)
    site_id: Mapped[Ref] = to(Site, on_delete=CASCADE, back="rack_groups")
    location_id: Mapped[Ref | None] = to(Location, on_delete=CASCADE, back="rack_groups")
    parent_id: Mapped[Ref | None] = to(SELF, on_delete=CASCADE, back="children")
    description: Mapped[Description]


class RackRole(Organizational):
    """What racks are for."""

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
    name_key: Mapped[str] = natural("name")
    status_id: Mapped[Ref] = status()
    role_id: Mapped[Ref | None] = to(RackRole, on_delete=PROTECT, back="racks", count="rack_count", help="Functional role")
    facility_id: Mapped[str | None] = optional_text(50, "Locally-assigned identifier", label="Facility ID")
    site_id: Mapped[Ref] = to(Site, on_delete=PROTECT, back="racks", count="rack_count")
    location_id: Mapped[Ref | None] = to(Location, on_delete=PROTECT, back="racks")
    group_id: Mapped[Ref | None] = to(RackGroup, on_delete=SET_NULL, back="racks", help="Assigned group")
    tenant_id: Mapped[Ref | None] = to(Tenant, on_delete=PROTECT, count="rack_count")
    serial: Mapped[str] = text(255, label="Serial number")
    asset_tag: Mapped[str | None] = optional_text(50, "A unique tag used to identify this rack", unique=True, label="Asset tag")
    type: Mapped[str] = choice(RACK_TYPES)
    width: Mapped[int] = choice(RACK_WIDTHS, length=None, default=19, help="Rail-to-rail width")
    u_height: Mapped[int] = whole(1, 100, "Height in rack units", default=42, label="Height (U)")
    desc_units: Mapped[bool] = switch(False, "Units are numbered top-to-bottom", label="Descending units")
    outer_width: Mapped[int | None] = whole(0, 32767, "Outer dimension of rack (width)")
    outer_depth: Mapped[int | None] = whole(0, 32767, "Outer dimension of rack (depth)")
    outer_unit: Mapped[str] = choice(OUTER_UNITS)
    comments: Mapped[Comments]


class RackReservation(Primary):
    """Units of a rack kept free for someone's purpose."""

    __tablename__ = "dcim_rack_reservation"

    rack_id: Mapped[Ref] = to(Rack, on_delete=CASCADE, back="reservations")
    units: Mapped[list[Any]] = document(required=True)
    user_id: Mapped[Ref] = to(User, on_delete=PROTECT)
    tenant_id: Mapped[Ref | None] = to(Tenant, on_delete=PROTECT)
    description: Mapped[str] = required_text(200)


def rack_words(name: str, facility: str | None) -> str:
    """How a rack is called: its name, with the facility's identifier when there is one."""
    return f"{name} ({facility})" if facility else name


rack_groups = Resource(
    RackGroup,
    "rack-groups",
    title="rack group",
    brief=["name", "slug", "rack_count", "_depth"],
    order=["tree_key"],
    search=["name", "description", "slug"],
    fields=[count_below("rack_count", "dcim.rack", "group_id"), depth("_depth")],
    filters=[*tree_pair("region", "site.region"), tree("location"), key("parent", by="slug", ids=False)],
)

rack_roles = Resource(
    RackRole,
    "rack-roles",
    title="rack role",
    brief=["name", "slug", "rack_count"],
    search=["name", "slug", "description"],
)

racks = Resource(
    Rack,
    "racks",
    display=(rack_words, "name", "facility_id"),
    brief=["name", "device_count"],
    order=["site.name_key", "group.tree_key", "name_key"],
    search=["name", "facility_id", "serial", "asset_tag", "comments"],
    filters=[
        *tree_pair("region", "site.region"),
        *tree_pair("group"),
        *tenant_filters(),
        tree("location"),
        key("role", by="slug", ids=False),
        one_of("outer_unit", OUTER_UNITS, multiple=False),
        value("serial", lookup="iexact", lookup_names=(), multiple=False),
    ],
)

rack_reservations = Resource(
    RackReservation,
    "rack-reservations",
    title="rack reservation",
    display=(lambda name, facility: f"Reservation for rack {rack_words(name, facility)}", "rack.name", "rack.facility_id"),
    brief=["user", "units"],
    brief_fields=[computed("user", str, "user.username")],
    order=["created"],
    search=["rack.name", "rack.facility_id", "user.username", "description"],
    filters=[
        *tenant_filters(),
        *tree_pair("group", "rack.group"),
        key("site_id", "rack.site", by=()),
        key("site", "rack.site", by="slug", ids=False),
        key("user", by="username", ids=False),
    ],
    example={"units": [1]},
)
