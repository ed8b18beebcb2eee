"""Elevations: what a rack looks like from one side, unit by unit."""

from __future__ import annotations

import re
import uuid
from collections.abc import Callable, Sequence
from typing import Any

import sqlalchemy as sa
from pyramid.request import Request
from pyramid.response import Response

from netinv_core.db.engine import in_parameter
from netinv_core.errors import Invalid, NotFound
from netinv_core.http import pagination
from netinv_core.http.actions import documented
from netinv_core.http.openapi_parameters import query
from netinv_core.http.serialization import Query, query_of
from netinv_core.read import listing
from netinv_core.uow import UnitOfWork
from netinv_dcim.choices import FACES
from netinv_dcim.devices import Device
from netinv_dcim.rack_position import Mounted, mounted
from netinv_dcim.rack_views.drawing_data import drawing, visible
from netinv_dcim.rack_views.svg import Size

SVG = "image/svg+xml"
SEALED = {"X-Content-Type-Options": "nosniff", "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; img-src data:"}
WIDTHS, HEIGHTS, LEGENDS = (60, 2000, 230), (8, 200, 22), (0, 200, 30)  # at least, at most, when nothing is asked for


def _bounds(least: int, most: int, otherwise: int) -> dict[str, Any]:
    return {"type": "integer", "minimum": least, "maximum": most, "default": otherwise}


_WHOLE = {"type": "integer"}
_FLAG = {"type": "boolean"}
_UNIT = {
    "type": "object",
    "properties": {
        "id": _WHOLE,
        "name": {"type": "string"},
        "face": {"type": "object", "properties": {"value": {"type": "string"}, "label": {"type": "string"}}},
        "device": {"nullable": True, "allOf": [{"$ref": "#/components/schemas/NestedDevice"}]},
        "occupied": _FLAG,
    },
}
_QUERY = [
    query("face", {"type": "string", "enum": [*FACES.labels]}, "The side to look at; the front is the default."),
    query("render", {"type": "string", "enum": ["json", "svg"]}, "Units as JSON, or a drawing of them."),
    query("exclude", {"type": "string", "format": "uuid"}, "A device to leave out."),
    query("expand_devices", _FLAG, "Whether a device stands in each of its units, or in its lowest alone (JSON)."),
    query("q", {"type": "string"}, "A part of a unit's name (JSON)."),
    query("unit_width", _bounds(*WIDTHS), "Pixels (SVG)."),
    query("unit_height", _bounds(*HEIGHTS), "Pixels (SVG)."),
    query("legend_width", _bounds(*LEGENDS), "Pixels for the numbers of the units; 0 for none (SVG)."),
    query("include_images", _FLAG, "Whether devices are shown by the images of their types (SVG)."),
]


@documented(_UNIT, form="page", query=_QUERY, also=[SVG])
def elevation(request: Request) -> dict[str, Any] | Response:
    """The units of a rack, from the top as it is numbered, each with the device in it; or a drawing of them."""
    uow, key = request.uow, request.context.key
    rack = listing.rows(uow, request.context.endpoint, [key], "view").get(key)
    if rack is None:
        raise NotFound()
    asked = _asked(uow.query)
    inside = [d for d in mounted(uow, [rack["id"]]).values() if d.seen_from(asked["face"]) and d.id != asked["exclude"]]
    if _is_drawing(uow.query):
        size = Size(asked["unit_width"], asked["unit_height"], asked["legend_width"])
        made = Response(body=drawing(uow, rack, inside, asked["face"], size, images=asked["include_images"]), content_type=SVG, charset=None)
        made.headers.update(SEALED)
        return made
    shown = _units(uow, rack, inside, asked)
    if asked["q"]:
        shown = [unit for unit in shown if asked["q"].lower() in unit["name"].lower()]
    part = pagination.window(uow.query, uow.registry.settings)
    following, previous = pagination.links(f"{uow.base}{request.path}", uow.query, part, len(shown))
    results = shown[part.offset : part.offset + part.limit if part.limit else None]
    return {"count": len(shown), "next": following, "previous": previous, "results": results}


def _is_drawing(query: Query) -> bool:
    return query.get("render", [""])[-1] == "svg"


def _offers(request: Request) -> tuple[str, ...]:
    """The media type of a drawing, where one is requested."""
    return (SVG,) if _is_drawing(query_of(request)) else ()


def _units(uow: UnitOfWork, rack: dict[str, Any], inside: Sequence[Mounted], asked: dict[str, Any]) -> list[dict[str, Any]]:
    face = {"value": asked["face"], "label": FACES.labels[asked["face"]]}
    units: dict[int, dict[str, Any]] = {
        number: {"id": number, "name": f"U{number}", "face": face, "device": None, "occupied": False} for number in range(1, rack["u_height"] + 1)
    }
    shown = _permitted(uow, [device.id for device in inside])
    for device in inside:
        taken = [number for number in device.units if number in units]
        for number in taken:
            units[number] |= {"device": shown.get(device.id), "occupied": True}
        for number in taken[1:] if not asked["expand_devices"] else ():
            del units[number]
    return [units[number] for number in sorted(units, reverse=not rack["desc_units"])]


def _permitted(uow: UnitOfWork, keys: Sequence[uuid.UUID]) -> dict[Any, dict[str, Any]]:
    """The nested form of the devices that may be seen."""
    endpoint, allowed = uow.registry.of_model(Device), visible(uow, Device)
    if allowed is not None and keys:
        statement = sa.select(endpoint.table.c.id).where(in_parameter(uow.registry.dialect, endpoint.table.c.id), allowed)
        keys = list(uow.execute(statement, {"keys": list(keys)}).scalars())
    return dict(endpoint.plan("nested").fetch(uow, list(keys)))


def _asked(given: Any) -> dict[str, Any]:
    """The parameters of an elevation.

    :raises Invalid: naming every one that is wrong
    """
    found: dict[str, Any] = {}
    errors: dict[str, list[str]] = {}
    for name, (parse, default) in _PARAMETERS.items():
        text = next(reversed(given.get(name, [""])), "")
        try:
            found[name] = parse(text) if text != "" else default
        except ValueError as error:
            errors[name] = [str(error)]
    if errors:
        raise Invalid(errors)
    return found


def _one_of(*names: str) -> Any:
    def parse(text: str) -> str:
        if text not in names:
            raise ValueError(f'"{text}" is not a valid choice.')
        return text

    return parse


def _whole(text: str) -> int:
    if not re.fullmatch(r"\s*[-+]?\d{1,100}(\.0*)?\s*", text):
        raise ValueError("A valid integer is required.")
    return int(text.split(".")[0])


def _between(least: int, most: int, otherwise: int) -> tuple[Callable[[str], int], int]:
    """The reader of a number of pixels, and what it is when not given."""

    def parse(text: str) -> int:
        found = _whole(text)
        if found < least:
            raise ValueError(f"Ensure this value is greater than or equal to {least}.")
        if found > most:
            raise ValueError(f"Ensure this value is less than or equal to {most}.")
        return found

    return parse, otherwise


def _key(text: str) -> uuid.UUID:
    try:
        return uuid.UUID(text)
    except ValueError:
        raise ValueError("Must be a valid UUID.") from None


def _flag(text: str) -> bool:
    if text.lower() in ("true", "t", "yes", "y", "on", "1"):
        return True
    if text.lower() in ("false", "f", "no", "n", "off", "0"):
        return False
    raise ValueError("Must be a valid boolean.")


_PARAMETERS: dict[str, tuple[Any, Any]] = {
    "q": (str, ""),
    "face": (_one_of(*FACES.labels), "front"),
    "render": (_one_of("json", "svg"), "json"),
    "unit_width": _between(*WIDTHS),
    "unit_height": _between(*HEIGHTS),
    "legend_width": _between(*LEGENDS),
    "exclude": (_key, None),
    "expand_devices": (_flag, True),
    "include_images": (_flag, True),
}


def includeme(config: Any) -> None:
    """Adds ``racks/{id}/elevation/``."""
    config.add_netinv_action("dcim/racks", "elevation", get=elevation, offers=_offers, permission="view")
