"""Interfaces of virtual machines: what they share with those of devices, and nothing of cables."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Mapped

from netinv_core.columns import Chars
from netinv_core.context import Context
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
    to,
    unique_set,
    whole,
)
from netinv_core.read.filters import has, key, one_of, value
from netinv_core.resource import Resource, many
from netinv_core.write.draft import Draft
from netinv_dcim import switching
from netinv_dcim.choices import INTERFACE_MODES
from netinv_dcim.switching import mac_address, status_since_1_4
from netinv_extras.statuses import status
from netinv_ipam.addresses import addressed
from netinv_ipam.vlans import VLAN
from netinv_virt.clusters import Cluster
from netinv_virt.virtual_machines import VirtualMachine


class VMInterface(Primary):
    """A network interface of a virtual machine."""

    __tablename__ = "virtualization_vm_interface"
    __table_args__ = (unique_set("virtual_machine_id", "name"),)

    virtual_machine_id: Mapped[Ref] = to(VirtualMachine, on_delete=CASCADE, back="interfaces")
    name: Mapped[str] = required_text(64)
    name_key: Mapped[str] = natural("name")
    enabled: Mapped[bool] = switch(True)
    status_id: Mapped[Ref] = status()
    parent_interface_id: Mapped[Ref | None] = to(SELF, on_delete=CASCADE, back="child_interfaces", help="Assigned parent interface")
    bridge_id: Mapped[Ref | None] = to(SELF, on_delete=SET_NULL, back="bridged_interfaces", help="Assigned bridge interface")
    mtu: Mapped[int | None] = whole(1, 65536, label="MTU")
    mac_address: Mapped[str | None] = column(Chars(switching.MAC_LENGTH), default=None, parse=mac_address, label="MAC Address")
    description: Mapped[Description]
    mode: Mapped[str] = choice(INTERFACE_MODES)
    untagged_vlan_id: Mapped[Ref | None] = to(VLAN, on_delete=SET_NULL, back="vminterfaces_as_untagged")


tagged_vlans = many_to_many("virtualization_vm_interface_tagged_vlan", "virtualization_vm_interface", "ipam_vlan")

interfaces = Resource(
    VMInterface,
    "interfaces",
    title="VM interface",
    brief=["virtual_machine", "name"],
    order=["virtual_machine.name", "virtual_machine_id", "name_key"],
    search=["name"],
    omit=["created", "last_updated"],
    fields=[many("tagged_vlans", tagged_vlans, "ipam.vlan", default=[], back="vminterfaces_as_tagged", plain=True)],
    filters=[
        one_of("mode", INTERFACE_MODES, multiple=False),
        value("mac_address", parse=mac_address),
        key("cluster_id", "virtual_machine.cluster", by=()),
        key("cluster", "virtual_machine.cluster"),
        addressed("ip_addresses"),
        has("has_ip_addresses", "ip_addresses"),
    ],
    versions=[status_since_1_4],
)


def _sites_of(context: Context, keys: Collection[Any]) -> dict[Any, Any]:
    """The sites of virtual machines, by machine: those of their clusters."""
    machine, cluster = VirtualMachine.__table__, Cluster.__table__
    statement = sa.select(machine.c.id, cluster.c.site_id).join(cluster, cluster.c.id == machine.c.cluster_id)
    return dict(context.execute(statement.where(machine.c.id.in_(keys))).tuples().all())


OWN = {"parent_interface": "An interface cannot be its own parent.", "bridge": "An interface cannot be bridged to itself."}


@interfaces.rule
def interfaces_stand_on_others(context: Context, drafts: Sequence[Draft]) -> None:
    """Parent and bridge are other interfaces; unlike those of a device, they may belong to another machine."""
    for draft in drafts:
        for way, message in OWN.items():
            if draft[f"{way}_id"] is not None and draft[f"{way}_id"] == draft.id:
                draft.reject(way, message)


interfaces.rule(switching.tagged_vlans_need_the_mode(tagged_vlans))
interfaces.rule(switching.untagged_vlans_need_a_mode)
interfaces.rule(switching.vlans_are_of_the_site("virtual_machine_id", "virtual machine", _sites_of, untagged_too=False))
