"""Panels on the page of an object: those of packages, and the counts of related objects. Lazy ones are loaded after the
page.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
from markupsafe import Markup
from pyramid.request import Request

from netinv_core import fields
from netinv_core.auth import permissions
from netinv_core.labels import label_of, label_of_name, plural_of
from netinv_core.models.columns import CASCADE
from netinv_core.sql.plans import plan_of
from netinv_web import shares
from netinv_web.cells import list_parameter
from netinv_web.extensions import Panel, Rendered, extensions_of, render_safely
from netinv_web.lists.columns import presentation_of
from netinv_web.menu import may, places_in_menu
from netinv_web.objects import below, first_rows
from netinv_web.paths import page_path

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint, IncomingForeignKey

RELATED_TEMPLATE = "netinv_web:templates/related.jinja2"
RenderedPanel = tuple[Panel, Rendered]


def of_endpoint(endpoint: Endpoint) -> list[Panel]:
    """The panels of a resource's objects: those that its presentation leads with, then by their position."""
    panels = extensions_of(endpoint.registry.hooks.netinv_web_panels, endpoint, registry=endpoint.registry)
    if isinstance(field := endpoint.fields.get("utilization"), fields.Utilization):
        panels.append(Panel("utilization", field.label or "", _utilization, lazy=True, position=50))
    if (own := below.panel_of(endpoint)) is not None:
        panels.append(own)
    if referring_keys(endpoint):
        panels.append(Panel("related", "Related", _related_values, lazy=True, template=RELATED_TEMPLATE, position=200))
    panels += first_rows.panels_of(endpoint)
    places = {name: place for place, name in enumerate(leading_of(endpoint))}
    return sorted(panels, key=lambda panel: (places.get(panel.name, len(places)), panel.position))


def leading_of(endpoint: Endpoint) -> list[str]:
    """The names of the panels that the page of an object begins with."""
    return [*presentation_of(endpoint).leading, *(panel.name for panel in first_rows.panels_of(endpoint))]


def of_page(
    request: Request, endpoint: Endpoint, representation: Mapping[str, Any], *, complete: bool
) -> dict[str, Any]:
    """The values of the template: rendered panels, and the lazy ones; with ``complete`` these are rendered, too."""
    panels = of_endpoint(endpoint)
    at_once = [panel for panel in panels if complete or not panel.lazy]
    return {
        "panels": _render_panels(request, at_once, endpoint, representation),
        "lazy_panels": [panel for panel in panels if panel not in at_once],
        "leading": leading_of(endpoint),
    }


def requested_panels(
    request: Request, endpoint: Endpoint, representation: Mapping[str, Any], names: str
) -> list[RenderedPanel]:
    """The rendered panels of these names, which are separated by commas; those with nothing to show are left out."""
    chosen = names.split(",")
    panels = [panel for panel in of_endpoint(endpoint) if panel.name in chosen]
    return _render_panels(request, panels, endpoint, representation)


def _render_panels(
    request: Request, panels: Sequence[Panel], endpoint: Endpoint, representation: Mapping[str, Any]
) -> list[RenderedPanel]:
    pairs = [(panel, render_safely(request, panel, endpoint, representation)) for panel in panels]
    return [(panel, result) for panel, result in pairs if result is not None]


def _utilization(request: Request, endpoint: Endpoint, representation: Mapping[str, Any]) -> Markup | None:
    """The bars of an object."""
    others = frozenset(endpoint.fields) - {"utilization"}
    (shown,) = plan_of(endpoint, "full", others).represent(request.uow, [endpoint.parse_key(str(representation["id"]))])
    return shares.bars(shown["utilization"], request.registry.netinv) if shown["utilization"] else None


# -- related objects


def referring_keys(endpoint: Endpoint) -> list[IncomingForeignKey]:
    """The foreign keys of what refers to the objects of a resource without belonging to them, in the order of the
    navigation.
    """
    places = places_in_menu(endpoint.registry)
    found = [
        incoming
        for incoming in endpoint.incoming_foreign_keys
        if incoming.on_delete != CASCADE
        and list_parameter(incoming)
        and incoming.child.resource.of is None
        and not (incoming.child is endpoint and incoming.attribute in below.references_of(endpoint))
    ]
    return sorted(found, key=lambda incoming: places.get(incoming.child.label, len(places)))


def _related_values(request: Request, endpoint: Endpoint, representation: Mapping[str, Any]) -> dict[str, Any] | None:
    key = representation["id"]
    found = related_counts(request, endpoint, key)
    elsewhere = presentation_of(endpoint).unrelated
    counts = [(title, path, count) for name, title, path, count in found if name not in elsewhere]
    addable = _addable(request, endpoint, key) if not found else []
    return {"counts": counts, "addable": addable} if counts or addable else None


def _addable(request: Request, endpoint: Endpoint, key: Any) -> list[tuple[str, str]]:
    """Title and path of the forms that add what refers to this object: what the home page counts, such as racks."""
    incoming_keys = referring_keys(endpoint)
    return [
        (incoming.child.title, f"{page_path(incoming.child)}add/?{name}={key}")
        for incoming in incoming_keys
        if incoming.child is not endpoint
        and (name := _reference(incoming)) in incoming.child.writable
        and presentation_of(incoming.child).counted
        and "add" in incoming.child.resource.writes
        and may(request.uow, incoming.child, "add")
        and sum(other.child is incoming.child for other in incoming_keys) == 1
    ]


def related_counts(request: Request, endpoint: Endpoint, key: Any) -> list[tuple[str, str, str, int]]:
    """Reference, title, path and number of the objects that refer to this one without belonging to it; one
    statement.
    """
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
        (_reference(incoming), _title(incoming, incoming_keys), _list_path(incoming, key), counts[number])
        for number, incoming in enumerate(incoming_keys)
        if counts.get(number)
    ]


def _list_path(incoming: IncomingForeignKey, key: Any) -> str:
    return f"{page_path(incoming.child)}?{list_parameter(incoming)}={key}"


def _title(incoming: IncomingForeignKey, incoming_keys: Sequence[IncomingForeignKey]) -> str:
    """The plural of the model; with the label of the reference where the model has several."""
    title = plural_of(incoming.child)
    if sum(other.child is incoming.child for other in incoming_keys) == 1:
        return title
    name = _reference(incoming)
    field = incoming.child.fields.get(name)
    return f"{title} ({label_of(field) if field is not None else label_of_name(name)})"


def _reference(incoming: IncomingForeignKey) -> str:
    """The name of the reference that a foreign key is."""
    return incoming.attribute.removesuffix("_id")
