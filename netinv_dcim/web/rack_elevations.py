"""The page ``/dcim/rack-elevations/``: drawings of many racks beside each other, with the filters of the list of racks.

The drawings are SVG elements of the page, so that devices are links and colours follow the user's theme. Their number
of statements does not depend on the number of racks.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from pyramid.request import Request

from netinv_core.endpoint import Endpoint
from netinv_core.errors import Invalid
from netinv_core.fields.images import MEDIA
from netinv_core.read.listing import Slice
from netinv_core.read.plan import JoinedTable, Plan, Row, RowSet
from netinv_core.uow import UnitOfWork
from netinv_dcim.power import PowerFeed
from netinv_dcim.rack_position import Mounted, mounted
from netinv_dcim.rack_utilization import Share, power_of, units_of
from netinv_dcim.rack_views.drawing_data import device_details, device_rows, reservations, visible
from netinv_dcim.rack_views.svg import FADED, RAIL, DeviceDetails, Frame, Reserved, Size, area, runs
from netinv_dcim.rack_views.svg_text import colored, fitted, readable_on
from netinv_web import static_files
from netinv_web.lists import filter_text
from netinv_web.lists.facets import facet_names
from netinv_web.lists.filter_bar import chips_of
from netinv_web.lists.filter_form import form_of, groups_of, submitted
from netinv_web.lists.list_query import ListQuery, query_of
from netinv_web.lists.listing import FACETS, Pages, facets_at, matches_of, page_of
from netinv_web.pages import fragment, query_text, see_other

PATH = "/dcim/rack-elevations/"
TEMPLATE = "netinv_dcim:web/templates/rack_elevations.jinja2"
PAGE_SIZES = (20, 50, 100)
FACES = ("front", "rear")
LEGEND, GAP = 24, 10  # pixels: the column of unit numbers, and the space between two faces
SIZE = Size(unit_width=168, unit_height=18, legend_width=0)
# What the racks of a page are grouped by: the title, and the names that the list is ordered by.
GROUPINGS: Mapping[str, tuple[str, Sequence[str]]] = {
    "site": ("Site", ["site", "name"]),
    "location": ("Location", ["location", "name"]),
    "group": ("Group", ["group", "name"]),
    "role": ("Role", ["role", "name"]),
}
_MEMBERS = ("id", "display", "u_height", "desc_units", "site", "location", "group", "role", "tenant", "status")


class Place(NamedTuple):
    """A rectangle of a drawing, in pixels."""

    x: int
    y: int
    width: int
    height: int


@dataclasses.dataclass(frozen=True)
class Box:
    """What is drawn at a place. ``lines`` are its tooltip; ``label`` is shortened to the width.

    ``kind`` is the class of the rectangle. ``path`` is the page of the device, ``picture`` the path of its image.
    """

    kind: str
    place: Place
    lines: Sequence[str]
    label: str = ""
    path: str = ""
    fill: str = ""
    ink: str = ""
    picture: str = ""


@dataclasses.dataclass(frozen=True)
class Drawing:
    """One face of a rack: the boxes from back to front."""

    face: str
    boxes: Sequence[Box]


@dataclasses.dataclass(frozen=True)
class RackView:
    """A rack of the page. ``scale`` names the column of unit numbers that racks of its kind share."""

    rack: Mapping[str, Any]
    scale: str
    drawings: Sequence[Drawing]
    units: Share
    power: Share | None


def show(request: Request) -> Any:
    """The page, or its counts by value (``_part=facets``)."""
    uow, endpoint = request.uow, request.context.endpoint
    query = query_of(request)
    following = submitted(request, endpoint, query)
    if following is not None:
        return see_other(following.url)
    if query_text(request, "_part") == "facets":
        return fragment(request, FACETS, {"facets": facets_at(request, endpoint, query)})
    faces, grouping, pictures = _choices(request)
    number, size = page_of(request, default_size=PAGE_SIZES[0])
    window = Slice(size, (number - 1) * size)
    matches = matches_of(uow, endpoint, _ordered(query, grouping), window)
    racks = views_of(uow, endpoint, matches.keys, faces, pictures=pictures)
    return {
        "endpoint": endpoint,
        "listed": endpoint,
        "query": query,
        "groups": [(name, list(group)) for name, group in itertools.groupby(racks, lambda view: _name(view, grouping))],
        "scales": sorted({(view.scale, view.rack["u_height"], view.rack["desc_units"]) for view in racks}),
        "size": SIZE,
        "faces": _links(query, "_face", faces, [("Front", "front"), ("Rear", "rear"), ("Both", "both")]),
        "groupings": _links(query, "_by", grouping, [(title, name) for name, (title, _) in GROUPINGS.items()]),
        "pictures": query.without("_pictures") if not pictures else query.with_values("_pictures", ["0"]),
        "with_pictures": pictures,
        "pages": Pages(number, size, matches.count),
        "page_sizes": PAGE_SIZES,
        "error": matches.error,
        "chips": chips_of(uow, endpoint, query, matches.errors),
        "filter_groups": groups_of(uow, endpoint),
        "filter_form": form_of(request, endpoint, query),
        "filter_text": filter_text.written(query.filters),
        "legend": LEGEND,
        "gap": GAP,
        "has_facets": bool(facet_names(endpoint)) and matches.count > 0,
        "list_path": dataclasses.replace(query.only_filters(), path="/dcim/racks/").url,
        "style": static_files.path_of(request, "elevations.css", "dcim"),
    }


def _choices(request: Request) -> tuple[str, str, bool]:
    """The faces, the grouping, and whether pictures are shown, as the query says.

    :raises Invalid: for values that are no choices
    """
    face, grouping = query_text(request, "_face", "front"), query_text(request, "_by", "site")
    pictures = query_text(request, "_pictures", "1")
    errors = {
        name: [f'"{value}" is not a valid choice. Choices are {", ".join(choices)}.']
        for name, value, choices in (
            ("_face", face, (*FACES, "both")),
            ("_by", grouping, tuple(GROUPINGS)),
            ("_pictures", pictures, ("0", "1")),
        )
        if value not in choices
    }
    if errors:
        raise Invalid(errors)
    return face, grouping, pictures == "1"


def _ordered(query: ListQuery, grouping: str) -> ListQuery:
    """The query in the order of the groups."""
    return query.with_values("ordering", GROUPINGS[grouping][1])


def _links(query: ListQuery, name: str, current: str, choices: Iterable[tuple[str, str]]) -> list[Any]:
    """Title, path and whether it is the current one, of each choice of a parameter of the page."""
    return [(title, query.with_values(name, [value]).url, value == current) for title, value in choices]


def _name(view: RackView, grouping: str) -> str:
    """The display name of the object that a rack is grouped by."""
    value = view.rack[grouping]
    return str(value["display"]) if value else f"No {GROUPINGS[grouping][0].lower()}"


def views_of(uow: UnitOfWork, endpoint: Endpoint, keys: Sequence[Any], face: str, *, pictures: bool) -> list[RackView]:
    """The racks with these ids, in this order, with the drawings of their faces: five statements."""
    racks = dict(endpoint.custom_plan(("elevations",), _read_rack).fetch(uow, keys))
    devices = mounted(uow, list(racks))
    rows = device_rows(uow, list(devices))
    reserved = reservations(uow, list(racks))
    feeds = visible(uow, PowerFeed)
    power = power_of(uow, racks, feeds)
    inside: dict[Any, list[Mounted]] = {}
    for device in devices.values():
        inside.setdefault(device.rack, []).append(device)
    views = []
    for key in keys:
        rack = racks.get(key)
        if rack is None:
            continue
        frame = Frame("", rack["u_height"], rack["desc_units"])
        present, kept = inside.get(key, []), reserved.get(key, [])
        drawings = [
            Drawing(side, boxes(uow, frame, present, rows, kept, side, pictures=pictures))
            for side in (FACES if face == "both" else (face,))
        ]
        scale = f"units-{frame.height}-{'down' if frame.descending else 'up'}"
        units = units_of(frame.height, present, [reservation.units for reservation in kept])
        views.append(RackView(rack, scale, drawings, units, power.get(key)))
    return views


def _read_rack(plan: Plan, place: JoinedTable) -> Any:
    """The reader of what the page shows of a rack."""
    readers = [(name, plan.read(place, name)) for name in _MEMBERS]

    def read(row: Row, page: RowSet) -> dict[str, Any]:
        return {name: reader(row, page) for name, reader in readers}

    return read


def boxes(
    uow: UnitOfWork,
    frame: Frame,
    inside: Iterable[Mounted],
    rows: Mapping[Any, Any],
    reserved: Iterable[Reserved],
    face: str,
    *,
    pictures: bool,
) -> list[Box]:
    """The reservations and devices on a face of a rack, from back to front.

    :param rows: what the user may view of the devices, by id
    """
    made: list[Box] = []
    occupied: set[int] = set()
    for device in inside:
        units = [unit for unit in device.units if 1 <= unit <= frame.height]
        if units and device.seen_from(face):
            occupied.update(units)
            details = device_details(uow, device, rows.get(device.id), face)
            made.append(_device_box(frame, device, units, details, behind=device.face != face, pictures=pictures))
    return [*_reserved_boxes(frame, reserved, occupied), *made]


def _place(frame: Frame, units: Sequence[int]) -> Place:
    """The place of units in a drawing without rails."""
    left, top, right, bottom = area(frame, SIZE, units)
    return Place(left - RAIL, top, right - left, bottom - top)


def _device_box(
    frame: Frame, device: Mounted, units: Sequence[int], details: DeviceDetails | None, *, behind: bool, pictures: bool
) -> Box:
    """The box of a device; without details when the user may not view it."""
    place, position = _place(frame, units), f"U{device.position}"
    if details is None:
        return Box("hidden", place, ["Occupied", position])
    lines = [details.name, position, *details.notes, *(["Mounted on the other face"] if behind else [])]
    label, path = fitted(details.name, 12, SIZE.unit_width - 12), f"/dcim/devices/{device.id}/"
    if behind:
        return Box("behind", place, lines, label, path)
    picture = f"{MEDIA}{details.picture}" if pictures and details.picture else ""
    color = colored(details.color, FADED)
    return Box("device", place, lines, label, path, color, readable_on(color), picture)


def _reserved_boxes(frame: Frame, reserved: Iterable[Reserved], occupied: set[int]) -> list[Box]:
    """The boxes of reserved units; occupied ones are not drawn."""
    made = []
    for reservation in reserved:
        free = [unit for unit in reservation.units if 1 <= unit <= frame.height and unit not in occupied]
        lines = [f"Reserved: {reservation.words}" if reservation.words else "Reserved", *reservation.notes]
        label = fitted(reservation.words, 11, SIZE.unit_width - 12)
        made += [Box("reserved", _place(frame, run), lines, label) for run in runs(free)]
    return made


def includeme(config: Any) -> None:
    """Adds the page."""
    config.add_netinv_page(PATH, show, TEMPLATE, permission="view", resource="dcim/racks")
