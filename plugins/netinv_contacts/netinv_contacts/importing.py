"""Import of NetBox dumps: contacts, their groups and roles, and assignments."""

from __future__ import annotations

from typing import Any

from netinv_core import Source

ASSIGNMENT, CONTACT, ROLE, GROUP = (f"tenancy.contact{part}" for part in ("assignment", "", "role", "group"))


def contact(dump: Any, fields: Any) -> Any:
    """Converts a contact: it has several groups since NetBox 4.3, one before."""
    if fields.get("group"):
        return {**{name: value for name, value in fields.items() if name != "group"}, "groups": [fields["group"]]}
    return fields


def group_names(dump: Any) -> None:
    """Makes names of groups unique, as they are here: the others get the name of their parent."""
    uses = dump.uses(GROUP, "name")
    for key, fields in list(dump.objects[GROUP].items()):
        if uses[fields["name"]] > 1 and fields.get("parent"):
            parent = dump.get(GROUP, fields["parent"]).get("name", "")
            dump.set((GROUP, key), name=f"{fields['name']} ({parent})"[:100])


def assignment(dump: Any, fields: Any) -> Any:
    """Converts an assignment: ``content_type`` is called ``object_type`` since NetBox 4.0."""
    if "content_type" not in fields:
        return fields
    renamed = {name: value for name, value in fields.items() if name != "content_type"}
    return {**renamed, "object_type": fields["content_type"]}


def without_role(dump: Any, fields: Any) -> str:
    """Why an assignment has no place here."""
    return "" if fields.get("role") else "it has no role"


models = {
    GROUP: Source("contacts.contactgroup", prepare=group_names, by=("slug",)),
    ROLE: Source("contacts.contactrole", by=("slug",)),
    CONTACT: Source("contacts.contact", adapt=contact),
    ASSIGNMENT: Source("contacts.contactassignment", adapt=assignment, skip=without_role, last=True),
}
