"""The OpenAPI schemas of Python's types."""

from __future__ import annotations

import datetime
import decimal
import uuid
from typing import Any

JSON_TYPES: dict[type, dict[str, Any]] = {
    str: {"type": "string"},
    int: {"type": "integer"},
    bool: {"type": "boolean"},
    float: {"type": "number", "format": "double"},
    decimal.Decimal: {"type": "string", "format": "decimal"},
    uuid.UUID: {"type": "string", "format": "uuid"},
    datetime.date: {"type": "string", "format": "date"},
    datetime.datetime: {"type": "string", "format": "date-time"},
}


def list_or_difference(schema: dict[str, Any]) -> dict[str, Any]:
    """The schema of a list, or of an object with items to add and to remove."""
    part = {"type": "array", "items": schema.get("items", {})}
    difference = {"type": "object", "properties": {"add": part, "remove": part}, "additionalProperties": False}
    return {"anyOf": [schema, difference]}


LABELLED = "LabelledValue"
LABELLED_SCHEMA: dict[str, Any] = {
    "type": "object",
    "description": "A value with its label, as it is read. Only the value counts where it is written.",
    "properties": {"value": {}, "label": {"type": "string"}},
    "required": ["value"],
}


def as_written_or_read(schema: dict[str, Any]) -> dict[str, Any]:
    """The OpenAPI schema of a value that may be written as it is read, with its label."""
    return {"oneOf": [schema, {"$ref": f"#/components/schemas/{LABELLED}"}]}
