"""Query parameters of custom fields: ``cf_<slug>``, with lookups by the type and filter logic of the field."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from netinv_core import dates
from netinv_core.db import json_sql
from netinv_core.db.json_sql import JsonMember
from netinv_core.driver import Driver
from netinv_core.models.base import CUSTOM_FIELD_PREFIX
from netinv_core.read.filters import NULL, Condition, Filter
from netinv_core.sql import lookups
from netinv_core.sql.lookups import SUFFIXES, negated
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

COLUMN = "custom_field_data"
CompareOne = Callable[[JsonMember, ValueDefinition, str, str], Condition]
CompareAny = Callable[[JsonMember, ValueDefinition, str, Sequence[str]], Condition]
_SORTED = {INTEGER: "number", BOOLEAN: "json"}  # by which form of the member; by its text for other types
_INTEGER = re.compile(r"\s*[-+]?[0-9]{1,19}\s*\Z")


def parameters(uow: UnitOfWork, endpoint: Endpoint) -> dict[str, Filter]:
    """Returns the parameters of an endpoint by slug and by name, cached with the configuration.

    What is the name of one field and the slug of another is the name.
    """

    def build(uow: UnitOfWork) -> dict[str, Filter]:
        fields = [field for field in definitions_of(uow, endpoint.label).values() if field.filter_logic != DISABLED]
        named = {f"{CUSTOM_FIELD_PREFIX}{field.slug}": field for field in fields} | {
            f"{CUSTOM_FIELD_PREFIX}{field.name}": field for field in fields
        }
        return {key: _parameter(uow.registry.driver, key, field) for key, field in named.items()}

    cached: dict[str, Filter] = uow.cached_config(("custom filters", endpoint.label), build)
    return cached


def _parameter(driver: Driver, name: str, field: ValueDefinition) -> Filter:
    """Builds the filter of a custom field. It takes one value without a lookup; with one, any of several."""
    compare, suffixes = _KINDS[field.type]

    def apply(uow: UnitOfWork, endpoint: Endpoint, table: Any, suffix: str, values: list[str]) -> Condition:
        member = JsonMember(driver, table.c[COLUMN], (field.slug,))
        lookup, negate = SUFFIXES[suffix] if suffix else ("", False)

        given = [value for value in values if value != NULL]
        conditions = [_has_no_value(member, field)] if len(given) < len(values) else []
        if given:
            conditions.append(compare(member, field, lookup, given))
        condition = lookups.any_of(conditions)
        if not negate:
            return condition
        inverse = negated(condition)
        return inverse if lookup == "exact" else sa.and_(inverse, sa.not_(_is_null(member, field)))

    return Filter(name, apply, suffixes, single_without_lookup=True, sort_by=_sort_expression(driver, field))


def _sort_expression(driver: Driver, field: ValueDefinition) -> Callable[[Any], Any] | None:
    """Returns the function from table to the SQL expression that lists are ordered by; ``None`` for lists and JSON."""
    if field.type in (MULTI_SELECT, JSON):
        return None
    in_form: Callable[[JsonMember], Any] = operator.attrgetter(_SORTED.get(field.type, "text"))
    return lambda table: in_form(JsonMember(driver, table.c[COLUMN], (field.slug,)))


def _has_no_value(member: JsonMember, field: ValueDefinition) -> Condition:
    """Condition for a member that is missing or null; of choices, which were stored as a list, also an empty one."""
    is_null = member.text.is_(None)
    return sa.or_(is_null, member.json == json_sql.encode([])) if field.type == MULTI_SELECT else is_null


def _is_null(member: JsonMember, field: ValueDefinition) -> Condition:
    """Condition for a member that is present and null. Negated text lookups exclude it, but match missing members."""
    return sa.and_(member.exists, _has_no_value(member, field))


def _any(compare: CompareOne) -> CompareAny:
    """The condition that a comparison holds for one of the values."""

    def apply(member: JsonMember, field: ValueDefinition, lookup: str, values: Sequence[str]) -> Condition:
        return lookups.any_of([compare(member, field, lookup, value) for value in values])

    return apply


def _texts(member: JsonMember, field: ValueDefinition, lookup: str, values: Sequence[str]) -> Condition:
    loose = field.filter_logic != EXACT and field.type != SELECT
    name = lookup or ("icontains" if loose else "exact")
    return lookups.meets(name, member.driver, values, member.text)


def _number(member: JsonMember, field: ValueDefinition, lookup: str, value: str) -> Condition:
    if not _INTEGER.match(value) or not -(2**63) <= int(value) < 2**63:
        raise ValueError("Enter a whole number.")
    return lookups.compare(lookup or "exact", member.driver, member.number, value)


def _date(member: JsonMember, field: ValueDefinition, lookup: str, value: str) -> Condition:
    try:
        day = dates.parse_date(value.strip()).isoformat()
    except ValueError:
        raise ValueError("Enter a valid date.") from None
    return lookups.compare(lookup or "exact", member.driver, member.text, day)


def _flag(member: JsonMember, field: ValueDefinition, lookup: str, value: str) -> Condition:
    return member.json == json_sql.encode(lookups.convert_flag(value))


def _contains_choice(member: JsonMember, field: ValueDefinition, lookup: str, value: str) -> Condition:
    return lookups.compare("contains", member.driver, member.json, json_sql.encode(value))


def _document(member: JsonMember, field: ValueDefinition, lookup: str, value: str) -> Condition:
    if field.filter_logic == EXACT:
        return member.equals(_parse(value))
    return lookups.compare("icontains", member.driver, member.json, value)


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
