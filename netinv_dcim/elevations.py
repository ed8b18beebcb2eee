"""Elevations: what a rack looks like from one side, unit by unit."""

from __future__ import annotations

import re
import uuid
from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa
from pyramid.request import Request
from pyramid.response import Response

from netinv_core.auth import permits
from netinv_core.context import Context
from netinv_core.database import among
from netinv_core.errors import Invalid, NotFound
from netinv_core.http import paging, services
from netinv_core.read import pages
from netinv_dcim.choices import FACES
from netinv_dcim.devices import Device
from netinv_dcim.mounting import mounted
from netinv_dcim.racks import Rack


def elevation(request: Request) -> Response:
    """The units of a rack, from the top as it is numbered, each with the device in it."""
    context, endpoint = services.open_item(request, ("GET",))
    if request.context.key is None:
        raise NotFound()
    rack = pages.detail(context, endpoint, request.context.key)
    asked = _asked(context.query)
    shown = _units(context, rack, asked)
    if asked["q"]:
        shown = [unit for unit in shown if asked["q"].lower() in unit["name"].lower()]
    part = paging.window(context.query, context.registry.settings)
    following, previous = paging.links(f"{context.base}{request.path}", context.query, part, len(shown))
    results = shown[part.offset : part.offset + part.limit if part.limit else None]
    return services.answer(context, request, {"count": len(shown), "next": following, "previous": previous, "results": results})


def _units(context: Context, rack: dict[str, Any], asked: dict[str, Any]) -> list[dict[str, Any]]:
    face = {"value": asked["face"], "label": FACES.labels[asked["face"]]}
    units: dict[int, dict[str, Any]] = {
        number: {"id": number, "name": f"U{number}", "face": face, "device": None, "occupied": False}
        for number in range(1, rack["u_height"] + 1)
    }
    inside = [d for d in mounted(context, [rack["id"]]).values() if d.seen_from(asked["face"]) and d.id != asked["exclude"]]
    shown = _permitted(context, [device.id for device in inside])
    for device in inside:
        taken = [number for number in device.units if number in units]
        for number in taken:
            units[number] |= {"device": shown.get(device.id), "occupied": True}
        for number in taken[1:] if not asked["expand_devices"] else ():
            del units[number]
    return [units[number] for number in sorted(units, reverse=not rack["desc_units"])]


def _permitted(context: Context, keys: Sequence[uuid.UUID]) -> dict[Any, dict[str, Any]]:
    """The nested form of the devices that may be seen."""
    endpoint = context.registry.of_model(Device)
    if not context.identity.superuser and (endpoint.label, "view") not in context.identity.permissions and not permits.exempt(endpoint):
        return {}
    allowed = permits.scope(context, endpoint, "view", endpoint.table)
    if allowed is not None and keys:
        statement = sa.select(endpoint.table.c.id).where(among(context.registry.dialect, endpoint.table.c.id), allowed)
        keys = list(context.execute(statement, {"keys": list(keys)}).scalars())
    return dict(endpoint.plan("nested").fetch(context, list(keys)))


def _asked(query: Any) -> dict[str, Any]:
    """The parameters of an elevation.

    :raises Invalid: naming every one that is wrong
    """
    found: dict[str, Any] = {}
    errors: dict[str, list[str]] = {}
    for name, (parse, default) in _PARAMETERS.items():
        text = next(reversed(query.get(name, [""])), "")
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
    if not re.fullmatch(r"\s*[-+]?\d+(\.0*)?\s*", text):
        raise ValueError("A valid integer is required.")
    return int(text.split(".")[0])


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
    "render": (_one_of("json"), "json"),
    "unit_width": (_whole, None),
    "unit_height": (_whole, None),
    "exclude": (_key, None),
    "expand_devices": (_flag, True),
    "include_images": (_flag, True),
}


def includeme(config: Any) -> None:
    """Adds ``racks/{id}/elevation/``."""
    actions = services.Actions(config.registry.netinv.of_model(Rack).app)
    actions.item("racks", "elevation", get=elevation)
    for service in actions.services:
        config.add_cornice_service(service)
