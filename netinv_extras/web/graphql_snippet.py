"""Form of *as code*: the GraphQL query for what a page shows. The schema is not loaded for it."""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from pyramid.request import Request

from netinv_core.endpoint import Endpoint
from netinv_core.fields import Choice, Value
from netinv_core.registry import Registry
from netinv_extras.graphql.types import identifier
from netinv_web.extensions import Snippet

COMPARISONS = frozenset({"", "n", "lt", "lte", "gt", "gte"})
NUMBER = re.compile(r"-?[0-9]{1,15}(\.[0-9]{1,15})?")


@functools.lru_cache(maxsize=8)
def root_names(registry: Registry) -> Mapping[str, tuple[str, str]]:
    """The names of the root fields of each resource: of one object, and of the list, as the schema has them."""
    names: dict[str, tuple[str, str]] = {}
    taken: set[str] = set()
    for label, endpoint in registry.endpoints.items():
        singular, plural = identifier(endpoint.title), identifier(endpoint.plural)
        prefix = f"{identifier(endpoint.app.name)}_" if {singular, plural} & taken else ""
        plural = f"{plural}_list" if plural == singular else plural
        names[label] = f"{prefix}{singular}", f"{prefix}{plural}"
        taken |= set(names[label])
    return names


def query(request: Request, endpoint: Endpoint, parameters: Sequence[tuple[str, Sequence[str]]], key: Any) -> str:
    """The query of one object, or of the list with its filters."""
    one, several = root_names(endpoint.registry)[endpoint.label]
    if key is not None:
        arguments, field = f"id: {json.dumps(str(key))}", one
    else:
        field = several
        arguments = ", ".join(f"{name}: {_literal(endpoint, name, values)}" for name, values in parameters)
    return f"{{\n  {field}{f'({arguments})' if arguments else ''} {{\n    id\n    display\n  }}\n}}"


def _literal(endpoint: Endpoint, name: str, values: Sequence[str]) -> str:
    """The value of an argument: numbers and booleans where the filter compares such values. One value is no list."""
    filter_name, _, lookup = name.partition("__")
    item, field = endpoint.filters.get(filter_name), endpoint.fields.get(filter_name)
    kind = item.kind if item is not None and lookup in COMPARISONS else ""
    is_integer = isinstance(field, Value) and not isinstance(field, Choice) and field.python_type is int
    texts = [json.dumps(value) for value in values]
    if kind == "boolean":
        texts = ["true" if value.lower() in ("true", "1") else "false" for value in values]
    elif lookup in COMPARISONS and (is_integer or kind == "number"):
        texts = [value if NUMBER.fullmatch(value) else text for value, text in zip(values, texts, strict=True)]
    return texts[0] if len(texts) == 1 else f"[{', '.join(texts)}]"


snippet = Snippet("graphql", "GraphQL", query, "graphql", position=400)
