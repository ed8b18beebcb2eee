"""Sparse fields: ``?fields=name,site.name`` limits representations to these members, and the SQL to their columns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from netinv_core.errors import Invalid
from netinv_core.fields import Reference
from netinv_core.http import versions
from netinv_core.http.request_uow import RequestUnitOfWork
from netinv_core.read import entity_tags
from netinv_core.sql.records import nested_fields

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.fields import Field
    from netinv_core.registry import Registry

PARAMETER = "fields"
MAX_STEPS = 8  # of a dotted name
Members = dict[str, "Members | None"]  # names of members; below each the names of its own, None for all of them
Schema = Mapping[str, Any]
_NESTED = "#/components/schemas/Nested"


def requested_members(uow: RequestUnitOfWork, endpoint: Endpoint) -> Members | None:
    """The members that the query names; ``None`` for all. A filter of the parameter's name takes precedence.

    :raises Invalid: for a name of too many parts
    """
    texts = uow.query.get(PARAMETER, ()) if PARAMETER not in endpoint.filters else ()
    members: Members = {}
    for name in (part.strip() for text in texts for part in text.split(",")):
        *steps, last = name.split(".")
        if len(steps) >= MAX_STEPS:
            raise Invalid.field(PARAMETER, f"'{name[:80]}…' has more than {MAX_STEPS} parts.")
        node: Members | None = members if name else None
        for step in steps:
            node = None if node is None else node.setdefault(step, {})
        if node is not None:
            node[last] = None
    return members or None


def left_out(uow: RequestUnitOfWork, endpoint: Endpoint, members: Members, included: frozenset[str]) -> frozenset[str]:
    """The fields that need not be read for these members of the full form, and those that are ``included``.

    The id and the time of the last update, which tags of representations need, are always read.

    :raises Invalid: for a name that is no member
    """
    absent = versions.absent(endpoint, uow.version)
    shown = [field for field in endpoint.fields.values() if not field.write_only and field.name not in absent]
    if versions.former_listing(endpoint, uow.version) is None:
        whole = {"type": "object", "properties": {field.name: field.schema() for field in shown}}
        _check(endpoint.registry, versions.as_version(endpoint, uow.version, whole), members, "")
    read = {*members, *included, "id", entity_tags.LAST_UPDATED}
    read = versions.read_for(endpoint, uow.version, read)
    if read >= endpoint.fields.keys():  # for older versions that convert no one knows what
        return endpoint.opt_in.difference(members, included)
    return frozenset([*(endpoint.fields.keys() - read), *_members_left_out(endpoint, members)])


def _members_left_out(endpoint: Endpoint, members: Members) -> Iterator[str]:
    """Yields the members of references that need not be read, as dotted names; those that versions convert are read."""
    converted = {name for change in endpoint.resource.versions for name in change.changed}
    for name, below in members.items():
        field = endpoint.fields.get(name)
        target = field.target if type(field) is Reference and not field.plain else None
        if below is not None and target is not None and isinstance(field, Reference) and name not in converted:
            nested = {item.name for item in nested_fields(target, field.nested_fields)}
            yield from (f"{name}.{other}" for other in nested - below.keys())


def check_brief(endpoint: Endpoint, members: Members) -> None:
    """Checks names of members of the brief form.

    :raises Invalid: for a name that is no member
    """
    _check(endpoint.registry, {"properties": _brief(endpoint.brief_fields)}, members, "")


def pick_members(value: Any, members: Members | None) -> Any:
    """The part of a representation with these members; in lists, of each item."""
    if isinstance(value, list) and members is not None:
        return [pick_members(item, members) for item in value]
    if not isinstance(value, dict) or members is None:
        return value
    return {name: pick_members(part, members[name]) for name, part in value.items() if name in members}


def _check(registry: Registry, schema: Schema, members: Members, prefix: str) -> None:
    choices = _members_of(registry, schema)
    if choices is None:
        return
    for name, below in members.items():
        if name not in choices:
            listed = ", ".join(f"{prefix}{choice}" for choice in sorted(choices))
            reason = f"is not one of: {listed}" if choices else f"is none: {prefix.rstrip('.')} has no members."
            raise Invalid.field(PARAMETER, f"Select a valid choice. '{prefix}{name}' {reason}")
        if below is not None:
            _check(registry, choices[name], below, f"{prefix}{name}.")


def _members_of(registry: Registry, schema: Schema) -> dict[str, Schema] | None:
    """The schemas of the members of an object, or of the objects in a list; ``None`` where any member may be there."""
    reference = str(schema.get("$ref", ""))
    if reference.startswith(_NESTED):
        name = reference.removeprefix(_NESTED)
        target = next((item for item in registry.endpoints.values() if item.schema_name == name), None)
        return None if target is None else _brief(nested_fields(target))
    parts = [part for key in ("allOf", "anyOf", "oneOf") for part in schema.get(key, ())]
    if parts:
        several = [_members_of(registry, part) for part in parts]
        known = [members for members in several if members is not None]
        return (
            None if len(known) < len(several) else {name: part for members in known for name, part in members.items()}
        )
    if schema.get("type") == "array":
        return _members_of(registry, schema.get("items", {}))
    if "properties" in schema and not schema.get("additionalProperties"):
        return dict(schema["properties"])
    return None if schema.get("type") in (None, "object") else {}


def _brief(shown: list[Field]) -> dict[str, Schema]:
    return {field.name: field.brief_schema() for field in shown}
