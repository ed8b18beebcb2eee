"""Import of NetBox dumps: the models of tenants and tenant groups; contacts are listed at what they are assigned to."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from netinv_core.importing.dump import Declaration, Dump, Folded, Key, Source, content_type

ASSIGNMENT, CONTACT, ROLE, GROUP = (f"tenancy.contact{part}" for part in ("assignment", "", "role", "group"))
OF_CONTACT = ("name", "title", "phone", "email", "address", "link", "description", "comments")
UNUSED = "no object has such a contact: install netinv-contacts to import it"


def _owner(dump: Dump, key: Any) -> Key:
    """Returns the object that a contact is assigned to; ``content_type`` is called ``object_type`` since NetBox 4.0."""
    fields = dump.get(ASSIGNMENT, key)
    return content_type(fields.get("object_type", fields.get("content_type"))) or "", fields.get("object_id")


def assignments(dump: Dump) -> Mapping[Any, Key | str]:
    """Lists the contacts of an object at it, the primary ones first."""
    rank = ["primary", "secondary", "tertiary"]
    results: dict[Any, Key | str] = {}
    rows = dump.objects[ASSIGNMENT].items()
    for key, fields in sorted(rows, key=lambda row: rank.index(p) if (p := row[1].get("priority")) in rank else 9):
        owner, contact = _owner(dump, key), dump.get(CONTACT, fields.get("contact"))
        if not dump.get(*owner) or not contact:
            results[key] = "what it belongs to is not in the source"
            continue
        entry = {name: contact[name] for name in OF_CONTACT if contact.get(name)}
        groups = contact.get("groups", [contact["group"]] if contact.get("group") else [])
        entry["groups"] = [dump.name(GROUP, group) for group in groups]
        entry["role"] = dump.name(ROLE, fields["role"]) if fields.get("role") else ""
        entry["priority"] = fields.get("priority") or ""
        entry["values"] = contact.get("custom_field_data") or {}
        entry = {name: value for name, value in entry.items() if value}
        dump.set(owner, contacts=[*dump.get(*owner).get("contacts", []), entry])
        results[key] = owner
    return results


def users_of(label: str, field: str) -> Folded:
    """Returns the fold of a model that assignments refer to, themselves or by their contact."""

    def fold(dump: Dump) -> Mapping[Any, Key | str]:
        results: dict[Any, Key | str] = dict.fromkeys(dump.objects[label], UNUSED)
        for key, fields in dump.objects.get(ASSIGNMENT, {}).items():
            contact = dump.get(CONTACT, fields.get("contact"))
            named = fields.get(field) if field != "groups" else None
            for item in [named, *(contact.get("groups", [contact.get("group")]) if field == "groups" else [])]:
                while item in results and results[item] == UNUSED and dump.get(*_owner(dump, key)):
                    results[item] = _owner(dump, key)
                    item = dump.get(label, item).get("parent")
        return results

    return Folded(fold)


models: dict[str, Declaration] = {
    "tenancy.tenantgroup": Source("tenancy.tenantgroup"),
    "tenancy.tenant": Source("tenancy.tenant"),
    ASSIGNMENT: Folded(assignments),
    CONTACT: users_of(CONTACT, "contact"),
    ROLE: users_of(ROLE, "role"),
    GROUP: users_of(GROUP, "groups"),
}
