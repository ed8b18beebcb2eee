"""Services of packages in the OpenAPI document, with the Colander schemas of their bodies and queries."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from typing import Any

import colander

from netinv_core.http.actions import schema_of as documented_shape
from netinv_core.http.services import Operation
from netinv_openapi import parameters
from netinv_openapi.operations import FORMS, body_of, operation_of, summary_of

Schema = dict[str, Any]
_TYPES: list[tuple[type, Schema]] = [
    (colander.Boolean, {"type": "boolean"}),
    (colander.Integer, {"type": "integer"}),
    (colander.Number, {"type": "number"}),
    (colander.DateTime, {"type": "string", "format": "date-time"}),
    (colander.Date, {"type": "string", "format": "date"}),
    (colander.String, {"type": "string"}),
]


def schema_of(node: Any) -> Schema:
    """The schema of a node and those below it; any value where nothing is known of a type."""
    node = node() if inspect.isclass(node) else node
    if isinstance(node.typ, colander.Mapping):
        schema: Schema = {
            "type": "object",
            "properties": {child.name: schema_of(child) for child in node.children},
        }
        if required := [child.name for child in node.children if child.required]:
            schema["required"] = required
    elif isinstance(node.typ, colander.Sequence):
        schema = {"type": "array", "items": schema_of(node.children[0])}
    else:
        schema = dict(next((found for kind, found in _TYPES if isinstance(node.typ, kind)), {}))
    for validator in _validators(node.validator):
        schema |= _limits(validator)
    if node.missing is None and schema:
        schema["nullable"] = True
    if node.description:
        schema["description"] = node.description
    return schema


def _validators(validator: Any) -> Iterator[Any]:
    """A validator, or those that it combines."""
    if isinstance(validator, colander.All):
        for part in validator.validators:
            yield from _validators(part)
    elif validator is not None:
        yield validator


def _limits(validator: Any) -> Schema:
    """The limits of a validator, as members of a schema."""
    if isinstance(validator, colander.Length):
        limits = {"minLength": validator.min, "maxLength": validator.max}
    elif isinstance(validator, colander.Range):
        limits = {"minimum": validator.min, "maximum": validator.max}
    elif isinstance(validator, colander.OneOf):
        limits = {"enum": list(validator.choices)}
    else:
        limits = {}
    return {name: value for name, value in limits.items() if value not in (None, -1)}


def parameters_of(node: Any) -> list[Schema]:
    """The query parameters of a mapping."""
    node = node() if inspect.isclass(node) else node
    return [
        {"name": child.name, "in": "query", "required": child.required, "schema": schema_of(child)}
        for child in node.children
    ]


def operation(
    path: str, method: str, name: str, found: Operation, resolved: Callable[..., Schema], api_version: Schema
) -> dict[str, Any]:
    """A method of a service: what `@documented` says of its answer, and the schemas of its validators."""
    shape = documented_shape(found.view)
    status = str(shape.status or 200)
    response = FORMS[shape.form](resolved(shape.response)) if status != "204" else None
    described = operation_of(path, method, name, summary_of(found.view), response, status, shape.errors)
    query = [] if found.query is None else parameters_of(found.query)
    described["parameters"] = [*parameters.in_path(path), api_version, *query, *map(dict, shape.query)]
    words = path.removeprefix("/api/").split("/")
    described["tags"] = ["/".join(words[:2]) if words[0] == "plugins" else words[0]]
    if method != "get" and found.body is not None:
        described["requestBody"] = body_of(schema_of(found.body))
    elif method != "get" and shape.request_body:
        described["requestBody"] = body_of(resolved(shape.request_body, "Request"))
    return described
