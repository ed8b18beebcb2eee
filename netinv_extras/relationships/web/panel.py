"""Panel with the objects at the other ends of relationships."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pyramid.request import Request

from netinv_core.hookspecs import hookimpl
from netinv_core.read.names import Pair, names_in_context
from netinv_extras.relationships.models import NAME
from netinv_extras.relationships.sides import RelationshipSide, sides_of
from netinv_extras.web.members import member
from netinv_web.extensions import Panel
from netinv_web.markup import object_link

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.uow import UnitOfWork

TEMPLATE = "netinv_extras:relationships/web/templates/relationships.jinja2"


def _objects(request: Request, endpoint: Endpoint, representation: Mapping[str, Any]) -> dict[str, Any] | None:
    """The objects at the other ends of relationships, except hidden ones."""
    uow = request.uow
    sides = [side for side in sides_of(uow, endpoint.label) if not side.hidden]
    if not sides:
        return None
    values = member(uow, endpoint, NAME, representation["id"])
    rows, names = [], _names(uow, sides, values)
    for side in sides:
        links = [
            object_link(uow, item["url"], names.get(pair, item["display"]), viewable=pair in names)
            for item in _items(values, side)
            for pair in [(side.other_type, item["id"])]
        ]
        if links:
            rows.append((side.label or side.title, links))
    return {"rows": rows} if rows else None


def _items(values: Mapping[str, Any], side: RelationshipSide) -> Sequence[Mapping[str, Any]]:
    """The objects at the other end of a side, as a representation has them."""
    items: Sequence[Mapping[str, Any]] = values.get(side.slug, {}).get(side.name, {}).get("objects", ())
    return items


def _names(uow: UnitOfWork, sides: Sequence[RelationshipSide], values: Mapping[str, Any]) -> Mapping[Pair, str]:
    """The names in context of all of them; one statement, none without objects."""
    pairs = [(side.other_type, item["id"]) for side in sides for item in _items(values, side)]
    return names_in_context(uow, pairs) if pairs else {}


PANEL = Panel("relationships", "Relationships", _objects, lazy=True, template=TEMPLATE, position=310)


@hookimpl
def netinv_web_panels(endpoint: Endpoint) -> Sequence[Panel]:
    """The objects at the other ends."""
    return [PANEL] if NAME in endpoint.fields else []
