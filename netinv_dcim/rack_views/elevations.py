"""Elevations: the units of one face of a rack with the devices in them, as JSON or as an SVG drawing."""

from __future__ import annotations

import re
import uuid
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
from pyramid.request import Request
from pyramid.response import Response

from netinv_core import answer_size
from netinv_core.db.expressions import in_parameter
from netinv_core.errors import Invalid, NotFound
from netinv_core.http import pagination, standard_parameters
from netinv_core.http.actions import documented
from netinv_core.http.query_parameters import query
from netinv_core.http.serialization import Query, query_of
from netinv_core.read import listing
from netinv_core.sql.plans import plan_of
from netinv_dcim.choices import FACES
from netinv_dcim.devices import Device
from netinv_dcim.rack_position import Mounted, read_mounted
from netinv_dcim.rack_views.drawing_data import draw_face, visible
from netinv_dcim.rack_views.svg import UnitSize

if TYPE_CHECKING:
    from netinv_core.uow import UnitOfWork

SVG = "image/svg+xml"
SEALED = {
    "X-Content-Type-Options": "nosniff",
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; img-src data:",
}
# Sizes in pixels: minimum, maximum, default.
WIDTHS, HEIGHTS, LEGENDS = (60, 2000, 230), (8, 200, 22), (0, 200, 30)


def _bounds(least: int, most: int, otherwise: int) -> dict[str, Any]:
    """Returns the OpenAPI schema of a size."""
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


_OF_PAGES = frozenset({standard_parameters.LIMIT, standard_parameters.OFFSET})


@documented(_UNIT, form="page", query=_QUERY, media_types=[SVG])
def elevation(request: Request) -> dict[str, Any] | Response:
    """The units of a rack, from the top as it is numbered, each with the device in it; or a drawing of them."""
    uow, key = request.uow, request.context.key
    rack = listing.rows(uow, request.context.endpoint, [key], "view").get(key)
    if rack is None:
        raise NotFound()
    parameters = _parsed_parameters(uow.query)
    devices = [
        device
        for device in read_mounted(uow, [rack["id"]]).values()
        if device.seen_from(parameters["face"]) and device.id != parameters["exclude"]
    ]
    if _is_drawing(uow.query):
        standard_parameters.refuse(uow, _OF_PAGES)
        size = UnitSize(parameters["unit_width"], parameters["unit_height"], parameters["legend_width"])
        drawn = draw_face(uow, rack, devices, parameters["face"], size, images=parameters["include_images"])
        answer_size.check(uow.registry, 0, len(drawn))
        response = Response(body=drawn, content_type=SVG, charset=None)
        response.headers.update(SEALED)
        return response
    units = _units(uow, rack, devices, parameters)
    if parameters["q"]:
        units = [unit for unit in units if parameters["q"].lower() in unit["name"].lower()]
    window = pagination.window(uow.query, uow.registry.settings)
    following, previous = pagination.links(f"{uow.base}{request.path}", uow.query, window, len(units))
    results = units[window.offset : window.offset + window.limit if window.limit else None]
    return {"count": len(units), "next": following, "previous": previous, "results": results}


def _is_drawing(query: Query) -> bool:
    """Tells if an SVG drawing is requested."""
    return query.get("render", [""])[-1] == "svg"


def _offers(request: Request) -> tuple[str, ...]:
    """Returns the media type of the drawing if one is requested."""
    return (SVG,) if _is_drawing(query_of(request)) else ()


def _units(
    uow: UnitOfWork, rack: dict[str, Any], inside: Sequence[Mounted], parameters: dict[str, Any]
) -> list[dict[str, Any]]:
    """Returns the units of a rack from top to bottom.

    :param inside: devices that are visible on the face
    :param parameters: parameters of the elevation
    """
    face = {"value": parameters["face"], "label": FACES.labels[parameters["face"]]}
    units: dict[int, dict[str, Any]] = {
        number: {"id": number, "name": f"U{number}", "face": face, "device": None, "occupied": False}
        for number in range(1, rack["u_height"] + 1)
    }
    nested = _nested_devices(uow, [device.id for device in inside])
    for device in inside:
        occupied = [number for number in device.units if number in units]
        for number in occupied:
            units[number] |= {"device": nested.get(device.id), "occupied": True}
        for number in occupied[1:] if not parameters["expand_devices"] else ():
            del units[number]
    return [units[number] for number in sorted(units, reverse=not rack["desc_units"])]


def _nested_devices(uow: UnitOfWork, keys: Sequence[uuid.UUID]) -> dict[Any, dict[str, Any]]:
    """Returns the nested representations of the devices that the user may view, by id."""
    endpoint, limits = uow.registry.of_model(Device), visible(uow, Device)
    if limits and keys:
        statement = sa.select(endpoint.table.c.id).where(in_parameter(endpoint.table.c.id), *limits)
        keys = list(uow.execute(statement, {"keys": list(keys)}).scalars())
    return dict(plan_of(endpoint, "nested").fetch(uow, list(keys)))


def _parsed_parameters(query_parameters: Any) -> dict[str, Any]:
    """Returns the parameters of an elevation, parsed or with their defaults.

    :param query_parameters: query parameters: name → list of texts, of which the last one counts
    :raises Invalid: with the errors of all parameters
    """
    parameters: dict[str, Any] = {}
    errors: dict[str, list[str]] = {}
    for name, (parse, default) in _PARAMETERS.items():
        text = next(reversed(query_parameters.get(name, [""])), "")
        try:
            parameters[name] = parse(text) if text != "" else default
        except ValueError as error:
            errors[name] = [str(error)]
    if errors:
        raise Invalid(errors)
    return parameters


def _one_of(*names: str) -> Any:
    """Returns the parser of a choice."""

    def parse(text: str) -> str:
        if text not in names:
            raise ValueError(f'"{text}" is not a valid choice.')
        return text

    return parse


def _integer(text: str) -> int:
    """Parses an integer. Zeros after a decimal point are allowed, as in ``22.0``."""
    if not re.fullmatch(r"\s*[-+]?\d{1,100}(\.0*)?\s*", text):
        raise ValueError("A valid integer is required.")
    return int(text.split(".")[0])


def _between(least: int, most: int, otherwise: int) -> tuple[Callable[[str], int], int]:
    """Returns the parser of a number of pixels, and the default."""

    def parse(text: str) -> int:
        number = _integer(text)
        if number < least:
            raise ValueError(f"Ensure this value is greater than or equal to {least}.")
        if number > most:
            raise ValueError(f"Ensure this value is less than or equal to {most}.")
        return number

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
