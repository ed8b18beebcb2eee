"""Assignments of contacts to objects of any model, in a role, with a priority."""

from __future__ import annotations

import uuid

import sqlalchemy as sa
from sqlalchemy.orm import Mapped

from netinv_contacts.contacts import Contact, ContactRole
from netinv_core import (
    CASCADE,
    PROTECT,
    Choices,
    Endpoint,
    GenericCascade,
    Organizational,
    Presentation,
    Primary,
    Ref,
    Resource,
    choice,
    column,
    foreign_key,
    generic_fk,
    unique_set,
)
from netinv_extras.content_types import generic_reference, type_label

LABEL = "contacts.contactassignment"
PRIORITIES = Choices.of(primary="Primary", secondary="Secondary", tertiary="Tertiary", inactive="Inactive")


class ContactAssignment(Primary):
    """A contact of one object, in a role."""

    __tablename__ = "contacts_contact_assignment"
    __table_args__ = (
        unique_set("object_id", "object_type", "contact_id", "role_id"),
        sa.Index("ix_contacts_contact_assignment_object", "object_id", "object_type"),
    )

    object_type: Mapped[str] = column(length=100)
    object_id: Mapped[uuid.UUID] = column()
    contact_id: Mapped[Ref] = foreign_key(Contact, on_delete=CASCADE, related_name="assignments")
    role_id: Mapped[Ref] = foreign_key(ContactRole, on_delete=PROTECT, related_name="assignments")
    priority: Mapped[str] = choice(PRIORITIES)


def assignable(endpoint: Endpoint) -> bool:
    """True for resources whose objects may have contacts: those with pages, except for the package's own."""
    return issubclass(endpoint.model, Organizational) and not endpoint.label.startswith("contacts.")


def assignment_display(contact: str, role: str) -> str:
    """The display name: ``Jane Doe (Technical)``."""
    return f"{contact} ({role})"


contact_assignments = Resource(
    ContactAssignment,
    "contact-assignments",
    display=(assignment_display, "contact.name", "role.name"),
    brief=["contact", "role", "priority"],
    order=["contact.name", "role.name"],
    search=["contact.name", "role.name"],
    fields=[type_label("object_type", assignable), generic_fk("object", "object_type", "object_id")],
    about=[("object_type", "object_id")],
    presentation=Presentation(
        icon="identification",
        columns=["object", "contact", "role", "priority"],
        facets=["role", "priority"],
        fieldsets=[("Contact assignment", ["object_type", "object_id", "object", "contact", "role", "priority"])],
    ),
)
contact_assignments.rule(generic_reference("object_type", "object_id"))

generic_cascade = GenericCascade(
    ContactAssignment.__table__, "object_type", "object_id", label=LABEL, applies=assignable
)
