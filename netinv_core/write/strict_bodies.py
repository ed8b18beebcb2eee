"""Members of bodies that nothing reads: ignored, as clients of version 1 expect, or refused (``netinv.strict_bodies``).

Clients send back what they have read. So the names of every field are known, also of read-only ones and of those that
only nested forms have.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from netinv_core.errors import Invalid
from netinv_core.registry_cache import cached_in_registry
from netinv_core.write.reference_messages import short

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.registry import Registry

UNKNOWN = "Unknown field."
ALWAYS = frozenset({"id", "url", "display", "_etag"})


def is_strict(registry: Registry) -> bool:
    """True where members that nothing reads are refused."""
    return bool(registry.settings.get("strict_bodies", False))


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


def refused_reference(names: Iterable[str]) -> str:
    """The error of a reference with unknown members."""
    return f"Unknown fields: {', '.join(map(short, names))}."


def check(registry: Registry, body: Any, known: Collection[str]) -> None:
    """Checks the members of a body that is no object of a resource, such as that of an action.

    :raises Invalid: naming those that are not ``known``, where bodies are strict
    """
    if isinstance(body, Mapping) and is_strict(registry) and (names := sorted(body.keys() - set(known))):
        raise Invalid({name: [UNKNOWN] for name in names})
