"""Controls of forms for custom fields, by their types."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import colander

from netinv_core import fields
from netinv_core.hookspecs import hookimpl
from netinv_extras.custom_fields.field import CustomFields
from netinv_extras.custom_fields.models import definitions_of
from netinv_extras.custom_fields.values import (
    BOOLEAN,
    DATE,
    INTEGER,
    JSON,
    MARKDOWN,
    MULTI_SELECT,
    SELECT,
    URL,
    ValueDefinition,
)
from netinv_web.forms.control_values import parse_json
from netinv_web.forms.controls import Control, ControlFactory, FactoryKey

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.fields import Field
    from netinv_core.uow import UnitOfWork

GROUP = "Custom fields"
_BOOLEANS = {"true": True, "false": False}
_KINDS = {
    INTEGER: "number",
    BOOLEAN: "select",
    DATE: "date",
    SELECT: "select",
    MULTI_SELECT: "checkboxes",
    JSON: "json",
    MARKDOWN: "textarea",
}


def _custom_fields(uow: UnitOfWork, endpoint: Endpoint, field: Field) -> list[Control]:
    """A control for each custom field of the content type, by its type."""
    return [_custom_field(field, definition) for definition in definitions_of(uow, endpoint.label).values()]


def _custom_field(field: Field, definition: ValueDefinition) -> Control:
    control = Control(
        f"{field.name}.{definition.slug}",
        definition.label,
        _KINDS.get(definition.type, "text"),
        help=definition.description,
        required=definition.required and definition.type != MULTI_SELECT,
        group=definition.grouping or GROUP,
        read=_reader(definition),
        mentioned_as=f"custom field '{definition.slug}'",
    )
    if definition.type == BOOLEAN:
        control.choices = [("true", "Yes"), ("false", "No")]
    elif definition.type in (SELECT, MULTI_SELECT):
        control.choices = [(choice, choice) for choice in definition.choices]
        control.multiple = definition.type == MULTI_SELECT
    elif definition.type == URL:
        control.input_type = "url"
    elif definition.type == MARKDOWN:
        control.attributes = {"data-markdown": ""}
    elif definition.type == INTEGER:
        bounds = {"min": definition.minimum, "max": definition.maximum}
        control.attributes = {name: bound for name, bound in bounds.items() if bound is not None} | {"step": "1"}
    control.values = _default_texts(definition)
    return control


def _default_texts(definition: ValueDefinition) -> list[str]:
    """The texts of a new object's control. JSON has none: its default is set by the write."""
    default = definition.default
    if default is None or definition.type == JSON:
        return []
    if isinstance(default, bool):
        return ["true" if default else "false"]
    return [str(item) for item in default] if isinstance(default, list) else [str(default)]


def _reader(definition: ValueDefinition) -> Callable[[Sequence[Any]], Any]:
    """The function from the texts of a form to the value of a custom field."""

    def read(texts: Sequence[Any]) -> Any:
        if definition.type == MULTI_SELECT:
            return list(texts) or None
        text = fields.last_text(texts) if texts else ""
        if not text:
            return None
        if definition.type == INTEGER:
            return _integer(text)
        if definition.type == BOOLEAN:
            return _BOOLEANS.get(text, text)
        return parse_json(text) if definition.type == JSON else text

    return read


def _integer(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise colander.Invalid(None, "Enter a whole number.") from None


CONTROLS: dict[FactoryKey, ControlFactory] = {CustomFields: _custom_fields}


@hookimpl
def netinv_web_controls() -> Mapping[Any, Any]:
    """A control for each custom field."""
    return CONTROLS
