"""Cell of a stored filter or condition: names and values in the words of the chips of lists."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from netinv_core.read.filter_words import condition_words
from netinv_web.cells import EMPTY, CellReader
from netinv_web.markup import text_markup

if TYPE_CHECKING:
    from netinv_core.fields import Field
    from netinv_core.sql.plan import JoinedTable, ReadPlan

_CHIP = Markup('<span class="chip"><span>{} <span class="muted">{}</span>{}</span></span>')


def cell(plan: ReadPlan, place: JoinedTable, field: Field) -> CellReader:
    """The reader of the cells of a field with a filter of the list of the object's ``content_type``."""
    read, label = plan.reader_of(place, field), plan.column(place, "content_type")

    def shown(row: Any, page: Any) -> Markup:
        value, endpoint = read(row, page), plan.registry.get(row[label])
        if not value:
            return EMPTY
        if endpoint is None or not isinstance(value, dict):
            return text_markup(value)
        chips = [_chip(*condition_words(endpoint, name, given)) for name, given in value.items()]
        return Markup('<span class="chips">{}</span>').format(Markup(" ").join(chips))

    return shown


def _chip(label: str, lookup: str, texts: Sequence[str]) -> Markup:
    return _CHIP.format(label, lookup, f" {', '.join(texts)}" if texts else "")
