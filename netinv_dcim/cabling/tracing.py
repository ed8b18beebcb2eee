"""Tracing: the action ``trace/`` of path ends, and ``paths/`` of front ports and others that paths lead through."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from pyramid.request import Request

from netinv_core.auth import permissions
from netinv_core.errors import NotFound
from netinv_core.http.actions import documented
from netinv_core.http.request_uow import RequestUnitOfWork
from netinv_core.http.views import key_of
from netinv_core.read import listing
from netinv_core.sql.plan import fetch_together
from netinv_core.sql.plans import plan_of
from netinv_core.write.slugs import natural_key
from netinv_dcim.cabling.models import Cabled, PathEnd
from netinv_dcim.cabling.paths import CABLE, CableNetwork, End, Path, leads_on

if TYPE_CHECKING:
    from netinv_core.uow import UnitOfWork

_NAMESPACE = uuid.UUID("0b0f4f3e-6a55-4b0c-9f0a-3a2b8f6a7d11")
# The fields of a cable in a trace. The unit of its length is its plain value (``m``), not an object.
TRACED = (
    "display",
    "id",
    "url",
    "type",
    "status",
    "label",
    "color",
    "length",
    "length_unit",
    "created",
    "last_updated",
)
_OBJECT = {"type": "object", "nullable": True}
_TRACE = {"type": "array", "items": {"type": "array", "items": _OBJECT, "minItems": 3, "maxItems": 3}}
_PATHS = {
    "type": "array",
    "items": {
        "type": "object",
        "properties": {
            "id": {"type": "string", "format": "uuid"},
            "origin_type": {"type": "string"},
            "origin": _OBJECT,
            "destination_type": {"type": "string", "nullable": True},
            "destination": _OBJECT,
            "path": {"type": "array", "items": _OBJECT},
            "is_active": {"type": "boolean"},
            "is_split": {"type": "boolean"},
        },
    },
}


@documented(_TRACE)
def trace(request: Request) -> list[Any]:
    """The path from an end as triples of near end, cable and far end; the last two are null where the path stops short.

    Objects that the user may not view are null too.
    """
    uow, end = _open_trace(request)
    path = CableNetwork(uow).trace([end])[end]
    nested, endpoint = _read_nested(uow, [path]), uow.registry[CABLE]
    cable_ids = [step.line.id for step in path.steps]
    cables = plan_of(endpoint).fetch(uow, cable_ids, permissions.visible(uow, endpoint, endpoint.table))
    traced = {
        key: {name: _plain(cable[name]) if name == "length_unit" else cable[name] for name in TRACED}
        for key, cable in cables
    }
    steps = [[nested.get(step.near), traced.get(step.line.id), nested.get(step.far)] for step in path.steps]
    return [*steps, [nested.get(path.last), None, None]] if path.last else steps


def _plain(choice: dict[str, Any] | None) -> Any:
    """The value of a choice, empty without one."""
    return choice["value"] if choice else ""


@documented(_PATHS)
def paths(request: Request) -> list[dict[str, Any]]:
    """The paths that lead through an end, from both of their origins."""
    uow, end = _open_trace(request)
    network = CableNetwork(uow)
    through = [path for path in network.trace(network.origins_through(end)).values() if end in path.nodes]
    nested = _read_nested(uow, through)
    through.sort(key=lambda path: (_sort_key(nested.get(path.origin)), str(path.origin.id)))
    return [_represent(path, nested) for path in through]


def _sort_key(nested: dict[str, Any] | None) -> tuple[str, str]:
    """The sort key of a nested end: its device, then its own name. Ends that the user may not view come first."""
    if nested is None:
        return "", ""
    return natural_key(nested.get("device", nested)["display"]), natural_key(nested["display"])


def _represent(path: Path, nested_by_end: dict[End, Any]) -> dict[str, Any]:
    """The representation of a path; ``nested_by_end`` holds the nested objects."""
    destination = path.destination
    between = [end for end in path.nodes if end not in (path.origin, destination)]
    return {
        "id": uuid.uuid5(_NAMESPACE, f"{path.origin.label}/{path.origin.id}"),
        "origin_type": path.origin.label,
        "origin": nested_by_end.get(path.origin),
        "destination_type": destination.label if destination else None,
        "destination": nested_by_end.get(destination) if destination else None,
        "path": [nested_by_end.get(end) for end in between],
        "is_active": path.active,
        "is_split": path.split,
    }


def _read_nested(uow: UnitOfWork, traced: Iterable[Path]) -> dict[End, Any]:
    """The nested representations of the ends and cables on these paths that the user may view; one statement."""
    keys_by_label: dict[str, set[Any]] = {}
    for path in traced:
        for end in (*path.nodes, path.origin):
            keys_by_label.setdefault(end.label, set()).add(end.id)
    plans = [(plan_of(uow.registry[label], "nested"), list(keys)) for label, keys in keys_by_label.items()]
    results = zip(keys_by_label, fetch_together(uow, plans, permissions.visible_for(uow)), strict=True)
    return {End(label, key): item for label, items in results for key, item in items}


def _open_trace(request: Request) -> tuple[RequestUnitOfWork, End]:
    """The unit of work of a request, and the end in its URL.

    :raises NotFound: when the user may not view such an end
    """
    uow, endpoint, key = request.uow, request.context.endpoint, key_of(request)
    if not listing.rows(uow, endpoint, [key], "view"):
        raise NotFound()
    return uow, End(endpoint.label, key)


def includeme(config: Any) -> None:
    """Adds ``trace/`` to path ends and ``paths/`` to models that paths lead through, of every installed application."""
    for app in config.registry.netinv.apps.values():
        actions = (
            ("trace", trace, _names(app.resources, PathEnd)),
            ("paths", paths, _names(app.resources, Cabled)),
        )
        for name, view, models in actions:
            if models:
                config.add_netinv_action(f"{app.name}/{'|'.join(models)}", name, get=view, permission="view")


def _names(resources: Sequence[Any], kind: type) -> list[str]:
    """The names of the resources of path ends, or of those that take cables and only lead on (``kind`` is Cabled)."""
    primary = [resource for resource in resources if resource.of is None]
    if kind is PathEnd:
        return [resource.name for resource in primary if issubclass(resource.model, PathEnd)]
    cabled = [resource for resource in primary if issubclass(resource.model, Cabled)]
    return [
        resource.name for resource in cabled if not issubclass(resource.model, PathEnd) and leads_on(resource.model)
    ]
