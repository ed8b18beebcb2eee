"""Filters that follow from the columns and relations of a resource."""

from __future__ import annotations

import dataclasses
import datetime
import decimal
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from netinv_core import fields
from netinv_core.read import filters, searches
from netinv_core.read.filters import Condition
from netinv_core.read.name_lookup import invalid_choice

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.fields import Field
    from netinv_core.read.filters import Filter
    from netinv_core.uow import UnitOfWork


def derived_filters(endpoint: Endpoint) -> dict[str, Filter]:
    """Returns the filters by name; of two with one name, the later one counts."""
    return {item.name: item for item in _all_filters(endpoint)}


def _all_filters(endpoint: Endpoint) -> Iterator[Filter]:
    types = labels_of_types(endpoint)
    for name, field in endpoint.fields.items():
        if name in types and isinstance(field, fields.Value):
            yield _label(name, field.attribute)
        else:
            yield from _of_field(name, field)
    for name in endpoint.reverse_relations:
        yield filters.related(name, name)
        yield filters.has(f"has_{name}", name)
    for name, step in endpoint.relations.items():
        is_to_many = step.column is None and step.values is None
        if is_to_many and name not in endpoint.reverse_relations and name in endpoint.fields:
            yield filters.has(f"has_{name}", name)
    if endpoint.resource.search:
        yield searches.search("q", endpoint.resource.search)


def _of_field(name: str, field: Field) -> Iterator[Filter]:
    if isinstance(field, fields.Status):
        yield filters.related(name, by="slug", ids=False, public=True)
    elif isinstance(field, fields.Reference):
        yield filters.related(name, name)
        yield filters.related(f"{name}_id", name, by=())
    elif isinstance(field, fields.Choice):
        yield filters.one_of(name, field.choices, field.attribute)
    elif isinstance(field, fields.ContentTypeList):
        yield filters.content_type(name, _has_all_labels(field))
    elif isinstance(field, fields.ToMany):
        yield filters.related(name, name)
    elif isinstance(field, fields.Value) and not (field.write_only or field.confidential or field.info.kind == "json"):
        yield _of_type(name, field.attribute, field.python_type)


def labels_of_types(endpoint: Endpoint) -> set[str]:
    """Returns the columns whose values are content types: those of generic foreign keys."""
    return {field.type_attribute for field in endpoint.fields.values() if isinstance(field, fields.GenericForeignKey)}


def _label(name: str, attribute: str) -> Filter:
    """Filter by the text of a content type; a whole value that no model has is an error."""
    text = filters.value(name, attribute)

    def apply(uow: UnitOfWork, endpoint: Endpoint, table: Any, suffix: str, values: list[str]) -> Condition:
        for item in values if suffix in ("", "n") else ():
            if endpoint.registry.content_type(item) is None:
                raise invalid_choice(name, item)
        return text.apply(uow, endpoint, table, suffix, values)

    return dataclasses.replace(text, apply=apply)


def _has_all_labels(field: fields.ContentTypeList) -> Callable[[Any, Any, list[str]], Condition]:
    """Returns the condition of a filter by content types: repetition means AND, as a row has several of them."""
    labels_table = field.table

    def has_label(table: Any, label: str) -> Condition:
        return table.c.id.in_(sa.select(labels_table.c.owner_id).where(labels_table.c.label == label))

    return lambda endpoint, table, labels: sa.and_(sa.true(), *[has_label(table, label) for label in labels])


def _of_type(name: str, attribute: str, python_type: type) -> Filter:
    if python_type is bool:
        return filters.flag(name, attribute)
    if python_type in (int, float, decimal.Decimal):
        return filters.number(name, attribute)
    if python_type in (datetime.date, datetime.datetime):
        return filters.date_time(name, attribute)
    return filters.value(name, attribute)
