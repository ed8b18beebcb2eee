"""Chips of the filters in a list's query: what each filter says, and the links to change and to remove it."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence

from netinv_core.labels import label_of_name, label_with_unit
from netinv_core.read import filters
from netinv_core.read.filters import NULL
from netinv_core.types import Endpoint, Filter, UnitOfWork
from netinv_web.lists.columns import CUSTOM_FIELD_PREFIX
from netinv_web.lists.filter_text import SEARCH
from netinv_web.lists.list_query import ListQuery
from netinv_web.lists.named_objects import Names, names_of, target_of

# Words for the suffixes of query parameters.
LOOKUP_WORDS = {
    "": "is",
    "n": "is not",
    "ic": "contains",
    "nic": "does not contain",
    "isw": "starts with",
    "nisw": "does not start with",
    "iew": "ends with",
    "niew": "does not end with",
    "ie": "is, in any case,",
    "nie": "is not, in any case,",
    "re": "matches",
    "nre": "does not match",
    "ire": "matches, in any case,",
    "nire": "does not match, in any case,",
    "gt": ">",
    "gte": "≥",
    "lt": "<",
    "lte": "≤",
}

FLAGS = {"true": "Yes", "false": "No", "True": "Yes", "False": "No", "1": "Yes", "0": "No"}
UNKNOWN = "There is no such filter."


@dataclasses.dataclass(frozen=True)
class Chip:
    """A filter of the query: ``lookup`` is the comparison in words, ``texts`` are the values as people know them.

    ``remove`` and ``edit`` are paths: the list without the filter, and the list with the form for it.
    """

    parameter: str
    label: str
    lookup: str
    texts: Sequence[str]
    remove: str
    edit: str
    error: str = ""


def filter_label(endpoint: Endpoint, item: Filter) -> str:
    """The label of a filter: that of the field or relation that it filters by."""
    field = endpoint.fields.get(item.name)
    if field is not None:
        return label_with_unit(field)
    name = item.name.removeprefix(CUSTOM_FIELD_PREFIX)
    if item.relation is not None:
        name = name.removesuffix("_id")
    return label_of_name(name)


def chips_of(uow: UnitOfWork, endpoint: Endpoint, query: ListQuery, errors: Mapping[str, str]) -> list[Chip]:
    """The chips of a query. ``errors`` are messages by parameter; the names of objects take one statement for all."""
    find = filters.filter_finder(uow, endpoint)
    parameters = [(name, values) for name, values in query.filters if name != SEARCH or name in errors]
    found = {name: find(name) for name, _ in parameters}
    used = [(match[0], values) for name, values in parameters if (match := found[name]) is not None]
    names = names_of(uow, endpoint, used)
    return [_chip(endpoint, query, name, values, found[name], names, errors) for name, values in parameters]


def _chip(
    endpoint: Endpoint,
    query: ListQuery,
    name: str,
    values: Sequence[str],
    match: tuple[Filter, str] | None,
    names: Names,
    errors: Mapping[str, str],
) -> Chip:
    remove = query.without(name).url
    if match is None:
        return Chip(name, name, ":", values, remove, "", errors.get(name, UNKNOWN))
    label, lookup, texts = words_of(endpoint, match, values, names)
    edit = f"{query.base}_filter={name}"
    return Chip(name, label, lookup, texts, remove, edit, errors.get(name, ""))


def words_of(
    endpoint: Endpoint, match: tuple[Filter, str], values: Sequence[str], names: Names
) -> tuple[str, str, list[str]]:
    """The label of a filter, its lookup in words, and the texts of its values."""
    item, suffix = match
    texts = [text_of(endpoint, item, value, names) for value in values]
    return filter_label(endpoint, item), LOOKUP_WORDS.get(suffix, suffix), texts


def text_of(endpoint: Endpoint, item: Filter, value: str, names: Names) -> str:
    """The text of a filter's value: a name or label, if it has one."""
    if item.relation is not None:
        if value == NULL:
            return "empty"
        target = target_of(endpoint, item)
        return names.get((target.label, value), value) if target is not None else value
    if item.name == "id":
        return names.get((endpoint.label, value), value)
    if item.kind == "boolean":
        return FLAGS.get(value, value)
    if item.choices is not None:
        labels = {str(choice): label for choice, label in item.choices.items}
        return labels.get(value, value)
    return value
