"""Reader of files that ``nautobot-server dumpdata`` of a Nautobot 1.x wrote: rows become what its REST API shows."""

from __future__ import annotations

import ipaddress
import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from netinv_core.fields import Status
from netinv_core.importing.dump import Dump, Fields
from netinv_import import dumpdata

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.fields import Field
    from netinv_core.registry import Registry

CONTENT_TYPE, TAGGED, STATUS, CUSTOM_FIELD = (
    "contenttypes.contenttype",
    "extras.taggeditem",
    "extras.status",
    "extras.customfield",
)
# Tables of the framework, and those whose rows become values of other objects.
INTERNAL = (
    CONTENT_TYPE,
    TAGGED,
    "admin.logentry",
    "auth.permission",
    "dcim.cablepath",
    "sessions.session",
)
LATER = ("extras.role", "ipam.namespace")  # models of 2.x
# The column with the address of each model that has a network, beside ``prefix_length``; and the member that shows it.
NETWORKS = {
    "ipam.aggregate": ("network", "prefix"),
    "ipam.prefix": ("network", "prefix"),
    "ipam.ipaddress": ("host", "address"),
}
TYPE_LISTS = frozenset({"content_types", "object_types"})


def read(path: Path, registry: Registry) -> Dump:
    """Reads a file; objects keep their ids. Columns that no member of the API shows are left out.

    :raises ValueError: when it is not a dump of a Nautobot 1.x
    """
    dump = dumpdata.read(path)
    if later := [label for label in LATER if label in dump.objects]:
        raise ValueError(f"{path} has {' and '.join(later)}, as Nautobot 2.x: give the URL of the service")
    types = _content_types(dump)
    tags, names = _tags(dump, types, path), _custom_field_names(dump)
    for label, rows in list(dump.objects.items()):
        endpoint = registry.get(label)
        if label in INTERNAL:
            continue
        if endpoint is None:  # of another application, which may be declared
            for key, fields in list(rows.items()):
                if isinstance(fields.get("content_type"), int):
                    dump.set((label, key), content_type=_pair(fields["content_type"], types))
            continue
        shown = dump.new_rows()
        try:
            for key, fields in rows.items():
                members = {name: _value(dump, endpoint.writable[name], name, value, types)
                           for name, value in fields.items() if name in endpoint.writable}  # fmt: skip
                shown[key] = {**members, **_further(label, endpoint, fields, names, tags.get((label, str(key)), []))}
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise ValueError(f"the objects of {label} in {path} are not those of a Nautobot 1.x: {error}") from error
        dump.replace(label, shown)
    for label in INTERNAL:
        dump.objects.pop(label, None)
    return dump


def _content_types(dump: Dump) -> dict[Any, list[str]]:
    """Application and model by the key of a content type; files with natural keys need none."""
    rows: Mapping[Any, Fields] = dump.objects.get(CONTENT_TYPE, {})
    return {key: [fields["app_label"], fields["model"]] for key, fields in rows.items()}


def _pair(value: Any, types: Mapping[Any, list[str]]) -> Any:
    """Application and model of a content type, which is a key, or a natural key.

    :raises ValueError: for the key of one that the file lacks
    """
    if not isinstance(value, int):
        return value
    if value not in types:
        raise ValueError(f"the file lacks the content type {value}: write it with --natural-foreign")
    return types[value]


def _tags(dump: Dump, types: Mapping[Any, list[str]], path: Path) -> dict[tuple[str, str], list[Any]]:
    """Tags by label and id of their object."""
    tags: dict[tuple[str, str], list[Any]] = {}
    rows: Mapping[Any, Fields] = dump.objects.get(TAGGED, {})
    for fields in rows.values():
        try:
            owner = (".".join(_pair(fields["content_type"], types)), str(fields["object_id"]))
            tags.setdefault(owner, []).append(fields["tag"])
        except (KeyError, TypeError, ValueError) as error:
            raise ValueError(f"the objects of {TAGGED} in {path} are not those of a Nautobot 1.x: {error}") from error
    return tags


def _custom_field_names(dump: Dump) -> dict[str, str]:
    """Slugs of custom fields by the names under which tables have their values."""
    rows: Mapping[Any, Fields] = dump.objects.get(CUSTOM_FIELD, {})
    return {str(fields.get("name")): str(fields["slug"]) for fields in rows.values() if fields.get("slug")}


def _value(dump: Dump, field: Field, name: str, value: Any, types: Mapping[Any, list[str]]) -> Any:
    """A value in the terms of a dump: the slug of a status, pairs for content types, lists that are text as lists."""
    if isinstance(field, Status):
        return dump.get(STATUS, value).get("slug", value)
    if name in TYPE_LISTS and isinstance(value, list):
        return [_pair(member, types) for member in value]
    if name.endswith(("_type", "content_type")) and isinstance(value, int):
        return _pair(value, types)
    if isinstance(value, str) and value.startswith("[") and field.schema().get("type") == "array":
        return json.loads(value)
    return value


def _further(
    label: str, endpoint: Endpoint, fields: Fields, names: Mapping[str, str], tags: list[Any]
) -> dict[str, Any]:
    """Members that are columns of another name or shape."""
    further: dict[str, Any] = {}
    if "custom_fields" in endpoint.writable and (values := fields.get("_custom_field_data")):
        further["custom_field_data"] = {names.get(name, name): value for name, value in values.items()}
    if tags and "tags" in endpoint.writable:
        further["tags"] = tags
    if label in NETWORKS:
        column, member = NETWORKS[label]
        further[member] = str(ipaddress.ip_interface(f"{fields[column]}/{fields['prefix_length']}"))
    if label == CUSTOM_FIELD:
        further["label"] = fields.get("label") or fields["name"]
    return further
