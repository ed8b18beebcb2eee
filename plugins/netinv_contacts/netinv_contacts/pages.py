"""Panel with the contacts of an object, and the link that assigns one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlencode

import sqlalchemy as sa
from pyramid.request import Request

from netinv_contacts.assignments import LABEL, PRIORITIES, ContactAssignment, assignable
from netinv_contacts.contacts import Contact, ContactRole
from netinv_core import Endpoint, hookimpl, permissions
from netinv_web.extensions import Action, Panel
from netinv_web.markup import link
from netinv_web.paths import object_path, page_path

RANK = {value: number for number, value in enumerate(PRIORITIES.labels)}


def contacts_of(request: Request, endpoint: Endpoint, item: Mapping[str, Any]) -> dict[str, Any] | None:
    """The contacts of an object, those of the first priority first; one statement."""
    uow = request.uow
    assignments, people, roles = (uow.registry.of_model(model) for model in (ContactAssignment, Contact, ContactRole))
    assignment, contact, role = (endpoint.table for endpoint in (assignments, people, roles))
    statement = (
        sa.select(assignment.c.id, assignment.c.priority, role.c.name.label("role"), contact)
        .join(contact, contact.c.id == assignment.c.contact_id)
        .outerjoin(role, sa.and_(role.c.id == assignment.c.role_id, *permissions.visible(uow, roles, role)))
        .where(assignment.c.object_id == item["id"], assignment.c.object_type == endpoint.label)
        .where(*permissions.visible(uow, assignments, assignment), *permissions.visible(uow, people, contact))
    )
    rows = sorted(
        uow.execute(statement).mappings(), key=lambda row: (RANK.get(row["priority"], len(RANK)), row["name"])
    )
    contacts = [
        {
            "name": link(object_path(assignments, row["id"]), row["name"]),
            "role": row["role"],
            "priority": PRIORITIES.labels.get(row["priority"], ""),
            "phone": row["phone"],
            "email": row["email"],
        }
        for row in rows
    ]
    return {"contacts": contacts} if contacts else None


def _form(endpoint: Endpoint, item: Mapping[str, Any]) -> str:
    path = page_path(endpoint.registry[LABEL])
    return f"{path}add/?{urlencode({'object_type': endpoint.label, 'object_id': item['id']})}"


panel = Panel("contacts", "Contacts", contacts_of, template="netinv_contacts:templates/contacts.jinja2", position=600)
assigning = Action("assign-contact", "Assign contact", _form, further_permission=(LABEL, "add"), icon="identification")


@hookimpl
def netinv_web_panels(endpoint: Endpoint) -> Sequence[Panel]:
    """The contacts of an object."""
    return [panel] if assignable(endpoint) else []


@hookimpl
def netinv_web_actions(endpoint: Endpoint) -> Sequence[Action]:
    """A link that assigns a contact to an object."""
    return [assigning] if assignable(endpoint) else []
