"""Columns of tables of addresses and prefixes: interfaces by their device and name, VLANs by their group and number."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from netinv_core.write.slugs import slugify
from netinv_core.write.table_rows import JoinedColumns

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint

DEVICE, MACHINE, INTERFACE = "device", "virtual_machine", "interface"
NEEDED = "An interface is named by its device or virtual machine, and its name."
ONE = "An address is of a device or of a virtual machine, not of both."
NUMBER = "The number of a VLAN is a whole number."


def joined_columns_of(endpoint: Endpoint) -> Iterable[JoinedColumns]:
    """The columns of addresses, and of models with a VLAN."""
    if endpoint.label == "ipam.ipaddress":
        yield JoinedColumns(
            (DEVICE, MACHINE, INTERFACE),
            ("assigned_object_type", "assigned_object_id"),
            _interface,
            "Device or virtual machine, and the name of its interface.",
            {"vm": MACHINE, "device_name": DEVICE, "interface_name": INTERFACE, "vminterface": INTERFACE},
        )
    if endpoint.label == "ipam.prefix":
        yield JoinedColumns(
            ("vlan_group", "vid"),
            ("vlan",),
            _vlan,
            "Group and number of the VLAN.",
            {"vlan_vid": "vid", "vlan_id": "vid"},
        )


def _interface(cells: Mapping[str, str]) -> dict[str, Any]:
    """The interface of an address; nothing for empty cells.

    :raises ValueError: for an interface without its device, or the reverse
    """
    device, machine, name = (cells.get(column, "") for column in (DEVICE, MACHINE, INTERFACE))
    if not (device or machine or name):
        return {}
    if device and machine:
        raise ValueError(ONE)
    if not name or not (device or machine):
        raise ValueError(NEEDED)
    label = "dcim.interface" if device else "virtualization.vminterface"
    owner = {DEVICE: {"name": device}} if device else {MACHINE: {"name": machine}}
    return {"assigned_object_type": label, "assigned_object_id": {**owner, "name": name}}


def _vlan(cells: Mapping[str, str]) -> dict[str, Any]:
    """The VLAN of a prefix; nothing for empty cells.

    :raises ValueError: for what is no number
    """
    group, number = cells.get("vlan_group", ""), cells.get("vid", "")
    if not number:
        return {}
    if not (number.isascii() and number.isdecimal()):
        raise ValueError(NUMBER)
    by = "slug" if slugify(group) == group else "name"
    return {"vlan": {"vid": int(number), **({"group": {by: group}} if group else {})}}
