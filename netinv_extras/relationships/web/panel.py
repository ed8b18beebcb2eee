"""Panel with the objects at the other ends of relationships."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pyramid.request import Request

from netinv_core.types import Endpoint
from netinv_extras.relationships.models import NAME
from netinv_extras.relationships.sides import sides_of
from netinv_extras.web.members import member
from netinv_web.cells import object_link
from netinv_web.extensions import Panel

TEMPLATE = "netinv_extras:relationships/web/templates/relationships.jinja2"


def _objects(request: Request, endpoint: Endpoint, representation: Mapping[str, Any]) -> dict[str, Any] | None:
    """The objects at the other ends of relationships, except hidden ones."""
    uow = request.uow
    sides = [side for side in sides_of(uow, endpoint.label) if not side.hidden]
    if not sides:
        return None
    values = member(uow, endpoint, NAME, representation["id"])
    rows = []
    for side in sides:
        objects = values.get(side.slug, {}).get(side.name, {}).get("objects", ())
        links = [object_link(uow, item["url"], item["display"]) for item in objects]
        if links:
            rows.append((side.label or side.title, links))
    return {"rows": rows} if rows else None


PANEL = Panel("relationships", "Relationships", _objects, lazy=True, template=TEMPLATE, position=310)
