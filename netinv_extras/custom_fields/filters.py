"""Query parameters for custom fields: ``cf_<slug>`` and its lookups, as the type and the filter logic of the definition have it."""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable
from typing import Any

import sqlalchemy as sa

from netinv_core.db import json_sql
from netinv_core.endpoint import Endpoint
from netinv_core.read import lookups
from netinv_core.read.filters import NULL, Condition, Filter
from netinv_core.read.lookups import LOOKUPS, SUFFIXES, negated
from netinv_core.uow import UnitOfWork
from netinv_extras.custom_fields.models import definitions_of
from netinv_extras.custom_fields.values import BOOLEAN, DATE, DISABLED, EXACT, INTEGER, JSON, MARKDOWN, MULTI_SELECT, SELECT, TEXT, URL, Definition

PREFIX = "cf_"
COLUMN = "custom_field_data"
Compare = Callable[[str, Any, Definition, str, str], Condition]
_WHOLE = re.compile(r"\s*[-+]?[0-9]{1,19}\s*\Z")


def parameters(uow: UnitOfWork, endpoint: Endpoint) -> dict[str, Filter]:
    """The parameters of an endpoint, found once for a version of the configuration; by slug, and by name where that is another."""

    def make(uow: UnitOfWork) -> dict[str, Filter]:
        found: dict[str, Filter] = {}
        for field in definitions_of(uow, endpoint.label).values():
            if field.filter_logic != DISABLED:
                found |= {f"{PREFIX}{name}": _parameter(f"{PREFIX}{name}", field) for name in (field.name, field.slug)}
        return found

    made: dict[str, Filter] = uow.cached_config(("custom filters", endpoint.label), make)
    return made


def _parameter(name: str, field: Definition) -> Filter:
    """Without a lookup the last value counts; with one, any of them."""
    compare, suffixes = _KINDS[field.type]

    def apply(uow: UnitOfWork, endpoint: Endpoint, table: Any, suffix: str, values: list[str]) -> Condition:
        dialect, column = uow.registry.dialect, table.c[COLUMN]
        lookup, negate = SUFFIXES[suffix] if suffix else ("", False)
        found = lookups.any_of([_without(dialect, column, field) if v == NULL else compare(dialect, column, field, lookup, v) for v in values])
        if not negate:
            return found
        rest = negated(found)
        return rest if lookup == "exact" else sa.and_(rest, sa.not_(_is_null(dialect, column, field)))

    return Filter(name, apply, suffixes, bare=True)


def _without(dialect: str, column: Any, field: Definition) -> Condition:
    """Without a value: there is none, or it is null."""
    return json_sql.text(dialect, column, field.slug).is_(None)


def _is_null(dialect: str, column: Any, field: Definition) -> Condition:
    """Whether the value was set to null; what says nothing at all is not like any text."""
    return sa.and_(json_sql.has(dialect, column, field.slug), _without(dialect, column, field))


def _text(dialect: str, column: Any, field: Definition, lookup: str, value: str) -> Condition:
    loose = field.filter_logic != EXACT and field.type != SELECT
    return LOOKUPS[lookup or ("icontains" if loose else "exact")](dialect, json_sql.text(dialect, column, field.slug), value)


def _number(dialect: str, column: Any, field: Definition, lookup: str, value: str) -> Condition:
    if not _WHOLE.match(value) or not -(2**63) <= int(value) < 2**63:
        raise ValueError("Enter a whole number.")
    return LOOKUPS[lookup or "exact"](dialect, json_sql.number(dialect, column, field.slug), value)


def _date(dialect: str, column: Any, field: Definition, lookup: str, value: str) -> Condition:
    try:
        moment = datetime.date.fromisoformat(value.strip()).isoformat()
    except ValueError:
        raise ValueError("Enter a valid date.") from None
    return LOOKUPS[lookup or "exact"](dialect, json_sql.text(dialect, column, field.slug), moment)


def _flag(dialect: str, column: Any, field: Definition, lookup: str, value: str) -> Condition:
    return json_sql.json(dialect, column, field.slug) == json_sql.encoded(lookups.convert_flag(value))


def _among(dialect: str, column: Any, field: Definition, lookup: str, value: str) -> Condition:
    return LOOKUPS["contains"](dialect, json_sql.json(dialect, column, field.slug), json_sql.encoded(value))


def _document(dialect: str, column: Any, field: Definition, lookup: str, value: str) -> Condition:
    if field.filter_logic == EXACT:
        return json_sql.equals(dialect, column, field.slug, _parsed(value))
    return LOOKUPS["icontains"](dialect, json_sql.json(dialect, column, field.slug), value)


def _parsed(value: str) -> Any:
    try:
        return json_sql.decoded(value)
    except ValueError:
        raise ValueError("Value must be valid JSON.") from None


_KINDS: dict[str, tuple[Compare, tuple[str, ...]]] = {
    TEXT: (_text, lookups.TEXT),
    URL: (_text, lookups.TEXT),
    SELECT: (_text, lookups.TEXT),
    MARKDOWN: (_text, ()),
    INTEGER: (_number, lookups.NUMBER),
    DATE: (_date, lookups.NUMBER),
    BOOLEAN: (_flag, ()),
    MULTI_SELECT: (_among, ()),
    JSON: (_document, ()),
}
