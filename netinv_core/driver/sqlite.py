"""Differences of SQLite."""

from __future__ import annotations

import sqlite3
import uuid
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import orjson
import sqlalchemy as sa
from sqlalchemy import event
from sqlalchemy.engine import URL, Connection, Engine
from sqlalchemy.types import TypeDecorator

from netinv_core.driver.general import WRITING, ConnectionLimits, Driver, python_type, retype
from netinv_core.driver.json_members import SqliteMembers
from netinv_core.driver.sqlite_functions import Functions

_IN_JSON = (uuid.UUID, int, str, object)  # Python types of columns whose values a JSON text lists
_FUNCTIONS = "netinv functions"
INTERRUPTED = "interrupted"  # what SQLite says of a statement that its progress handler stopped


class _KeySet(TypeDecorator[list[Any]]):
    """Parameter type: a list of keys as one JSON text, for SQLite's ``json_each``."""

    impl = sa.Text
    cache_ok = True

    def process_bind_param(self, value: list[Any] | None, dialect: Any) -> str:
        return orjson.dumps([key.hex if isinstance(key, uuid.UUID) else key for key in value or ()]).decode()


class SqliteDriver(Driver):
    """Driver of the module ``sqlite3``."""

    locks_database = copies_tables = True
    is_server = False
    snapshot: Mapping[str, Any] = {}
    members = SqliteMembers()
    columns = "SELECT m.name, c.name FROM sqlite_master m JOIN pragma_table_info(m.name) c WHERE m.type = 'table'"

    def engine_options(self, address: URL, limits: ConnectionLimits) -> dict[str, Any]:
        return {}

    def prepare_engine(self, engine: Engine, limits: ConnectionLimits, *, tested: bool) -> None:
        _prepare(engine, limits.statement)

    def suspend_foreign_keys(self, connection: Connection) -> None:
        connection.connection.cursor().execute("PRAGMA foreign_keys=OFF")  # no effect within a transaction

    def in_list(self, column: Any, parameter: Any) -> Any:
        if python_type(column) not in _IN_JSON:
            return super().in_list(column, parameter)
        values = sa.func.json_each(retype(parameter, _KeySet())).table_valued("value")
        return column.in_(sa.select(values.c.value))

    def contains_ascii(self, expression: Any, pattern: Any) -> Any:
        return expression.like(pattern, escape="/")

    def folded_pattern(self, parts: Iterable[str | frozenset[str]]) -> str:
        # Within GLOB a set takes its special characters literally.
        classes = (f"[{''.join(sorted(part))}]" if part not in ("]", "-") else str(part) for part in parts)
        return f"*{''.join(classes)}*"

    def contains_folded(self, expression: Any, pattern: Any) -> Any:
        return expression.op("GLOB", is_comparison=True)(pattern)

    def matches(self, expression: Any, patterns: Sequence[str], *, ignore_case: bool) -> Any:
        return _meets("ire" if ignore_case else "re", expression, patterns)

    def decimal_text(self, column: Any) -> Any:
        # It stores decimal numbers as floats.
        written = sa.func.printf(f"%.{column.type.scale}f", column, type_=sa.Text)
        return sa.case((column.is_not(None), written))

    def instant_text(self, column: Any) -> Any:
        return sa.func.replace(sa.cast(column, sa.Text), " ", "T", type_=sa.Text) + "Z"

    def like(self, text: Any, values: Sequence[str], before: str, after: str, *, fold: bool) -> Any:
        if len(values) == 1:
            used = super().like if fold else _like_in_case
            return used(text, values, before, after, fold=fold)
        # An OR would evaluate the text for each of the values.
        kind = "contains" if before and after else "starts" if after else "ends"
        return _meets(kind, text, [value.lower() for value in values] if fold else values)

    def now(self) -> Any:
        return sa.func.netinv_now()

    def before_slash(self, text: Any) -> Any:
        return sa.func.substr(text, 1, sa.func.instr(text, "/") - 1, type_=sa.Text)

    def interrupt(self, connection: Any) -> None:
        connection.interrupt()

    def stored_bytes(self, column: Any) -> Any:
        return sa.func.length(sa.cast(column, sa.LargeBinary), type_=sa.BigInteger)


def _like_in_case(text: Any, values: Sequence[str], before: str, after: str, *, fold: bool) -> Any:
    """LIKE with a single value and regard to case: SQLite's own ignores the case of ASCII letters."""
    (value,) = values
    if before and after:
        return sa.func.instr(text, value) > 0
    if after:
        return sa.func.substr(text, 1, len(value)) == value
    return sa.func.substr(text, -len(value)) == value if value else text.is_not(None)


def _meets(kind: str, text: Any, values: Sequence[str]) -> Any:
    """The condition that a text meets a test of :data:`sqlite_functions.TESTS` with one of the values. The values are
    the argument of a function of their own, which SQLite calls once for a statement, and not for each row.
    """
    test = sa.func.netinv_test(kind, orjson.dumps(list(values)).decode(), type_=sa.Integer)
    return sa.func.netinv_meets(test, text, type_=sa.Boolean) == 1


def _prepare(engine: Engine, statement_timeout: float) -> None:
    """Configures SQLite connections.

    WAL, foreign keys, functions in Python, and BEGIN IMMEDIATE for transactions that write.
    """

    @event.listens_for(engine, "connect")
    def connect(connection: Any, record: Any) -> None:
        connection.isolation_level = None
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("PRAGMA synchronous=NORMAL")
        connection.execute("PRAGMA foreign_keys=ON")
        connection.execute("PRAGMA busy_timeout=30000")
        functions = record.info[_FUNCTIONS] = Functions(statement_timeout)
        functions.add_to(connection)

    @event.listens_for(engine, "before_cursor_execute")
    def execute(connection: Connection, cursor: Any, *statement: Any) -> None:
        connection.info[_FUNCTIONS].start(cursor)

    @event.listens_for(engine, "handle_error", retval=True)
    def name_timeout(context: Any) -> Any:
        # SQLite tells of an error of a function, not of which one.
        functions = context.connection.info.get(_FUNCTIONS) if context.connection is not None else None
        if functions is None or not functions.was_late:
            return None
        error = sqlite3.OperationalError(INTERRUPTED)
        return sa.exc.OperationalError(context.statement, None, error, hide_parameters=True)

    @event.listens_for(engine, "reset")
    def reset(connection: Any, record: Any, state: Any) -> None:
        record.info[_FUNCTIONS].end()

    @event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
        connection.info[_FUNCTIONS].begin()
        writing = connection.get_execution_options().get(WRITING)
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writing else "BEGIN")
