"""Facts that are documents: JSON, templates, queries and other texts of several lines, shown whole."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from netinv_core import fields
from netinv_core.labels import label_of
from netinv_web.cells import CellReader, cell, factories_of, holds_types, labels_of
from netinv_web.markup import without_controls

if TYPE_CHECKING:
    from netinv_core.fields import Field
    from netinv_core.sql.plan import JoinedTable, ReadPlan

MAX_LENGTH = 50_000  # characters
MIN_LENGTH = 60  # of JSON that takes more than a line
DOCUMENT = Markup('<pre class="document" tabindex="0" data-copy="%s">\n%s</pre>')
CUT = "\n… The API has the rest."


def fact(plan: ReadPlan, place: JoinedTable, field: Field) -> CellReader:
    """The reader of the markup of a fact: that of a cell, except for documents."""
    if not _may_hold_document(place, field):
        return cell(plan, place, field)
    read, short, label = plan.reader_of(place, field), cell(plan, place, field), label_of(field)

    def markup(row: Any, page: Any) -> Markup:
        text = _text(read(row, page))
        return short(row, page) if text is None else DOCUMENT % (label, without_controls(text))

    return markup


def _may_hold_document(place: JoinedTable, field: Field) -> bool:
    """True for JSON, and for texts without a bound on their length, unless a package shows the field."""
    if type(field) is not fields.Value or field.write_only or field.confidential:
        return False
    if (place.endpoint.label, field.name) in factories_of(place.endpoint.registry):
        return False
    if holds_types(place.endpoint, field) or labels_of(field):
        return False
    is_long = field.python_type is str and not field.length and field.info.parse is None and field.info.kind == "value"
    return is_long or field.info.kind == "json"


def _text(value: Any) -> str | None:
    """The text of a document; ``None`` for what a line can show."""
    if isinstance(value, str):
        text = value if "\n" in value or len(value) > MIN_LENGTH * 5 else None
    elif value and isinstance(value, dict | list):
        text = json.dumps(value, ensure_ascii=False, indent=2, default=str)
        text = text if len(text) > MIN_LENGTH else None
    else:
        text = None
    return text if text is None or len(text) <= MAX_LENGTH else text[:MAX_LENGTH] + CUT
