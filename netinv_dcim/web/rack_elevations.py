"""The page ``/dcim/rack-elevations/``: drawings of many racks beside each other, with the filters of the list of racks.

The drawings are SVG elements of the page, so that devices are links and colours follow the user's theme. Their number
of statements does not depend on the number of racks. With a plan of moves (:mod:`netinv_dcim.web.rack_plan`) the racks
are shown as they would be after it.
"""

from __future__ import annotations

import contextlib
import dataclasses
import itertools
import uuid
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pyramid.request import Request
from pyramid.response import Response

from netinv_core.errors import Conflict, Invalid, error_text
from netinv_core.fields import Share
from netinv_core.read.listing import Slice
from netinv_core.sql.plan import Row
from netinv_core.sql.plans import custom_plan
from netinv_dcim.devices import Device
from netinv_dcim.power import PowerFeed
from netinv_dcim.rack_position import HIDDEN, Mounted, read_mounted
from netinv_dcim.rack_utilization import power_of, units_of
from netinv_dcim.rack_views.drawing_data import device_rows, display_name, reservations, visible
from netinv_dcim.rack_views.svg import CAP, RackFrame
from netinv_dcim.web import rack_plan
from netinv_dcim.web.rack_drawings import SIZE, DrawingOptions, RackContents, RackDrawing, boxes, layer, targets
from netinv_dcim.web.rack_plan import RackPlan
from netinv_web import notices, static_files
from netinv_web.lists import filter_text
from netinv_web.lists.facets import facet_names
from netinv_web.lists.filter_bar import chips_of
from netinv_web.lists.filter_form import form_of, groups_of, submitted_query
from netinv_web.lists.list_query import ListQuery, query_of
from netinv_web.lists.listing import FACETS, Pages, facets_at, matches_of, page_of
from netinv_web.menu import may
from netinv_web.pages import fragment, query_text, see_other

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.sql.plan import JoinedTable, ReadPlan, RowSet
    from netinv_core.uow import UnitOfWork

PATH = "/dcim/rack-elevations/"
TEMPLATE = "netinv_dcim:web/templates/rack_elevations.jinja2"
PART = "netinv_dcim:web/templates/rack_elevations_part.jinja2"
PAGE_SIZES = (20, 50, 100)
FACES = ("front", "rear")
LEGEND, GAP, EDGE = 24, 10, 3  # pixels: the column of unit numbers, between two faces, at the sides of a face
# What the racks of a page are grouped by: the title, and the names that the list is ordered by.
GROUPINGS: Mapping[str, tuple[str, Sequence[str]]] = {
    "site": ("Site", ["site", "name"]),
    "location": ("Location", ["location", "name"]),
    "group": ("Group", ["group", "name"]),
    "role": ("Role", ["role", "name"]),
}
_MEMBERS = ("id", "display", "u_height", "desc_units", "site", "location", "group", "role", "tenant", "status")


@dataclasses.dataclass(frozen=True)
class TrayItem:
    """A device that is not mounted."""

    id: str
    name: str
    kind: str
    height: int
    rack: str


@dataclasses.dataclass(frozen=True)
class RackView:
    """A rack of the page. ``scale`` names the column of unit numbers that racks of its kind share. ``added_power`` are
    the watts of ``power`` that planned moves add, ``affected`` is true for racks that they lead from or to.
    """

    rack: Mapping[str, Any]
    scale: str
    drawings: Sequence[RackDrawing]
    units: Share
    power: Share | None
    added_power: int = 0
    affected: bool = False


def show(request: Request) -> Any:
    """The page, or the part that ``_part`` names; a POST applies the plan."""
    uow, endpoint = request.uow, request.context.endpoint
    query = rack_plan.last_moves(query_of(request))
    following = submitted_query(request, endpoint, query) or rack_plan.apply_form(query)
    if following is not None:
        return see_other(following.url)
    part = query_text(request, "_part")
    if part == "facets":
        return fragment(request, FACETS, {"facets": facets_at(request, endpoint, query)})
    plan = _plan(request, query)
    if request.method == "POST":
        return _apply(request, plan)
    values = _values(request, endpoint, query, plan)
    values["moved"] = uow.registry.of_model(Device)
    values["may_plan"] = may(uow, values["moved"], "change")
    return fragment(request, PART, values) if part == "list" else values


def _plan(request: Request, query: ListQuery) -> RackPlan | None:
    """The plan of the page; ``None`` for a page that only shows racks."""
    is_planning = request.method == "POST" or any(query.values(name) for name in (rack_plan.PLANNING, rack_plan.MOVE))
    return rack_plan.plan_of(request, query) if is_planning else None


def _apply(request: Request, plan: RackPlan | None) -> Response:
    """Applies a plan; when moves of it are refused, the page says which."""
    if plan is None or not plan.moves:
        return see_other(query_of(request).url)
    try:
        return rack_plan.apply(request, plan)
    except (Conflict, Invalid) as error:
        notice = notices.Notice(f"No device was moved. {error_text(error.body)}", "danger")
        return notices.add(request, see_other(plan.query.url), notice)


def _values(request: Request, endpoint: Endpoint, query: ListQuery, plan: RackPlan | None) -> dict[str, Any]:
    """The values of the template."""
    uow = request.uow
    face, grouping, pictures = _choices(request)
    number, size = page_of(request, default_size=PAGE_SIZES[0])
    matches = matches_of(uow, endpoint, _order_by_group(query, grouping), Slice(size, (number - 1) * size))
    shown = DrawingOptions(
        face, pictures, rack_plan.chosen_device(uow, query) if plan is not None else None, plan is not None
    )
    with rack_plan.try_moves(request, plan) if plan is not None else contextlib.nullcontext(uow) as tried:
        racks = views_of(tried, endpoint, matches.keys, shown, plan)
        tray = tray_of(tried, [view.rack for view in racks]) if plan is not None else ()
    return {
        "endpoint": endpoint,
        "listed": endpoint,
        "query": query,
        "groups": [(name, list(group)) for name, group in itertools.groupby(racks, lambda view: _name(view, grouping))],
        "scales": sorted({(view.scale, view.rack["u_height"], view.rack["desc_units"]) for view in racks}),
        "size": SIZE,
        "faces": _links(query, "_face", face, [("Front", "front"), ("Rear", "rear"), ("Both", "both")]),
        "groupings": _links(query, "_by", grouping, [(title, name) for name, (title, _) in GROUPINGS.items()]),
        "pictures": query.without("_pictures") if not pictures else query.with_values("_pictures", ["0"]),
        "with_pictures": pictures,
        "plan": plan,
        "chosen": shown.chosen,
        "tray": tray,
        "most_in_tray": rack_plan.MAX_LISTED,
        "plan_path": query.with_values(rack_plan.PLANNING, ["1"]).url,
        "finished": rack_plan.page_without_plan(query),
        "unchosen": query.without(rack_plan.SELECT),
        "pages": Pages(number, size, matches.count),
        "page_sizes": PAGE_SIZES,
        "error": matches.error,
        "chips": chips_of(uow, endpoint, query, matches.errors),
        "filter_groups": groups_of(uow, endpoint),
        "filter_form": form_of(request, endpoint, query),
        "filter_text": filter_text.write_text(query.filters),
        "legend": LEGEND,
        "gap": GAP,
        "edge": EDGE,
        "margin": CAP,
        "has_facets": bool(facet_names(endpoint)) and matches.count > 0 and plan is None,
        "list_path": dataclasses.replace(query.only_filters(), path="/dcim/racks/").url,
        "style": static_files.path_of(request, "elevations.css", "dcim"),
        "script": static_files.path_of(request, "planner.js", "dcim"),
    }


def tray_of(uow: UnitOfWork, racks: Sequence[Mapping[str, Any]], *, flat: bool = False) -> list[TrayItem]:
    """The devices that are not mounted, in these racks and at their sites, with ``flat`` also those that take no units:
    one statement.
    """
    names = {str(rack["id"]): rack["display"] for rack in racks}
    keys = [uuid.UUID(key) for key in names]
    sites = [uuid.UUID(str(rack["site"]["id"])) for rack in racks]
    return [
        TrayItem(
            str(row.id),
            row.name or row.model,
            f"{row.model}, {row.u_height} U",
            row.u_height,
            names.get(str(row.rack_id), "no rack"),
        )
        for row in rack_plan.read_unmounted(uow, keys, sites, flat=flat)
    ]


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


def _order_by_group(query: ListQuery, grouping: str) -> ListQuery:
    """The query in the order of the groups."""
    return query.with_values("ordering", GROUPINGS[grouping][1])


def _links(query: ListQuery, name: str, current: str, choices: Iterable[tuple[str, str]]) -> list[Any]:
    """Title, path and whether it is the current one, of each choice of a parameter of the page."""
    return [(title, query.with_values(name, [value]).url, value == current) for title, value in choices]


def _name(view: RackView, grouping: str) -> str:
    """The display name of the object that a rack is grouped by."""
    value = view.rack[grouping]
    return str(value["display"]) if value else f"No {GROUPINGS[grouping][0].lower()}"


def views_of(
    uow: UnitOfWork, endpoint: Endpoint, keys: Sequence[Any], shown: DrawingOptions, plan: RackPlan | None = None
) -> list[RackView]:
    """The racks with these ids, in this order, with the drawings of their faces: five statements, and up to three more
    with a plan, whose moves are made.
    """
    racks = dict(custom_plan(endpoint, ("elevations",), _read_rack).fetch(uow, keys))
    devices = read_mounted(uow, list(racks))
    rows = device_rows(uow, list(devices))
    reserved = reservations(uow, list(racks))
    power = _power(uow, racks, plan)
    obstructed = _find_obstructed(uow, plan, devices, rows) if plan is not None else {}
    affected = plan.affected if plan is not None else ()
    inside: dict[Any, list[Mounted]] = {}
    for device in devices.values():
        inside.setdefault(device.rack, []).append(device)
    views = []
    for key in keys:
        rack = racks.get(key)
        if rack is None:
            continue
        frame = RackFrame("", rack["u_height"], rack["desc_units"])
        contents = RackContents(key, frame, inside.get(key, []), rows, reserved.get(key, []), obstructed)
        drawings = [
            RackDrawing(side, sorted([*boxes(uow, contents, side, shown), *targets(contents, side, shown)], key=layer))
            for side in (FACES if shown.face == "both" else (shown.face,))
        ]
        scale = f"units-{frame.height}-{'down' if frame.descending else 'up'}"
        units = units_of(frame.height, contents.devices, [reservation.units for reservation in contents.reserved])
        share, added = power.get(key, (None, 0))
        views.append(RackView(rack, scale, drawings, units, share, added, key in affected))
    return views


def _find_obstructed(
    uow: UnitOfWork, plan: RackPlan, devices: Mapping[Any, Mounted], rows: Mapping[Any, Any]
) -> dict[Any, list[str]]:
    """The names of the devices whose refused moves others are in the way of, by id of these; the plan is told, too."""
    found: dict[Any, list[str]] = {}
    for key, others in rack_plan.obstacles(uow, plan, devices.values()).items():
        names = [display_name(rows[other.id]) if other.id in rows else HIDDEN.lower() for other in others]
        plan.obstacles[key] = [f"{name} in U{other.position}" for name, other in zip(names, others, strict=True)]
        for other in others:
            found.setdefault(other.id, []).append(str(plan.devices[key]["display"]))
    return found


def _power(uow: UnitOfWork, racks: Collection[Any], plan: RackPlan | None) -> dict[Any, tuple[Share, int]]:
    """The power of racks, with the moves of a plan, and the watts that these add."""
    limits = visible(uow, PowerFeed)
    now = power_of(uow, racks, limits)
    moved = plan.to_other_racks if plan is not None else {}
    after = power_of(uow, racks, limits, moved) if moved else now
    return {key: (share, share.part - now[key].part) for key, share in after.items()}


def _read_rack(plan: ReadPlan, place: JoinedTable) -> Any:
    """The reader of what the page shows of a rack."""
    readers = [(name, plan.read(place, name)) for name in _MEMBERS]

    def read(row: Row, page: RowSet) -> dict[str, Any]:
        return {name: reader(row, page) for name, reader in readers}

    return read


def includeme(config: Any) -> None:
    """Adds the page."""
    config.add_netinv_page(PATH, show, TEMPLATE, permission="view", methods=["GET", "POST"], resource="dcim/racks")
