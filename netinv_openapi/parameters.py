"""OpenAPI query parameters: the filters of a resource with their lookups, and the parameters of all lists."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING, Any

from netinv_core import fields
from netinv_core.http import versions
from netinv_core.http.list_formats import formats_of
from netinv_core.http.query_parameters import PAGING, Schema, query
from netinv_core.read import past_states
from netinv_core.read.entity_tags import INCLUDED
from netinv_core.read.ordering import PARAMETER, orderings_of
from netinv_core.sql.lookups import SUFFIXES

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.read.filters import Filter

WORDS = {
    "exact": "is",
    "iexact": "is, whatever the case",
    "icontains": "contains, whatever the case",
    "istartswith": "starts with, whatever the case",
    "iendswith": "ends with, whatever the case",
    "regex": "matches a regular expression",
    "iregex": "matches a regular expression, whatever the case",
    "lt": "is less than",
    "lte": "is at most",
    "gt": "is greater than",
    "gte": "is at least",
}
_AS_TYPED = frozenset({"exact", "lt", "lte", "gt", "gte"})
_TEXT: Schema = {"type": "string"}


def of_filter(endpoint: Endpoint, item: Filter) -> Iterator[dict[str, Any]]:
    """Yields the parameters of a filter: one for its name, and one for each lookup."""
    for suffix in ("", *item.lookups):
        lookup, negated = SUFFIXES.get(suffix, (suffix, False))
        value = _value_schema(endpoint, item, lookup)
        description = f"`{item.name}` {'not: ' if negated else ''}{WORDS.get(lookup, lookup)}" if suffix else item.help
        name = f"{item.name}__{suffix}" if suffix else item.name
        parameter = query(name, value if item.is_single(suffix) else {"type": "array", "items": value}, description)
        yield parameter if description else {key: part for key, part in parameter.items() if key != "description"}


def of_list(endpoint: Endpoint, absent: Collection[str]) -> list[dict[str, Any]]:
    """Returns the parameters of a list: filters, except those ``absent``, further formats, and the order."""
    offered = sorted(
        (item for item in endpoint.filters.values() if item.name not in absent), key=lambda item: item.name
    )
    parameters = [parameter for item in offered for parameter in of_filter(endpoint, item)]
    formats = [query(name, _TEXT, item.help) for name, item in sorted(formats_of(endpoint).items())]
    own = [_ordering(endpoint), *map(dict, PAGING)]
    return [*parameters, *formats, *(item for item in own if item["name"] not in endpoint.filters)]


def _ordering(endpoint: Endpoint) -> dict[str, Any]:
    names = ", ".join(f"`{name}`" for name in sorted(orderings_of(endpoint)))
    description = f"Names to order by, separated by commas; `-` before a name: descending. {names}"
    return query(PARAMETER, _TEXT, f"{description}, `cf_…`; across references with a dot.")


def _value_schema(endpoint: Endpoint, item: Filter, lookup: str) -> Schema:
    """Returns the schema of a filter's value: that of the field of its name for lookups that compare typed values."""
    field = endpoint.fields.get(item.name)
    if lookup not in _AS_TYPED:
        return _TEXT
    if isinstance(field, fields.Choice):
        schema = field.values_schema()
        return {**schema, "enum": [value for value in schema["enum"] if value != ""]}
    if not isinstance(field, fields.Value):
        return {"type": item.kind}
    typed = {key: part for key, part in field.openapi.items() if key in ("type", "format")}
    return typed or {"type": item.kind}


def in_path(name: str) -> list[Schema]:
    """Returns the path parameters in the name of an action."""
    return [
        {"name": word, "in": "path", "required": True, "schema": {"type": "string"}}
        for word in re.findall(r"{(\w+)}", name)
    ]


def common(version: str) -> dict[str, Any]:
    """Returns the parameters that resources share, by name."""
    natural_number = {"type": "integer", "minimum": 0}
    path = {"in": "path", "name": "id", "required": True}
    return {
        "api_version": query(
            "api_version",
            {"type": "string", "enum": [version]},
            f"The version described here; {versions.DEFAULT} is the default.",
        ),
        "as_of": query(
            past_states.PARAMETER,
            {"type": "string", "format": "date-time"},
            "The object as it was at this time, from its change records.",
        ),
        "brief": query("brief", {"type": "boolean"}, "Objects in the form in which others nest them (`Nested…`)."),
        "fields": query(
            "fields",
            _TEXT,
            "Names of members to show, separated by commas; those of references after a dot. The others are left out, "
            "also where the schema requires them.",
        ),
        "include": query(
            "include", {"type": "string", "enum": [INCLUDED]}, "Adds the ETag of each object, as its member `_etag`."
        ),
        "limit": query("limit", natural_number, "Objects a page; 0 for all of them."),
        "offset": query("offset", natural_number, "How many objects to skip."),
        "id": {**path, "schema": {"type": "string", "format": "uuid"}},
        "number": {**path, "schema": {"type": "integer"}},
    }
