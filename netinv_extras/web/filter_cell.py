"""Cell of a stored filter or condition: names and values in the words of the chips of lists."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from netinv_core.read.filter_words import Names, condition_words, filters_of_condition
from netinv_web.cells import EMPTY, CellReader
from netinv_web.lists.named_objects import names_of
from netinv_web.markup import text_markup

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.fields import Field
    from netinv_core.sql.plan import JoinedTable, ReadPlan
    from netinv_core.uow import UnitOfWork

MAX_VALUES = 10  # of a filter that a cell shows
_CHIP = Markup('<span class="chip"><span>{} <span class="muted">{}</span>{}</span></span>')


def cell(plan: ReadPlan, place: JoinedTable, field: Field) -> CellReader:
    """The reader of the cells of a field with a filter of the list of the object's ``content_type``.

    The objects that the filters of all rows name are read in one statement.
    """
    value_at, label = plan.column(place, field.name), plan.column(place, "content_type")

    def endpoint_of(row: Any) -> Endpoint | None:
        return plan.registry.get(row[label]) if isinstance(row[value_at], dict) else None

    def load(uow: UnitOfWork, rows: Sequence[Any]) -> dict[Any, Any]:
        filtered = [(endpoint, row[value_at]) for row in rows if (endpoint := endpoint_of(row)) is not None]
        named = [item for endpoint, value in filtered for item in filters_of_condition(endpoint, value)]
        return dict(names_of(uow, [(endpoint, item, values[:MAX_VALUES]) for endpoint, item, values in named]))

    batch = plan.batch(load)

    def read(row: Any, page: Any) -> Markup:
        value, endpoint = row[value_at], endpoint_of(row)
        if not value:
            return EMPTY
        if endpoint is None:
            return text_markup(value)
        chips = [_chip(endpoint, name, given, page.batches[batch]) for name, given in value.items()]
        return Markup('<span class="chips">{}</span>').format(Markup(" ").join(chips))

    return read


def _chip(endpoint: Endpoint, name: str, given: Any, names: Names) -> Markup:
    label, lookup, texts = condition_words(endpoint, name, given, names)
    more = [f"{len(texts) - MAX_VALUES} more"] if len(texts) > MAX_VALUES else []
    return _CHIP.format(label, lookup, f" {', '.join([*texts[:MAX_VALUES], *more])}" if texts else "")
