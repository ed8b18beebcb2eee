"""Interfaces of devices: how they stack (parents, bridges, LAGs) and which VLANs they carry."""

from __future__ import annotations

import re
from typing import Any

from sqlalchemy.orm import Mapped

from netinv_core.columns import Chars
from netinv_core.model import (
    CASCADE,
    SELF,
    SET_NULL,
    Description,
    Primary,
    Ref,
    choice,
    column,
    many_to_many,
    natural,
    required_text,
    switch,
    text,
    to,
    unique_set,
    whole,
)
from netinv_core.resource import Resource, VersionChange, computed, many, object_of
from netinv_dcim.choices import INTERFACE_MODES, INTERFACE_TYPES
from netinv_dcim.devices import Device
from netinv_extras.statuses import status

_MAC = re.compile(
    r"([0-9a-f]{1,2}[-:]){5}[0-9a-f]{1,2}|([0-9a-f]{4}\.){2}[0-9a-f]{4}|([0-9a-f]{4}[-:]){2}[0-9a-f]{4}|[0-9a-f]{6}-[0-9a-f]{6}|[0-9a-f]{12}", re.I
)


def mac_address(value: object) -> str | None:
    """A MAC address as six upper-case octets (IEEE 802, EUI-48), from any of the usual notations; blank is none.

    :raises ValueError: for anything else
    """
    if value == "":
        return None
    if not isinstance(value, str) or not _MAC.fullmatch(value.strip()):
        raise ValueError(f"Invalid MAC address format: {value}")
    parts = re.split(r"[-:]", value.strip())
    digits = "".join(part.zfill(2) for part in parts) if len(parts) == 6 else re.sub(r"[-:.]", "", value.strip())
    return ":".join(digits[i : i + 2] for i in range(0, 12, 2)).upper()


class Interface(Primary):
    """A network interface of a device, physical or virtual."""

    __tablename__ = "dcim_interface"
    __table_args__ = (unique_set("device_id", "name"),)

    device_id: Mapped[Ref] = to(Device, on_delete=CASCADE, back="interfaces")
    name: Mapped[str] = required_text(64)
    name_key: Mapped[str] = natural("name")
    label: Mapped[str] = text(64, "Physical label")
    status_id: Mapped[Ref] = status()
    type: Mapped[str] = choice(INTERFACE_TYPES, default=None, required=True)
    enabled: Mapped[bool] = switch(True)
    parent_interface_id: Mapped[Ref | None] = to(SELF, on_delete=CASCADE, back="child_interfaces", help="Assigned parent interface")
    bridge_id: Mapped[Ref | None] = to(SELF, on_delete=SET_NULL, back="bridged_interfaces", help="Assigned bridge interface")
    lag_id: Mapped[Ref | None] = to(SELF, on_delete=SET_NULL, back="member_interfaces", help="Assigned LAG interface", label="Parent LAG")
    mtu: Mapped[int | None] = whole(1, 65536, label="MTU")
    mac_address: Mapped[str | None] = column(Chars(18), default=None, kind="opaque", parse=mac_address)
    mgmt_only: Mapped[bool] = switch(False, "This interface is used only for out-of-band management", label="Management only")
    description: Mapped[Description]
    mode: Mapped[str] = choice(INTERFACE_MODES)
    untagged_vlan_id: Mapped[Ref | None] = to("ipam.vlan", on_delete=SET_NULL, back="interfaces_as_untagged")
    cable_id: Mapped[Ref | None] = to("dcim.cable", on_delete=SET_NULL, read_only=True)
    cable_peer_type: Mapped[str | None] = column(Chars(100), default=None, read_only=True)
    cable_peer_id: Mapped[Ref | None] = column(hidden=True, default=None)
    connected_endpoint_type: Mapped[str | None] = column(Chars(100), default=None, read_only=True)
    connected_endpoint_id: Mapped[Ref | None] = column(hidden=True, default=None)
    connected_endpoint_reachable: Mapped[bool | None] = column(default=None, read_only=True)


tagged_vlans = many_to_many("dcim_interface_tagged_vlan", "dcim_interface", "ipam.vlan")


def component_words(name: str, label: str) -> str:
    """How a component of a device is called: its name, with its label when there is one."""
    return f"{name} ({label})" if label else name


interfaces = Resource(
    Interface,
    "interfaces",
    display=(component_words, "name", "label"),
    brief=["device", "name", "cable"],
    brief_fields=[computed("cable", lambda key: key, "cable_id")],
    order=["device.name_key", "device_id", "name_key"],
    search=["name", "label", "description"],
    fields=[
        many("tagged_vlans", tagged_vlans, "ipam.vlan", default=[], back="interfaces_as_tagged"),
        object_of("cable_peer", "cable_peer_type", "cable_peer_id"),
        object_of("connected_endpoint", "connected_endpoint_type", "connected_endpoint_id"),
    ],
    versions=[VersionChange("1.4", upgrade=lambda body: {**body, "status": "active"}, absent=("status",))],
)
