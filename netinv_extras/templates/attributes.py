"""Names and properties of models in templates, the objects that representations name, and conditions of lists."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from netinv_core import fields
from netinv_core.db.expressions import in_parameter
from netinv_core.errors import Invalid, error_text
from netinv_core.read import listing
from netinv_core.read.filters import filter_finder
from netinv_core.read.parameters import parse_parameters
from netinv_core.registry_cache import cached_in_registry
from netinv_extras.content_types import has_pages
from netinv_extras.templates.members import members_of
from netinv_extras.templates.sandbox import RenderError

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.registry import Registry
    from netinv_core.uow import UnitOfWork

GENERAL = ("pk", "cf", "custom_field_data", "get_absolute_url")


@dataclasses.dataclass(frozen=True)
class Loaded:
    """An attribute of the objects of a batch, by id, and what stands for a null among the values."""

    values: Mapping[Any, Any]
    null: Any = None


@cached_in_registry
def names_of(endpoint: Endpoint) -> frozenset[str]:
    """Returns the names of the attributes of an endpoint's objects."""
    shown = [name for name, field in endpoint.fields.items() if not (field.write_only or field.confidential)]
    choices = [f"get_{name}_display" for name in shown if isinstance(endpoint.fields[name], fields.Choice)]
    return frozenset([*shown, *choices, *endpoint.relations, *members_of(endpoint), *GENERAL])


def properties_of(endpoint: Endpoint) -> dict[str, Any]:
    """Returns the properties of a model that the filters ``meta`` and ``viewname`` read."""
    app, _, model = endpoint.label.partition(".")
    plugin = endpoint.canonical_path.startswith("/api/plugins/")
    return {
        "app_label": app,
        "model_name": model,
        "label": endpoint.label,
        "label_lower": endpoint.label,
        "verbose_name": endpoint.title,
        "verbose_name_plural": endpoint.plural.replace("_", " "),
        "namespace": f"plugins:{app}" if plugin else app,
        "has_pages": has_pages(endpoint),
    }


def nested_objects(registry: Registry, value: Any) -> list[tuple[Endpoint, Any]] | None:
    """Returns the endpoint and id of a nested object, or of each of a list; ``None`` for any other value."""
    items = value if isinstance(value, list) else [value]
    found = [_nested_object(registry, item) for item in items]
    pairs = [pair for pair in found if pair is not None]
    return pairs if pairs and len(pairs) == len(items) else None


def _nested_object(registry: Registry, item: Any) -> tuple[Endpoint, Any] | None:
    """Returns the endpoint and id of a nested object, unless it holds another one that its endpoint does not know."""
    steps = item["url"].split("/") if isinstance(item, dict) and isinstance(item.get("url"), str) else []
    endpoint = registry.by_path.get((steps[-4], steps[-3])) if len(steps) > 4 else None
    if endpoint is None:
        return None
    others = (item[name] for name in item.keys() - endpoint.fields.keys())
    if any(isinstance(other, dict) and "url" in other for other in others):
        return None
    key = endpoint.parse_key(str(item.get("id")))
    return None if key is None else (endpoint, key)


def selected_by(uow: UnitOfWork, endpoint: Endpoint, request: str, keys: Sequence[Any]) -> set[Any]:
    """Returns the ids, of those given, of the objects that a parameter of the list selects: one statement.

    :raises AttributeError: when the list has no such parameter
    :raises RenderError: for a bad value
    """
    try:
        given = json.loads(request)
        name, values = str(given["name"]), [str(value) for value in given["values"]]
    except (ValueError, KeyError, TypeError):
        raise AttributeError(request) from None
    if filter_finder(uow, endpoint)(name) is None:
        raise AttributeError(name)
    table = endpoint.table
    try:
        conditions = parse_parameters(uow, endpoint, table, [(name, values)], strict=True)
        statement = sa.select(table.c.id).where(in_parameter(table.c.id), *conditions)
        with listing.filter_errors_as_400():
            return set(uow.execute(statement, {"keys": list(keys)}).scalars()) if keys else set()
    except Invalid as error:
        raise RenderError(f"filter({name}=…): {error_text(error.body)}") from None
