"""Lookups: comparisons of a column with a value, with the same result on every database.

One table serves query parameters (``name__ic``), the attributes that identify a referenced object
(``name__startswith``) and the constraints of permissions.
"""

from __future__ import annotations

import datetime
import decimal
import math
import re
import uuid
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import sqlalchemy as sa

from netinv_core import dates, patterns
from netinv_core.db.expressions import accepts_dialect, in_values, lower
from netinv_core.db.expressions import as_text as as_text
from netinv_core.driver import Driver, driver_of
from netinv_core.driver.general import any_of as any_of
from netinv_core.driver.general import escape_wildcards
from netinv_core.driver.general import python_type as python_type
from netinv_core.models.types import Chars, utc

LAST_CHARACTER = "\U0010ffff"  # sorts after every other
MAX_COMPARED = 6000  # characters of a text: SQLite takes patterns of 50,000 bytes, and an escaped letter may have 8
escaped = escape_wildcards  # its name in the public API
Condition = Any
Compare = Callable[[Driver, Any, Any], Condition]
CompareAny = Callable[[Driver, Any, Sequence[Any]], Condition]


# ASCII digits, and no more than numbers within the range of floats have.
_NUMBER = re.compile(r"\s*[-+]?([0-9]{1,400}\.?[0-9]{0,400}|\.[0-9]{1,400})(e[-+]?[0-9]{1,3})?\s*", re.I)
_BITS: dict[type[sa.Integer], int] = {sa.SmallInteger: 16, sa.BigInteger: 64}


def convert(column: Any, value: Any) -> Any:
    """Converts a value from a client to the column's type.

    :raises ValueError: for a value that the type does not have
    """
    kind = python_type(column)
    if value is None or kind is object:
        return value
    if kind is uuid.UUID:
        return _to_uuid(value)
    if kind is bool:
        return _to_bool(value)
    if kind in (int, decimal.Decimal, float):
        return _to_number(kind, value)
    if kind in (datetime.datetime, datetime.date):
        return _to_date(kind, value)
    if kind is bytes:
        raise ValueError("Packed addresses are compared by the lookups of networks alone.")
    return _canonical(column.type, str(value))


def _canonical(type_: Any, text: str) -> str:
    """The text in the notation in which columns of this type store it.

    :raises ValueError: for one that is no value of the type, and a blank one
    """
    if not isinstance(type_, Chars) or type_.canonical is None:
        return text
    if (stored := type_.canonical(text)) is None:
        raise ValueError("Enter a value.")
    return stored


def _to_uuid(value: Any) -> uuid.UUID:
    try:
        if isinstance(value, uuid.UUID):
            return value
        if not str(value).isascii() or "_" in str(value):  # which Python reads as digits, and leaves out
            raise ValueError
        return uuid.UUID(str(value))
    except ValueError:
        raise ValueError(f"“{value}” is not a valid UUID.") from None


def _to_bool(value: Any) -> bool:
    if str(value).lower() in ("true", "1"):
        return True
    if str(value).lower() in ("false", "0"):
        return False
    raise ValueError(f"“{value}” value must be either True or False.")


def whole_number(value: Any) -> int:
    """Converts a value from a client to an integer of 64 bits.

    :raises ValueError: for what is no whole number
    """
    number: int = _to_number(int, value)
    return number


def _to_number(kind: type, value: Any) -> Any:
    """Returns an integer of 64 bits, or a finite decimal or float within the range of floats."""
    try:
        if isinstance(value, str) and not _NUMBER.fullmatch(value):
            raise ValueError
        if kind is int:
            integer = int(value)
            if not -(2**63) <= integer < 2**63:
                raise ValueError
            return integer
        number = decimal.Decimal(str(value).strip())
        if not number.is_finite():
            raise ValueError
        if math.isinf(float(number)):
            raise ValueError
        return kind(number)
    except (ValueError, TypeError, decimal.DecimalException):
        raise ValueError("Enter a number.") from None


def _to_date(kind: type, value: Any) -> datetime.date:
    try:
        text = str(value).strip()
        if kind is not datetime.datetime:
            return dates.parse_date(text)
        is_day = len(text) <= len("YYYY-MM-DD")
        return utc(dates.parse_time(f"{text}T00:00" if is_day else text))
    except ValueError:
        raise ValueError("Enter a valid date/time." if kind is datetime.datetime else "Enter a valid date.") from None


def fits(column: Any, value: Any) -> bool:
    """False for a number that the type of an integer column cannot hold, which PostgreSQL refuses to compare.

    :raises ValueError: for a value that is no number
    """
    if not isinstance(column.type, sa.Integer):
        return True
    bits = next((bits for kind, bits in _BITS.items() if isinstance(column.type, kind)), 32)
    return int(convert(column, value)).bit_length() < bits


def _like(before: str, after: str, *, fold: bool) -> CompareAny:
    """LIKE with the wildcards ``before`` and ``after`` the value; ``fold`` ignores case."""

    def compare(driver: Driver, column: Any, values: Sequence[Any]) -> Condition:
        parts = [_parts(column, str(value), starts=not before, ends=not after) or [str(value)] for value in values]
        text = as_text(column)
        asked = [part for some in parts for part in some]
        return driver.like(lower(text) if fold else text, asked, before, after, fold=fold)

    return compare


def _parts(column: Any, text: str, *, starts: bool, ends: bool) -> list[str]:
    """The stored notations of a part of a value, which has several notations; none for other columns and texts."""
    known = column.type.parts if isinstance(column.type, Chars) else None
    return known(text, starts, ends) if known is not None else []


def planned(database: Driver | str, text: Any) -> Any:
    """A text as a literal on PostgreSQL, so that its planner knows how many rows have it, and whether an index pays."""
    return driver_of(database).planner_literal(text)


def begins(database: Driver | str, column: Any, text: str) -> Condition:
    """Condition: the column begins with the text, in the same case; by an index of the column."""
    return column.between(planned(database, text), planned(database, text + LAST_CHARACTER))


def _iexact(driver: Driver, column: Any, values: Sequence[Any]) -> Condition:
    texts = [next(iter(_parts(column, str(value), starts=True, ends=True)), str(value)) for value in values]
    text, folded = lower(as_text(column)), [driver.lower_value(text) for text in texts]
    return text == folded[0] if len(folded) == 1 else text.in_(folded)


def _regex(*, fold: bool) -> CompareAny:
    """Matches a pattern, or the part of a value of several notations that it is, with its anchors."""

    def compare(driver: Driver, column: Any, values: Sequence[Any]) -> Condition:
        texts = [str(value) for value in values]
        for pattern in texts:
            patterns.check(pattern)
        matches = driver.matches(as_text(column), texts, ignore_case=fold)
        return any_of([matches, *[found for text in texts for found in _as_parts(driver, column, text, fold=fold)]])

    return compare


def _as_parts(driver: Driver, column: Any, text: str, *, fold: bool) -> list[Condition]:
    """The conditions that a value has the stored notations of the part that a pattern is."""
    starts, ends = text.startswith("^"), text.endswith("$")
    parts = _parts(column, text.removeprefix("^").removesuffix("$"), starts=starts, ends=ends)
    return [_like("" if starts else "%", "" if ends else "%", fold=fold)(driver, column, [part]) for part in parts]


def _order_comparison(method: str) -> Compare:
    """Comparison by a method of columns such as ``__gt__``."""
    return lambda driver, column, value: getattr(column, method)(convert(column, value))


def _exact(driver: Driver, column: Any, value: Any) -> Condition:
    return column.is_(None) if value is None else column == convert(column, value)


def _in(driver: Driver, column: Any, value: Any) -> Condition:
    if not isinstance(value, list | tuple | set):
        raise ValueError("A list of values is required.")
    return column.in_([convert(column, item) for item in value])


def _check_one_value(value: Any) -> None:
    """Rejects null, lists, objects and long texts.

    :raises ValueError: for one of them
    """
    if value is None or isinstance(value, list | dict | tuple | set):
        raise ValueError("A single value is required.")
    if isinstance(value, str) and len(value) > MAX_COMPARED:
        raise ValueError(f"A text to compare has at most {MAX_COMPARED} characters.")


def _of_one_value(compare: Compare) -> Compare:
    """Wraps a comparison; it rejects null, lists, objects and long texts."""

    def checked(driver: Driver, column: Any, value: Any) -> Condition:
        _check_one_value(value)
        return compare(driver, column, value)

    return checked


def _alone(compare: CompareAny) -> Compare:
    """The comparison with a single value."""
    return lambda driver, column, value: compare(driver, column, [value])


# Comparisons of texts with any of some values.
_TEXTS: dict[str, CompareAny] = {
    "iexact": _iexact,
    "contains": _like("%", "%", fold=False),
    "icontains": _like("%", "%", fold=True),
    "startswith": _like("", "%", fold=False),
    "istartswith": _like("", "%", fold=True),
    "endswith": _like("%", "", fold=False),
    "iendswith": _like("%", "", fold=True),
    "regex": _regex(fold=False),
    "iregex": _regex(fold=True),
}
_SINGLE: dict[str, Compare] = {
    **{name: _alone(compare) for name, compare in _TEXTS.items()},
    "gt": _order_comparison("__gt__"),
    "gte": _order_comparison("__ge__"),
    "lt": _order_comparison("__lt__"),
    "lte": _order_comparison("__le__"),
}
_COMPARISONS: dict[str, Compare] = {
    "exact": _exact,
    **{name: _of_one_value(compare) for name, compare in _SINGLE.items()},
    "in": _in,
    "isnull": lambda driver, column, value: column.is_(None) if convert_flag(value) else column.is_not(None),
}


def compare(lookup: str, driver: Driver, column: Any, value: Any) -> Condition:
    """The condition of a lookup.

    :raises ValueError: for a value that it does not take
    """
    own = _COMPARISONS.get(lookup)
    return LOOKUPS[lookup](driver.dialect, column, value) if own is None else own(driver, column, value)


def _of_dialect(lookup: str) -> Callable[[str, Any, Any], Condition]:
    return lambda dialect, column, value: compare(lookup, driver_of(dialect), column, value)


# All lookups by name, with those of packages: functions of the name of a dialect, a column and a value.
LOOKUPS: dict[str, Callable[[str, Any, Any], Condition]] = {name: _of_dialect(name) for name in _COMPARISONS}

# Suffix of a query parameter → (lookup, negated).
SUFFIXES: dict[str, tuple[str, bool]] = {
    "": ("exact", False),
    "n": ("exact", True),
    "ic": ("icontains", False),
    "nic": ("icontains", True),
    "isw": ("istartswith", False),
    "nisw": ("istartswith", True),
    "iew": ("iendswith", False),
    "niew": ("iendswith", True),
    "ie": ("iexact", False),
    "nie": ("iexact", True),
    "re": ("regex", False),
    "nre": ("regex", True),
    "ire": ("iregex", False),
    "nire": ("iregex", True),
    "lt": ("lt", False),
    "lte": ("lte", False),
    "gt": ("gt", False),
    "gte": ("gte", False),
}
TEXT = ("n", "ic", "nic", "iew", "niew", "isw", "nisw", "ie", "nie", "re", "nre", "ire", "nire")
NUMBER = ("n", "lte", "lt", "gte", "gt")


_OF_PATTERNS = {name for name, (lookup, _) in SUFFIXES.items() if "regex" in lookup} | {"regex", "iregex"}


def max_terms(settings: Mapping[str, Any]) -> int:
    """The number of values that a filter may compare one by one (``netinv.max_compared_values``).

    SQLite takes an expression of 1,000 levels, and each condition of an OR is one. 20,000 comparisons of a text took
    5 s on each database, and 100,000 took 194 s and 0.8 GB on one.
    """
    found: int = settings["max_compared_values"]
    return found


def terms(lookup: str, values: Sequence[Any]) -> int:
    """The number of values that a lookup, or its suffix, compares one by one. A regular expression counts by its
    length, and each of several four times: 500 short ones took 5 s with 2,000 regions on MariaDB.
    """
    if lookup not in _OF_PATTERNS:
        return len(values)
    return sum(patterns.terms(str(value)) for value in values) * (4 if len(values) > 1 else 1)


def convert_flag(value: Any) -> bool:
    """Converts a value of a query parameter or a constraint to a boolean.

    :raises ValueError: for any other text
    """
    if str(value) in ("true", "True", "1", "TRUE"):
        return True
    if str(value) in ("false", "False", "0", "FALSE"):
        return False
    raise ValueError("Enter true or false.")


def negated(condition: Condition) -> Condition:
    """The negation of a condition; true also where the condition is unknown (SQL NULL)."""
    return sa.not_(sa.func.coalesce(condition, sa.false()))


def negated_if(negate: bool, condition: Condition) -> Condition:
    """The condition, or its negation."""
    return negated(condition) if negate else condition


def meets(lookup: str, database: Driver | str, values: Sequence[Any], column: Any) -> Condition:
    """The condition that a lookup holds for a column and one of the values."""
    driver = driver_of(database)
    if lookup not in _TEXTS:
        return any_of([compare(lookup, driver, column, value) for value in values])
    for value in values:
        _check_one_value(value)
    return _TEXTS[lookup](driver, column, values)


@accepts_dialect
def is_one_of(values: Sequence[Any], column: Any) -> Condition:
    """The condition that a column has one of the values, as one list."""
    return in_values(column, [convert(column, item) for item in values])
