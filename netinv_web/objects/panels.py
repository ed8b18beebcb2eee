"""Panels on the page of an object: those of packages, and the counts of related objects. Lazy ones are loaded after the
page.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import sqlalchemy as sa
from pyramid.request import Request

from netinv_core.auth import permissions
from netinv_core.labels import plural_of
from netinv_core.models.columns import CASCADE
from netinv_core.types import Endpoint, IncomingForeignKey
from netinv_web.cells import list_parameter
from netinv_web.extensions import Panel, Rendered, extensions_of, render_safely
from netinv_web.menu import may
from netinv_web.paths import page_path

RELATED_TEMPLATE = "netinv_web:templates/related.jinja2"
RenderedPanel = tuple[Panel, Rendered]


def of_endpoint(endpoint: Endpoint) -> list[Panel]:
    """The panels of a resource's objects, in order of their position."""
    panels = extensions_of(endpoint.registry.hooks.netinv_web_panels, endpoint, registry=endpoint.registry)
    if referring_keys(endpoint):
        panels.append(Panel("related", "Related", _related, lazy=True, template=RELATED_TEMPLATE, position=200))
    return sorted(panels, key=lambda panel: panel.position)


def of_page(
    request: Request, endpoint: Endpoint, representation: Mapping[str, Any], *, complete: bool
) -> dict[str, Any]:
    """The values of the template: rendered panels, and the lazy ones; with ``complete`` these are rendered, too."""
    panels = of_endpoint(endpoint)
    at_once = [panel for panel in panels if complete or not panel.lazy]
    return {
        "panels": _rendered(request, at_once, endpoint, representation),
        "lazy_panels": [panel for panel in panels if panel not in at_once],
    }


def requested(
    request: Request, endpoint: Endpoint, representation: Mapping[str, Any], names: str
) -> list[RenderedPanel]:
    """The rendered panels of these names, which are separated by commas; those with nothing to show are left out."""
    chosen = names.split(",")
    panels = [panel for panel in of_endpoint(endpoint) if panel.name in chosen]
    return _rendered(request, panels, endpoint, representation)


def _rendered(
    request: Request, panels: Sequence[Panel], endpoint: Endpoint, representation: Mapping[str, Any]
) -> list[RenderedPanel]:
    pairs = [(panel, render_safely(request, panel, endpoint, representation)) for panel in panels]
    return [(panel, result) for panel, result in pairs if result is not None]


# -- related objects


def referring_keys(endpoint: Endpoint) -> list[IncomingForeignKey]:
    """The foreign keys of what refers to the objects of a resource without belonging to them."""
    return [
        incoming
        for incoming in endpoint.incoming_foreign_keys
        if incoming.on_delete != CASCADE and list_parameter(incoming) and incoming.child.resource.of is None
    ]


def _related(request: Request, endpoint: Endpoint, representation: Mapping[str, Any]) -> dict[str, Any] | None:
    counts = related_counts(request, endpoint, representation["id"])
    return {"counts": counts} if counts else None


def related_counts(request: Request, endpoint: Endpoint, key: Any) -> list[tuple[str, str, int]]:
    """Title, path and number of the objects that refer to this one without belonging to it; one statement."""
    uow = request.uow
    incoming_keys = [incoming for incoming in referring_keys(endpoint) if may(uow, incoming.child, "view")]
    queries: list[Any] = []
    for number, incoming in enumerate(incoming_keys):
        table = incoming.child.table.alias()
        limits = permissions.visible(uow, incoming.child, table)
        refers = table.c[incoming.attribute] == key
        count: Any = sa.select(sa.literal_column(str(number)), sa.func.count())
        queries.append(count.select_from(table).where(refers, *limits))
    counts = dict(uow.execute(sa.union_all(*queries)).all()) if queries else {}
    return [
        (_title(incoming, incoming_keys), _list_path(incoming, key), counts[number])
        for number, incoming in enumerate(incoming_keys)
        if counts.get(number)
    ]


def _list_path(incoming: IncomingForeignKey, key: Any) -> str:
    return f"{page_path(incoming.child)}?{list_parameter(incoming)}={key}"


def _title(incoming: IncomingForeignKey, incoming_keys: Sequence[IncomingForeignKey]) -> str:
    """The plural of the model; with the name of the foreign key where the model has several."""
    title = plural_of(incoming.child)
    if sum(other.child is incoming.child for other in incoming_keys) == 1:
        return title
    return f"{title} ({incoming.attribute.removesuffix('_id').replace('_', ' ')})"
