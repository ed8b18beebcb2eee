"""Pictures of proposed changes: the faces of racks whose devices or reservations change, and the paths of cables.

They are the drawings of the pages of racks and ports, named from the representations in the changes alone. A path is
drawn once, whichever of its cables change.
"""

from __future__ import annotations

import dataclasses
import uuid
from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from netinv_dcim.cabling.paths import CABLE, CableNetwork, End
from netinv_dcim.rack_views.svg import UnitSize
from netinv_dcim.web.panels import FACES, RACK
from netinv_dcim.web.trace_pages import is_end
from netinv_extras.change_requests.pictures import ChangePicture
from netinv_web.paths import object_path

if TYPE_CHECKING:
    from netinv_core.registry import Registry
    from netinv_core.uow import UnitOfWork

DEVICE, RESERVATION = "dcim.device", "dcim.rackreservation"
RACKS, PATHS = "Racks", "Paths of cables"  # kinds
MAX_RACKS, MAX_PATHS = 4, 6  # that are shown
# Fields that a drawing shows, by label.
DRAWN: Mapping[str, Sequence[str]] = {
    DEVICE: ("rack", "position", "face", "name", "device_type", "device_role"),
    RACK: ("name", "facility_id", "u_height", "desc_units"),
    RESERVATION: ("rack", "units", "description"),
}
SIZE = UnitSize(unit_width=120, unit_height=16, legend_width=24)  # four faces are beside each other


def pictures_of(changes: Sequence[Any]) -> Iterator[ChangePicture]:
    """The pictures that changes show in."""
    for change in changes:
        states = [state for state in (change.before, change.after) if state is not None]
        label = change.endpoint.label
        if label == CABLE:
            for state in states:
                yield from _path(change.endpoint.registry, state)
        elif label in DRAWN and (len(states) == 1 or _differ(states[0], states[1], DRAWN[label])):
            for state in states:
                yield from _faces(label, state)


def _differ(before: Mapping[str, Any], after: Mapping[str, Any], names: Sequence[str]) -> bool:
    return any(before.get(name) != after.get(name) for name in names)


def _faces(label: str, state: Mapping[str, Any]) -> Iterator[ChangePicture]:
    """The face of the rack that a device is on; the front for racks and reservations."""
    rack, face = state if label == RACK else state.get("rack"), FACES[0]
    if label == DEVICE:
        if not state.get("position"):
            return
        face = (state.get("face") or {}).get("value") or face
    if rack:
        query = {"render": "svg", "face": face, **dataclasses.asdict(SIZE)}
        path = f"/api/dcim/racks/{rack['id']}/elevation/?{urlencode(query)}"
        name = f"{face.capitalize()} of rack {rack['display']}"
        yield ChangePicture(RACKS, MAX_RACKS, RACK, uuid.UUID(str(rack["id"])), name, path)


def _path(registry: Registry, cable: Mapping[str, Any]) -> Iterator[ChangePicture]:
    """The path through the first end of a cable."""
    label, end = str(cable.get("termination_a_type")), cable.get("termination_a") or {}
    endpoint, key = registry.get(label), cable.get("termination_a_id")
    if endpoint is None or key is None or not is_end(endpoint):
        return
    holder = (end.get("device") or {}).get("display", "")
    name = f"Path through {holder} {end.get('display', key)}".replace("  ", " ")
    path = f"{object_path(endpoint, key)}trace.svg"
    yield ChangePicture(PATHS, MAX_PATHS, label, uuid.UUID(str(key)), name, path, paths_shown)


def paths_shown(uow: UnitOfWork, pictures: Sequence[ChangePicture]) -> dict[str, Hashable]:
    """The origins of the paths that pictures show, by the pictures' paths, without ends that have no cable. A cable
    between ends at which no path begins stands for itself. The statements do not depend on the number of pictures.
    """
    network = CableNetwork(uow)
    ends = {picture.path: End(picture.label, picture.key) for picture in pictures}
    network.origins(network.lines_at(ends.values()))  # loads all of them at once
    lines = {path: network.line_at(end) for path, end in ends.items()}
    return {path: frozenset(network.origins([line])) or line.id for path, line in lines.items() if line is not None}
