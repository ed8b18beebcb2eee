"""Interfaces of devices: how they stack (parents, bridges, LAGs) and which VLANs they carry."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Mapped

from netinv_core.auth import permissions
from netinv_core.models.associations import many_to_many, unique_set
from netinv_core.models.base import Primary
from netinv_core.models.columns import CASCADE, SELF, SET_NULL, Ref, boolean, choice, column, foreign_key, integer
from netinv_core.models.types import Chars
from netinv_core.read import listing, relations
from netinv_core.read.filters import one_of, related, value
from netinv_core.read.lookups import convert
from netinv_core.resource import computed, to_many
from netinv_core.uow import UnitOfWork
from netinv_core.write.draft import Draft
from netinv_dcim.cabling.models import NETWORK, PASS_THROUGH, PathEnd
from netinv_dcim.choices import INTERFACE_MODES, INTERFACE_TYPES, RADIO_TYPES, SOCKETLESS_TYPES, VIRTUAL_TYPES
from netinv_dcim.components import vlans
from netinv_dcim.components.base import Named, component, component_display_name, of_device
from netinv_dcim.components.vlans import mac_address, status_since_1_4
from netinv_dcim.devices import Device
from netinv_dcim.virtual_chassis import VirtualChassis
from netinv_extras.statuses import status


class Interface(Named, PathEnd, Primary):
    """A network interface of a device, physical or virtual."""

    connector_kind = NETWORK
    compatible_with = frozenset({NETWORK, PASS_THROUGH})

    __tablename__ = "dcim_interface"
    __table_args__ = (unique_set("device_id", "name"),)

    device_id: Mapped[Ref] = of_device("interfaces")
    status_id: Mapped[Ref] = status()
    type: Mapped[str] = choice(INTERFACE_TYPES, default=None, required=True)
    enabled: Mapped[bool] = boolean(True)
    parent_interface_id: Mapped[Ref | None] = foreign_key(SELF, on_delete=CASCADE, related_name="child_interfaces", help="Assigned parent interface")
    bridge_id: Mapped[Ref | None] = foreign_key(SELF, on_delete=SET_NULL, related_name="bridged_interfaces", help="Assigned bridge interface")
    lag_id: Mapped[Ref | None] = foreign_key(SELF, on_delete=SET_NULL, related_name="member_interfaces", help="Assigned LAG interface")
    mtu: Mapped[int | None] = integer(1, 65536, label="MTU")
    mac_address: Mapped[str | None] = column(Chars(vlans.MAC_LENGTH), default=None, parse=mac_address, label="MAC Address")
    mgmt_only: Mapped[bool] = boolean(False, "This interface is used only for out-of-band management", label="Management only")
    mode: Mapped[str] = choice(INTERFACE_MODES)
    untagged_vlan_id: Mapped[Ref | None] = foreign_key("ipam.vlan", on_delete=SET_NULL, related_name="interfaces_as_untagged")

    @classmethod
    def cannot_be_cabled(cls, row: Any) -> str | None:
        """Only an interface with a socket takes a cable."""
        if row.type in SOCKETLESS_TYPES:
            return f"Cables cannot be terminated to {INTERFACE_TYPES.labels[row.type]} interfaces"
        return None


tagged_vlans = many_to_many("dcim_interface_tagged_vlan", "dcim_interface", "ipam.vlan")


def connection_status(reachable: bool | None) -> dict[str, Any] | None:
    """The state of the cable path of an interface; null without a cable."""
    return None if reachable is None else {"value": reachable, "label": "Connected" if reachable else "Not Connected"}


interfaces = component(
    Interface,
    "interfaces",
    assigned_fields=[computed("connection_status", connection_status, "connected_endpoint_reachable")],
    fields=[to_many("tagged_vlans", tagged_vlans, "ipam.vlan", default=[], related_name="interfaces_as_tagged", plain=True)],
    filters=[
        one_of("mode", INTERFACE_MODES, multiple=False),
        value("mac_address", parse=mac_address),
        related("lag_id", "lag", by=(), allowed=lambda table: table.c.type == "lag"),
    ],
    versions=[status_since_1_4],
)

KINDS = {
    "physical": lambda column: column.not_in(VIRTUAL_TYPES | RADIO_TYPES),
    "virtual": lambda column: column.in_(VIRTUAL_TYPES),
    "wireless": lambda column: column.in_(RADIO_TYPES),
}


@interfaces.filter("kind", multiple=False)
def of_kind(uow: UnitOfWork, table: Any, values: list[str]) -> Any:
    """Physical, virtual or wireless interfaces; none for any other word."""
    kind = KINDS.get(values[-1].strip().lower())
    return kind(table.c.type) if kind else sa.false()


def _of_devices(uow: UnitOfWork, table: Any, condition: Any) -> Any:
    """The interfaces of the devices for which the condition holds; those of a chassis' master include its members' (not for management)."""
    device, chassis, endpoint = Device.__table__, VirtualChassis.__table__, uow.registry.of_model(Device)
    named = sa.select(device.c.id).where(condition, *permissions.visible(uow, endpoint, device))
    member = device.alias()
    led = [chassis.c.master_id.in_(named), *permissions.visible(uow, endpoint, member)]
    members = sa.select(member.c.id).join(chassis, chassis.c.id == member.c.virtual_chassis_id).where(*led)
    return table.c.device_id.in_(named) | (table.c.device_id.in_(members) & ~table.c.mgmt_only)


@interfaces.filter("device")
def of_device_named(uow: UnitOfWork, table: Any, values: list[str]) -> Any:
    """The interfaces of devices by name, across a virtual chassis for its master."""
    return _of_devices(uow, table, Device.__table__.c.name.in_(values))


@interfaces.filter("device_id")
def of_device_identified(uow: UnitOfWork, table: Any, values: list[str]) -> Any:
    """The interfaces of devices by id, across a virtual chassis for its master."""
    key = Device.__table__.c.id
    return _of_devices(uow, table, key.in_([convert(key, item) for item in values]))


@interfaces.filter("device_with_common_vc", multiple=False)
def of_chassis_of_device(uow: UnitOfWork, table: Any, values: list[str]) -> Any:
    """The interfaces of a device and of all that share its virtual chassis."""
    device = Device.__table__
    limits = permissions.visible(uow, uow.registry.of_model(Device), device)
    try:
        key = convert(device.c.id, values[-1])
    except ValueError:
        raise ValueError("Enter a valid UUID.") from None
    chassis = sa.select(device.c.virtual_chassis_id).where(device.c.id == key, device.c.virtual_chassis_id.is_not(None), *limits)
    return table.c.device_id.in_(sa.select(device.c.id).where((device.c.id == key) | device.c.virtual_chassis_id.in_(chassis), *limits))


def _carrying(uow: UnitOfWork, table: Any, attribute: str, text: str) -> Any:
    """The interfaces with a VLAN, tagged or not, whose column has this value; none for what it cannot hold."""
    here, visible = uow.registry.of_model(Interface), permissions.visible_for(uow)
    try:
        found = [relations.compare(here, table, [way, attribute], lambda column: column == convert(column, text), visible) for way in VLAN_WAYS]
    except ValueError:
        return sa.false()
    return sa.or_(*found)


VLAN_WAYS = ("untagged_vlan", "tagged_vlans")


@interfaces.filter("vlan_id", multiple=False)
def carrying_vlan(uow: UnitOfWork, table: Any, values: list[str]) -> Any:
    """The interfaces with a VLAN, by its id."""
    return _carrying(uow, table, "id", values[-1])


@interfaces.filter("vlan", multiple=False)
def carrying_vid(uow: UnitOfWork, table: Any, values: list[str]) -> Any:
    """The interfaces with a VLAN, by its number."""
    return _carrying(uow, table, "vid", values[-1])


@interfaces.rule
def only_virtual_interfaces_have_a_parent(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """An interface with a parent is virtual, and a virtual one is no member of a LAG."""
    for draft in drafts:
        if draft["parent_interface_id"] is not None and draft["type"] != "virtual":
            draft.reject("parent_interface", "Only virtual interfaces may be assigned to a parent interface.")
        elif draft["lag_id"] is not None and draft["type"] == "virtual":
            draft.reject("lag", "Virtual interfaces cannot have a parent LAG interface.")


@interfaces.rule
def interfaces_with_a_cable_have_a_socket(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """A type that takes no cable is not for an interface that has one."""
    for draft in drafts:
        if draft["cable_id"] is not None and draft["type"] in SOCKETLESS_TYPES:
            reason = "Virtual and wireless interfaces cannot be connected to another interface or circuit."
            draft.reject("type", f"{reason} Disconnect the interface or choose a suitable type.")


# Each way in which one interface stands on another: what it is called, and what is said of one that stands on itself.
WAYS = {
    "parent_interface": ("parent interface", "An interface cannot be its own parent."),
    "bridge": ("bridge interface", "An interface cannot be bridged to itself."),
    "lag": ("LAG interface", "A LAG interface cannot be its own parent."),
}


@interfaces.rule
def interfaces_stand_on_others_of_their_device(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """Parent, bridge and LAG are other interfaces of the same device, or of its virtual chassis."""
    moved = [draft for draft in drafts if draft.changed("device_id", *[f"{way}_id" for way in WAYS])]
    under = listing.rows_of(uow, Interface, [draft[f"{way}_id"] for draft in moved for way in WAYS])
    if not under:
        return
    hosts = listing.rows_of(uow, Device, [*(draft["device_id"] for draft in moved), *(row.device_id for row in under.values())])
    chassis = listing.rows_of(uow, VirtualChassis, [host.virtual_chassis_id for host in hosts.values()])
    for draft in moved:
        for way, (words, own) in WAYS.items():
            other = under.get(draft[f"{way}_id"])
            if other is None or draft.errors:
                continue
            here, there = hosts[draft["device_id"]], hosts[other.device_id]
            named = f"The selected {words} ({component_display_name(other.name, other.label)}) belongs to"
            if other.id == draft.id:
                draft.reject(way, own)
            elif way == "parent_interface" and other.type == "virtual":
                draft.reject(way, "Virtual interfaces may not be parents of other interfaces.")
            elif here.id != there.id and here.virtual_chassis_id is None:
                draft.reject(way, f"{named} a different device ({there.name}).")
            elif here.id != there.id and here.virtual_chassis_id != there.virtual_chassis_id:
                draft.reject(way, f"{named} {there.name}, which is not part of virtual chassis {chassis[here.virtual_chassis_id].name}.")


def _sites_of(uow: UnitOfWork, keys: Collection[Any]) -> dict[Any, Any]:
    """The sites of devices, by device."""
    return {key: host.site_id for key, host in listing.rows_of(uow, Device, keys).items()}


interfaces.rule(vlans.tagged_vlans_need_the_mode(tagged_vlans))
interfaces.rule(vlans.untagged_vlans_need_a_mode)
interfaces.rule(vlans.vlans_are_of_the_site("device_id", "device", _sites_of))
