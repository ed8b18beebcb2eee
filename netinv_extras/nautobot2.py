"""Differences of Nautobot 2.x and 3.x in the application ``extras``: roles of all models in one, no slugs, contacts."""

from __future__ import annotations

import collections
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from netinv_core.fields import Choice, Reference
from netinv_core.importing.dump import Declaration, Dump, Excluded, Fields, Folded, Key, Source, content_type
from netinv_core.importing.folds import NOT_IN_SOURCE
from netinv_core.write.slugs import slugify
from netinv_extras.nautobot import EXCLUDED, INSTALLED
from netinv_extras.netbox import ACCOUNTS, CHOICE, CONTEXT, FIELD, RECORDS, STATUS, TEMPLATES

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.registry import Registry

ROLE, CONTACT, TEAM, ASSIGNMENT = "extras.role", "extras.contact", "extras.team", "extras.contactassociation"
RELATIONSHIP, ASSOCIATION, SIDES = "extras.relationship", "extras.relationshipassociation", ("source", "destination")
OF_CONTACT = ("name", "phone", "email", "address", "comments")
NO_ROLE = "the models that it is for have no roles here"
UNUSED = "no object has it: there are no contacts of their own here"
OWN = {
    **dict.fromkeys(["users.user", "users.token", "users.objectpermission"], ACCOUNTS),
    **dict.fromkeys(["extras.computedfield", "extras.customlink", "extras.exporttemplate"], TEMPLATES),
    **dict.fromkeys(["extras.dynamicgroup", "extras.dynamicgroupmembership", "extras.graphqlquery"], TEMPLATES),
    **dict.fromkeys(["extras.webhook", "extras.savedview", "extras.usersavedviewassociation"], TEMPLATES),
    **dict.fromkeys(["extras.jobqueue", "extras.jobqueueassignment", "extras.externalintegration"], INSTALLED),
    **dict.fromkeys(["extras.staticgroupassociation"], "there are no groups of listed objects here"),
    **dict.fromkeys(["extras.metadatatype", "extras.metadatachoice", "extras.objectmetadata"], "no such metadata here"),
    **dict.fromkeys([f"extras.approvalworkflow{name}definition" for name in ("", "stage")], INSTALLED),
    **dict.fromkeys([f"extras.approvalworkflow{name}" for name in ("", "stage", "stageresponse")], RECORDS),
    **dict.fromkeys(["extras.scheduledjobs", "extras.jobconsoleentry", "extras.fileproxy"], RECORDS),
}


def statuses(dump: Dump) -> None:
    """Gives statuses the slugs that 1.x has, and objects the slugs of their statuses."""
    slugs = {key: slugify(fields["name"]) for key, fields in dump.objects[STATUS].items()}
    for key, slug in slugs.items():
        dump.set((STATUS, key), slug=slug)
    for (label, name), target in list(dump.references.items()):
        if target != STATUS or name != "status":
            continue
        del dump.references[label, name]
        for key, fields in dump.objects.get(label, {}).items():
            if fields.get(name) in slugs:
                dump.set((label, key), status=slugs[fields[name]])


def with_slug(dump: Dump, fields: Fields) -> Fields:
    """Adds the slug, of the name."""
    return {"slug": slugify(fields["name"]), **fields}


def role_field(endpoint: Endpoint) -> Reference | Choice | None:
    """Returns the field of a resource for what 2.x calls the role of its objects."""
    for name, field in endpoint.writable.items():
        if isinstance(field, Reference | Choice) and (name == "role" or name.endswith("_role")):
            return field if isinstance(field, Reference) or name == "role" else None
    return None


def roles(registry: Registry) -> Folded:
    """Returns the fold of roles: each becomes a role here of each kind that its content types have, with its id.

    Those of addresses are choices here. Other models get the name of the role in a custom field.
    """

    def fold(dump: Dump) -> Mapping[Any, Key | str]:
        results: dict[Any, Key | str] = {}
        users = _choices(dump, registry)
        for key, fields in dump.objects[ROLE].items():
            results[key] = users.get(key, NO_ROLE)
            for label in sorted({content_type(item) or str(item) for item in fields["content_types"]}, reverse=True):
                field = role_field(registry.endpoints[label]) if label in registry.endpoints else None
                if isinstance(field, Reference) and field.target is not None:
                    results[key] = field.target.label, key
                    dump.rows(field.target.label)[key] = fields
                    dump.moved.setdefault(ROLE, set()).add(field.target.label)
        return results

    return Folded(fold)


def _choices(dump: Dump, registry: Registry) -> dict[Any, Key]:
    """Writes roles that are choices here as such; returns, for other roles than references, an object with each."""
    users: dict[Any, Key] = {}
    for (label, name), target in list(dump.references.items()):
        if target != ROLE or name != "role":
            continue
        field = role_field(registry.endpoints[label]) if label in registry.endpoints else None
        for key, fields in dump.objects.get(label, {}).items() if not isinstance(field, Reference) else ():
            if role := fields.get(name):
                users.setdefault(role, (label, key))
                if isinstance(field, Choice):
                    dump.set((label, key), role=slugify(dump.name(ROLE, role)))
    return users


def assignments(dump: Dump) -> Mapping[Any, Key | str]:
    """Lists the contacts and teams of an object at it."""
    results: dict[Any, Key | str] = {}
    for key, fields in dump.objects[ASSIGNMENT].items():
        owner = content_type(fields.get("associated_object_type")) or "", fields.get("associated_object_id")
        label = CONTACT if fields.get("contact") else TEAM
        contact = dump.get(label, fields.get("contact") or fields.get("team"))
        if not dump.get(*owner) or not contact:
            results[key] = NOT_IN_SOURCE
            continue
        entry = {name: contact[name] for name in OF_CONTACT if contact.get(name)}
        entry |= {"teams": [dump.name(TEAM, team) for team in contact.get("teams") or []]}
        entry |= {"role": dump.name(ROLE, fields["role"]) if fields.get("role") else "", "status": fields.get("status")}
        entry |= {"values": contact.get("custom_field_data")}
        listed = {name: value for name, value in entry.items() if value}
        dump.set(owner, contacts=[*dump.get(*owner).get("contacts", []), listed])
        results[key] = owner
    return results


def fold_assignments(label: str, field: str) -> Folded:
    """Returns the fold of contacts or teams: an object that each is assigned to."""

    def fold(dump: Dump) -> Mapping[Any, Key | str]:
        results: dict[Any, Key | str] = dict.fromkeys(dump.objects[label], UNUSED)
        for fields in dump.objects.get(ASSIGNMENT, {}).values():
            owner = content_type(fields.get("associated_object_type")) or "", fields.get("associated_object_id")
            teams = dump.get(CONTACT, fields.get("contact")).get("teams") or ()
            for key in [fields.get(field), *(teams if field == "team" else ())]:
                if key in results and dump.get(*owner):
                    results[key] = owner
        return results

    return Folded(fold)


def relationship_ends(dump: Dump) -> None:
    """Notes the models of the associated objects at each relationship: objects of a model may become of several."""
    ends: dict[tuple[Any, str], collections.Counter[str]] = {}
    for fields in dump.objects.get(ASSOCIATION, {}).values():
        for side in SIDES:
            label = content_type(fields.get(f"{side}_type"))
            ends.setdefault((fields.get("relationship"), side), collections.Counter())[label or ""] += 1
    for key, fields in dump.objects[RELATIONSHIP].items():
        for side in SIDES:
            used = ends.get((key, side), collections.Counter()).most_common(1)
            if used and used[0][0] != content_type(fields.get(f"{side}_type")):
                dump.set((RELATIONSHIP, key), **{f"{side}_type": used[0][0].split(".")})


def models(registry: Registry) -> dict[str, Declaration]:
    """Returns what differs from the mapping of 1.x."""
    return {
        **{label: Excluded(reason) for label, reason in {**EXCLUDED, **OWN}.items()},
        "users.user": Excluded(ACCOUNTS, fields=("username",)),
        STATUS: Source(STATUS, prepare=statuses, by=("slug",), adds=("content_types",)),
        ROLE: roles(registry),
        "extras.tag": Source("extras.tag", adapt=with_slug, first=True),
        FIELD: Source(FIELD, rename={"key": "slug"}),
        CHOICE: Source(CHOICE, rename={"custom_field": "field"}),
        CONTEXT: Source(CONTEXT, rename={"config_context_schema": "schema"}),
        RELATIONSHIP: Source(RELATIONSHIP, prepare=relationship_ends, rename={"key": "slug", "label": "name"}),
        ASSIGNMENT: Folded(assignments),
        CONTACT: fold_assignments(CONTACT, "contact"),
        TEAM: fold_assignments(TEAM, "team"),
    }
