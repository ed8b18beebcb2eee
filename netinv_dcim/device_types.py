"""Manufacturers, device types, device roles and platforms."""

from __future__ import annotations

from typing import Any

from netutils import lib_mapper
from sqlalchemy.orm import Mapped, mapped_column

from netinv_core.models.associations import unique_set
from netinv_core.models.base import Organizational, Primary
from netinv_core.models.columns import (
    PROTECT,
    Comments,
    Description,
    Name,
    Ref,
    Slug,
    boolean,
    choice,
    color,
    foreign_key,
    image,
    integer,
    json_document,
    slug,
    text,
)
from netinv_core.presentation import Presentation
from netinv_core.read.filters import one_of, related, value
from netinv_core.resource import Resource, computed
from netinv_dcim.choices import SUBDEVICE_ROLES


class Manufacturer(Organizational):
    """A maker of devices."""

    __tablename__ = "dcim_manufacturer"

    name: Mapped[Name] = mapped_column(unique=True)
    slug: Mapped[Slug]
    description: Mapped[Description]


class DeviceType(Primary):
    """A make and model of device, with its height in rack units."""

    __tablename__ = "dcim_device_type"
    __table_args__ = (unique_set("manufacturer_id", "model"), unique_set("manufacturer_id", "slug"))

    manufacturer_id: Mapped[Ref] = foreign_key(
        Manufacturer, on_delete=PROTECT, related_name="device_types", count_field="devicetype_count"
    )
    model: Mapped[Name]
    slug: Mapped[str] = slug(of="model", unique=False)
    part_number: Mapped[str] = text(50, "Discrete part number (optional)")
    u_height: Mapped[int] = integer(0, 32767, default=1, label="Height (U)")
    is_full_depth: Mapped[bool] = boolean(True, "Device consumes both front and rear rack faces")
    subdevice_role: Mapped[str] = choice(
        SUBDEVICE_ROLES,
        help="Parent devices house child devices in device bays. "
        "Leave blank if this device type is neither a parent nor a child.",
    )
    front_image: Mapped[str | None] = image("devicetype-images")
    rear_image: Mapped[str | None] = image("devicetype-images")
    comments: Mapped[Comments]


class DeviceRole(Organizational):
    """The function of a device, and of virtual machines where it is so marked."""

    __tablename__ = "dcim_device_role"

    name: Mapped[Name] = mapped_column(unique=True)
    slug: Mapped[Slug]
    color: Mapped[str] = color()
    vm_role: Mapped[bool] = boolean(True, "Virtual machines may be assigned to this role", label="VM Role")
    description: Mapped[Description]


class Platform(Organizational):
    """The software a device runs, and the drivers that tools reach it by."""

    __tablename__ = "dcim_platform"

    name: Mapped[Name] = mapped_column(unique=True)
    slug: Mapped[Slug]
    manufacturer_id: Mapped[Ref | None] = foreign_key(
        Manufacturer,
        on_delete=PROTECT,
        related_name="platforms",
        count_field="platform_count",
        help="Optionally limit this platform to devices of a certain manufacturer",
    )
    napalm_driver: Mapped[str] = text(
        50, "The name of the NAPALM driver to use when interacting with devices", label="NAPALM driver"
    )
    napalm_args: Mapped[Any | None] = json_document(
        "Additional arguments to pass when initiating the NAPALM driver (JSON format)", label="NAPALM arguments"
    )
    network_driver: Mapped[str] = text(
        100,
        "The normalized network driver to use when interacting with devices, e.g. cisco_ios, arista_eos, etc. "
        "Library-specific driver names will be derived from this setting as appropriate",
    )
    description: Mapped[Description]


# Names of network drivers in each tool, by the normalized name of the driver.
DRIVERS: dict[str, dict[str, str]] = {
    "ansible": lib_mapper.ANSIBLE_LIB_MAPPER_REVERSE,
    "hier_config": lib_mapper.HIERCONFIG_LIB_MAPPER_REVERSE,
    "napalm": lib_mapper.NAPALM_LIB_MAPPER_REVERSE,
    "netmiko": lib_mapper.NETMIKO_LIB_MAPPER_REVERSE,
    "ntc_templates": lib_mapper.NTCTEMPLATES_LIB_MAPPER_REVERSE,
    "pyntc": lib_mapper.PYNTC_LIB_MAPPER_REVERSE,
    "scrapli": lib_mapper.SCRAPLI_LIB_MAPPER_REVERSE,
}


def driver_names(driver: str) -> dict[str, str]:
    """Returns the name of a network driver in each tool. Tools without such a driver are left out."""
    return {tool: names[driver] for tool, names in DRIVERS.items() if driver in names}


manufacturers = Resource(
    Manufacturer,
    "manufacturers",
    brief=["name", "slug", "devicetype_count"],
    search=["name", "slug", "description"],
)

device_types = Resource(
    DeviceType,
    "device-types",
    type_order="~2 ",
    title="device type",
    display=("{} {}".format, "manufacturer.name", "model"),
    name_attribute="model",
    brief=["manufacturer", "model", "slug", "device_count"],
    order=["manufacturer.name", "model"],
    search=["manufacturer.name", "model", "part_number", "comments", "slug"],
    filters=[
        related("manufacturer", by="slug", ids=False),
        related("instances", by=()),
        one_of("subdevice_role", SUBDEVICE_ROLES, multiple=False),
    ],
    example={"subdevice_role": "parent"},
    presentation=Presentation(
        columns=["manufacturer", "part_number", "u_height", "is_full_depth", "subdevice_role", "device_count"],
        facets=["manufacturer", "subdevice_role"],
    ),
)

device_roles = Resource(
    DeviceRole,
    "device-roles",
    title="device role",
    brief=["name", "slug", "device_count", "virtualmachine_count"],
    search=["name", "slug", "description"],
    filters=[related("devices", by=())],
    presentation=Presentation(
        columns=["color", "vm_role", "device_count", "virtualmachine_count", "description"],
    ),
)

platforms = Resource(
    Platform,
    "platforms",
    brief=["name", "slug", "device_count", "virtualmachine_count"],
    search=["name", "slug", "napalm_driver", "description"],
    fields=[computed("network_driver_mappings", driver_names, "network_driver")],
    filters=[
        related("manufacturer", by="slug", ids=False),
        related("devices", by=()),
        value("napalm_args", lookup="icontains", lookup_names=()),
    ],
    presentation=Presentation(
        columns=["manufacturer", "napalm_driver", "device_count", "virtualmachine_count", "description"],
        facets=["manufacturer"],
    ),
)
