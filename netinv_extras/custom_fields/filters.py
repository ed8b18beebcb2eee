"""Query parameters of custom fields: ``cf_<slug>``, with lookups by the type and filter logic of the field."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from netinv_core import dates
from netinv_core.db import json_sql
from netinv_core.read.filters import NULL, Condition, Filter
from netinv_core.sql import lookups
from netinv_core.sql.lookups import LOOKUPS, SUFFIXES, negated
from netinv_extras.custom_fields.models import definitions_of
from netinv_extras.custom_fields.values import (
    BOOLEAN,
    DATE,
    DISABLED,
    EXACT,
    INTEGER,
    JSON,
    MARKDOWN,
    MULTI_SELECT,
    SELECT,
    TEXT,
    URL,
    ValueDefinition,
)

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.uow import UnitOfWork

PREFIX = "cf_"
COLUMN = "custom_field_data"
CompareOne = Callable[[str, Any, ValueDefinition, str, str], Condition]
CompareAny = Callable[[str, Any, ValueDefinition, str, Sequence[str]], Condition]
_INTEGER = re.compile(r"\s*[-+]?[0-9]{1,19}\s*\Z")


def parameters(uow: UnitOfWork, endpoint: Endpoint) -> dict[str, Filter]:
    """Returns the parameters of an endpoint by slug and by name, cached with the configuration.

    What is the name of one field and the slug of another is the name.
    """

    def build(uow: UnitOfWork) -> dict[str, Filter]:
        fields = [field for field in definitions_of(uow, endpoint.label).values() if field.filter_logic != DISABLED]
        named = {f"{PREFIX}{field.slug}": field for field in fields} | {
            f"{PREFIX}{field.name}": field for field in fields
        }
        return {key: _parameter(uow.registry.dialect, key, field) for key, field in named.items()}

    cached: dict[str, Filter] = uow.cached_config(("custom filters", endpoint.label), build)
    return cached


def _parameter(dialect: str, name: str, field: ValueDefinition) -> Filter:
    """Builds the filter of a custom field. It takes one value without a lookup; with one, any of several."""
    compare, suffixes = _KINDS[field.type]

    def apply(uow: UnitOfWork, endpoint: Endpoint, table: Any, suffix: str, values: list[str]) -> Condition:
        column = table.c[COLUMN]
        lookup, negate = SUFFIXES[suffix] if suffix else ("", False)

        given = [value for value in values if value != NULL]
        conditions = [_has_no_value(dialect, column, field)] if len(given) < len(values) else []
        if given:
            conditions.append(compare(dialect, column, field, lookup, given))
        condition = lookups.any_of(conditions)
        if not negate:
            return condition
        inverse = negated(condition)
        return inverse if lookup == "exact" else sa.and_(inverse, sa.not_(_is_null(dialect, column, field)))

    return Filter(name, apply, suffixes, single_without_lookup=True, sort_by=_sort_expression(dialect, field))


def _sort_expression(dialect: str, field: ValueDefinition) -> Callable[[Any], Any] | None:
    """Returns the function from table to the SQL expression that lists are ordered by; ``None`` for lists and JSON."""
    if field.type in (MULTI_SELECT, JSON):
        return None
    member = json_sql.number if field.type == INTEGER else json_sql.json if field.type == BOOLEAN else json_sql.text
    return lambda table: member(dialect, table.c[COLUMN], field.slug)


def _has_no_value(dialect: str, column: Any, field: ValueDefinition) -> Condition:
    """Condition for a member that is missing or null; of choices, which were stored as a list, also an empty one."""
    is_null = json_sql.text(dialect, column, field.slug).is_(None)
    if field.type != MULTI_SELECT:
        return is_null
    return sa.or_(is_null, json_sql.json(dialect, column, field.slug) == json_sql.encode([]))


def _is_null(dialect: str, column: Any, field: ValueDefinition) -> Condition:
    """Condition for a member that is present and null. Negated text lookups exclude it, but match missing members."""
    return sa.and_(json_sql.has(dialect, column, field.slug), _has_no_value(dialect, column, field))


def _any(compare: CompareOne) -> CompareAny:
    """The condition that a comparison holds for one of the values."""

    def apply(dialect: str, column: Any, field: ValueDefinition, lookup: str, values: Sequence[str]) -> Condition:
        return lookups.any_of([compare(dialect, column, field, lookup, value) for value in values])

    return apply


def _texts(dialect: str, column: Any, field: ValueDefinition, lookup: str, values: Sequence[str]) -> Condition:
    loose = field.filter_logic != EXACT and field.type != SELECT
    name = lookup or ("icontains" if loose else "exact")
    return lookups.meets(name, dialect, values, json_sql.text(dialect, column, field.slug))


def _number(dialect: str, column: Any, field: ValueDefinition, lookup: str, value: str) -> Condition:
    if not _INTEGER.match(value) or not -(2**63) <= int(value) < 2**63:
        raise ValueError("Enter a whole number.")
    return LOOKUPS[lookup or "exact"](dialect, json_sql.number(dialect, column, field.slug), value)


def _date(dialect: str, column: Any, field: ValueDefinition, lookup: str, value: str) -> Condition:
    try:
        day = dates.parse_date(value.strip()).isoformat()
    except ValueError:
        raise ValueError("Enter a valid date.") from None
    return LOOKUPS[lookup or "exact"](dialect, json_sql.text(dialect, column, field.slug), day)


def _flag(dialect: str, column: Any, field: ValueDefinition, lookup: str, value: str) -> Condition:
    return json_sql.json(dialect, column, field.slug) == json_sql.encode(lookups.convert_flag(value))


def _contains_choice(dialect: str, column: Any, field: ValueDefinition, lookup: str, value: str) -> Condition:
    return LOOKUPS["contains"](dialect, json_sql.json(dialect, column, field.slug), json_sql.encode(value))


def _document(dialect: str, column: Any, field: ValueDefinition, lookup: str, value: str) -> Condition:
    if field.filter_logic == EXACT:
        return json_sql.equals(dialect, column, field.slug, _parse(value))
    return LOOKUPS["icontains"](dialect, json_sql.json(dialect, column, field.slug), value)


def _parse(value: str) -> Any:
    try:
        return json_sql.decode(value)
    except ValueError:
        raise ValueError("Value must be valid JSON.") from None


_KINDS: dict[str, tuple[CompareAny, tuple[str, ...]]] = {
    TEXT: (_texts, lookups.TEXT),
    URL: (_texts, lookups.TEXT),
    SELECT: (_texts, lookups.TEXT),
    MARKDOWN: (_texts, ()),
    INTEGER: (_any(_number), lookups.NUMBER),
    DATE: (_any(_date), lookups.NUMBER),
    BOOLEAN: (_any(_flag), ()),
    MULTI_SELECT: (_any(_contains_choice), ()),
    JSON: (_any(_document), ()),
}
