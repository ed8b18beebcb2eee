"""Schemas of objects in OpenAPI documents: a property for each field, in the form that is read or written."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from typing import TYPE_CHECKING

from netinv_openapi.operations import Schema

if TYPE_CHECKING:
    from netinv_core.fields import Field


def object_schema(
    shape: Callable[[Field], Schema],
    included: Iterable[Field],
    required: Iterable[str],
    absent: Collection[str] = (),
) -> Schema:
    """Returns the schema of an object with the fields ``included``, except those in ``absent``."""
    properties = {field.name: shape(field) for field in included if field.name not in absent}
    schema: Schema = {"type": "object", "properties": properties}
    if required_names := [name for name in required if name in properties]:
        schema["required"] = required_names
    return schema


def brief(field: Field) -> Schema:
    """Returns the schema of the value in the brief form."""
    return field.brief_schema()


def written_schema(field: Field) -> Schema:
    """Returns the schema of the value in a body of POST and PUT."""
    return field.written_schema()


def patched_schema(field: Field) -> Schema:
    """Returns the schema of the value in a body of PATCH."""
    return field.patched_schema()


def nested_schema(field: Field) -> Schema:
    """Returns the schema of the value in the nested form."""
    return {"nullable": True, "readOnly": True} if field.nested == "null" else field.brief_schema()
