"""Contacts: people and teams, and the objects that they are responsible for."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from netinv_contacts import importing
from netinv_contacts.assignments import contact_assignments, generic_cascade
from netinv_contacts.contacts import contact_groups, contact_roles, contacts
from netinv_core import App, GenericCascade, MenuSection, Registry, Source, hookimpl

app = App(
    "contacts",
    "Contacts",
    [contact_groups, contact_roles, contacts, contact_assignments],
    migrations="netinv_contacts:migrations",
    web=["netinv_contacts.pages"],
    plugin=True,
    menu=[
        MenuSection(
            "Contacts",
            ["contacts", "contact-groups", "contact-roles", "contact-assignments"],
            icon="identification",
            position=240,
        )
    ],
    description="Contacts of any object, by role and priority",
    author="The netinv authors",
    distribution="netinv-contacts",
)


@hookimpl
def netinv_app() -> App:
    """The application, served under /api/plugins/contacts/."""
    return app


@hookimpl
def netinv_generic_cascades(registry: Registry) -> Iterable[GenericCascade]:
    """Assignments are deleted with their object."""
    return [generic_cascade]


@hookimpl
def netinv_importers(registry: Registry, product: str) -> Mapping[str, Source]:
    """The contacts of NetBox dumps."""
    return importing.models if product == "netbox" else {}
