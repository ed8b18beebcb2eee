"""Columns of tables (CSV) for custom fields: ``cf_<slug>``, each converted by the field's type."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from netinv_core import fields
from netinv_core.fields import cells
from netinv_core.models.base import CUSTOM_FIELD_PREFIX
from netinv_core.records import CellColumn
from netinv_extras.custom_fields.values import BOOLEAN, DATE, INTEGER, JSON, MULTI_SELECT, SELECT, ValueDefinition

if TYPE_CHECKING:
    from netinv_core.write.identification import IdentifiedObjects

_BOOLEANS = {"true": True, "false": False}


def cell_column(field: str, definition: ValueDefinition) -> CellColumn:
    """Returns the column of a custom field; ``field`` is the field of the API that holds the values."""
    to_text = _WRITERS.get(definition.type, _text_to_cell)
    from_text = _READERS.get(definition.type, _cell_to_text)

    def member_to_text(values: Mapping[str, Any], identified: IdentifiedObjects) -> str:
        value = values.get(definition.slug)
        return "" if value is None else to_text(value)

    def member_from_text(text: str) -> Any:
        return from_text(text) if text else None

    name = f"{CUSTOM_FIELD_PREFIX}{definition.slug}"
    return CellColumn(name, field, member_to_text, member_from_text, (definition.slug,))


def _text_to_cell(value: Any) -> str:
    return cells.blank_marked(cells.text_of(value))


def _cell_to_text(text: str) -> Any:
    return cells.without_blank_mark(text)


def _to_integer(text: str) -> Any:
    try:
        return int(text) if len(text) <= 20 else text  # the field refuses text
    except ValueError:
        return text


def _to_boolean(text: str) -> Any:
    return _BOOLEANS.get(cells.boolean_text(text), text)


_WRITERS: Mapping[str, Callable[[Any], str]] = {
    **dict.fromkeys((INTEGER, BOOLEAN, DATE, SELECT, MULTI_SELECT), cells.text_of),
    JSON: cells.json_text,
}
_READERS: Mapping[str, Callable[[str], Any]] = {
    INTEGER: _to_integer,
    BOOLEAN: _to_boolean,
    DATE: lambda text: cells.date_text(text).strip(),
    SELECT: str,
    MULTI_SELECT: fields.cell_items,
    JSON: fields.from_json,
}
