"""Panel with the validation rules that an object breaks, and a column of lists with their number."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from markupsafe import Markup
from pyramid.request import Request

from netinv_core.read.plan import Row
from netinv_core.types import Endpoint, JoinedTable, ReadPlan, UnitOfWork
from netinv_extras.validation_rules.broken_rules import broken_rules
from netinv_extras.validation_rules.models import ValidationRule
from netinv_extras.validation_rules.trials import changes_since
from netinv_web.cells import CellReader
from netinv_web.extensions import Panel
from netinv_web.lists.columns import ListColumn
from netinv_web.markup import EMPTY, link
from netinv_web.paths import object_path

NAME = "broken-rules"
TEMPLATE = "netinv_extras:validation_rules/web/templates/broken_rules.jinja2"


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


PANEL = Panel(NAME, "Breaks validation rules", of_object, side="main", template=TEMPLATE, position=20)
COLUMN = ListColumn(NAME, "Broken rules", number)
