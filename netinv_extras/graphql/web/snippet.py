"""Form of *as code*: the GraphQL query for what a page shows, with its fields. The schema is not loaded for it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pyramid.request import Request

from netinv_core.fields import Choice, Value
from netinv_core.hookspecs import hookimpl
from netinv_core.models.base import CUSTOM_FIELD_PREFIX
from netinv_core.registry_cache import cached_in_registry
from netinv_extras.custom_fields.models import definitions_of
from netinv_extras.graphql.types import Members, ScalarMember, configured_members, declared_members, identifier
from netinv_web.extensions import Snippet
from netinv_web.lists.column_choice import chosen_columns
from netinv_web.lists.columns import CUSTOM_FIELDS, columns_of
from netinv_web.objects.details import shown_fields

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.registry import Registry
    from netinv_core.uow import UnitOfWork

COMPARISONS = frozenset({"", "n", "lt", "lte", "gt", "gte"})
NUMBER = re.compile(r"-?[0-9]{1,15}(\.[0-9]{1,15})?")


@cached_in_registry
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
    return text(request.uow, endpoint, _on_screen(request, endpoint, key), parameters, key)


def _on_screen(request: Request, endpoint: Endpoint, key: Any) -> list[str]:
    """The names of the columns of a list, or of the facts of an object; custom fields as ``cf_<slug>``."""
    if key is None:
        return [column.name for column in columns_of(request.uow, endpoint, chosen_columns(request, endpoint))]
    slugs = definitions_of(request.uow, endpoint.label) if CUSTOM_FIELDS in endpoint.fields else ()
    return [*(field.name for field in shown_fields(endpoint)), *(f"{CUSTOM_FIELD_PREFIX}{slug}" for slug in slugs)]


def text(
    uow: UnitOfWork,
    endpoint: Endpoint,
    names: Sequence[str],
    parameters: Sequence[tuple[str, Sequence[str]]] = (),
    key: Any = None,
) -> str:
    """The query of one object, or of the list with its filters, for the fields in ``names``."""
    one, several = root_names(endpoint.registry)[endpoint.label]
    if key is not None:
        arguments, field = f"id: {json.dumps(str(key))}", one
    else:
        field = several
        arguments = ", ".join(f"{name}: {_literal(endpoint, name, values)}" for name, values in parameters)
    selected = "".join(f"    {line}\n" for line in dict.fromkeys(["id", "display", *_selection(uow, endpoint, names)]))
    return f"{{\n  {field}{f'({arguments})' if arguments else ''} {{\n{selected}  }}\n}}"


def _selection(uow: UnitOfWork, endpoint: Endpoint, names: Sequence[str]) -> Iterable[str]:
    """The selection of each field: a scalar, or id and name of the objects of a relation. Fields that the schema lacks,
    such as counters, are left out.
    """
    members: Members = dict(_members(endpoint))
    if any(name.startswith(CUSTOM_FIELD_PREFIX) for name in names):
        members |= configured_members(uow, endpoint)
    for name in names:
        member = members.get(name := re.sub(r"\W", "_", name))
        if member is not None:
            yield name if isinstance(member, ScalarMember) else f"{name} {{ id display }}"


@cached_in_registry
def _members(endpoint: Endpoint) -> Members:
    return declared_members(endpoint.registry, endpoint)


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


@hookimpl
def netinv_web_snippets() -> Sequence[Snippet]:
    """The query for what a page shows."""
    return [snippet]
