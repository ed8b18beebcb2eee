"""Panels, tabs and actions on the pages of racks, devices and ports."""

from __future__ import annotations

import dataclasses
import types
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from pyramid.request import Request

from netinv_core.auth import permissions
from netinv_core.hookspecs import hookimpl
from netinv_dcim.cabling.models import Cabled
from netinv_dcim.cabling.paths import CABLE, End
from netinv_dcim.rack_position import Mounted, read_mounted
from netinv_dcim.rack_views.drawing_data import device_rows, display_name
from netinv_dcim.rack_views.svg import RackFrame, UnitSize, area
from netinv_dcim.web import rack_elevations, rack_plan, trace_pages, type_differences, type_moves
from netinv_dcim.web.connect import page as connecting
from netinv_dcim.web.connect.ports import address_of
from netinv_dcim.web.ports import actions as port_actions
from netinv_dcim.web.ports import redundancy
from netinv_dcim.web.recabling import page as recabling
from netinv_dcim.web.workbench import page as workbench
from netinv_web.bulk.selection import ROW
from netinv_web.extensions import Action, Panel, Tab
from netinv_web.lists.list_query import BACK
from netinv_web.menu import may
from netinv_web.paths import object_path, page_path

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_web.lists.list_query import ListQuery

ELEVATION = "netinv_dcim:web/templates/elevation.jinja2"
TRAY = "netinv_dcim:web/templates/rack_tray.jinja2"
FACES = ("front", "rear")
# Names are legible; on a phone, the faces are below each other.
SIZE = UnitSize(unit_width=220, unit_height=22, legend_width=24)


def rack_elevation(request: Request, endpoint: Endpoint, rack: Mapping[str, Any]) -> dict[str, Any]:
    """The drawings of both faces of a rack, with links to the devices that the user may view, and from free units to
    the form of a device there: two statements.
    """
    uow = request.uow
    frame = RackFrame("", rack["u_height"], rack["desc_units"])
    devices = read_mounted(uow, [endpoint.parse_key(str(rack["id"]))])
    rows = device_rows(uow, list(devices))
    areas: dict[str, list[dict[str, Any]]] = {face: [] for face in FACES}
    for key, device in devices.items():
        units = [unit for unit in device.units if 1 <= unit <= frame.height]
        if key not in rows or not units:
            continue
        place = {
            "path": f"/dcim/devices/{key}/",
            "name": f"{display_name(rows[key])}, U{device.position}",
            "coordinates": ",".join(map(str, area(frame, SIZE, units))),
            "is_free": False,
        }
        for face in FACES:
            if device.seen_from(face):
                areas[face].append(place)
    free = _free_units(rack, frame, devices.values()) if may(uow, uow.registry[DEVICE], "add") else {}
    for face, paths in free.items():
        for unit, path in paths.items():
            coordinates = ",".join(map(str, area(frame, SIZE, [unit])))
            name = f"Mount a device in U{unit}, {face}"
            areas[face].append({"path": path, "name": name, "coordinates": coordinates, "is_free": True})
    return _elevation(rack, FACES) | {"areas": areas}


def _free_units(rack: Mapping[str, Any], frame: RackFrame, devices: Collection[Mounted]) -> dict[str, dict[int, str]]:
    """The units of each face that no device takes, with the path of the form of a device there."""
    place = {name: rack[name]["id"] for name in ("site", "location") if rack[name]} | {"rack": rack["id"]}
    found = {}
    for face in FACES:
        taken = {unit for device in devices if device.seen_from(face) for unit in device.units}
        free = [unit for unit in range(1, frame.height + 1) if unit not in taken]
        found[face] = {
            unit: f"/dcim/devices/add/?{urlencode({**place, 'face': face, 'position': unit})}" for unit in free
        }
    return found


def rack_tray(request: Request, endpoint: Endpoint, rack: Mapping[str, Any]) -> dict[str, Any] | None:
    """The devices of a rack that are not mounted, and those at its site without a rack: one statement."""
    uow = request.uow
    items = rack_elevations.tray_of(uow, [rack], flat=True)
    may_mount = may(uow, uow.registry[DEVICE], "change")
    if not items:
        return None
    return {"items": items, "most": rack_plan.MAX_LISTED, "plan": _planner_path(endpoint, rack) if may_mount else ""}


def device_elevation(request: Request, endpoint: Endpoint, device: Mapping[str, Any]) -> dict[str, Any] | None:
    """The drawing of the face of the rack that a device is mounted in; ``None`` where the user may not view it."""
    rack, face, racks = device.get("rack"), device.get("face"), request.uow.registry["dcim.rack"]
    if not rack or not permissions.visible_ids(request.uow, racks, [rack["id"]]):
        return None
    faces = (face["value"],) if face else FACES
    return _elevation(rack, faces) | {"link": object_path(racks, rack["id"])}


def _elevation(rack: Mapping[str, Any], faces: Sequence[str]) -> dict[str, Any]:
    """The values of the template for the faces of a rack."""
    sizes = urlencode(dataclasses.asdict(SIZE))
    shown = {"rack": rack["id"], "name": rack["display"], "faces": faces, "sizes": sizes}
    return {**shown, "link": "", "areas": {}}


@hookimpl
def netinv_web_panels(endpoint: Endpoint) -> list[Panel]:
    """The panels of a resource."""
    if endpoint.label == "dcim.rack":
        return [
            Panel("elevation", "Elevation", rack_elevation, side="main", template=ELEVATION, position=100),
            Panel("tray", "Not mounted", rack_tray, lazy=True, template=TRAY, position=60),
        ]
    if endpoint.label == "dcim.device":
        rack = Panel("elevation", "Rack", device_elevation, template=ELEVATION, position=100)
        return [rack, type_differences.PANEL]
    if endpoint.label == "dcim.devicetype":
        return [type_differences.TYPE_PANEL]
    if endpoint.label == CABLE:
        return [trace_pages.panel(trace_pages.end_of_cable)]
    own = [redundancy.PANEL] if endpoint.label == "dcim.interface" else []
    return [*own, trace_pages.panel()] if trace_pages.is_end(endpoint) else []


@hookimpl
def netinv_web_tabs(endpoint: Endpoint) -> list[Tab]:
    """The tabs of a resource."""
    return [trace_pages.tab()] if trace_pages.is_end(endpoint) else []


def _is_free(item: Mapping[str, Any]) -> bool:
    return item.get("cable") is None


def _takes_cable(endpoint: Endpoint, item: Mapping[str, Any]) -> bool:
    """False for a port without a socket, such as a LAG."""
    model = endpoint.model
    assert issubclass(model, Cabled)
    names = [name for name in ("type", *model.fit_columns) if name in endpoint.table.c]
    values = {name: item.get(name.removesuffix("_id")) for name in names}
    row = {
        name: value.get("value", value.get("id")) if isinstance(value, Mapping) else value
        for name, value in values.items()
    }
    return model.cannot_be_cabled(types.SimpleNamespace(**row)) is None


def _cable_of(port: Mapping[str, Any]) -> Any:
    """The id of the cable at a port."""
    cable = port["cable"]
    return cable["id"] if isinstance(cable, Mapping) else cable


def _move_path(endpoint: Endpoint, port: Mapping[str, Any]) -> str:
    """The path of the page that moves the end of a cable away from a port."""
    end = address_of(End(endpoint.label, port["id"]))
    return recabling.address(recabling.MOVE.path, [_cable_of(port)], end=end)


def _disconnect_path(endpoint: Endpoint, port: Mapping[str, Any]) -> str:
    """The path of the page that asks whether to delete the cable at a port, and leads back to the port."""
    cables = page_path(endpoint.registry[CABLE])
    return f"{cables}delete/?{urlencode({ROW: _cable_of(port), BACK: object_path(endpoint, port['id'])})}"


def _of_cable(operation: recabling.RecablingOperation, scope: str, title: str, icon: str) -> Action:
    """The action that replaces a cable, or selected ones."""

    def path(endpoint: Endpoint, item: Mapping[str, Any] | None) -> str:
        return operation.path if item is None else recabling.address(operation.path, [item["id"]])

    name = operation.path.strip("/").rpartition("/")[2]
    return Action(name, title, path, scope=scope, permission="delete", further_permission=(CABLE, "add"), icon=icon)


CONNECT = Action(
    "connect",
    "Connect",
    connecting.connect_path,
    permission="change",
    further_permission=("dcim.cable", "add"),
    icon="link",
    applies=_is_free,
    prominent=True,
)


def _workbench_path(endpoint: Endpoint, item: Mapping[str, Any]) -> str:
    return f"{workbench.PATH}?{urlencode({'left': address_of(End(endpoint.label, item['id']))})}"


def _elevations_path(parameter: str) -> Any:
    """Returns the function that leads to the elevations of the racks with an object."""
    return lambda endpoint, item: f"{rack_elevations.PATH}?{urlencode({parameter: item['id']})}"


def _planner_path(endpoint: Endpoint, rack: Mapping[str, Any]) -> str:
    return f"{rack_elevations.PATH}?{urlencode({'id': rack['id'], '_face': 'both', '_plan': 1})}"


def _drawn_path(endpoint: Endpoint, query: ListQuery) -> str:
    """The elevations of the racks of a list."""
    return dataclasses.replace(query.only_filters(), path=rack_elevations.PATH, has_default_view=False).url


def _elevations_of(parameter: str) -> Action:
    """The action that shows the racks with an object."""
    path = _elevations_path(parameter)
    return Action("elevations", "Rack elevations", path, further_permission=(RACK, "view"), icon="server-stack")


MOVE = Action(
    "move-cable",
    "Move the cable",
    _move_path,
    permission="change",
    further_permission=(CABLE, "delete"),
    icon="arrows-right-left",
    applies=lambda item: not _is_free(item),
)
DISCONNECT = Action(
    "disconnect",
    "Disconnect",
    _disconnect_path,
    further_permission=(CABLE, "delete"),
    icon="link-slash",
    applies=lambda item: not _is_free(item),
)
RACK, DEVICE = "dcim.rack", "dcim.device"
PLAN = Action(
    "plan",
    "Plan moves",
    _planner_path,
    further_permission=("dcim.device", "change"),
    icon="arrows-up-down",
)
CABLING = Action(
    "cabling",
    "Cabling workbench",
    _workbench_path,
    further_permission=("dcim.cable", "add"),
    icon="link",
)
ACTIONS: Mapping[str, Sequence[Action]] = {
    "dcim.device": [type_moves.ACTION, CABLING],
    CABLE: [
        _of_cable(recabling.MOVE, "object", "Move an end", "arrows-right-left"),
        _of_cable(recabling.INSERT, "object", "Insert a panel", "square-3-stack-3d"),
        _of_cable(recabling.MOVE, "selection", "Move ends", "arrows-right-left"),
        _of_cable(recabling.INSERT, "selection", "Insert a panel", "square-3-stack-3d"),
    ],
    RACK: [PLAN, Action("elevations", "Elevations", _drawn_path, scope="list", icon="server-stack")],
    "dcim.site": [_elevations_of("site_id")],
    "dcim.location": [_elevations_of("location_id")],
    "dcim.rackgroup": [_elevations_of("group_id")],
}


@hookimpl
def netinv_web_actions(endpoint: Endpoint) -> list[Action]:
    """The actions of a resource: ports without a cable can be connected, devices in racks moved."""
    if not issubclass(endpoint.model, Cabled) or endpoint.resource.of is not None:
        return [*ACTIONS.get(endpoint.label, ())]
    connect = dataclasses.replace(CONNECT, applies=lambda item: _is_free(item) and _takes_cable(endpoint, item))
    return [connect, MOVE, DISCONNECT, *port_actions.of_port(endpoint)]


@hookimpl
def netinv_web_static() -> Mapping[str, str]:
    """The style sheet of drawings of racks."""
    return {"dcim": "netinv_dcim:web/static"}
