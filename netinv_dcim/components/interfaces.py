"""Interfaces of devices: how they stack (parents, bridges, LAGs) and which VLANs they carry."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
from sqlalchemy.orm import Mapped

from netinv_core.auth import permissions
from netinv_core.caches import lru_cache
from netinv_core.db.expressions import in_parameter, in_values
from netinv_core.models.associations import many_to_many, unique_set
from netinv_core.models.base import Primary, table_of
from netinv_core.models.columns import CASCADE, SELF, SET_NULL, Ref, boolean, choice, column, foreign_key, integer
from netinv_core.models.types import Chars
from netinv_core.presentation import Presentation
from netinv_core.read import listing
from netinv_core.read.filters import one_of, related, value
from netinv_core.resource import computed, to_many
from netinv_core.sql import relations
from netinv_core.sql.lookups import convert
from netinv_core.write.cycles import without_cycles
from netinv_core.write.referring_rules import through
from netinv_dcim.cabling.models import NETWORK, PASS_THROUGH, PathEnd
from netinv_dcim.choices import INTERFACE_MODES, INTERFACE_TYPES, RADIO_TYPES, SOCKETLESS_TYPES, VIRTUAL_TYPES
from netinv_dcim.components import vlans
from netinv_dcim.components.base import ComponentName, component, component_display_name, of_device
from netinv_dcim.components.vlans import mac_address, mac_address_parts, status_since_1_4
from netinv_dcim.devices import Device
from netinv_dcim.virtual_chassis import VirtualChassis
from netinv_extras.statuses import status

if TYPE_CHECKING:
    from netinv_core.uow import UnitOfWork
    from netinv_core.write.draft import Draft


class Interface(ComponentName, PathEnd, Primary):
    """A network interface of a device, physical or virtual."""

    connector_kind = NETWORK
    compatible_with = frozenset({NETWORK, PASS_THROUGH})

    __tablename__ = "dcim_interface"
    text_indexes = ("name", "label", "description")
    __table_args__ = (unique_set("device_id", "name"),)

    device_id: Mapped[Ref] = of_device("interfaces")
    status_id: Mapped[Ref] = status(initial=["Active", "Decommissioning", "Failed", "Maintenance", "Planned"])
    type: Mapped[str] = choice(INTERFACE_TYPES, default=None, required=True)
    enabled: Mapped[bool] = boolean(True)
    parent_interface_id: Mapped[Ref | None] = foreign_key(
        SELF, on_delete=CASCADE, related_name="child_interfaces", help="Assigned parent interface"
    )
    bridge_id: Mapped[Ref | None] = foreign_key(
        SELF, on_delete=SET_NULL, related_name="bridged_interfaces", help="Assigned bridge interface"
    )
    lag_id: Mapped[Ref | None] = foreign_key(
        SELF, on_delete=SET_NULL, related_name="member_interfaces", help="Assigned LAG interface"
    )
    mtu: Mapped[int | None] = integer(1, 65536, label="MTU")
    mac_address: Mapped[str | None] = column(
        Chars(vlans.MAC_LENGTH, mac_address, mac_address_parts),
        default=None,
        index=True,
        parse=mac_address,
        label="MAC Address",
    )
    mgmt_only: Mapped[bool] = boolean(
        False, "This interface is used only for out-of-band management", label="Management only"
    )
    mode: Mapped[str] = choice(INTERFACE_MODES)
    untagged_vlan_id: Mapped[Ref | None] = foreign_key(
        "ipam.vlan", on_delete=SET_NULL, related_name="interfaces_as_untagged"
    )

    @classmethod
    def cannot_be_cabled(cls, row: Any) -> str | None:
        """Rejects cables to interfaces of a type without a socket: virtual, wireless and LAG interfaces."""
        if row.type in SOCKETLESS_TYPES:
            return f"Cables cannot be terminated to {INTERFACE_TYPES.labels[row.type]} interfaces"
        return None


tagged_vlans = many_to_many("dcim_interface_tagged_vlan", "dcim_interface", "ipam.vlan")


def connection_status(reachable: bool | None) -> dict[str, Any] | None:
    """The representation of ``connected_endpoint_reachable`` as a choice; null without a cable."""
    return None if reachable is None else {"value": reachable, "label": "Connected" if reachable else "Not Connected"}


interfaces = component(
    Interface,
    "interfaces",
    assigned_fields=[computed("connection_status", connection_status, "connected_endpoint_reachable")],
    fields=[
        to_many("tagged_vlans", tagged_vlans, "ipam.vlan", default=[], related_name="interfaces_as_tagged", plain=True)
    ],
    filters=[
        one_of("mode", INTERFACE_MODES, multiple=False),
        value("mac_address"),
        related("lag_id", "lag", by=(), allowed=lambda table: table.c.type == "lag"),
    ],
    versions=[status_since_1_4],
    presentation=Presentation(
        columns=[
            "device",
            "status",
            "enabled",
            "type",
            "far_end",
            "addresses",
            "untagged_vlan",
            "tagged_vlans",
            "cable",
            "mac_address",
            "label",
            "description",
        ],
        leading=["addresses", "redundancy", "trace"],
        nested_below=["lag", "parent_interface", "bridge"],
        facets=["status", "type", "enabled", "mode"],
        fieldsets=[
            ("Interface", ["device", "name", "status", "label", "type", "enabled", "mgmt_only", "description"]),
            ("Link layer", ["mac_address", "mtu", "parent_interface", "bridge", "lag"]),
            ("VLANs", ["mode", "untagged_vlan", "tagged_vlans"]),
        ],
        depends_on={
            **{name: {"device": "device_id"} for name in ("parent_interface", "bridge", "lag")},
            **{name: {"device": "available_on_device"} for name in ("untagged_vlan", "tagged_vlans")},
        },
        limits={"lag": {"type": "lag"}},
    ),
)

KINDS = {
    "physical": lambda column: column.not_in(VIRTUAL_TYPES | RADIO_TYPES),
    "virtual": lambda column: column.in_(VIRTUAL_TYPES),
    "wireless": lambda column: column.in_(RADIO_TYPES),
}


@interfaces.filter("kind", multiple=False)
def of_kind(uow: UnitOfWork, table: Any, values: list[str]) -> Any:
    """Filter by kind: ``physical``, ``virtual`` or ``wireless``; any other value matches nothing."""
    kind = KINDS.get(values[-1].strip().lower())
    return kind(table.c.type) if kind else sa.false()


_device, _chassis = table_of(Device), table_of(VirtualChassis)
_member = _device.alias("chassis_member")


def on_devices(uow: UnitOfWork, table: Any, name: str, values: Sequence[str]) -> Any:
    """The condition on the table of interfaces that they are of devices whose column ``name`` has one of the values.

    For the master of a virtual chassis this includes the interfaces of its members, except management interfaces. The
    devices are looked up by a statement of their own: databases read all interfaces for an OR of subqueries.

    :raises ValueError: for a value that the column cannot have
    """
    column, endpoint = _device.c[name], uow.registry.of_model(Device)
    converted = [convert(column, value) for value in values]
    limits = permissions.visible(uow, endpoint, _device)
    if not limits and uow.deferred_lookups is None:
        statement = _devices_and_members(name)
        rows = uow.execute(statement, {"values": converted}).tuples().all()
    else:
        of_members = permissions.visible(uow, endpoint, _member)
        selected, members = _selects(column.in_(converted), limits, of_members)
        if uow.deferred_lookups is not None:
            return table.c.device_id.in_(selected) | (table.c.device_id.in_(members) & ~table.c.mgmt_only)
        found = [(uow.execute(selected), False), (uow.execute(members), True)]
        rows = [(key, is_member) for result, is_member in found for key in result.scalars()]
    named = [key for key, is_member in rows if not is_member]
    further = [key for key, is_member in rows if is_member]
    condition = in_values(table.c.device_id, named)
    if not further:
        return condition
    return condition | (in_values(table.c.device_id, further) & ~table.c.mgmt_only)


def _selects(condition: Any, limits: Sequence[Any] = (), of_members: Sequence[Any] = ()) -> tuple[Any, Any]:
    """SELECTs of the ids of the devices that meet a condition, and of the members of the chassis that they master."""
    selected = sa.select(_device.c.id).where(condition, *limits)
    members = sa.select(_member.c.id).join(_chassis, _chassis.c.id == _member.c.virtual_chassis_id)
    return selected, members.where(_chassis.c.master_id.in_(selected), *of_members)


@lru_cache("SQL statements", 16)
def _devices_and_members(name: str) -> Any:
    """SELECT of the ids of devices whose column ``name`` has one of the ``values``, and of the members of their virtual
    chassis, with whether one is such a member.
    """
    selected, members = _selects(in_parameter(_device.c[name], "values"))
    parts = ((selected, sa.false()), (members, sa.true()))
    return sa.union_all(*(part.add_columns(is_member.label("is_member")) for part, is_member in parts))


@interfaces.filter("device", listed=True)
def of_device_named(uow: UnitOfWork, table: Any, values: list[str]) -> Any:
    """Filter by device name; for the master of a virtual chassis, across the chassis."""
    return on_devices(uow, table, "name", values)


@interfaces.filter("device_id", listed=True)
def of_device_identified(uow: UnitOfWork, table: Any, values: list[str]) -> Any:
    """The interfaces of devices by id, across a virtual chassis for its master."""
    return on_devices(uow, table, "id", values)


@interfaces.filter("device_with_common_vc", multiple=False)
def of_chassis_of_device(uow: UnitOfWork, table: Any, values: list[str]) -> Any:
    """Filter for the interfaces of a device and of all members of its virtual chassis."""
    device = Device.__table__
    limits = permissions.visible(uow, uow.registry.of_model(Device), device)
    try:
        key = convert(device.c.id, values[-1])
    except ValueError:
        raise ValueError("Enter a valid UUID.") from None
    chassis = sa.select(device.c.virtual_chassis_id).where(device.c.id == key, *limits).scalar_subquery()
    same_chassis = (device.c.id == key) | (device.c.virtual_chassis_id == chassis)
    return table.c.device_id.in_(sa.select(device.c.id).where(same_chassis, *limits))


def _carries_vlan(uow: UnitOfWork, table: Any, attribute: str, text: str) -> Any:
    """Condition for interfaces with a tagged or untagged VLAN whose ``attribute`` has this value; none if invalid."""
    interface, visible = uow.registry.of_model(Interface), permissions.visible_for(uow)
    try:
        conditions = [
            relations.compare(
                interface, table, [relation, attribute], lambda column: column == convert(column, text), visible
            )
            for relation in VLAN_WAYS
        ]
    except ValueError:
        return sa.false()
    return sa.or_(*conditions)


VLAN_WAYS = ("untagged_vlan", "tagged_vlans")


@interfaces.filter("vlan_id", multiple=False)
def carrying_vlan(uow: UnitOfWork, table: Any, values: list[str]) -> Any:
    """Filter by the id of a tagged or untagged VLAN."""
    return _carries_vlan(uow, table, "id", values[-1])


@interfaces.filter("vlan", multiple=False)
def carrying_vid(uow: UnitOfWork, table: Any, values: list[str]) -> Any:
    """Filter by the number (``vid``) of a tagged or untagged VLAN."""
    return _carries_vlan(uow, table, "vid", values[-1])


@interfaces.rule
def only_virtual_interfaces_have_a_parent(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """Rejects a parent of an interface that is not virtual, and a LAG of one that is."""
    for draft in drafts:
        if draft["parent_interface_id"] is not None and draft["type"] != "virtual":
            draft.reject("parent_interface", "Only virtual interfaces may be assigned to a parent interface.")
        elif draft["lag_id"] is not None and draft["type"] == "virtual":
            draft.reject("lag", "Virtual interfaces cannot have a parent LAG interface.")


@interfaces.rule
def interfaces_with_a_cable_have_a_socket(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """Rejects a type without a socket for an interface that has a cable."""
    for draft in drafts:
        if draft["cable_id"] is not None and draft["type"] in SOCKETLESS_TYPES:
            reason = "Virtual and wireless interfaces cannot be connected to another interface or circuit."
            draft.reject("type", f"{reason} Disconnect the interface or choose a suitable type.")


LAG = "lag"
NO_LAG = "The selected LAG interface ({}) is not of the type Link Aggregation Group (LAG)."
# References from one interface to another: the name in error messages, and the error for a reference to itself.
WAYS = {
    "parent_interface": ("parent interface", "An interface cannot be its own parent."),
    "bridge": ("bridge interface", "An interface cannot be bridged to itself."),
    "lag": ("LAG interface", "A LAG interface cannot be its own parent."),
}


def _stands_on_another(table: Any) -> Any:
    """Condition for interfaces with a parent, bridge or LAG."""
    return sa.or_(*[table.c[f"{name}_id"].is_not(None) for name in WAYS])


def _draft_stands_on_another(draft: Draft) -> bool:
    """The same condition, of a draft."""
    return any(draft[f"{name}_id"] is not None for name in WAYS)


@interfaces.rule(
    reads=[
        *[through(name, "device_id", "type") for name in WAYS],
        through("device", "virtual_chassis_id", where=_stands_on_another, when=_draft_stands_on_another),
        *[through(f"{name}.device", "virtual_chassis_id") for name in WAYS],
    ]
)
def interfaces_stand_on_others_of_their_device(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """Rejects a parent, bridge or LAG that is the interface itself, of another kind, or outside the virtual chassis."""
    changed = [draft for draft in drafts if draft.changed("device_id", *[f"{name}_id" for name in WAYS])]
    keys = [draft[f"{name}_id"] for draft in changed for name in WAYS]
    targets = listing.rows_of(uow, Interface, keys)
    if not targets:
        return
    host_ids = [*(draft["device_id"] for draft in changed), *(row.device_id for row in targets.values())]
    hosts = listing.rows_of(uow, Device, host_ids)
    chassis = listing.rows_of(uow, VirtualChassis, [host.virtual_chassis_id for host in hosts.values()])
    for draft in changed:
        for name, (title, self_reference) in WAYS.items():
            target = targets.get(draft[f"{name}_id"])
            if target is None or draft.errors:
                continue
            host, target_host = hosts[draft["device_id"]], hosts[target.device_id]
            belongs_to = f"The selected {title} ({component_display_name(target.name, target.label)}) belongs to"
            if target.id == draft.id:
                draft.reject(name, self_reference)
            elif name == "lag" and target.type != LAG:
                draft.reject(name, NO_LAG.format(component_display_name(target.name, target.label)))
            elif name == "parent_interface" and target.type == "virtual":
                draft.reject(name, "Virtual interfaces may not be parents of other interfaces.")
            elif host.id != target_host.id and host.virtual_chassis_id is None:
                draft.reject(name, f"{belongs_to} a different device ({target_host.name}).")
            elif host.id != target_host.id and host.virtual_chassis_id != target_host.virtual_chassis_id:
                chassis_name = chassis[host.virtual_chassis_id].name
                reason = f"{target_host.name}, which is not part of virtual chassis {chassis_name}."
                draft.reject(name, f"{belongs_to} {reason}")


interfaces.rule(without_cycles(Interface, *WAYS))


def _sites_of(uow: UnitOfWork, keys: Collection[Any]) -> dict[Any, Any]:
    """The site ids of devices, by device id."""
    return {key: host.site_id for key, host in listing.rows_of(uow, Device, keys).items()}


interfaces.rule(vlans.tagged_vlans_need_the_mode(tagged_vlans))
interfaces.rule(vlans.untagged_vlans_need_a_mode)
interfaces.rule(
    reads=[
        through("device", "site_id", where=vlans.carries_vlans, when=vlans.draft_carries_vlans),
        through("untagged_vlan", "site_id"),
        through("tagged_vlans", "site_id"),
    ]
)(vlans.vlans_are_of_the_site("device_id", "device", _sites_of, carried=tagged_vlans))
