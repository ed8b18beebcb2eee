"""Members of first-hop redundancy groups: interfaces of devices and virtual machines, with a priority."""

from __future__ import annotations

import uuid

import sqlalchemy as sa
from sqlalchemy.orm import Mapped

from netinv_core import (
    CASCADE,
    Endpoint,
    GenericCascade,
    Organizational,
    Presentation,
    Ref,
    Resource,
    column,
    foreign_key,
    generic_fk,
    integer,
    unique_set,
)
from netinv_extras.content_types import generic_reference, type_label
from netinv_fhrp.groups import FHRPGroup, group_display

LABEL = "fhrp.fhrpgroupassignment"
INTERFACES = ("dcim.interface", "virtualization.vminterface")


class FHRPGroupAssignment(Organizational):
    """An interface in a group. The higher the priority, the sooner it answers for the addresses."""

    __tablename__ = "fhrp_group_assignment"
    __table_args__ = (
        unique_set("interface_id", "interface_type", "group_id"),
        sa.Index("ix_fhrp_group_assignment_interface", "interface_id", "interface_type"),
    )

    group_id: Mapped[Ref] = foreign_key(FHRPGroup, on_delete=CASCADE, related_name="assignments")
    interface_type: Mapped[str] = column(length=100)
    interface_id: Mapped[uuid.UUID] = column()
    priority: Mapped[int] = integer(0, 255)


def is_interface(endpoint: Endpoint) -> bool:
    """True for the resources whose objects may be members."""
    return endpoint.label in INTERFACES


def member_display(name: str, protocol: str, group_id: int, priority: int) -> str:
    """The display name: the group and the priority."""
    return f"{group_display(name, protocol, group_id)}, priority {priority}"


fhrp_group_assignments = Resource(
    FHRPGroupAssignment,
    "fhrp-group-assignments",
    title="FHRP group assignment",
    plural="FHRP group assignments",
    display=(member_display, "group.name", "group.protocol", "group.group_id", "priority"),
    brief=["group", "priority"],
    order=["group.protocol", "group.group_id", "-priority"],
    search=["group.name"],
    fields=[type_label("interface_type", is_interface), generic_fk("interface", "interface_type", "interface_id")],
    about=[("interface_type", "interface_id")],
    presentation=Presentation(
        icon="arrow-path",
        columns=["group", "interface", "priority"],
        fieldsets=[("FHRP group assignment", ["group", "interface_type", "interface_id", "interface", "priority"])],
    ),
)
fhrp_group_assignments.rule(generic_reference("interface_type", "interface_id"))

generic_cascade = GenericCascade(
    FHRPGroupAssignment.__table__, "interface_type", "interface_id", label=LABEL, applies=is_interface
)
