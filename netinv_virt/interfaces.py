"""Interfaces of virtual machines: like interfaces of devices, but without cables."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
from sqlalchemy.orm import Mapped

from netinv_core.models.associations import many_to_many, unique_set
from netinv_core.models.base import Primary
from netinv_core.models.columns import (
    CASCADE,
    SELF,
    SET_NULL,
    Description,
    Ref,
    boolean,
    choice,
    column,
    foreign_key,
    integer,
    natural_sort_key,
    required_text,
)
from netinv_core.models.types import Chars
from netinv_core.presentation import Presentation
from netinv_core.read import listing
from netinv_core.read.filters import has, one_of, related, value
from netinv_core.resource import Resource, to_many
from netinv_core.write.cycles import without_cycles
from netinv_core.write.referring_rules import through
from netinv_dcim.choices import INTERFACE_MODES
from netinv_dcim.components import vlans
from netinv_dcim.components.vlans import mac_address, mac_address_parts, status_since_1_4
from netinv_extras.statuses import status
from netinv_ipam.addresses import address_filter
from netinv_ipam.vlans import VLAN
from netinv_virt.clusters import Cluster
from netinv_virt.virtual_machines import VirtualMachine

if TYPE_CHECKING:
    from netinv_core.uow import UnitOfWork
    from netinv_core.write.draft import Draft


class VMInterface(Primary):
    """A network interface of a virtual machine."""

    __tablename__ = "virtualization_vm_interface"
    __table_args__ = (unique_set("virtual_machine_id", "name"),)

    virtual_machine_id: Mapped[Ref] = foreign_key(VirtualMachine, on_delete=CASCADE, related_name="interfaces")
    name: Mapped[str] = required_text(64)
    name_key: Mapped[str] = natural_sort_key("name")
    enabled: Mapped[bool] = boolean(True)
    status_id: Mapped[Ref] = status(initial=["Active", "Decommissioning", "Failed", "Maintenance", "Planned"])
    parent_interface_id: Mapped[Ref | None] = foreign_key(
        SELF, on_delete=CASCADE, related_name="child_interfaces", help="Assigned parent interface"
    )
    bridge_id: Mapped[Ref | None] = foreign_key(
        SELF, on_delete=SET_NULL, related_name="bridged_interfaces", help="Assigned bridge interface"
    )
    mtu: Mapped[int | None] = integer(1, 65536, label="MTU")
    mac_address: Mapped[str | None] = column(
        Chars(vlans.MAC_LENGTH, mac_address, mac_address_parts),
        default=None,
        index=True,
        parse=mac_address,
        label="MAC Address",
    )
    description: Mapped[Description]
    mode: Mapped[str] = choice(INTERFACE_MODES)
    untagged_vlan_id: Mapped[Ref | None] = foreign_key(
        VLAN, on_delete=SET_NULL, related_name="vminterfaces_as_untagged"
    )


tagged_vlans = many_to_many("virtualization_vm_interface_tagged_vlan", "virtualization_vm_interface", "ipam_vlan")

interfaces = Resource(
    VMInterface,
    "interfaces",
    title="VM interface",
    type_order="~1 ",
    brief=["virtual_machine", "name"],
    order=["virtual_machine.name", "virtual_machine_id", "name_key"],
    search=["name"],
    omit=["created", "last_updated"],
    fields=[
        to_many(
            "tagged_vlans", tagged_vlans, "ipam.vlan", default=[], related_name="vminterfaces_as_tagged", plain=True
        )
    ],
    filters=[
        one_of("mode", INTERFACE_MODES, multiple=False),
        value("mac_address"),
        related("cluster_id", "virtual_machine.cluster", by=()),
        related("cluster", "virtual_machine.cluster"),
        address_filter("ip_addresses"),
        has("has_ip_addresses", "ip_addresses"),
    ],
    versions=[status_since_1_4],
    presentation=Presentation(
        columns=[
            "virtual_machine",
            "status",
            "enabled",
            "addresses",
            "untagged_vlan",
            "tagged_vlans",
            "mac_address",
            "mtu",
            "description",
        ],
        nested_below=["parent_interface", "bridge"],
        facets=["status", "enabled"],
        depends_on={
            "parent_interface": {"virtual_machine": "virtual_machine_id"},
            "bridge": {"virtual_machine": "virtual_machine_id"},
        },
    ),
)


def _sites_of(uow: UnitOfWork, keys: Collection[Any]) -> dict[Any, Any]:
    """Returns the site of each virtual machine by the id of the machine. It is the site of the cluster."""
    machine, cluster = VirtualMachine.__table__, Cluster.__table__
    statement = sa.select(machine.c.id, cluster.c.site_id).join(cluster, cluster.c.id == machine.c.cluster_id)
    return dict(uow.execute(statement.where(machine.c.id.in_(keys))).tuples().all())


# References from one interface to another: the name in error messages, and the error for a reference to itself.
WAYS = {
    "parent_interface": ("parent interface", "An interface cannot be its own parent."),
    "bridge": ("bridge interface", "An interface cannot be bridged to itself."),
}


@interfaces.rule(reads=[through(name, "virtual_machine_id") for name in WAYS])
def interfaces_stand_on_others_of_their_machine(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """Rejects a parent or bridge that is the interface itself, or one of another virtual machine.

    Imports keep interfaces of other virtual machines.
    """
    changed = [draft for draft in drafts if draft.changed("virtual_machine_id", *[f"{name}_id" for name in WAYS])]
    keys = [draft[f"{name}_id"] for draft in changed for name in WAYS]
    targets = listing.rows_of(uow, VMInterface, keys)
    apart = []
    for draft in changed:
        for name, (title, self_reference) in WAYS.items():
            target = targets.get(draft[f"{name}_id"])
            if target is None:
                continue
            if target.id == draft.id:
                draft.reject(name, self_reference)
            elif target.virtual_machine_id != draft["virtual_machine_id"] and not uow.importing:
                apart.append((draft, name, title, target))
    machines = listing.rows_of(uow, VirtualMachine, [target.virtual_machine_id for *_, target in apart])
    for draft, name, title, target in apart:
        machine = machines[target.virtual_machine_id].name
        message = f"The selected {title} ({target.name}) belongs to a different virtual machine ({machine})."
        draft.reject(name, message)


interfaces.rule(without_cycles(VMInterface, *WAYS))
interfaces.rule(vlans.tagged_vlans_need_the_mode(tagged_vlans))
interfaces.rule(vlans.untagged_vlans_need_a_mode)
interfaces.rule(
    reads=[
        through("virtual_machine", "cluster_id", where=vlans.carries_vlans, when=vlans.draft_carries_vlans),
        through("virtual_machine.cluster", "site_id", where=vlans.carries_vlans, when=vlans.draft_carries_vlans),
        through("untagged_vlan", "site_id"),
        through("tagged_vlans", "site_id"),
    ]
)(vlans.vlans_are_of_the_site("virtual_machine_id", "virtual machine", _sites_of, carried=tagged_vlans))
