"""Mapping of NetBox's application ``extras``: tags, custom fields and their choices, notes, config contexts."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from netinv_core.importing.dump import Declaration, Dump, Excluded, Fields, NamedModel, Part, Source, content_type
from netinv_core.models.base import Primary
from netinv_extras.custom_fields.models import has_custom_fields

if TYPE_CHECKING:
    from netinv_core.registry import Registry

FIELD, CHOICE, CHOICE_SET = "extras.customfield", "extras.customfieldchoice", "extras.customfieldchoiceset"
STATUS, CONTEXT = "extras.status", "extras.configcontext"
AS_TEXT, AS_JSON = frozenset({"decimal", "datetime", "object"}), frozenset({"multiobject"})
_TYPES = {
    "multiselect": "multi-select",
    "longtext": "markdown",
    **dict.fromkeys(AS_TEXT, "text"),
    **dict.fromkeys(AS_JSON, "json"),
}
ACCOUNTS = "accounts, their permissions, tokens and sessions are not imported: see `netinv user`"
RECORDS = "records of what happened in the other service stay there"
TEMPLATES = "it is written for the objects of the other service: write it anew"
OWN = "a matter of the other service itself"
NO_FILE = "the source names the file and does not have it"
EXCLUDED = {
    **dict.fromkeys(["auth.group", "auth.permission", "users.group", "users.token"], ACCOUNTS),
    **dict.fromkeys(["users.userconfig", "users.objectpermission", "users.adminuser", "users.admingroup"], ACCOUNTS),
    **dict.fromkeys(
        ["sessions.session", "users.netboxuser", "users.netboxgroup", "users.ownergroup", "users.owner"], ACCOUNTS
    ),
    **dict.fromkeys(
        ["admin.logentry", "extras.objectchange", "core.objectchange", "core.job", "extras.jobresult"], RECORDS
    ),
    **dict.fromkeys(["extras.customlink", "extras.exporttemplate", "extras.webhook", "extras.eventrule"], TEMPLATES),
    **dict.fromkeys(["extras.savedfilter", "extras.report", "extras.script", "extras.tableconfig"], TEMPLATES),
    **dict.fromkeys(["contenttypes.contenttype", "core.objecttype", "core.datasource", "core.datafile"], OWN),
    **dict.fromkeys(["core.autosyncrecord", "core.managedfile", "core.configrevision", "extras.configrevision"], OWN),
    **dict.fromkeys(["extras.cachedvalue", "extras.dashboard", "extras.bookmark", "extras.branch"], OWN),
    **dict.fromkeys(["extras.stagedchange", "extras.notification", "extras.notificationgroup"], OWN),
    **dict.fromkeys(["extras.subscription", "taggit.tag", "taggit.taggeditem", "extras.configcontextprofile"], OWN),
    "extras.imageattachment": NO_FILE,
}


def models(registry: Registry) -> dict[str, Declaration]:
    """Returns the mapping of the models of NetBox's application ``extras``, and of those without a place here."""
    taggable = sorted(endpoint.label for endpoint in registry.endpoints.values() if issubclass(endpoint.model, Primary))

    def custom_field(dump: Dump, fields: Fields) -> Fields:
        """Maps a field: NetBox's name is the key of the values. Content types without custom fields are left out."""
        types = fields.get("object_types", fields.get("content_types", []))
        labels = [label for item in types if (label := content_type(item))]
        labels = [label for label in labels if label in registry.endpoints]
        return {
            **{name: value for name, value in fields.items() if name not in TYPE_FIELDS},
            "type": _TYPES.get(fields["type"], fields["type"]),
            "slug": fields["name"],
            "label": fields.get("label") or fields["name"],
            "content_types": [label for label in labels if has_custom_fields(registry, label)],
        }

    return {
        **{label: Excluded(reason) for label, reason in EXCLUDED.items()},
        "extras.tag": Source("extras.tag", fixed_values={"content_types": taggable}, drop=("object_types",)),
        "extras.taggeditem": Part("tags", owner=("content_type", "object_id"), value="tag", of="extras.tag"),
        FIELD: Source(
            FIELD,
            adapt=custom_field,
            drop=("choices", "choice_set", "object_type", "related_object_type", "original_type"),
            deferred=("default",),
            prepare=remember_types,
            needs=_choices,
            first=True,
        ),
        CHOICE: Source(CHOICE, by=("field_id", "value"), first=True),
        **{label: Excluded(ACCOUNTS, fields=("username",)) for label in ("auth.user", "users.user")},
        CHOICE_SET: Excluded("the choices are those of the custom fields here", fields=("extra_choices",)),
        STATUS: Source(STATUS, by=("slug",), first=True),
        "extras.journalentry": Source("extras.note", adapt=note),
        "extras.configtemplate": NamedModel(),
        CONTEXT: Source(CONTEXT, adapt=context, by=("name",)),
    }


TYPE_FIELDS = ("object_types", "content_types")


def remember_types(dump: Dump) -> None:
    """Keeps the types of the custom fields as the source has them."""
    for key, fields in dump.objects[FIELD].items():
        dump.set((FIELD, key), original_type=fields["type"])


def note(dump: Dump, fields: Fields) -> Fields:
    """Converts a journal entry to a note, which begins with its date, author and kind."""
    author = fields.get("created_by")
    author = (
        author[0] if isinstance(author, list) and author else dump.get("users.user", author).get("username", author)
    )
    words = [str(fields.get("created") or "")[:16].replace("T", " "), str(author or ""), fields.get("kind") or ""]
    return {
        "assigned_object_type": fields.get("assigned_object_type"),
        "assigned_object_id": fields.get("assigned_object_id"),
        "note": f"{', '.join(filter(None, words))}\n\n{fields.get('comments', '')}",
        **{name: fields[name] for name in ("custom_field_data",) if fields.get(name)},
    }


def context(dump: Dump, fields: Fields) -> Fields:
    """Converts a config context: site groups become their sites, and types of clusters their clusters.

    Without one such site or cluster it would apply to everything, so it is not active.
    """
    converted = dict(fields)
    groups = set(_with_children(dump, "dcim.sitegroup", converted.pop("site_groups", None) or []))
    types = set(converted.pop("cluster_types", None) or [])
    sites = [key for key, site in dump.objects.get("dcim.site", {}).items() if groups and site.get("group") in groups]
    rows: Mapping[Any, Fields] = dump.objects.get("virtualization.cluster", {})
    clusters = [key for key, cluster in rows.items() if types and cluster.get("type") in types]
    converted["sites"] = sorted({*(converted.get("sites") or []), *sites}, key=str)
    converted["clusters"] = sorted({*(converted.get("clusters") or []), *clusters}, key=str)
    if (groups and not converted["sites"]) or (types and not converted["clusters"]):
        converted["is_active"] = False
    data = converted.get("data")
    return {**converted, "data": json.loads(data) if isinstance(data, str) else data}


def _with_children(dump: Dump, label: str, keys: Iterable[Any]) -> Iterable[Any]:
    """Yields the keys and those of everything below them."""
    for key in keys:
        yield key
        below = [child for child, fields in dump.objects.get(label, {}).items() if fields.get("parent") == key]
        yield from _with_children(dump, label, below)


def _choices(dump: Dump) -> dict[str, dict[Any, Fields]]:
    """Returns an object for each choice of a selection field; its key is ``<key of the field>/<position>``."""
    choices: dict[Any, Fields] = {}
    for key, fields in dump.objects.get(FIELD, {}).items():
        values = fields.get("choices") or dump.get(CHOICE_SET, fields.get("choice_set")).get("extra_choices") or []
        values = json.loads(values) if isinstance(values, str) else values
        if fields.get("choice_set"):
            values = [value[0] if isinstance(value, list) else value for value in values]
            values = [*values, *(value for value in _used(dump, fields) if value not in values)]
        for position, value in enumerate(values):
            choices[f"{key}/{position}"] = {"field": key, "value": value, "weight": min(position, 32767)}
    return {CHOICE: choices} if choices else {}


def _used(dump: Dump, field: Fields) -> list[str]:
    """Returns the values that a selection field has: those of predefined sets are not in the source."""
    values: set[str] = set()
    for label in field["content_types"]:
        for fields in dump.objects.get(label, {}).values():
            value = (fields.get("custom_field_data") or {}).get(field["slug"])
            values.update(value if isinstance(value, list) else [value] if value else [])
    return sorted(values)
