"""SQL expressions that each kind of database has in a form of its own. Callers need not know the database.

The form is made when a statement is compiled, by the driver of its dialect (:mod:`netinv_core.driver`).
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

import sqlalchemy as sa
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.functions import FunctionElement

from netinv_core.caches import lru_cache
from netinv_core.driver import driver_of
from netinv_core.driver.general import python_type
from netinv_core.models.types import Timestamp

P = ParamSpec("P")
R = TypeVar("R")
MANY_VALUES = 500


def accepts_dialect(function: Callable[P, R]) -> Callable[P, R]:
    """Decorator of a public function that took the name of a dialect first before 0.2: packages may still give it."""

    @functools.wraps(function)
    def call(*values: Any, **options: Any) -> R:
        return function(*(values[1:] if isinstance(values[0], str) else values), **options)

    return call


@accepts_dialect
def in_parameter(column: Any, name: str = "keys") -> Any:
    """The condition that ``column`` is one of the values of the parameter ``name``; one parameter for all values."""
    return InList(column, sa.bindparam(name, type_=column.type))


def in_values(column: Any, values: list[Any]) -> Any:
    """The condition that ``column`` is one of the values; one parameter for many of them, where the database has such.

    SQLite takes 32,766 parameters in a statement, PostgreSQL 65,535.
    """
    if len(values) <= MANY_VALUES:
        return column.in_(values)
    return InList(column, sa.bindparam(None, values, type_=column.type, unique=True))


def lower(expression: Any) -> Any:
    """The expression in lower case, by the rules of Unicode on every database."""
    if isinstance(getattr(expression, "table", None), sa.Table):
        return _lower_column(expression)
    return Lower(expression)


@lru_cache("columns in lower case", 5000)
def _lower_column(column: Any) -> Any:
    """The column of a model in lower case, kept: a search compares several."""
    return Lower(column)


def contains(expression: Any, pattern: Any, *, is_ascii: bool) -> Any:
    """The condition that a text matches a pattern for LIKE, in lower case, with the escape character ``/``.

    For a pattern of ASCII (``is_ascii``), only ASCII letters of the text are folded, which takes a fifth of the time on
    PostgreSQL and a hundredth on SQLite. The letters outside of ASCII whose lower case is in it (``K``, the Kelvin
    sign, and ``İ``) are not found so.
    """
    if is_ascii:
        return ContainsAscii(expression, pattern)
    return lower(expression).like(lower(pattern), escape="/")


@accepts_dialect
def as_text(column: Any) -> Any:
    """The column as the text that its value has in JSON."""
    if python_type(column) is str:
        return column
    if isinstance(column.type, sa.Boolean):
        return sa.case((column.is_(True), "true"), (column.is_(False), "false"))
    if isinstance(column.type, sa.Uuid):
        return UuidText(column)
    if isinstance(column.type, Timestamp):  # without a fraction when that is 0
        return sa.func.replace(InstantText(column), ".000000Z", "Z", type_=sa.Text)
    if isinstance(column.type, sa.Numeric) and column.type.scale is not None:
        return DecimalText(column)
    return TextOf(column)


def before_slash(text: Any) -> Any:
    """The part of a text before its slash."""
    return BeforeSlash(text)


def sortable_bytes(column: Any) -> Any:
    """Bytes as what the function ``max`` takes, and what sorts as they do."""
    return SortableBytes(column)


def stored_bytes(column: Any) -> Any:
    """The number of bytes of a text or a JSON document."""
    return StoredBytes(column)


def typed_null(type_: Any) -> Any:
    """NULL of a type, as a column of a UNION."""
    return TypedNull(sa.cast(sa.null(), type_))


def db_now() -> Any:
    """The present time by the clock of the database, which all processes share.

    It is the time of the statement, not of the transaction: a row written after a wait for a lock has a later time than
    the row of the transaction that held the lock.
    """
    return Now()


class DriverExpression(FunctionElement[Any]):
    """An expression that the driver's method of the same ``name`` makes of the clauses when a statement is compiled."""

    inherit_cache = True


@compiles(DriverExpression)
def _compile(element: DriverExpression, compiler: Any, **options: Any) -> str:
    make = getattr(driver_of(compiler.dialect.name), element.name)
    text: str = compiler.process(make(*element.clauses), **options)
    return text


class InList(DriverExpression):
    """The condition that a column is one of the values of a parameter."""

    name = "in_list"
    inherit_cache = True


class ContainsAscii(DriverExpression):
    """The condition that a text matches a pattern of ASCII in lower case."""

    name = "contains_ascii"
    inherit_cache = True


class ContainsFolded(DriverExpression):
    """The condition that a text matches a pattern of :mod:`netinv_core.db.folding`."""

    name = "contains_folded"
    inherit_cache = True


class Lower(DriverExpression):
    """A text in lower case."""

    name, type = "lower", sa.Text()
    inherit_cache = True


class UuidText(DriverExpression):
    """A UUID as text, with its dashes."""

    name, type = "uuid_text", sa.Text()
    inherit_cache = True


class InstantText(DriverExpression):
    """An instant in ISO 8601 and UTC, with microseconds."""

    name, type = "instant_text", sa.Text()
    inherit_cache = True


class DecimalText(DriverExpression):
    """A decimal number with the digits of its scale as text."""

    name, type = "decimal_text", sa.Text()
    inherit_cache = True


class TextOf(DriverExpression):
    """A number, a date or a document as text."""

    name, type = "text_of", sa.Text()
    inherit_cache = True


class BeforeSlash(DriverExpression):
    """The part of a text before its slash."""

    name, type = "before_slash", sa.Text()
    inherit_cache = True


class SortableBytes(DriverExpression):
    """Bytes in a form that sorts as they do."""

    name = "sortable_bytes"
    inherit_cache = True


class StoredBytes(DriverExpression):
    """The number of bytes of a value."""

    name, type = "stored_bytes", sa.BigInteger()
    inherit_cache = True


class Now(DriverExpression):
    """The time of the statement by the clock of the database."""

    name, type = "now", Timestamp()
    inherit_cache = True


class TypedNull(DriverExpression):
    """NULL, given as the cast to its type."""

    name = "typed_null"
    inherit_cache = True

    def __init__(self, null: sa.Cast[Any]) -> None:
        super().__init__(null)
        self.type = null.type
