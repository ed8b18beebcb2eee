"""Validation of OpenAPI 3.0 documents in milliseconds: the specification's JSON schema, compiled once, and the rules
that it cannot express.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Iterator
from typing import Any
from urllib.parse import unquote

import jsonschema_rs
from openapi_spec_validator.schemas.utils import get_schema_content

METHODS = frozenset({"get", "put", "post", "delete", "options", "head", "patch", "trace"})
LITERALS = frozenset({"example", "examples", "default", "enum"})


def errors_of(document: Any) -> Iterator[str]:
    """The errors of a document, each with its place."""
    yield from (
        f"{_place(error.instance_path)}: {error.message[:500]}" for error in _document_validator().iter_errors(document)
    )
    nodes = list(_walk(document, ""))
    for place, node in nodes:
        if isinstance(reference := node.get("$ref"), str) and _resolve(document, reference) is None:
            yield f"{place}: {reference} does not resolve"
        yield from _undescribed(place, node)
    yield from _path_errors(document)
    yield from _default_errors(document, [(place, node) for place, node in nodes if "default" in node])


@functools.cache
def _document_validator() -> Any:
    return jsonschema_rs.validator_for(get_schema_content("3.0"))


def _place(path: Iterable[Any]) -> str:
    return "".join(f"/{part}" for part in path)


def _walk(node: Any, place: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Every object of a document with its place, without maps of properties (their members are names) and literal
    values.
    """
    if isinstance(node, list):
        for number, member in enumerate(node):
            yield from _walk(member, f"{place}/{number}")
    elif isinstance(node, dict):
        yield place, node
        for name, member in node.items():
            if name == "properties":
                for property_name, schema in member.items():
                    yield from _walk(schema, f"{place}/properties/{property_name}")
            elif name not in LITERALS:
                yield from _walk(member, f"{place}/{name}")


def _resolve(document: Any, reference: str) -> Any:
    """The target of a reference within the document, or ``None``."""
    target = document if reference.startswith("#/") else {}
    for part in reference[2:].split("/"):
        name = unquote(part).replace("~1", "/").replace("~0", "~")
        if not isinstance(target, dict) or name not in target:
            return None
        target = target[name]
    return target


def _undescribed(place: str, schema: dict[str, Any]) -> Iterator[str]:
    """Required members that the properties of a schema do not describe."""
    required, properties = schema.get("required"), schema.get("properties")
    if isinstance(required, list) and isinstance(properties, dict) and "allOf" not in schema:
        yield from (f"{place}: {name} is required but not described" for name in required if name not in properties)


def _default_errors(document: Any, schemas: list[tuple[str, dict[str, Any]]]) -> Iterator[str]:
    """Defaults that do not fit their schemas: all are compared by one schema, compiled once."""
    checked = {place: schema for place, schema in schemas if not (schema["default"] is None and schema.get("nullable"))}
    validator = jsonschema_rs.validator_for({"properties": checked, "components": document.get("components", {})})
    for error in validator.iter_errors({place: schema["default"] for place, schema in checked.items()}):
        yield f"{error.instance_path[0]}: the default does not fit the schema: {error.message[:500]}"


def _path_errors(document: Any) -> Iterator[str]:
    """Duplicate operation ids and parameters, and path parameters that differ from those of the path."""
    seen: set[str] = set()
    for path, item in document.get("paths", {}).items():
        for method in METHODS & item.keys():
            operation = item[method]
            name = operation.get("operationId")
            if name is not None and name in seen:
                yield f"{method} {path}: the operationId {name} is used twice"
            seen.add(name)
            yield from (f"{method} {path}: {error}" for error in _parameter_errors(document, path, item, operation))


def _parameter_errors(document: Any, path: str, item: dict[str, Any], operation: dict[str, Any]) -> Iterator[str]:
    expected = set(re.findall(r"\{([^}]*)\}", path))
    described: set[str] = set()
    for owner in (item, operation):
        keys = [_parameter_key(document, parameter) for parameter in owner.get("parameters", ())]
        yield from (f"the parameter {key[0]} is described twice" for key in set(keys) if keys.count(key) > 1)
        described |= {name for name, kind in keys if kind == "path"}
    if described != expected:
        yield f"the path parameters are {sorted(expected)}, and {sorted(described)} are described"


def _parameter_key(document: Any, parameter: dict[str, Any]) -> tuple[str, str]:
    resolved = _resolve(document, parameter["$ref"]) if "$ref" in parameter else parameter
    return (resolved["name"], resolved["in"]) if resolved else ("", "")
