"""Contacts, their groups, and the roles in which they are assigned to objects."""

from __future__ import annotations

from sqlalchemy.orm import Mapped, mapped_column

from netinv_core import (
    CASCADE,
    SELF,
    Comments,
    Description,
    Name,
    Organizational,
    Presentation,
    Primary,
    Ref,
    Resource,
    Slug,
    Tree,
    email,
    foreign_key,
    many_to_many,
    text,
    to_many,
    url,
)


class ContactGroup(Tree, Organizational):
    """A set of contacts, such as a department; groups nest."""

    __tablename__ = "contacts_contact_group"

    name: Mapped[Name] = mapped_column(unique=True)
    slug: Mapped[Slug]
    parent_id: Mapped[Ref | None] = foreign_key(SELF, on_delete=CASCADE, related_name="children")
    description: Mapped[Description]


class ContactRole(Organizational):
    """Purpose of the assignment of a contact to objects, such as technical questions."""

    __tablename__ = "contacts_contact_role"

    name: Mapped[Name] = mapped_column(unique=True)
    slug: Mapped[Slug]
    description: Mapped[Description]


class Contact(Primary):
    """A person or a team, and how to reach them."""

    __tablename__ = "contacts_contact"

    name: Mapped[Name]
    title: Mapped[str] = text(100)
    phone: Mapped[str] = text(50)
    email: Mapped[str] = email(label="E-mail")
    address: Mapped[str] = text(200)
    link: Mapped[str] = url()
    description: Mapped[Description]
    comments: Mapped[Comments]


groups_of_contacts = many_to_many("contacts_contact_groups", Contact.__tablename__, ContactGroup.__tablename__)

contact_groups = Resource(
    ContactGroup,
    "contact-groups",
    brief=["name", "slug"],
    order=["tree_key"],
    search=["name", "slug", "description"],
)

contact_roles = Resource(ContactRole, "contact-roles", brief=["name", "slug"], search=["name", "slug", "description"])

contacts = Resource(
    Contact,
    "contacts",
    search=["name", "title", "phone", "email", "address", "description", "comments"],
    fields=[to_many("groups", groups_of_contacts, "contacts.contactgroup", related_name="contacts")],
    presentation=Presentation(
        icon="identification",
        columns=["groups", "title", "phone", "email", "description"],
        facets=["groups"],
        fieldsets=[
            ("Contact", ["name", "title", "groups", "description"]),
            ("Reach", ["phone", "email", "address", "link"]),
        ],
    ),
)
