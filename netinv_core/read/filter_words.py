"""Filters and field lookups in words, for people: label, comparison, and the texts of the values."""

from __future__ import annotations

import json
import uuid
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from netinv_core.labels import label_of_name, label_with_unit
from netinv_core.models.base import CUSTOM_FIELD_PREFIX
from netinv_core.read.filters import NULL, find_filter, target_of

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.read.filters import Filter

Words = tuple[str, str, list[str]]  # label, comparison, values
Names = Mapping[tuple[str, str], str]  # of the objects that filters name, by label of the model and value
IS_EMPTY, IS_SET = "is empty", "is not empty"
NOT_FOUND = "an object that is deleted or hidden"
FLAGS = {"true": "Yes", "false": "No", "True": "Yes", "False": "No", "1": "Yes", "0": "No"}
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
# Words for the lookups of fields, as in the constraints of permissions.
FIELD_LOOKUP_WORDS = {
    "exact": "is",
    "in": "is",
    "iexact": "is, in any case,",
    "contains": "contains",
    "icontains": "contains, in any case,",
    "startswith": "starts with",
    "istartswith": "starts, in any case, with",
    "endswith": "ends with",
    "iendswith": "ends, in any case, with",
    "regex": "matches",
    "iregex": "matches, in any case,",
    "gt": ">",
    "gte": "≥",
    "lt": "<",
    "lte": "≤",
}
IS_NULL = "isnull"  # the lookup of fields without a value


def filter_label(endpoint: Endpoint, item: Filter) -> str:
    """The label of a filter: that of the field or relation that it filters by."""
    field = endpoint.fields.get(item.name)
    if field is not None:
        return label_with_unit(field)
    name = item.name.removeprefix(CUSTOM_FIELD_PREFIX)
    if item.relation is not None:
        name = name.removesuffix("_id")
    return label_of_name(name)


def words_of(endpoint: Endpoint, match: tuple[Filter, str], values: Sequence[str], names: Names) -> Words:
    """The words of a filter and its lookup for values of a query. An object is named, or said not to be found."""
    item, suffix = match
    texts = [value_text(endpoint, item, value, names) for value in values]
    return filter_label(endpoint, item), LOOKUP_WORDS.get(suffix, suffix), texts


def value_text(endpoint: Endpoint, item: Filter, value: str, names: Names) -> str:
    """The text of a filter's value: a name or label, if it has one."""
    if item.relation is not None:
        if value == NULL:
            return "empty"
        target = target_of(endpoint, item.relation.steps)
        return _object_name(target, value, names) if target is not None else value
    if item.name == "id":
        return _object_name(endpoint, value, names)
    if item.kind == "boolean":
        return FLAGS.get(value, value)
    if item.choices is not None:
        labels = {str(choice): label for choice, label in item.choices.items}
        return labels.get(value, value)
    return value


def _object_name(target: Endpoint, value: str, names: Names) -> str:
    """The name of an object, or its natural key; that of an id without a name is not shown."""
    if (target.label, value) in names:
        return names[target.label, value]
    try:
        uuid.UUID(value)
    except ValueError:
        return value
    return NOT_FOUND


def filters_of_condition(endpoint: Endpoint, condition: Mapping[str, Any]) -> list[tuple[Endpoint, Filter, list[str]]]:
    """The filters of a condition with their values, for the names that :func:`condition_words` takes."""
    found = [(find_filter(endpoint.filters, name), given) for name, given in condition.items()]
    return [(endpoint, match[0], _texts(given)) for match, given in found if match is not None]


def condition_words(endpoint: Endpoint, name: str, given: Any, names: Names) -> Words:
    """The words of a name of a condition: a filter of the list, or a field lookup. No statement.

    An empty value stands for none. ``names`` are those of the objects of :func:`filters_of_condition`.
    """
    values = _texts(given)
    match = find_filter(endpoint.filters, name)
    if match is not None:
        label, lookup, texts = words_of(endpoint, match, values, names)
    elif name.startswith(CUSTOM_FIELD_PREFIX):
        base, _, suffix = name.removeprefix(CUSTOM_FIELD_PREFIX).partition("__")
        label, lookup, texts = label_of_name(base), LOOKUP_WORDS.get(suffix, suffix), values
    else:
        return _field_words(name, given, values)
    if values == [""]:
        return label, {LOOKUP_WORDS[""]: IS_EMPTY, LOOKUP_WORDS["n"]: IS_SET}.get(lookup, lookup), []
    return label, lookup, texts


def _field_words(name: str, given: Any, values: list[str]) -> Words:
    """The words of a field lookup along references, such as ``site__region__slug__in``."""
    *path, last = name.split("__")
    is_lookup = bool(path) and (last in FIELD_LOOKUP_WORDS or last == IS_NULL)
    label = " › ".join(label_of_name(step) for step in (path if is_lookup else [*path, last]))
    if is_lookup and last == IS_NULL:
        return label, IS_EMPTY if given else IS_SET, []
    return label, FIELD_LOOKUP_WORDS[last if is_lookup else "exact"], values


def _texts(given: Any) -> list[str]:
    return [_text(value) for value in (given if isinstance(given, list) else [given])]


def _text(value: Any) -> str:
    """A value of a condition as a query has it."""
    return value if isinstance(value, str) else json.dumps(value)
