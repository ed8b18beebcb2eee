"""SQL expressions that each kind of database has in a form of its own. Callers need not know the database.

The form is made when a statement is compiled, by the driver of its dialect (:mod:`netinv_core.driver`).
"""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.functions import FunctionElement

from netinv_core.driver import driver_of

MANY_VALUES = 500


def in_parameter(column: Any, name: Any = "keys", named: str = "keys") -> Any:
    """The condition that ``column`` is one of the values of the parameter ``name``; one parameter for all values.

    Packages that were written before 0.2 give the dialect, the column and the name, which is ``named`` then.
    """
    if isinstance(column, str):
        column, name = name, named
    return InList(column, sa.bindparam(name, type_=column.type))


def in_values(column: Any, values: list[Any]) -> Any:
    """The condition that ``column`` is one of the values; one parameter for many of them, where the database has such.

    SQLite takes 32,766 parameters in a statement, PostgreSQL 65,535.
    """
    if len(values) <= MANY_VALUES:
        return column.in_(values)
    return InList(column, sa.bindparam(None, values, type_=column.type, unique=True))


def typed_null(type_: Any) -> Any:
    """NULL of a type, as a column of a UNION."""
    return TypedNull(sa.cast(sa.null(), type_))


class InList(FunctionElement[Any]):
    """The condition that a column is one of the values of a parameter."""

    name = "in_list"
    inherit_cache = True


class TypedNull(FunctionElement[Any]):
    """NULL, given as the cast to its type."""

    name = "typed_null"
    inherit_cache = True

    def __init__(self, null: sa.Cast[Any]) -> None:
        super().__init__(null)
        self.type = null.type


@compiles(InList)
def _in_list(element: InList, compiler: Any, **options: Any) -> str:
    column, parameter = element.clauses
    found: str = compiler.process(driver_of(compiler.dialect.name).in_list(column, parameter), **options)
    return found


@compiles(TypedNull)
def _typed_null(element: TypedNull, compiler: Any, **options: Any) -> str:
    (null,) = element.clauses
    found: str = compiler.process(driver_of(compiler.dialect.name).typed_null(null), **options)
    return found
