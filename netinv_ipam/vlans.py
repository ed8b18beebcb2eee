"""VLANs (IEEE 802.1Q), and the groups within which their numbers and names are unique."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Mapped

from netinv_core.context import Context
from netinv_core.model import (
    PROTECT,
    SET_NULL,
    Description,
    Name,
    Organizational,
    Primary,
    Ref,
    required_text,
    slug,
    to,
    unique_set,
    whole,
)
from netinv_core.read.filters import key, tree, tree_pair
from netinv_core.resource import Resource
from netinv_core.write.draft import Draft
from netinv_dcim.devices import Device
from netinv_dcim.locations import Location
from netinv_dcim.sites import Site
from netinv_extras.statuses import status
from netinv_ipam.roles import Role
from netinv_tenancy.tenants import Tenant, tenant_filters


class VLANGroup(Organizational):
    """A set of VLANs, of one site or of none."""

    __tablename__ = "ipam_vlan_group"
    __table_args__ = (unique_set("site_id", "name"), unique_set("site_id", "slug"))

    name: Mapped[Name]
    slug: Mapped[str] = slug(unique=False)
    site_id: Mapped[Ref | None] = to(Site, on_delete=PROTECT, back="vlan_groups")
    location_id: Mapped[Ref | None] = to(Location, on_delete=PROTECT, back="vlan_groups")
    description: Mapped[Description]


class VLAN(Primary):
    """A layer 2 network, known by its number ``vid``."""

    __tablename__ = "ipam_vlan"
    __table_args__ = (unique_set("group_id", "vid"), unique_set("group_id", "name"))

    site_id: Mapped[Ref | None] = to(Site, on_delete=PROTECT, back="vlans", count="vlan_count")
    location_id: Mapped[Ref | None] = to(Location, on_delete=PROTECT, back="vlans")
    group_id: Mapped[Ref | None] = to(VLANGroup, on_delete=PROTECT, back="vlans", count="vlan_count")
    vid: Mapped[int] = whole(1, 4094, label="ID")
    name: Mapped[str] = required_text(255)
    tenant_id: Mapped[Ref | None] = to(Tenant, on_delete=PROTECT, count="vlan_count")
    status_id: Mapped[Ref] = status()
    role_id: Mapped[Ref | None] = to(Role, on_delete=SET_NULL, count="vlan_count")
    description: Mapped[Description]


vlan_groups = Resource(
    VLANGroup,
    "vlan-groups",
    title="VLAN group",
    brief=["name", "slug", "vlan_count"],
    order=["site.name_key", "name"],
    search=["name", "slug", "description"],
    filters=[*tree_pair("region", "site.region"), tree("location")],
)

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
        key("role", by="slug", ids=False),
    ],
)


@vlans.rule
def group_is_of_the_site(context: Context, drafts: Sequence[Draft]) -> None:
    """A VLAN and its group are of the same site."""
    concerned = [draft for draft in drafts if draft["group_id"] is not None and draft.changed("group_id", "site_id")]
    if not concerned:
        return
    table, places = VLANGroup.__table__, Site.__table__
    groups = sa.select(table.c.id, table.c.site_id).where(table.c.id.in_({draft["group_id"] for draft in concerned}))
    site_of = {key: site for key, site in context.execute(groups)}
    wrong = [draft for draft in concerned if site_of.get(draft["group_id"]) != draft["site_id"]]
    if not wrong:
        return
    sites = sa.select(places.c.id, places.c.name).where(places.c.id.in_({draft["site_id"] for draft in wrong} - {None}))
    names = {key: name for key, name in context.execute(sites)}
    for draft in wrong:
        draft.reject("group", f"VLAN group must belong to the assigned site ({names.get(draft['site_id'])}).")


@vlans.filter("available_on_device", multiple=False)
def available_on_device(context: Context, table: Any, values: list[str]) -> Any:
    """The VLANs that a device's interfaces may carry: those of its site, and those of none."""
    try:
        wanted = uuid.UUID(values[-1])
    except ValueError:
        raise ValueError("Enter a valid UUID.") from None
    devices = Device.__table__
    site = context.execute(sa.select(devices.c.site_id).where(devices.c.id == wanted)).scalar()
    return sa.false() if site is None else sa.or_(table.c.site_id == site, table.c.site_id.is_(None))
