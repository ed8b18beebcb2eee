"""The models as agents are told of them, from their declarations: fields, filters, choices, actions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from netinv_core.http.options import described_fields
from netinv_core.read.ordering import orderings_of
from netinv_core.write.identification import natural_key
from netinv_mcp.api_calls import ApiCaller, ToolRefusal

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.read.filters import Filter

NO_MODEL = "There is no model of this name; list_models names them."
NO_ID = "Must be the id of an object."


def model_of(caller: ApiCaller, arguments: Mapping[str, Any]) -> Endpoint:
    """The resource of the argument ``model``.

    :raises ToolRefusal: for another name
    """
    endpoint = caller.registry.get(arguments["model"])
    if endpoint is None:
        raise ToolRefusal.of("model", NO_MODEL)
    return endpoint


def path_of(endpoint: Endpoint, arguments: Mapping[str, Any], below: str = "", name: str = "id") -> str:
    """The path of the object whose id is the argument ``name``, or of an action below it.

    :raises ToolRefusal: for anything but an id
    """
    key = endpoint.parse_key(arguments[name])
    if key is None:
        raise ToolRefusal.of(name, NO_ID)
    return f"{endpoint.path}{key}/{below}"


def models(caller: ApiCaller) -> dict[str, Any]:
    """The models that the user may view, by application."""
    found: dict[str, Any] = {}
    for label in sorted(caller.registry.endpoints):
        endpoint = caller.registry[label]
        if caller.may_view(endpoint):
            found.setdefault(endpoint.app.title, {})[label] = endpoint.plural
    return found


def description(caller: ApiCaller, endpoint: Endpoint) -> dict[str, Any]:
    """A model: its fields, its filters with their lookups, the names to order by."""
    described = described_fields(caller.uow, endpoint)
    return {
        "model": endpoint.label,
        "title": endpoint.title,
        "identified_by": list(natural_key(endpoint)) if endpoint.natural_attribute else ["id"],
        "writes": sorted(endpoint.resource.writes),
        "fields": {name: _field(endpoint, name, entry) for name, entry in described.items()},
        "filters": dict(_filters(endpoint)),
        "order": sorted(orderings_of(endpoint)),
    }


def _field(endpoint: Endpoint, name: str, entry: Mapping[str, Any]) -> dict[str, Any]:
    """The description of a field, in few words."""
    target = getattr(endpoint.fields[name], "target", None)
    shown: dict[str, Any] = {"type": entry["type"]}
    if target is not None and "choices" not in entry:
        shown["type"] = f"reference to {target.label}"
    for flag in ("required", "read_only"):
        if entry[flag]:
            shown[flag] = True
    shown |= {key: entry[key] for key in ("help_text", "max_length", "min_value", "max_value") if entry.get(key)}
    if "choices" in entry:
        shown["choices"] = [choice["value"] for choice in entry["choices"]]
    return shown


def _filters(endpoint: Endpoint) -> Iterator[tuple[str, Any]]:
    """Yields the filters: their kind, what they are about, and the suffixes of their lookups."""
    for item in sorted(endpoint.filters.values(), key=lambda item: item.name):
        yield item.name, _filter(item)


def _filter(item: Filter) -> str:
    about = f"{item.kind}: {item.help}" if item.help else item.kind
    return f"{about} ({' '.join(item.lookups)})" if item.lookups else about
