"""Circuit groups, and the circuits and virtual circuits that are assigned to them."""

from __future__ import annotations

import uuid

from sqlalchemy.orm import Mapped, mapped_column

from netinv_core import (
    CASCADE,
    PROTECT,
    Choices,
    Comments,
    Description,
    Endpoint,
    GenericCascade,
    Name,
    Presentation,
    Primary,
    Ref,
    Resource,
    Slug,
    choice,
    column,
    foreign_key,
    generic_fk,
    unique_set,
)
from netinv_extras.content_types import generic_reference, type_label
from netinv_tenancy.tenants import Tenant, tenant_filters

LABEL = "circuit_groups.circuitgroupassignment"
MEMBERS = ("circuits.circuit", "virtual_circuits.virtualcircuit")
PRIORITIES = Choices.of(primary="Primary", secondary="Secondary", tertiary="Tertiary", inactive="Inactive")


class CircuitGroup(Primary):
    """Circuits that are used together, such as those that back each other up."""

    __tablename__ = "circuit_groups_group"

    name: Mapped[Name] = mapped_column(unique=True)
    slug: Mapped[Slug]
    tenant_id: Mapped[Ref | None] = foreign_key(Tenant, on_delete=PROTECT, related_name="circuit_groups")
    description: Mapped[Description]
    comments: Mapped[Comments]


class CircuitGroupAssignment(Primary):
    """A circuit or virtual circuit of a group, with the priority that it has there."""

    __tablename__ = "circuit_groups_assignment"
    __table_args__ = (unique_set("member_id", "member_type", "group_id"),)

    group_id: Mapped[Ref] = foreign_key(CircuitGroup, on_delete=CASCADE, related_name="assignments")
    member_type: Mapped[str] = column(length=100)
    member_id: Mapped[uuid.UUID] = column()
    priority: Mapped[str] = choice(PRIORITIES)


def is_member(endpoint: Endpoint) -> bool:
    """True for the resources whose objects may be of a group."""
    return endpoint.label in MEMBERS


def assignment_display(group: str, priority: str) -> str:
    """The display name: ``Paris uplinks (Primary)``, or ``Paris uplinks`` without a priority."""
    return f"{group} ({PRIORITIES.labels[priority]})" if priority in PRIORITIES.labels else group


circuit_groups = Resource(
    CircuitGroup,
    "circuit-groups",
    brief=["name", "slug"],
    search=["name", "slug", "description", "comments"],
    filters=[*tenant_filters()],
    presentation=Presentation(
        icon="arrows-right-left",
        columns=["tenant", "description"],
        facets=["tenant"],
        fieldsets=[("Circuit group", ["name", "slug", "description"]), ("Belonging", ["tenant"])],
    ),
)

circuit_group_assignments = Resource(
    CircuitGroupAssignment,
    "circuit-group-assignments",
    display=(assignment_display, "group.name", "priority"),
    brief=["group", "member_type", "member_id", "priority"],
    order=["group.name", "priority"],
    search=["group.name"],
    fields=[type_label("member_type", is_member), generic_fk("member", "member_type", "member_id")],
    about=[("member_type", "member_id")],
    presentation=Presentation(
        icon="arrows-right-left",
        columns=["group", "member", "priority"],
        facets=["group", "priority"],
        fieldsets=[("Circuit group assignment", ["group", "member_type", "member_id", "member", "priority"])],
    ),
)
circuit_group_assignments.rule(generic_reference("member_type", "member_id"))

generic_cascade = GenericCascade(
    CircuitGroupAssignment.__table__, "member_type", "member_id", label=LABEL, applies=is_member
)
