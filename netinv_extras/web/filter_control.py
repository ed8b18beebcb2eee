"""Stored filters in forms: as the text of lists, such as ``site:lisbon status:!planned``, or as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from netinv_core import fields
from netinv_extras.saved_filters import value_text
from netinv_web.forms.control_values import parse_json, pretty_json
from netinv_web.forms.controls import Control
from netinv_web.lists import filter_text

if TYPE_CHECKING:
    from netinv_core.fields import Field


def control(field: Field, label: str, help: str, *, owns_errors: bool = False) -> Control:
    """The control of a stored filter."""
    return Control(
        field.name,
        label,
        "textarea",
        help=help,
        field=field,
        attributes={"class": "mono", "spellcheck": "false"},
        read=_read,
        show=lambda value: [text_of(value)],
        owns_errors=owns_errors,
    )


def text_of(value: Any) -> str:
    """A filter as text; as JSON when it cannot be written as text. Text stays as it is."""
    if isinstance(value, str):
        return value
    parameters = parameters_of(value)
    text = filter_text.write_text(parameters or [])
    is_exact = parameters is not None and dict(filter_text.parse(text)) == dict(parameters)
    return text if is_exact and not text.startswith("{") else pretty_json(value)


def _read(texts: Sequence[Any]) -> Any:
    """The filter that a text stands for: what begins with a brace is JSON.

    :raises colander.Invalid: for text that is not JSON
    """
    text = fields.last_text(texts).strip() if texts else ""
    return parse_json(text) if text.startswith("{") else dict(filter_text.parse(text))


def parameters_of(value: Any) -> list[tuple[str, list[str]]] | None:
    """A filter as query parameters; ``None`` for one that is not valid."""
    try:
        return [
            (name, [value_text(item) for item in (items if isinstance(items, list) else [items])])
            for name, items in value.items()
            if items is not None
        ]
    except (AttributeError, ValueError):
        return None
