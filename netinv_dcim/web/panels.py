"""Panels, tabs and actions on the pages of racks, devices and ports."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlencode

from pyramid.request import Request

from netinv_core.types import Endpoint
from netinv_dcim.cabling.models import Cabled, PathEnd
from netinv_dcim.cabling.tracing import trace
from netinv_dcim.rack_position import mounted
from netinv_dcim.rack_views.drawing_data import device_rows, display_name
from netinv_dcim.rack_views.svg import Frame, Size, area
from netinv_dcim.web import rack_elevations
from netinv_web.extensions import Action, Panel, Tab

ELEVATION = "netinv_dcim:web/templates/elevation.jinja2"
TRACE = "netinv_dcim:web/templates/trace.jinja2"
FACES = ("front", "rear")
LEGEND_WIDTH, UNIT_HEIGHT = 24, 22  # pixels
UNIT_WIDTHS = {1: 220, 2: 120}  # pixels by number of faces: two are beside each other, on a phone too


def rack_elevation(request: Request, endpoint: Endpoint, rack: Mapping[str, Any]) -> dict[str, Any]:
    """The drawings of both faces of a rack, with links to the devices that the user may view: two statements."""
    uow, size = request.uow, Size(UNIT_WIDTHS[len(FACES)], UNIT_HEIGHT, LEGEND_WIDTH)
    frame = Frame("", rack["u_height"], rack["desc_units"])
    devices = mounted(uow, [endpoint.parse_key(str(rack["id"]))])
    rows = device_rows(uow, list(devices))
    areas: dict[str, list[dict[str, Any]]] = {face: [] for face in FACES}
    for key, device in devices.items():
        units = [unit for unit in device.units if 1 <= unit <= frame.height]
        if key not in rows or not units:
            continue
        place = {
            "path": f"/dcim/devices/{key}/",
            "name": f"{display_name(rows[key])}, U{device.position}",
            "coordinates": ",".join(map(str, area(frame, size, units))),
        }
        for face in FACES:
            if device.seen_from(face):
                areas[face].append(place)
    return _elevation(rack, FACES) | {"areas": areas}


def device_elevation(request: Request, endpoint: Endpoint, device: Mapping[str, Any]) -> dict[str, Any] | None:
    """The drawing of the face of the rack that a device is mounted in."""
    rack, face = device.get("rack"), device.get("face")
    if not rack:
        return None
    faces = (face["value"],) if face else FACES
    return _elevation(rack, faces) | {"link": f"/dcim/racks/{rack['id']}/"}


def _elevation(rack: Mapping[str, Any], faces: Sequence[str]) -> dict[str, Any]:
    """The values of the template for the faces of a rack."""
    sizes = {"unit_width": UNIT_WIDTHS[len(faces)], "unit_height": UNIT_HEIGHT, "legend_width": LEGEND_WIDTH}
    shown = {"rack": rack["id"], "name": rack["display"], "faces": faces, "sizes": urlencode(sizes)}
    return {**shown, "link": "", "areas": {}}


def panels_of(endpoint: Endpoint) -> list[Panel]:
    """The panels of a resource."""
    if endpoint.label == "dcim.rack":
        return [Panel("elevation", "Elevation", rack_elevation, template=ELEVATION, position=100)]
    if endpoint.label == "dcim.device":
        return [Panel("elevation", "Rack", device_elevation, template=ELEVATION, position=100)]
    return []


def cable_path(request: Request, endpoint: Endpoint, item: Mapping[str, Any]) -> dict[str, Any]:
    """The path of cables from a port: triples of near end, cable and far end."""
    base = request.uow.base
    steps = [[_place(end, base) for end in step] for step in trace(request)]
    return {"steps": steps, "reachable": bool(item.get("connected_endpoint_reachable"))}


def _place(item: Mapping[str, Any] | None, base: str) -> dict[str, str] | None:
    """Name and path of the page of an end or a cable, and the device that an end is part of."""
    if item is None:
        return None
    parent = item.get("device") or item.get("circuit") or item.get("power_panel")
    parent_name = str(parent.get("display", "")) if isinstance(parent, Mapping) else ""
    path = str(item["url"]).removeprefix(base).removeprefix("/api")
    return {"name": str(item["display"]), "path": path, "parent": parent_name, "length": _length(item)}


def _length(item: Mapping[str, Any]) -> str:
    return f"{item['length']} {item['length_unit']}" if item.get("length") else ""


def tabs_of(endpoint: Endpoint) -> list[Tab]:
    """The tabs of a resource."""
    if issubclass(endpoint.model, PathEnd) and endpoint.resource.of is None:
        return [Tab("trace", "Trace", cable_path, TRACE, position=100)]
    return []


def _connect_path(endpoint: Endpoint, item: Mapping[str, Any]) -> str:
    query = urlencode({"termination_a_type": endpoint.label, "termination_a_id": item["id"]})
    return f"/dcim/cables/add/?{query}"


def _is_free(item: Mapping[str, Any]) -> bool:
    return item.get("cable") is None


CONNECT = Action(
    "connect",
    "Connect",
    _connect_path,
    permission="change",
    further_permission=("dcim.cable", "add"),
    icon="link",
    applies=_is_free,
)


def _elevations_path(parameter: str) -> Any:
    """Returns the function that leads to the elevations of the racks with an object."""
    return lambda endpoint, item: f"{rack_elevations.PATH}?{urlencode({parameter: item['id']})}"


def _planner_path(endpoint: Endpoint, rack: Mapping[str, Any]) -> str:
    return f"{rack_elevations.PATH}?{urlencode({'id': rack['id'], '_face': 'both', '_plan': 1})}"


def _list_path(endpoint: Endpoint, item: None) -> str:
    return rack_elevations.PATH


def _elevations_of(parameter: str) -> Action:
    """The action that shows the racks with an object."""
    path = _elevations_path(parameter)
    return Action("elevations", "Rack elevations", path, further_permission=(RACK, "view"), icon="server-stack")


RACK = "dcim.rack"
PLAN = Action(
    "plan",
    "Plan moves",
    _planner_path,
    further_permission=("dcim.device", "change"),
    icon="arrows-up-down",
)
ACTIONS: Mapping[str, Sequence[Action]] = {
    RACK: [PLAN, Action("elevations", "Elevations", _list_path, scope="list", icon="server-stack")],
    "dcim.site": [_elevations_of("site_id")],
    "dcim.location": [_elevations_of("location_id")],
    "dcim.rackgroup": [_elevations_of("group_id")],
}


def actions_of(endpoint: Endpoint) -> list[Action]:
    """The actions of a resource: ports without a cable can be connected, devices in racks moved."""
    if not issubclass(endpoint.model, Cabled) or endpoint.resource.of is not None:
        return [*ACTIONS.get(endpoint.label, ())]
    return [CONNECT]
