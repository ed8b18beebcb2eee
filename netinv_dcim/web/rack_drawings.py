"""Drawings of the faces of racks as boxes, which templates make SVG elements of."""

from __future__ import annotations

import dataclasses
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from netinv_core.fields.images import MEDIA
from netinv_dcim.rack_position import Mounted, fits
from netinv_dcim.rack_views.drawing_data import device_details
from netinv_dcim.rack_views.svg import FADED, RAIL, DeviceDetails, RackFrame, Reserved, UnitSize, area, runs
from netinv_dcim.rack_views.svg_text import fit_text, readable_on, valid_color
from netinv_dcim.web import rack_plan

if TYPE_CHECKING:
    from netinv_core.uow import UnitOfWork

SIZE = UnitSize(unit_width=168, unit_height=18, legend_width=0)


class Place(NamedTuple):
    """A rectangle of a drawing, in pixels."""

    x: int
    y: int
    width: int
    height: int


@dataclasses.dataclass(frozen=True)
class Box:
    """Rectangle with a text or picture, and its link. ``lines`` are its tooltip; ``label`` is shortened to the width.

    ``kind`` is the class of the rectangle. ``path`` is where the box leads, ``picture`` the path of the image of the
    device. ``device`` is set on devices that can be moved. ``member`` is the name and value of the button that the box
    is in the form of the plan: the form has the moves once, links would repeat them. ``obstructed`` says which refused
    moves a device is in the way of.
    """

    kind: str
    place: Place
    lines: Sequence[str]
    label: str = ""
    path: str = ""
    fill: str = ""
    ink: str = ""
    picture: str = ""
    device: Mounted | None = None
    chosen: bool = False
    member: tuple[str, str] | None = None
    obstructed: str = ""


@dataclasses.dataclass(frozen=True)
class RackContents:
    """Devices and reservations of a rack; ``rows`` are the columns of devices that the user may view, by id.
    ``obstructed`` are names of devices whose refused moves a device is in the way of, by its id.
    """

    rack: uuid.UUID
    frame: RackFrame
    devices: Sequence[Mounted]
    rows: Mapping[Any, Any]
    reserved: Sequence[Reserved]
    obstructed: Mapping[Any, Sequence[str]] = dataclasses.field(default_factory=dict)


@dataclasses.dataclass(frozen=True)
class DrawingOptions:
    """Options of the drawings: the ``face`` or ``both``, and the device that is chosen to be moved.

    While moves are planned, devices are buttons that choose them.
    """

    face: str
    pictures: bool
    chosen: rack_plan.Chosen | None = None
    planning: bool = False

    def movable(self, box: Box, device: Mounted) -> Box:
        """The box of a device, as one that can be chosen while moves are planned."""
        if not self.planning:
            return box
        is_chosen = self.chosen is not None and self.chosen.id == device.id
        member = (rack_plan.SELECT, "" if is_chosen else str(device.id))
        return dataclasses.replace(box, path="", device=device, chosen=is_chosen, member=member)


@dataclasses.dataclass(frozen=True)
class RackDrawing:
    """One face of a rack: the boxes from back to front."""

    face: str
    boxes: Sequence[Box]


def boxes(uow: UnitOfWork, contents: RackContents, face: str, shown: DrawingOptions) -> list[Box]:
    """The reservations and devices on a face of a rack, from back to front."""
    made: list[Box] = []
    occupied: set[int] = set()
    frame = contents.frame
    for device in contents.devices:
        units = [unit for unit in device.units if 1 <= unit <= frame.height]
        if units and device.seen_from(face):
            occupied.update(units)
            details = device_details(uow, device, contents.rows.get(device.id), face)
            box = _device_box(frame, device, units, details, behind=device.face != face, pictures=shown.pictures)
            if refused := contents.obstructed.get(device.id):
                note = f"In the way of {', '.join(refused)}"
                box = dataclasses.replace(box, obstructed=note, lines=[*box.lines, note])
            made.append(shown.movable(box, device) if details is not None else box)
    return [*_reserved_boxes(frame, contents.reserved, occupied), *made]


def layer(box: Box) -> int:
    """The layer of a box: units that a device may move to are above reservations, and below devices."""
    return {"reserved": 0, "target": 1}.get(box.kind, 2)


def targets(contents: RackContents, face: str, shown: DrawingOptions) -> Iterator[Box]:
    """The units of a face into which the chosen device fits, each a button that adds the move to the plan."""
    chosen = shown.chosen
    if chosen is None or not chosen.height:
        return
    for unit in range(1, contents.frame.height - chosen.height + 2):
        device = Mounted(chosen.id, contents.rack, unit, face, chosen.height, chosen.deep)
        if fits(device, contents.frame.height, contents.devices):
            move = rack_plan.Move(chosen.id, contents.rack, unit, face)
            lines = [f"Mount {chosen.name} in U{unit}"]
            yield Box("target", _place(contents.frame, [unit]), lines, member=(rack_plan.MOVE, move.text))


def _place(frame: RackFrame, units: Sequence[int]) -> Place:
    """The place of units in a drawing without rails."""
    left, top, right, bottom = area(frame, SIZE, units)
    return Place(left - RAIL, top, right - left, bottom - top)


def _device_box(
    frame: RackFrame,
    device: Mounted,
    units: Sequence[int],
    details: DeviceDetails | None,
    *,
    behind: bool,
    pictures: bool,
) -> Box:
    """The box of a device; without details when the user may not view it."""
    place, position = _place(frame, units), f"U{device.position}"
    if details is None:
        return Box("hidden", place, ["Occupied", position])
    lines = [details.name, position, *details.notes, *(["Mounted on the other face"] if behind else [])]
    label, path = fit_text(details.name, 12, SIZE.unit_width - 12), f"/dcim/devices/{device.id}/"
    if behind:
        return Box("behind", place, lines, label, path)
    picture = f"{MEDIA}{details.picture}" if pictures and details.picture else ""
    color = valid_color(details.color, FADED)
    return Box("device", place, lines, label, path, color, readable_on(color), picture)


def _reserved_boxes(frame: RackFrame, reserved: Iterable[Reserved], occupied: set[int]) -> list[Box]:
    """The boxes of reserved units; occupied ones are not drawn."""
    made = []
    for reservation in reserved:
        free = [unit for unit in reservation.units if 1 <= unit <= frame.height and unit not in occupied]
        lines = [f"Reserved: {reservation.words}" if reservation.words else "Reserved", *reservation.notes]
        label = fit_text(reservation.words, 11, SIZE.unit_width - 12)
        made += [Box("reserved", _place(frame, run), lines, label) for run in runs(free)]
    return made
