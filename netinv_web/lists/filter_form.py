"""The form that adds a filter to a list's query, or changes one: a field, then a lookup and a value."""

from __future__ import annotations

import dataclasses
import datetime
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
from pyramid.request import Request

from netinv_core import fields
from netinv_core.auth import permissions
from netinv_core.models.base import CUSTOM_FIELD_PREFIX
from netinv_core.read import filters
from netinv_core.read.filter_words import LOOKUP_WORDS, filter_label, value_text
from netinv_core.read.filters import NULL
from netinv_core.write import references
from netinv_web.forms.controls import Control
from netinv_web.lists import filter_text
from netinv_web.lists.filter_text import SEARCH
from netinv_web.lists.list_query import ListQuery
from netinv_web.lists.named_objects import names_of, target_of

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.read.filters import Filter
    from netinv_core.uow import UnitOfWork

EMPTY, NOT_EMPTY = "empty", "set"  # lookups of references that take no value
MAX_OFFERED = 100  # objects in the list of a reference; scripts search for more
Group = tuple[str, list[tuple[str, str]]]


@dataclasses.dataclass(frozen=True)
class FilterForm:
    """The form for the value of a filter: its lookups as pairs of suffix and words, and the control of the value.

    ``replaces`` is the parameter of the query that the form changes; empty for a new one.
    """

    name: str
    label: str
    lookups: Sequence[tuple[str, str]]
    lookup: str
    control: Control
    replaces: str


def groups_of(uow: UnitOfWork, endpoint: Endpoint) -> list[Group]:
    """The filters of a list as pairs of name and label: own fields, relations, custom fields; from the configuration's
    cache.
    """
    groups: list[Group] = uow.cached_config(("web filters", endpoint.path), lambda uow: _groups(uow, endpoint))
    return groups


def _groups(uow: UnitOfWork, endpoint: Endpoint) -> list[Group]:
    own: list[tuple[str, str]] = []
    relations: list[tuple[str, str]] = []
    custom: list[tuple[str, str]] = []
    for name, item in (endpoint.filters | filters.dynamic_filters(uow, endpoint)).items():
        is_copy = name.endswith("_id") and name.removesuffix("_id") in endpoint.filters
        if name == SEARCH or is_copy:
            continue
        is_own = item.relation is None or isinstance(endpoint.fields.get(name), fields.Status)
        group = custom if name.startswith(CUSTOM_FIELD_PREFIX) else own if is_own else relations
        group.append((name, filter_label(endpoint, item)))
    groups = [("Own fields", own), ("Relations", relations), ("Custom fields", custom)]
    return [(title, sorted(group, key=lambda pair: pair[1].lower())) for title, group in groups if group]


def form_of(request: Request, endpoint: Endpoint, query: ListQuery) -> FilterForm | None:
    """The form for the filter that the parameter ``_filter`` names; ``None`` without one."""
    uow = request.uow
    parameter = uow.query.get("_filter", [""])[-1]
    match = filters.filter_finder(uow, endpoint)(parameter)
    if match is None:
        return None
    item, suffix = match
    values = query.values(parameter)
    lookup = suffix
    if values == [NULL] and item.relation is not None:
        lookup, values = (NOT_EMPTY if suffix == "n" else EMPTY), []
    control = _control(uow, endpoint, item, values)
    replaces = parameter if query.values(parameter) else ""
    return FilterForm(item.name, filter_label(endpoint, item), _lookups(item), lookup, control, replaces)


def _lookups(item: Filter) -> list[tuple[str, str]]:
    offered = [(suffix, LOOKUP_WORDS.get(suffix, suffix).rstrip(",")) for suffix in ("", *item.lookups)]
    return [*offered, (EMPTY, "is empty"), (NOT_EMPTY, "is not empty")] if item.relation is not None else offered


def _control(uow: UnitOfWork, endpoint: Endpoint, item: Filter, values: Sequence[str]) -> Control:
    """The control for the values of a filter."""
    field, label = endpoint.fields.get(item.name), "Value"
    common: dict[str, Any] = {"values": list(values)}
    if item.kind == "boolean":
        return Control("_value", label, "select", choices=[("true", "Yes"), ("false", "No")], **common)
    if isinstance(field, fields.Status):
        choices = references.statuses_for(uow, field, endpoint)
        return Control("_value", label, "select", multiple=True, choices=choices, **common)
    if item.choices is not None:
        choices = [(str(value), text) for value, text in item.choices.items]
        return Control("_value", label, "select", multiple=item.multiple, choices=choices, **common)
    target = target_of(endpoint, item)
    if target is not None:
        offered = _offer_values(uow, endpoint, item, target, values)
        searched = target if item.relation is not None and item.relation.ids else None
        return Control("_value", label, "picker", multiple=item.multiple, choices=offered, target=searched, **common)
    python_type = field.python_type if isinstance(field, fields.Value) else None
    kind = "number" if item.kind == "number" else "date" if python_type is datetime.date else "text"
    attributes = {"step": "any"} if kind == "number" else {}
    return Control("_value", label, kind, attributes=attributes, **common)


def _offer_values(
    uow: UnitOfWork, endpoint: Endpoint, item: Filter, target: Endpoint, values: Sequence[str]
) -> list[tuple[str, str]]:
    """The values of a reference and their names: those in the query, then the first objects of the list."""
    assert item.relation is not None
    columns = item.relation.name_columns(target)
    table = target.table
    column = table.c[columns[0]] if columns else table.c.id
    source, order, *_ = target.ordering
    visible = () if item.relation.public else permissions.visible(uow, target, table)
    statement = sa.select(column).select_from(source).where(column.is_not(None), *visible).order_by(*order)
    keys = [str(key) for key in uow.execute(statement.limit(MAX_OFFERED)).scalars()]
    offered = list(dict.fromkeys([*(value for value in values if value != NULL), *keys]))
    names = names_of(uow, [(endpoint, item, offered)])
    return [(value, value_text(endpoint, item, value, names)) for value in offered]


def submitted_query(request: Request, endpoint: Endpoint, query: ListQuery) -> ListQuery | None:
    """The query with what a form of the filter bar has sent; ``None`` when none has."""
    sent: Mapping[str, list[str]] = request.uow.query
    if "_text" in sent:
        return query.with_filters(filter_text.parse(sent["_text"][-1]))
    if "_lookup" not in sent or "_filter" not in sent:
        return None
    name, lookup = sent["_filter"][-1], sent["_lookup"][-1]
    values = [value for value in sent.get("_value", []) if value != ""]
    if lookup in (EMPTY, NOT_EMPTY):
        lookup, values = ("" if lookup == EMPTY else "n"), [NULL]
    parameter = f"{name}__{lookup}" if lookup else name
    replaced = sent.get("_replaces", [""])[-1]
    found = filters.filter_finder(request.uow, endpoint)(parameter)
    alone = replaced == parameter or (found is not None and found[0].is_single(found[1]))
    former = [] if alone else query.values(parameter)
    kept = query.without(replaced) if replaced not in ("", parameter) else query
    return kept.with_values(parameter, dict.fromkeys([*former, *values]))
