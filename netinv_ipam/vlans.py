"""VLANs (IEEE 802.1Q), and VLAN groups, within which their numbers and names are unique."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
from sqlalchemy.orm import Mapped

from netinv_core.auth import permissions
from netinv_core.models.associations import unique_set
from netinv_core.models.base import Organizational, Primary
from netinv_core.models.columns import (
    PROTECT,
    SET_NULL,
    Description,
    Name,
    Ref,
    foreign_key,
    integer,
    required_text,
    slug,
)
from netinv_core.presentation import Presentation, beside
from netinv_core.read import listing
from netinv_core.read.filters import Filter, related, tree, tree_pair
from netinv_core.resource import Resource
from netinv_core.sql import lookups, relations
from netinv_core.write.referring_rules import through
from netinv_dcim.devices import Device
from netinv_dcim.located_objects import LOCATION_READS, PLACE, below_locations, location_fits, within_group
from netinv_dcim.locations import Location
from netinv_dcim.rack_position import move_children
from netinv_dcim.sites import Site
from netinv_extras.statuses import status
from netinv_ipam.roles import Role
from netinv_tenancy.tenants import Tenant, tenant_filters

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.uow import UnitOfWork
    from netinv_core.write.draft import Draft


class VLANGroup(Organizational):
    """A set of VLANs, of one site or of none."""

    __tablename__ = "ipam_vlan_group"
    __table_args__ = (unique_set("site_id", "name"), unique_set("site_id", "slug"))

    name: Mapped[Name]
    slug: Mapped[str] = slug(unique=False)
    site_id: Mapped[Ref | None] = foreign_key(Site, on_delete=PROTECT, related_name="vlan_groups")
    location_id: Mapped[Ref | None] = foreign_key(Location, on_delete=PROTECT, related_name="vlan_groups")
    description: Mapped[Description]


class VLAN(Primary):
    """A layer 2 network, known by its number."""

    __tablename__ = "ipam_vlan"
    __table_args__ = (unique_set("group_id", "vid"), unique_set("group_id", "name"))

    site_id: Mapped[Ref | None] = foreign_key(Site, on_delete=PROTECT, related_name="vlans", count_field="vlan_count")
    location_id: Mapped[Ref | None] = foreign_key(Location, on_delete=PROTECT, related_name="vlans")
    group_id: Mapped[Ref | None] = foreign_key(
        VLANGroup, on_delete=PROTECT, related_name="vlans", count_field="vlan_count"
    )
    vid: Mapped[int] = integer(1, 4094, label="ID")
    name: Mapped[str] = required_text(255)
    tenant_id: Mapped[Ref | None] = foreign_key(Tenant, on_delete=PROTECT, count_field="vlan_count")
    status_id: Mapped[Ref] = status(initial=["Active", "Deprecated", "Reserved"])
    role_id: Mapped[Ref | None] = foreign_key(Role, on_delete=SET_NULL, count_field="vlan_count")
    description: Mapped[Description]


vlan_groups = Resource(
    VLANGroup,
    "vlan-groups",
    type_order="~1 ",
    title="VLAN group",
    brief=["name", "slug", "vlan_count"],
    order=["site.name_key", "name"],
    search=["name", "slug", "description"],
    filters=[*tree_pair("region", "site.region"), tree("location")],
    presentation=Presentation(
        columns=["site", "location", "vlan_count", "utilization", "description"],
        facets=["site"],
        depends_on={"location": {"site": "site_id"}},
        name_in_context=(beside, "name", "site.name"),
        leading=["utilization", "numbers"],
    ),
)


def vlan_name(vid: int, name: str, site: str | None, group: str | None) -> str:
    """The name of a VLAN on pages: ``10 Management · Lisbon``, with its group in the place of a site that it lacks."""
    return beside(f"{vid} {name}", site, group)


vlans = Resource(
    VLAN,
    "vlans",
    title="VLAN",
    display=(lambda name, vid: f"{name} ({vid})", "name", "vid"),
    brief=["vid", "name"],
    order=["site.name_key", "group.site.name_key", "group.name", "vid"],
    natural="vid",
    search=["name", "vid:exact", "description"],
    filters=[
        *tree_pair("region", "site.region"),
        tree("location"),
        *tenant_filters(),
        related("role", by="slug", ids=False),
    ],
    presentation=Presentation(
        counted=True,
        columns=["vid", "status", "site", "group", "role", "tenant", "location", "description"],
        facets=["status", "site", "group", "role", "tenant"],
        depends_on={"location": {"site": "site_id"}, "group": {"site": "site_id"}},
        unrelated=["untagged_vlan", "vlan"],
        name_in_context=(vlan_name, "vid", "name", "site.name", "group.name"),
    ),
)


vlan_groups.rule(reads=LOCATION_READS, changing=PLACE)(location_fits)
vlans.rule(reads=LOCATION_READS, changing=PLACE)(location_fits)


@vlans.rule(reads=[through("group", "site_id")])
def group_is_of_the_site(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """Rejects a VLAN whose group belongs to another site."""
    changed = [draft for draft in drafts if draft["group_id"] is not None and draft.changed("group_id", "site_id")]
    groups = listing.rows_of(uow, VLANGroup, [draft["group_id"] for draft in changed])
    wrong = [draft for draft in changed if groups[draft["group_id"]].site_id != draft["site_id"]]
    sites = listing.rows_of(uow, Site, [draft["site_id"] for draft in wrong])
    for draft in wrong:
        site = sites[draft["site_id"]].name if draft["site_id"] is not None else None
        draft.reject("group", f"VLAN group must belong to the assigned site ({site}).")


OUTSIDE = 'The assigned group belongs to a location that does not include location "{here}".'
vlans.rule(reads=[through("group", "location_id"), *below_locations(VLAN)])(within_group(VLANGroup, "group", OUTSIDE))


@vlan_groups.after_save
def vlans_move_with_their_group(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """Moves the VLANs of a moved group to its site. Locations at another site become that of the group."""
    moved = {draft.id: draft for draft in drafts if not draft.new and draft.changed("site_id")}
    if not moved:
        return
    table = VLAN.__table__
    rows = uow.execute(sa.select(table).where(table.c.group_id.in_(list(moved)))).all()
    places = [(row, moved[row.group_id]["site_id"], moved[row.group_id]["location_id"]) for row in rows]
    move_children(uow, uow.registry.of_model(VLAN), places, within_location=False)


def carries(endpoint: Endpoint, table: Any, ids: Any) -> Any:
    """Condition for the interfaces that carry VLANs, tagged or untagged, given a SELECT of the ids of these."""
    names = ("untagged_vlan", "tagged_vlans")
    return sa.or_(*[relations.leads_to_any(endpoint, table, [name], ids) for name in names])


def carried_filter(name: str, place: str, kind: str = "string") -> Filter:
    """Filter for interfaces that carry a tagged or untagged VLAN, selected by its column ``place``."""

    def apply(uow: UnitOfWork, endpoint: Endpoint, table: Any, suffix: str, values: list[str]) -> Any:
        column = VLAN.__table__.c[place]
        limits = permissions.visible(uow, uow.registry.of_model(VLAN), VLAN.__table__)
        ids = sa.select(VLAN.__table__.c.id).where(
            column.in_([lookups.convert(column, item) for item in values]), *limits
        )
        return carries(endpoint, table, ids)

    return Filter(name, apply, (), False, kind)


@vlans.filter("available_on_device", multiple=False)
def available_on_device(uow: UnitOfWork, table: Any, values: list[str]) -> Any:
    """Filter for the VLANs that a device's interfaces may carry: those of its site, and those without a site."""
    try:
        device_id = uuid.UUID(values[-1])
    except ValueError:
        raise ValueError("Enter a valid UUID.") from None
    devices = Device.__table__.alias()
    limits = permissions.visible(uow, uow.registry.of_model(Device), devices)
    site = sa.select(devices.c.site_id).where(devices.c.id == device_id, *limits).scalar_subquery()
    return sa.and_(site.is_not(None), sa.or_(table.c.site_id == site, table.c.site_id.is_(None)))
