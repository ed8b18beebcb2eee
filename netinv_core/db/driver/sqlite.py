"""Differences of SQLite."""

from __future__ import annotations

import datetime
import time
import uuid
import weakref
from collections.abc import Iterable, Mapping
from typing import Any

import orjson
import sqlalchemy as sa
from sqlalchemy import event
from sqlalchemy.engine import URL, Connection, Engine
from sqlalchemy.types import TypeDecorator

from netinv_core import patterns
from netinv_core.db.driver.general import WRITING, ConnectionLimits, Driver
from netinv_core.db.driver.json_members import SqliteMembers

PATTERN_SECONDS = 1.0  # processor time for the regular expressions of one statement
INSTRUCTIONS_BETWEEN_CHECKS = 100_000  # instructions of SQLite's virtual machine, about a millisecond
_KEY_TYPES = (uuid.UUID, int, str)
_CLOCK = "netinv statement clock"
_CURSORS = "netinv cursors"


class _KeySet(TypeDecorator[list[Any]]):
    """Parameter type: a list of keys as one JSON text, for SQLite's ``json_each``."""

    impl = sa.Text
    cache_ok = True

    def process_bind_param(self, value: list[Any] | None, dialect: Any) -> str:
        return orjson.dumps([key.hex if isinstance(key, uuid.UUID) else key for key in value or ()]).decode()


class SqliteDriver(Driver):
    """Driver of the module ``sqlite3``."""

    locks_database = lists_are_json = copies_tables = True
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

    def in_parameter(self, column: Any, name: str) -> Any:
        return _in_keys(column, sa.bindparam(name, type_=_KeySet()))

    def in_many(self, column: Any, values: list[Any]) -> Any:
        if all(isinstance(key, _KEY_TYPES) for key in values):
            return _in_keys(column, sa.literal(values, _KeySet()))
        return column.in_(values)

    def contains_ascii(self, expression: Any, pattern: Any) -> Any:
        return expression.like(pattern, escape="/")

    def folded_pattern(self, parts: Iterable[str | frozenset[str]]) -> str:
        # Within GLOB a set takes its special characters literally.
        classes = (f"[{''.join(sorted(part))}]" if part not in ("]", "-") else str(part) for part in parts)
        return f"*{''.join(classes)}*"

    def contains_folded(self, expression: Any, pattern: Any) -> Any:
        return expression.op("GLOB", is_comparison=True)(pattern)

    def matches(self, expression: Any, pattern: str, *, ignore_case: bool) -> Any:
        return sa.func.netinv_matches(pattern, expression, int(ignore_case), type_=sa.Boolean) == 1

    def decimal_text(self, column: Any) -> Any:
        # It stores decimal numbers as floats.
        written = sa.func.printf(f"%.{column.type.scale}f", column, type_=sa.Text)
        return sa.case((column.is_not(None), written))

    def instant_text(self, column: Any) -> Any:
        return sa.func.replace(sa.cast(column, sa.Text), " ", "T", type_=sa.Text) + "Z"

    def like_in_case(self, text: Any, value: str, before: str, after: str, pattern: str) -> Any:
        # Its own LIKE ignores the case of ASCII letters.
        if before and after:
            return sa.func.instr(text, value) > 0
        if after:
            return sa.func.substr(text, 1, len(value)) == value
        return sa.func.substr(text, -len(value)) == value if value else text.is_not(None)

    def now(self, type_: Any) -> Any:
        return sa.literal(datetime.datetime.now(datetime.UTC), type_)

    def before_slash(self, text: Any) -> Any:
        return sa.func.substr(text, 1, sa.func.instr(text, "/") - 1, type_=sa.Text)

    def stored_bytes(self, column: Any) -> Any:
        return sa.func.length(sa.cast(column, sa.LargeBinary), type_=sa.BigInteger)


def _in_keys(column: Any, keys: Any) -> Any:
    values = sa.func.json_each(keys).table_valued("value")
    return column.in_(sa.select(values.c.value))


class _Clock:
    """Time limits of the present statement of a SQLite connection, and of its regular expressions."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self.start()

    def start(self) -> None:
        """Starts the limits for a new statement."""
        self._end = time.monotonic() + self.seconds if self.seconds else float("inf")
        self._patterns: patterns.Budget | None = None

    def is_over(self) -> bool:
        """Progress handler of SQLite; True interrupts the statement."""
        return time.monotonic() > self._end

    def matches(self, pattern: str, value: Any, ignore_case: int) -> bool:
        """SQL function ``netinv_matches``: a value matches a regular expression."""
        if self._patterns is None:
            self._patterns = patterns.Budget(PATTERN_SECONDS)
        return value is not None and self._patterns.search(pattern, str(value), ignore_case=bool(ignore_case))


def _prepare(engine: Engine, statement_timeout: float) -> None:
    """Configures SQLite connections.

    WAL, foreign keys, ``lower`` for Unicode, the function ``netinv_matches``, and BEGIN IMMEDIATE for transactions that
    write.
    """

    @event.listens_for(engine, "connect")
    def connect(connection: Any, record: Any) -> None:
        connection.isolation_level = None
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("PRAGMA synchronous=NORMAL")
        connection.execute("PRAGMA foreign_keys=ON")
        connection.execute("PRAGMA busy_timeout=30000")
        connection.create_function("lower", 1, _lower, deterministic=True)
        connection.create_function("concat_ws", -1, _concat_ws, deterministic=True)
        record.info[_CURSORS] = weakref.WeakSet()
        clock = record.info[_CLOCK] = _Clock(statement_timeout)
        connection.create_function("netinv_matches", 3, clock.matches, deterministic=True)
        if statement_timeout:
            connection.set_progress_handler(clock.is_over, INSTRUCTIONS_BETWEEN_CHECKS)

    @event.listens_for(engine, "before_cursor_execute")
    def execute(connection: Connection, cursor: Any, *statement: Any) -> None:
        connection.info[_CLOCK].start()
        connection.info[_CURSORS].add(cursor)

    @event.listens_for(engine, "reset")
    def reset(connection: Any, record: Any, state: Any) -> None:
        # A cursor that was not read to its end keeps its snapshot beyond ROLLBACK: the next request would read the
        # past, and could not write. An exception may hold such a cursor until the garbage collector runs.
        for cursor in list(record.info[_CURSORS]):
            cursor.close()
        record.info[_CURSORS].clear()

    @event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
        writing = connection.get_execution_options().get(WRITING)
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writing else "BEGIN")


def _lower(value: Any) -> Any:
    return value.lower() if isinstance(value, str) else value


def _concat_ws(separator: str, *parts: str | None) -> str:
    return separator.join(part for part in parts if part is not None)
