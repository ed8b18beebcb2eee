"""Conversion of schemas of OpenAPI 3.0 to JSON Schema 2020-12, which OpenAPI 3.1 has."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

REFERENCE = "#/components/schemas/"
DIALECT = "https://json-schema.org/draft/2020-12/schema"
_NULL = {"type": "null"}


def to_json_schema(schema: Any) -> Any:
    """A schema, or what holds schemas, in the form of JSON Schema: ``nullable`` becomes a type."""
    if isinstance(schema, list):
        return [to_json_schema(item) for item in schema]
    if not isinstance(schema, Mapping):
        return schema
    found = {name: to_json_schema(value) for name, value in schema.items() if name not in ("nullable", "example")}
    if schema.get("nullable") is not True:
        return found
    if isinstance(found.get("type"), str) and "enum" not in found:
        return {**found, "type": [found["type"], "null"]}
    about = {name: found.pop(name) for name in ("description", "readOnly", "title", "default") if name in found}
    return {"anyOf": [found, _NULL], **about} if found else about


def references_in(schema: Any) -> Iterator[str]:
    """The names of the schemas that a schema refers to."""
    if isinstance(schema, list):
        for item in schema:
            yield from references_in(item)
    elif isinstance(schema, Mapping):
        reference = schema.get("$ref")
        if isinstance(reference, str) and reference.startswith(REFERENCE):
            yield reference.removeprefix(REFERENCE)
        for value in schema.values():
            yield from references_in(value)


def with_references(schemas: Mapping[str, Any], names: Iterator[str]) -> dict[str, Any]:
    """The schemas of these names, and those that they refer to, in the order of their names."""
    found: dict[str, Any] = {}
    waiting = list(names)
    while waiting:
        name = waiting.pop()
        if name not in found:
            found[name] = schemas[name]
            waiting += references_in(schemas[name])
    return dict(sorted(found.items()))


def relocate_references(schema: Any, reference: str) -> Any:
    """A schema whose references begin with ``reference`` in place of :data:`REFERENCE`."""
    if isinstance(schema, list):
        return [relocate_references(item, reference) for item in schema]
    if not isinstance(schema, Mapping):
        return schema
    return {
        name: reference + value.removeprefix(REFERENCE)
        if name == "$ref" and isinstance(value, str)
        else relocate_references(value, reference)
        for name, value in schema.items()
    }
