"""Broken validation rules on pages: panel of an object, column and facet of a list, widget of the home page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from markupsafe import Markup
from pyramid.request import Request

from netinv_core.auth import permissions
from netinv_core.hookspecs import hookimpl
from netinv_core.sql.plan import Row
from netinv_extras.content_types import has_pages
from netinv_extras.validation_rules import judging
from netinv_extras.validation_rules.broken_rules import broken_rules, enabled_rules, has_rules, numbers_broken
from netinv_extras.validation_rules.conditions import VIOLATES
from netinv_extras.validation_rules.models import ValidationRule
from netinv_extras.validation_rules.trials import changes_since
from netinv_web.cells import CellReader
from netinv_web.extensions import Panel, Widget
from netinv_web.lists.columns import ListColumn
from netinv_web.lists.facet_counts import ListFacet
from netinv_web.markup import EMPTY, link
from netinv_web.menu import may
from netinv_web.paths import object_path, page_path

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.sql.plan import JoinedTable, ReadPlan
    from netinv_core.uow import UnitOfWork

NAME = "broken-rules"
TEMPLATE = "netinv_extras:validation_rules/web/templates/broken_rules.jinja2"
WIDGET_TEMPLATE = "netinv_extras:validation_rules/web/templates/widget.jinja2"
MAX_RULES = 50  # of the widget, and of a facet


def of_object(request: Request, endpoint: Endpoint, item: Mapping[str, Any]) -> dict[str, Any] | None:
    """The rules that an object breaks; no panel where it breaks none."""
    key = endpoint.parse_key(str(item["id"]))
    found = broken_rules(request.uow, endpoint, [key]).get(key)
    rules = request.uow.registry.of_model(ValidationRule)
    if not found:
        return None
    since = changes_since(request.uow, endpoint, key, found)
    return {"rules": [(object_path(rules, rule.key), rule, change) for rule, change in zip(found, since, strict=True)]}


def number(plan: ReadPlan, place: JoinedTable) -> CellReader:
    """The reader of cells with the number of broken rules, which leads to them; counted for all rows together."""
    key = plan.column(place, "id")

    def load(uow: UnitOfWork, rows: Sequence[Row]) -> dict[Any, Markup]:
        found = broken_rules(uow, place.endpoint, [row[key] for row in rows]).items()
        return {
            item: link(f"{object_path(place.endpoint, item)}#panel-{NAME}", str(len(rules))) for item, rules in found
        }

    batch = plan.batch(load)
    return lambda row, page: page.batches[batch].get(row[key], EMPTY)


def facet(request: Request, endpoint: Endpoint, conditions: Sequence[Any]) -> list[tuple[str, int]]:
    """The names of the enabled rules that objects of a list break, with their numbers, the most broken first."""
    rules = enabled_rules(request.uow, [endpoint.label])[:MAX_RULES]
    numbers = numbers_broken(request.uow, rules, {endpoint.label: conditions})
    found = [(rule.name, number) for (_, rule), number in zip(rules, numbers, strict=True) if number]
    return sorted(found, key=lambda pair: (-pair[1], pair[0]))


def widget(request: Request) -> dict[str, Any] | None:
    """The enabled rules that objects break, of those that the user may view, the most broken first; ``None`` where none
    is broken.
    """
    uow = request.uow
    endpoints = [uow.registry[label] for label in judging.rows_of(uow) if label in uow.registry.endpoints]
    viewed = [endpoint for endpoint in endpoints if may(uow, endpoint, "view")]
    rules = enabled_rules(uow, [endpoint.label for endpoint in viewed])[:MAX_RULES]
    limits = {endpoint.label: permissions.visible(uow, endpoint, endpoint.table) for endpoint in viewed}
    counted = zip(rules, numbers_broken(uow, rules, limits), strict=True)
    found = [
        (rule.name, number, f"{page_path(endpoint)}?{urlencode({VIOLATES: rule.name})}", endpoint)
        for (endpoint, rule), number in counted
        if number
    ]
    return {"rules": sorted(found, key=lambda entry: (-entry[1], entry[0]))} if found else None


def _has_rules(request: Request, endpoint: Endpoint | None = None) -> bool:
    """True when there are enabled rules, of a content type or any, and the user may view rules."""
    uow = request.uow
    labels = list(judging.rows_of(uow)) if endpoint is None else [endpoint.label]
    return has_rules(uow, labels) and may(uow, uow.registry.of_model(ValidationRule), "view")


PANEL = Panel(NAME, "Breaks validation rules", of_object, side="main", template=TEMPLATE, position=20)
COLUMN = ListColumn(NAME, "Broken rules", number)
FACET = ListFacet(VIOLATES, "Broken rules", facet, _has_rules)
WIDGET = Widget(NAME, "Broken rules", widget, template=WIDGET_TEMPLATE, position=150, lazy=True, applies=_has_rules)


@hookimpl
def netinv_web_panels(endpoint: Endpoint) -> Sequence[Panel]:
    """The rules that an object breaks."""
    return [PANEL] if has_pages(endpoint) else []


@hookimpl
def netinv_web_columns(endpoint: Endpoint) -> Sequence[ListColumn]:
    """The number of rules that each object breaks."""
    return [COLUMN] if has_pages(endpoint) else []


@hookimpl
def netinv_web_facets(endpoint: Endpoint) -> Sequence[ListFacet]:
    """The rules that objects of a list break."""
    return [FACET] if has_pages(endpoint) else []


@hookimpl
def netinv_web_widgets() -> Sequence[Widget]:
    """The rules that objects break."""
    return [WIDGET]
