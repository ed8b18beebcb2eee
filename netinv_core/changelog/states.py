"""Columns of the states in change records: read from the packed form, and from the columns that older releases wrote.

Statements select :func:`state` where they would select a column; its values are parsed JSON documents.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import orjson
import sqlalchemy as sa
from sqlalchemy import Dialect
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.functions import FunctionElement
from sqlalchemy.types import TypeDecorator

from netinv_core.caches import lru_cache
from netinv_core.changelog.models import ObjectChange
from netinv_core.changelog.packing import FORMATS, PARTS, unpack
from netinv_core.changelog.packing import inflated_size as inflated_size
from netinv_core.driver import driver_of
from netinv_core.models.base import table_of

_ORDERS_KEPT = 4096  # of members, each of one kind of object
_change = table_of(ObjectChange)


class RecordState(TypeDecorator[Any]):
    """One of the states of a record, with its members as the database's JSON columns order them."""

    impl = sa.LargeBinary
    cache_ok = True

    def __init__(self, name: str) -> None:
        super().__init__()
        self.name = name

    def process_result_value(self, value: bytes | None, dialect: Dialect) -> Any:
        if value is None:
            return None
        if value[0] not in FORMATS:  # the JSON text of an older release
            return orjson.loads(value)
        return unpack_state(value, self.name, dialect)


class _Packed(FunctionElement[bytes]):
    """SQL: the packed states and the object's id."""

    type = sa.LargeBinary()
    name = "packed_states"
    inherit_cache = True


@compiles(_Packed)
def _compile_packed(element: Any, compiler: Any, **options: Any) -> str:
    states, key = (compiler.process(column, **options) for column in element.clauses)
    return f"CAST({states} || {key} AS BLOB)"


@compiles(_Packed, "postgresql")
def _packed_on_postgresql(element: Any, compiler: Any, **options: Any) -> str:
    states, key = (compiler.process(column, **options) for column in element.clauses)
    return f"{states} || uuid_send({key})"


@compiles(_Packed, "mysql")
@compiles(_Packed, "mariadb")
def _packed_on_mysql(element: Any, compiler: Any, **options: Any) -> str:
    states, key = (compiler.process(column, **options) for column in element.clauses)
    return f"concat({states}, CAST({key} AS BINARY))"


class _Stored(FunctionElement[Any]):
    """SQL: the packed states, or the JSON text of an older release."""

    name = "stored_state"
    inherit_cache = True


@compiles(_Stored)
def _compile_stored(element: Any, compiler: Any, **options: Any) -> str:
    packed, older = (compiler.process(column, **options) for column in element.clauses)
    return f"coalesce({packed}, CAST({older} AS BLOB))"


@compiles(_Stored, "postgresql")
def _stored_on_postgresql(element: Any, compiler: Any, **options: Any) -> str:
    packed, older = (compiler.process(column, **options) for column in element.clauses)
    return f"coalesce({packed}, convert_to(CAST({older} AS TEXT), 'UTF8'))"


@compiles(_Stored, "mysql")
@compiles(_Stored, "mariadb")
def _stored_on_mysql(element: Any, compiler: Any, **options: Any) -> str:
    packed, older = (compiler.process(column, **options) for column in element.clauses)
    return f"coalesce({packed}, CAST({older} AS BINARY))"


def state(name: str, table: Any = _change) -> Any:
    """The column of a state (``before``, ``after`` or ``object_data``) of the change log, or of an alias of it."""
    return sa.type_coerce(_Stored(_with_id(table), table.c[name]), RecordState(name)).label(name)


def record_columns(names: Iterable[str] | None = None) -> list[Any]:
    """The columns of the change log of these names, all by default, with the states as :func:`state` reads them."""
    chosen = [column.name for column in _change.c if column.name != "states"] if names is None else names
    return [state(name) if name in PARTS else _change.c[name] for name in chosen]


def packed_states(largest: int) -> Any:
    """The column of the packed states and the object's id, of records of up to ``largest`` bytes; null for others, and
    for those of older releases.
    """
    packed = sa.case((sa.func.length(_change.c.states) <= sa.literal_column(str(largest)), _change.c.states))
    return _Packed(packed, _change.c.changed_object_id).label("states")


def unpack_state(packed: bytes, name: str, dialect: Any) -> Any:
    """Returns a state of a record with its members as the column :func:`state` has it.

    :raises AnswerTooLarge: as :func:`netinv_core.changelog.packing.unpack`
    """
    value = unpack(packed, name)
    return by_length(value) if _sorts(dialect) else value


def stored_states() -> list[Any]:
    """The columns of the states before and after a change as they are stored, for :func:`before_and_after`."""
    return [_with_id(_change).label("states"), _change.c.before, _change.c.after]


def _with_id(table: Any) -> Any:
    return _Packed(table.c.states, table.c.changed_object_id)


def before_and_after(packed: bytes | None, before: Any, after: Any) -> tuple[Any, Any]:
    """Returns the states before and after a change, by the values of :func:`stored_states`. The order of members is
    not that of the database, which costs 10 µs a state.
    """
    return (before, after) if packed is None else (unpack(packed, "before"), unpack(packed, "after"))


def by_length(value: Any) -> Any:
    """Returns a document with the members of objects in the order of binary JSON columns: shorter names first, names of
    equal length by code point.
    """
    if isinstance(value, dict):
        return {
            name: by_length(item) if isinstance(item := value[name], dict | list) else item
            for name in _order(tuple(value))
        }
    return [by_length(item) for item in value] if isinstance(value, list) else value


@lru_cache("orders of members", _ORDERS_KEPT)
def _order(names: tuple[str, ...]) -> list[str]:
    encoded = sorted((len(text := name.encode()), text, name) for name in names)
    return [name for *_, name in encoded]


def _sorts(dialect: Any) -> bool:
    """True for databases whose JSON columns do not keep the order of members."""
    return driver_of(dialect.name).sorts_members(dialect)
