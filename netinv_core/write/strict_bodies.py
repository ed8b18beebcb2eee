"""Members of bodies that nothing reads: ignored, as clients of version 1 expect, or refused (``netinv.strict_bodies``).

Clients send back what they have read. So the names of every field are known, also of read-only ones and of those that
only nested forms have.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from netinv_core.errors import Invalid, short
from netinv_core.registry_cache import cached_in_registry

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.registry import Registry

UNKNOWN = "Unknown field."
ALWAYS = frozenset({"id", "url", "display", "_etag"})


def is_strict(registry: Registry) -> bool:
    """True where members that nothing reads are refused."""
    return bool(registry.settings["strict_bodies"])


@cached_in_registry
def members_of(endpoint: Endpoint) -> frozenset[str]:
    """The members that representations of an endpoint's objects have, in any form and version."""
    resource = endpoint.resource
    nested = {factory.name for factory in (*resource.brief_fields, *resource.assigned_fields)}
    former = {name for change in resource.versions for name in (*change.absent, *change.former)}
    return ALWAYS.union(endpoint.fields, nested, former)


def unknown_members(endpoint: Endpoint, body: Mapping[str, Any]) -> list[str]:
    """The members of an object, or of a reference to one, that are to be refused; none unless bodies are strict."""
    return sorted(set(map(str, body)) - members_of(endpoint)) if is_strict(endpoint.registry) else []


def check_items(endpoint: Endpoint, bodies: Iterable[Mapping[str, Any]]) -> None:
    """Checks the members of bodies that only name objects, such as those to delete.

    :raises Invalid: with one entry for each body, naming unknown members, where bodies are strict
    """
    if is_strict(endpoint.registry):
        errors = [{name: [UNKNOWN] for name in unknown_members(endpoint, body)} for body in bodies]
        if any(errors):
            raise Invalid.batch(errors)


def refused_reference(names: Iterable[str]) -> str:
    """The error of a reference with unknown members."""
    return f"Unknown fields: {', '.join(map(short, names))}."


def check(body: Any, schema: Mapping[str, Any]) -> None:
    """Checks the members of a body that is no object of a resource, such as that of an action, and of objects in it.

    :param schema: the OpenAPI schema of the body; an object without ``properties`` in it may have any members
    :raises Invalid: naming those that the schema does not have
    """
    if errors := _errors(body, schema):
        raise Invalid(errors)


def _errors(value: Any, schema: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the errors of members by name; those of nested objects below the name of their member."""
    known = schema.get("properties")
    if known is None or schema.get("additionalProperties") or not isinstance(value, Mapping):
        return {}
    errors: dict[str, Any] = {name: [UNKNOWN] for name in sorted(value.keys() - known.keys())}
    nested = {name: _errors(item, known[name]) for name, item in value.items() if name in known}
    return errors | {name: found for name, found in nested.items() if found}
