"""Tracing: the actions that show paths, ``trace/`` at the ends of paths and ``paths/`` at what paths lead through."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Sequence
from typing import Any

from pyramid.request import Request

from netinv_core.auth import permissions
from netinv_core.errors import NotFound
from netinv_core.http.actions import documented
from netinv_core.http.request_uow import RequestUnitOfWork
from netinv_core.http.views import key_of
from netinv_core.read import listing
from netinv_core.read.plan import fetch_together
from netinv_core.uow import UnitOfWork
from netinv_core.write.slugs import natural_key
from netinv_dcim.cabling.models import Cabled, PathEnd
from netinv_dcim.cabling.paths import CABLE, End, Network, Path, leads_on

_NAMESPACE = uuid.UUID("0b0f4f3e-6a55-4b0c-9f0a-3a2b8f6a7d11")
# What a trace shows of a cable; the unit of its length as the value alone
TRACED = ("display", "id", "url", "type", "status", "label", "color", "length", "length_unit", "created", "last_updated")
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
    """The path from an end, cable by cable: its near end, the cable, its far end; the last two are null where the path stops short.

    So is, at any place, what the user may not view.
    """
    uow, end = _open(request)
    path = Network(uow).trace([end])[end]
    shown, lines = _shown(uow, [path]), uow.registry[CABLE]
    cables = lines.plan().fetch(uow, [step.line.id for step in path.steps], permissions.visible(uow, lines, lines.table))
    traced = {key: {name: _plain(cable[name]) if name == "length_unit" else cable[name] for name in TRACED} for key, cable in cables}
    found = [[shown.get(step.near), traced.get(step.line.id), shown.get(step.far)] for step in path.steps]
    return [*found, [shown.get(path.last), None, None]] if path.last else found


def _plain(choice: dict[str, Any] | None) -> Any:
    return choice["value"] if choice else ""


@documented(_PATHS)
def paths(request: Request) -> list[dict[str, Any]]:
    """The paths that lead through an end, from both of their origins."""
    uow, end = _open(request)
    network = Network(uow)
    found = [path for path in network.trace(network.origins_through(end)).values() if end in path.nodes]
    shown = _shown(uow, found)
    found.sort(key=lambda path: (_place(shown.get(path.origin)), str(path.origin.id)))
    return [_path(path, shown) for path in found]


def _place(shown: dict[str, Any] | None) -> tuple[str, str]:
    """Where an end sorts: by its device, then by its own name; what is not shown, first."""
    if shown is None:
        return "", ""
    return natural_key(shown.get("device", shown)["display"]), natural_key(shown["display"])


def _path(path: Path, shown: dict[End, Any]) -> dict[str, Any]:
    destination = path.destination
    between = [end for end in path.nodes if end not in (path.origin, destination)]
    return {
        "id": uuid.uuid5(_NAMESPACE, f"{path.origin.label}/{path.origin.id}"),
        "origin_type": path.origin.label,
        "origin": shown.get(path.origin),
        "destination_type": destination.label if destination else None,
        "destination": shown.get(destination) if destination else None,
        "path": [shown.get(end) for end in between],
        "is_active": path.active,
        "is_split": path.split,
    }


def _shown(uow: UnitOfWork, found: Iterable[Path]) -> dict[End, Any]:
    """The nested forms of everything on these paths that the user may view, cables too; one statement."""
    wanted: dict[str, set[Any]] = {}
    for path in found:
        for end in (*path.nodes, path.origin):
            wanted.setdefault(end.label, set()).add(end.id)
    plans = [(uow.registry[label].plan("nested"), list(keys)) for label, keys in wanted.items()]
    results = zip(wanted, fetch_together(uow, plans, permissions.visible_for(uow)), strict=True)
    return {End(label, key): item for label, items in results for key, item in items}


def _open(request: Request) -> tuple[RequestUnitOfWork, End]:
    uow, endpoint, key = request.uow, request.context.endpoint, key_of(request)
    if not listing.rows(uow, endpoint, [key], "view"):
        raise NotFound()
    return uow, End(endpoint.label, key)


def includeme(config: Any) -> None:
    """Adds ``trace/`` to the ends of paths and ``paths/`` to what only leads on, of every package."""
    for app in config.registry.netinv.apps.values():
        for name, view, models in (("trace", trace, _names(app.resources, PathEnd)), ("paths", paths, _names(app.resources, Cabled))):
            if models:
                config.add_netinv_action(f"{app.name}/{'|'.join(models)}", name, get=view, permission="view")


def _names(resources: Sequence[Any], kind: type) -> list[str]:
    """The resources whose models are ends of paths, or those that are mere ends of cables."""
    own = [resource for resource in resources if resource.of is None]
    if kind is PathEnd:
        return [resource.name for resource in own if issubclass(resource.model, PathEnd)]
    return [resource.name for resource in own if issubclass(resource.model, Cabled) and not issubclass(resource.model, PathEnd) and leads_on(resource.model)]
