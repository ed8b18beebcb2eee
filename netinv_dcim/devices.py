"""Devices: pieces of hardware at a site, with the rules for their rack, location, platform and virtual chassis."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
from sqlalchemy.orm import Mapped

from netinv_core.auth import permissions
from netinv_core.models.associations import unique_set, unique_together
from netinv_core.models.base import Primary
from netinv_core.models.columns import (
    PROTECT,
    SET_NULL,
    Comments,
    Ref,
    choice,
    foreign_key,
    integer,
    json_document,
    natural_sort_key,
    optional_text,
    text,
    unique_copy,
)
from netinv_core.presentation import Presentation, beside
from netinv_core.read import listing
from netinv_core.read.filters import flag, has, one_of, related, tree, tree_pair, value
from netinv_core.resource import Resource, coalesce
from netinv_core.single_references import through_one_to_one
from netinv_core.sql import relations
from netinv_core.sql.lookups import convert_flag, negated
from netinv_core.write.referring_rules import through
from netinv_dcim.choices import FACES
from netinv_dcim.device_redundancy import GROUP_COLUMNS, DeviceRedundancyGroup, priorities_are_within_a_group
from netinv_dcim.device_types import DeviceRole, DeviceType, Manufacturer, Platform
from netinv_dcim.located_objects import LOCATION_READS, PLACE, location_fits
from netinv_dcim.locations import Location
from netinv_dcim.racks import Rack, rack_display_name
from netinv_dcim.sites import Site
from netinv_dcim.virtual_chassis import VirtualChassis
from netinv_extras.config_contexts.schemas import ConfigContextSchema, data_fits_its_schema
from netinv_extras.secrets import SecretsGroup
from netinv_extras.statuses import status
from netinv_tenancy.tenants import Tenant, tenant_filters

if TYPE_CHECKING:
    from netinv_core.uow import UnitOfWork
    from netinv_core.write.draft import Draft

OCCUPIED = (
    "The position and face is already occupied on this rack. The fields rack, position, face must make a unique set."
)


class Device(Primary):
    """A piece of hardware: in a rack, elsewhere at a site, or within another device."""

    __tablename__ = "dcim_device"
    text_indexes = ("name", "serial", "asset_tag", "comments")
    __table_args__ = (
        unique_together("site_id", "tenant_id", "name"),
        unique_together("site_id", "untenanted_name", field="name", message="A device with this name already exists."),
        unique_set("rack_id", "position", "face", message=OCCUPIED, when_sent=True),
        unique_together("virtual_chassis_id", "vc_position"),
    )

    name: Mapped[str | None] = optional_text(64, index=True)
    name_key: Mapped[str | None] = natural_sort_key("name", default=None)
    untenanted_name: Mapped[str | None] = unique_copy("name", without="tenant_id", length=64)
    device_type_id: Mapped[Ref] = foreign_key(
        DeviceType, on_delete=PROTECT, related_name="instances", count_field="device_count"
    )
    device_role_id: Mapped[Ref] = foreign_key(
        DeviceRole, on_delete=PROTECT, related_name="devices", count_field="device_count"
    )
    tenant_id: Mapped[Ref | None] = foreign_key(Tenant, on_delete=PROTECT, count_field="device_count")
    platform_id: Mapped[Ref | None] = foreign_key(
        Platform, on_delete=SET_NULL, related_name="devices", count_field="device_count"
    )
    serial: Mapped[str] = text(255, label="Serial number", index=True)
    asset_tag: Mapped[str | None] = optional_text(
        100, "A unique tag used to identify this device", unique=True, label="Asset tag"
    )
    site_id: Mapped[Ref] = foreign_key(Site, on_delete=PROTECT, related_name="devices", count_field="device_count")
    location_id: Mapped[Ref | None] = foreign_key(Location, on_delete=PROTECT, related_name="devices")
    rack_id: Mapped[Ref | None] = foreign_key(
        Rack, on_delete=PROTECT, related_name="devices", count_field="device_count"
    )
    position: Mapped[int | None] = integer(
        1, 32767, "The lowest-numbered unit occupied by the device", label="Position (U)"
    )
    face: Mapped[str] = choice(FACES)
    status_id: Mapped[Ref] = status(
        initial=["Active", "Decommissioning", "Failed", "Inventory", "Offline", "Planned", "Staged"]
    )
    primary_ip4_id: Mapped[Ref | None] = foreign_key(
        "ipam.ipaddress", on_delete=SET_NULL, unique=True, related_name="primary_ip4_for"
    )
    primary_ip6_id: Mapped[Ref | None] = foreign_key(
        "ipam.ipaddress", on_delete=SET_NULL, unique=True, related_name="primary_ip6_for"
    )
    secrets_group_id: Mapped[Ref | None] = foreign_key(SecretsGroup, on_delete=SET_NULL)
    cluster_id: Mapped[Ref | None] = foreign_key(
        "virtualization.cluster", on_delete=SET_NULL, related_name="devices", count_field="device_count"
    )
    virtual_chassis_id: Mapped[Ref | None] = foreign_key(
        VirtualChassis, on_delete=SET_NULL, related_name="members", count_field="member_count"
    )
    vc_position: Mapped[int | None] = integer(0, 255)
    vc_priority: Mapped[int | None] = integer(0, 255)
    device_redundancy_group_id: Mapped[Ref | None] = foreign_key(
        DeviceRedundancyGroup, on_delete=SET_NULL, related_name="members"
    )
    device_redundancy_group_priority: Mapped[int | None] = integer(
        1,
        32767,
        "The priority the device has in the device redundancy group.",
        label="Device Redundancy Group Priority",
    )
    comments: Mapped[Comments]
    local_context_schema_id: Mapped[Ref | None] = foreign_key(
        ConfigContextSchema, on_delete=SET_NULL, help="Optional schema to validate the structure of the data"
    )
    local_context_data: Mapped[Any | None] = json_document()


def device_display_name(
    name: str | None, chassis: str | None, vc_position: int | None, manufacturer: str, model: str, key: uuid.UUID
) -> str:
    """Returns the ``display`` of a device.

    It is the name; for a device without a name, its virtual chassis and position; else its type. The last two forms
    contain the id. Examples: ``stack:2 (5f0c…)``, ``Acme R1 (5f0c…)``.
    """
    if name:
        return name
    if chassis:
        return f"{chassis}:{vc_position} ({key})"
    return f"{manufacturer} {model} ({key})"


def device_name(name: str | None, chassis: str | None, vc_position: int | None, *others: str | None) -> str:
    """The name of a device on pages. One without a name is called by its place in its virtual chassis, else by its type
    with its asset tag or serial number: ``Acme R1 · 4711``.
    """
    manufacturer, model, asset_tag, serial = others
    if name:
        return name
    return f"{chassis}:{vc_position}" if chassis else beside(f"{manufacturer} {model}", asset_tag, serial, "unnamed")


DISPLAY_PATHS = (
    "name",
    "virtual_chassis.name",
    "vc_position",
    "device_type.manufacturer.name",
    "device_type.model",
    "id",
)

# Field of devices and of virtual machines.
primary_ip = coalesce("primary_ip", ("primary_ip6", "primary_ip4"), prefer={"prefer_ipv4": "primary_ip4"})

devices = Resource(
    Device,
    "devices",
    display=(device_display_name, *DISPLAY_PATHS),
    order=["name_key"],
    search=["name", "serial", "asset_tag", "comments", "device_type.manufacturer.name"],
    fields=[
        through_one_to_one(
            "parent_device", "dcim.devicebay", held="installed_device_id", holder="device_id", by="device_bay"
        ),
        primary_ip,
    ],
    filters=[
        *tree_pair("region", "site.region"),
        *tenant_filters(),
        tree("location"),
        related("manufacturer_id", "device_type.manufacturer", by=()),
        related("manufacturer", "device_type.manufacturer", by="slug", ids=False),
        related("model", "device_type", by="slug", ids=False),
        related("role_id", "device_role", by=()),
        related("role", "device_role", by="slug", ids=False),
        related("platform", by="slug", ids=False),
        related("secrets_group", by="slug", ids=False),
        tree("rack_group_id", "rack.group"),
        one_of("face", FACES, multiple=False),
        flag("is_full_depth", "device_type.is_full_depth"),
        value("mac_address", "interfaces.mac_address"),
        value("serial", lookup="iexact", lookup_names=(), multiple=False),
        has("is_virtual_chassis_member", "virtual_chassis"),
        has("virtual_chassis_member", "virtual_chassis"),
        *[
            has(name, name)
            for name in (
                "console_ports",
                "console_server_ports",
                "power_ports",
                "power_outlets",
                "interfaces",
                "device_bays",
            )
        ],
    ],
    record_constants={"local_context_data_owner_content_type": None, "local_context_data_owner_object_id": None},
    presentation=Presentation(
        counted=True,
        key="d",
        tabs=["interfaces", "front-ports", "rear-ports", "console-ports", "console-server-ports", "power-ports"],
        columns=[
            "status",
            "primary_ip",
            "site",
            "rack",
            "device_role",
            "device_type",
            "tenant",
            "location",
            "position",
        ],
        facets=["status", "site", "device_role", "device_type", "tenant", "platform"],
        fieldsets=[
            ("Device", ["name", "device_role", "device_type", "platform", "status", "serial", "asset_tag"]),
            ("Place", ["site", "location", "rack", "face", "position", "parent_device"]),
            ("Management", ["primary_ip4", "primary_ip6", "secrets_group"]),
            (
                "Belonging",
                [
                    "tenant",
                    "cluster",
                    "device_redundancy_group",
                    "device_redundancy_group_priority",
                    "virtual_chassis",
                    "vc_position",
                    "vc_priority",
                ],
            ),
            ("Config context", ["local_context_data", "local_context_schema"]),
        ],
        summary=["device_role", "device_type", "primary_ip", "serial"],
        hidden=["primary_ip"],  # one of the two addresses
        unrelated=["installed_device", "master"],
        limits={
            name: {"device_id": "{id}", "family": family}
            for name, family in (("primary_ip4", "4"), ("primary_ip6", "6"))
        },
        name_in_context=(device_name, *DISPLAY_PATHS[:-1], "asset_tag", "serial"),
        depends_on={"location": {"site": "site_id"}, "rack": {"site": "site_id", "location": "location_id"}},
        quick_fields=["name", "device_role", "device_type", "site", "status"],
    ),
)


@devices.filter("has_primary_ip", multiple=False, kind="boolean")
def has_primary_ip(uow: UnitOfWork, table: Any, values: list[str]) -> Any:
    """Filters by the presence of a primary IP address, of version 4 or 6."""
    condition = sa.or_(table.c.primary_ip4_id.is_not(None), table.c.primary_ip6_id.is_not(None))
    return condition if convert_flag(values[-1]) else negated(condition)


@devices.filter("pass_through_ports", multiple=False, kind="boolean")
def has_pass_through_ports(uow: UnitOfWork, table: Any, values: list[str]) -> Any:
    """Filters by the presence of pass-through ports: front ports or rear ports that the user may view."""
    endpoint = uow.registry.of_model(Device)
    condition = sa.or_(
        *[
            relations.exists(endpoint, table, [relation], permissions.visible_for(uow))
            for relation in ("front_ports", "rear_ports")
        ]
    )
    return condition if convert_flag(values[-1]) else negated(condition)


@devices.filter("local_context_data", multiple=False, kind="boolean")
def has_local_context(uow: UnitOfWork, table: Any, values: list[str]) -> Any:
    """Filters by the presence of local config context data."""
    condition = table.c.local_context_data.is_not(None)
    return condition if convert_flag(values[-1]) else negated(condition)


@devices.rule(reads=[through("rack", "site_id")], changing=["rack_id", "site_id"])
def racks_are_at_the_site_of_their_devices(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """Rejects a rack of another site."""
    changed = [draft for draft in drafts if draft["rack_id"]]
    racks = listing.rows_of(uow, Rack, [draft["rack_id"] for draft in changed])
    elsewhere = [draft for draft in changed if racks[draft["rack_id"]].site_id != draft["site_id"]]
    sites = listing.rows_of(uow, Site, [draft["site_id"] for draft in elsewhere])
    for draft in elsewhere:
        rack = racks[draft["rack_id"]]
        name = rack_display_name(rack.name, rack.facility_id)
        draft.reject("rack", f"Rack {name} does not belong to site {sites[draft['site_id']].name}.")


devices.rule(reads=LOCATION_READS, changing=PLACE)(location_fits)


@devices.rule(reads=[through("rack", "location_id")], changing=["rack_id", "location_id"])
def racks_are_at_the_location_of_their_devices(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """Rejects a rack whose location differs from that of the device, where both have one."""
    changed = [draft for draft in drafts if draft["rack_id"] and draft["location_id"]]
    racks = listing.rows_of(uow, Rack, [draft["rack_id"] for draft in changed])
    elsewhere = [draft for draft in changed if racks[draft["rack_id"]].location_id not in (None, draft["location_id"])]
    locations = listing.rows_of(uow, Location, [draft["location_id"] for draft in elsewhere])
    for draft in elsewhere:
        rack = racks[draft["rack_id"]]
        name = rack_display_name(rack.name, rack.facility_id)
        draft.reject("rack", f'Rack "{name}" does not belong to location "{locations[draft["location_id"]].name}".')


@devices.rule(
    reads=[through("platform", "manufacturer_id"), through("device_type", "manufacturer_id")],
    changing=["platform_id", "device_type_id"],
)
def platforms_run_on_what_their_maker_makes(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """Rejects a platform that is limited to another manufacturer than that of the device type."""
    changed = [draft for draft in drafts if draft["platform_id"]]
    platforms = listing.rows_of(uow, Platform, [draft["platform_id"] for draft in changed])
    types = listing.rows_of(uow, DeviceType, [draft["device_type_id"] for draft in changed])
    pairs = {
        draft: (platforms[draft["platform_id"]].manufacturer_id, types[draft["device_type_id"]].manufacturer_id)
        for draft in changed
    }
    mismatches = {draft: pair for draft, pair in pairs.items() if pair[0] not in (None, pair[1])}
    manufacturers = listing.rows_of(uow, Manufacturer, [key for pair in mismatches.values() for key in pair])
    for draft, (of_platform, of_type) in mismatches.items():
        limitation = f"The assigned platform is limited to {manufacturers[of_platform].name} device types"
        draft.reject("platform", f"{limitation}, but this device's type belongs to {manufacturers[of_type].name}.")


@devices.prepare
def leaving_a_chassis_clears_the_position(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """Clears position and priority in a virtual chassis that a device leaves, unless others are sent."""
    for draft in drafts:
        if not draft.new and draft.changed("virtual_chassis_id") and draft["virtual_chassis_id"] is None:
            for name in ("vc_position", "vc_priority"):
                if not draft.changed(name):
                    draft[name] = None


@devices.rule
def members_of_a_chassis_have_a_position(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """Rejects a member of a virtual chassis that has no position in it."""
    for draft in drafts:
        if draft["virtual_chassis_id"] is not None and draft["vc_position"] is None:
            draft.reject("vc_position", "A device assigned to a virtual chassis must have its position defined.")


@devices.rule(changing=["virtual_chassis_id"])
def masters_stay_in_their_chassis(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """Rejects removing the master of a virtual chassis from it, also to another one. Locks the virtual chassis."""
    leaving = [
        draft
        for draft in drafts
        if not draft.new and draft.before["virtual_chassis_id"] not in (None, draft["virtual_chassis_id"])
    ]
    rows = listing.rows_of(uow, VirtualChassis, [draft.before["virtual_chassis_id"] for draft in leaving], locked=True)
    for draft in leaving:
        chassis = rows.get(draft.before["virtual_chassis_id"])
        if chassis is not None and chassis.master_id == draft.id:  # deleted chassis let their members go
            draft.reject(
                "virtual_chassis", f"The master device for the virtual chassis ({chassis.name}) may not be removed"
            )


devices.rule(priorities_are_within_a_group, changing=GROUP_COLUMNS)


@devices.rule
def context_data_is_an_object(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """Rejects local context data that is not an object, and a schema without local context data."""
    for draft in drafts:
        data = draft["local_context_data"]
        if data and not isinstance(data, dict):
            draft.reject("local_context_data", 'JSON data must be in object form. Example: {"foo": 123}')
        elif draft["local_context_schema_id"] is not None and not data:
            draft.reject("local_context_schema", "Local context data must exist for a schema to be applied.")


devices.rule(
    data_fits_its_schema("local_context_data", "local_context_schema"),
    changing=["local_context_data", "local_context_schema_id"],
)
