"""Devices: the pieces of hardware of an inventory, and where each is mounted."""

from __future__ import annotations

import uuid
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Mapped

from netinv_core.context import Context
from netinv_core.model import (
    PROTECT,
    SET_NULL,
    Comments,
    Primary,
    Ref,
    choice,
    document,
    natural,
    optional_text,
    text,
    to,
    unique_set,
    unique_together,
    whole,
)
from netinv_core.read.filters import flag, has, key, one_of, tree, tree_pair, value
from netinv_core.read.lookups import convert_flag, negated
from netinv_core.resource import Resource, computed, first_of
from netinv_dcim.choices import FACES
from netinv_dcim.device_types import DeviceRole, DeviceType, Platform
from netinv_dcim.locations import Location
from netinv_dcim.racks import Rack
from netinv_dcim.sites import Site
from netinv_dcim.virtual_chassis import VirtualChassis
from netinv_extras.statuses import status
from netinv_tenancy.tenants import Tenant, tenant_filters

OCCUPIED = "The position and face is already occupied on this rack. The fields rack, position, face must make a unique set."


class Device(Primary):
    """A piece of hardware: in a rack, elsewhere at a site, or within another device."""

    __tablename__ = "dcim_device"
    __table_args__ = (
        unique_together("site_id", "tenant_id", "name"),
        unique_set("rack_id", "position", "face", message=OCCUPIED),
        unique_together("virtual_chassis_id", "vc_position"),
    )

    name: Mapped[str | None] = optional_text(64)
    name_key: Mapped[str] = natural("name")
    device_type_id: Mapped[Ref] = to(DeviceType, on_delete=PROTECT, back="instances", count="device_count")
    device_role_id: Mapped[Ref] = to(DeviceRole, on_delete=PROTECT, back="devices", count="device_count")
    tenant_id: Mapped[Ref | None] = to(Tenant, on_delete=PROTECT, count="device_count")
    platform_id: Mapped[Ref | None] = to(Platform, on_delete=SET_NULL, back="devices", count="device_count")
    serial: Mapped[str] = text(255, label="Serial number")
    asset_tag: Mapped[str | None] = optional_text(100, "A unique tag used to identify this device", unique=True, label="Asset tag")
    site_id: Mapped[Ref] = to(Site, on_delete=PROTECT, back="devices", count="device_count")
    location_id: Mapped[Ref | None] = to(Location, on_delete=PROTECT, back="devices")
    rack_id: Mapped[Ref | None] = to(Rack, on_delete=PROTECT, back="devices", count="device_count")
    position: Mapped[int | None] = whole(1, 32767, "The lowest-numbered unit occupied by the device", label="Position (U)")
    face: Mapped[str] = choice(FACES, label="Rack face")
    status_id: Mapped[Ref] = status()
    primary_ip4_id: Mapped[Ref | None] = to("ipam.ipaddress", on_delete=SET_NULL, unique=True, back="primary_ip4_for", label="Primary IPv4")
    primary_ip6_id: Mapped[Ref | None] = to("ipam.ipaddress", on_delete=SET_NULL, unique=True, back="primary_ip6_for", label="Primary IPv6")
    secrets_group_id: Mapped[Ref | None] = to("extras.secretsgroup", on_delete=SET_NULL)
    cluster_id: Mapped[Ref | None] = to("virtualization.cluster", on_delete=SET_NULL, back="devices", count="device_count")
    virtual_chassis_id: Mapped[Ref | None] = to(VirtualChassis, on_delete=SET_NULL, back="members", count="member_count")
    vc_position: Mapped[int | None] = whole(0, 255)
    vc_priority: Mapped[int | None] = whole(0, 255)
    device_redundancy_group_id: Mapped[Ref | None] = to("dcim.deviceredundancygroup", on_delete=SET_NULL, back="devices")
    device_redundancy_group_priority: Mapped[int | None] = whole(
        1, 32767, "The priority the device has in the device redundancy group.", label="Device Redundancy Group Priority"
    )
    comments: Mapped[Comments]
    local_context_schema_id: Mapped[Ref | None] = to(
        "extras.configcontextschema", on_delete=SET_NULL, help="Optional schema to validate the structure of the data"
    )
    local_context_data: Mapped[Any | None] = document()


def device_words(
    name: str | None, chassis: str | None, vc_position: int | None, manufacturer: str, model: str, key: uuid.UUID
) -> str:
    """How a device is called: its name, else its place in its virtual chassis, else what it is; the last two with its id."""
    if name:
        return name
    if chassis:
        return f"{chassis}:{vc_position} ({key})"
    return f"{manufacturer} {model} ({key})"


WORDS = ("name", "virtual_chassis.name", "vc_position", "device_type.manufacturer.name", "device_type.model", "id")

devices = Resource(
    Device,
    "devices",
    display=(device_words, *WORDS),
    order=["name_key"],
    search=["name", "serial", "asset_tag", "comments", "device_type.manufacturer.name"],
    fields=[
        # A device sits in another by way of a device bay, and there are none of those yet.
        computed("parent_device", lambda key: None, "id"),
        first_of("primary_ip", ("primary_ip6", "primary_ip4"), prefer={"prefer_ipv4": "primary_ip4"}),
        computed("config_context", lambda data: data or {}, "local_context_data", costly=True, openapi={"type": "object"}),
    ],
    filters=[
        *tree_pair("region", "site.region"),
        *tenant_filters(),
        tree("location"),
        key("manufacturer_id", "device_type.manufacturer", by=()),
        key("manufacturer", "device_type.manufacturer", by="slug", ids=False),
        key("model", "device_type", by="slug", ids=False),
        key("role_id", "device_role", by=()),
        key("role", "device_role", by="slug", ids=False),
        key("platform", by="slug", ids=False),
        key("secrets_group", by="slug", ids=False),
        tree("rack_group_id", "rack.group"),
        one_of("face", FACES, multiple=False),
        flag("is_full_depth", "device_type.is_full_depth"),
        value("mac_address", "interfaces.mac_address"),
        value("serial", lookup="iexact", lookup_names=(), multiple=False),
        has("is_virtual_chassis_member", "virtual_chassis"),
        has("virtual_chassis_member", "virtual_chassis"),
        has("interfaces", "interfaces"),
    ],
)


@devices.filter("has_primary_ip", multiple=False, kind="boolean")
def has_primary_ip(context: Context, table: Any, values: list[str]) -> Any:
    """Whether the device has a primary address of either family."""
    found = sa.or_(table.c.primary_ip4_id.is_not(None), table.c.primary_ip6_id.is_not(None))
    return found if convert_flag(values[-1]) else negated(found)


@devices.filter("local_context_data", multiple=False, kind="boolean")
def has_local_context(context: Context, table: Any, values: list[str]) -> Any:
    """Whether the device has context data of its own."""
    found = table.c.local_context_data.is_not(None)
    return found if convert_flag(values[-1]) else negated(found)
