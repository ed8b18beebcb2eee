"""Execution of statements on the connection of psycopg.

A statement is compiled once, and its rows are read as the driver has them. SQLAlchemy's execution takes 0.1 ms more for
a row of 100 columns, and 0.2 ms for 50 of them. Listeners of the engine are called, but not those that change
statements.
"""

from __future__ import annotations

import dataclasses
import functools
import importlib
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql
from sqlalchemy.dialects.postgresql import ARRAY
from sqlalchemy.engine import URL, Connection, Engine
from sqlalchemy.pool import PoolProxiedConnection

from netinv_core.driver import pooler, structures
from netinv_core.driver.combined import Combined
from netinv_core.driver.explain import Explain
from netinv_core.driver.general import WRITING, ConnectionLimits, Driver, Values, any_of, whole
from netinv_core.driver.json_members import PostgresqlMembers
from netinv_core.driver.read_connection import ReadConnection
from netinv_core.driver.results import Rows, Written
from netinv_core.driver.structures import DriverText

if TYPE_CHECKING:
    from netinv_core.driver.prepared import PreparedStatements

# TCP keep-alive detects a lost server within a minute; the default of the operating system is two hours.
_KEEPALIVE = {"keepalives_idle": 30, "keepalives_interval": 10, "keepalives_count": 3}
_WORDS = {r"\b": r"\y", r"\B": r"\Y", r"\Z": r"\Z", r"\z": r"\Z"}  # of regular expressions
# References to groups, options, comments, names, and classes within sets.
_ALONE = re.compile(r"\\[0-9]|\(\?(?!:|=|!|<=|<!)|\[[:.=]")
PATTERNS_TOGETHER = 50  # in one regular expression
_PREPARED = "netinv: prepared statements"
AnyConnection = Connection | ReadConnection


@dataclasses.dataclass(eq=False)
class _Execution:
    """One execution of a statement, for listeners of the engine: they may set attributes."""

    statement: str


@dataclasses.dataclass(frozen=True)
class _Failure:
    """The failure of an execution, for listeners of ``handle_error``."""

    execution_context: _Execution
    original_exception: BaseException
    sqlalchemy_exception: BaseException


class PostgresqlDriver(Driver):
    """Driver of psycopg."""

    has_text_indexes = uuids_are_text = times_are_aware = has_sequences = True
    builds_indexes_beside_writes = foreign_keys_at_once = True
    time_type = sa.DateTime(timezone=True)
    json_type = postgresql.JSONB(none_as_null=True)
    members = PostgresqlMembers()
    migration_lock = "SELECT pg_try_advisory_xact_lock(hashtext('netinv_migration'))"
    columns = (
        "SELECT c.relname, a.attname FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid "
        "WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind IN ('r', 'p') "
        "AND a.attnum > 0 AND NOT a.attisdropped"
    )

    def engine_options(self, address: URL, limits: ConnectionLimits) -> dict[str, Any]:
        waits = {"connect_timeout": limits.connect, "tcp_user_timeout": limits.silence * 1000, **_KEEPALIVE}
        # With the driver, which an installation may lack.
        cursor = {"cursor_factory": importlib.import_module("netinv_core.driver.psycopg_cursor").Cursor}
        arguments = {**_session(address, limits.statement), **waits, **cursor}
        return super().engine_options(address, limits) | {"connect_args": arguments}

    def prepare_engine(self, engine: Engine, limits: ConnectionLimits, *, tested: bool) -> None:
        super().prepare_engine(engine, limits, tested=tested)
        if pooler.is_pooled(engine.url):
            pooler.prepare(engine)

    def connection_options(self, *, writing: bool) -> dict[str, Any]:
        return {WRITING: True} if writing else {"isolation_level": "AUTOCOMMIT"}

    def commit_without_disk(self, connection: Connection) -> None:
        connection.exec_driver_sql("SET LOCAL synchronous_commit = off")

    def suspend_foreign_keys(self, connection: Connection) -> None:
        """Does nothing: they are dropped (``foreign_keys_at_once``)."""

    def clear(self, connection: Connection, tables: Sequence[sa.Table]) -> None:
        names = ", ".join(connection.dialect.identifier_preparer.format_table(table) for table in tables)
        connection.exec_driver_sql(f"TRUNCATE {names}")

    def chars(self, dialect: Any, length: int) -> Any:
        return sa.String(length, collation="C")

    def long_text(self, dialect: Any) -> Any:
        return sa.Text(collation="C")

    def sorts_members(self, dialect: Any) -> bool:
        return True

    def in_parameter(self, column: Any, name: str) -> Any:
        return column == sa.any_(sa.bindparam(name, type_=ARRAY(column.type)))

    def in_many(self, column: Any, values: list[Any]) -> Any:
        return column == sa.any_(sa.literal(values, ARRAY(column.type)))

    def lower(self, expression: Any) -> Any:
        return sa.func.lower(sa.collate(sa.cast(expression, sa.Text), "und-x-icu"))

    def contains_ascii(self, expression: Any, pattern: Any) -> Any:
        return sa.func.lower(sa.collate(sa.cast(expression, sa.Text), "C")).like(pattern, escape="/")

    def contains_folded(self, expression: Any, pattern: Any) -> Any:
        return sa.collate(sa.cast(expression, sa.Text), "C").op("~", is_comparison=True)(pattern)

    def like(self, text: Any, values: Sequence[str], before: str, after: str, *, fold: bool) -> Any:
        if len(values) == 1:
            return super().like(text, values, before, after, fold=fold)
        # The text is folded once, not for each value.
        patterns = [f"{before}{_escaped_by_backslash(value.lower() if fold else value)}{after}" for value in values]
        return text.op("LIKE", is_comparison=True)(sa.any_(sa.literal(patterns, ARRAY(sa.Text()))))

    def matches(self, expression: Any, patterns: Sequence[str], *, ignore_case: bool) -> Any:
        operator = "~*" if ignore_case else "~"
        # The collation C knows upper and lower case and classes of ASCII characters only.
        folding = sa.collate(sa.cast(expression, sa.Text), "und-x-icu")
        return any_of([folding.op(operator, is_comparison=True)(shared) for shared in _together(patterns)])

    def planned(self, text: str) -> Any:
        if "\x00" in text:  # which the server refuses as a parameter
            return text
        return sa.bindparam(None, text, type_=sa.Text(), unique=True, literal_execute=True)

    def instant_text(self, column: Any) -> Any:
        return sa.func.to_char(column, 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"', type_=sa.Text)

    def now(self, type_: Any) -> Any:
        return sa.func.clock_timestamp()

    def estimated_count(self, table: Any) -> Any:
        size = "SELECT CAST(reltuples AS BIGINT) FROM pg_class WHERE oid = to_regclass(CAST(:name AS TEXT))"
        return sa.text(size).bindparams(name=table.name)

    def expected_rows(self, select: Any) -> Any:
        return Explain(select)

    def null(self, type_: Any) -> Any:
        return sa.cast(sa.null(), type_)

    def before_slash(self, text: Any) -> Any:
        return sa.func.split_part(text, "/", 1, type_=sa.Text)

    def greatest_bytes(self, column: Any) -> Any:
        return sa.collate(sa.func.encode(column, "hex", type_=sa.Text), "C")

    def stored_bytes(self, column: Any) -> Any:
        # Of a text the size is beside it, so it is not read.
        return sa.func.octet_length(sa.cast(column, sa.Text), type_=sa.BigInteger)

    def upsert(self, table: sa.Table, rows: list[dict[str, Any]], key: sa.Column[Any], values: dict[str, Any]) -> Any:
        return postgresql.insert(table).values(rows).on_conflict_do_update(index_elements=[key], set_=values)

    def interrupt(self, connection: Any) -> None:
        connection.cancel()

    def read_connection(self, engine: Engine) -> ReadConnection | None:
        return ReadConnection(engine)

    def execute(
        self, connection: AnyConnection, statement: Any, values: Values = None, where: Sequence[Any] = ()
    ) -> Any:
        if isinstance(statement, Combined):
            return statement.at_once(functools.partial(self.execute, connection), values)
        if statement.is_insert or not (values is None or isinstance(values, Mapping)):
            return self._write_rows(connection, statement, values)
        # A statement without parameters that changes rows is one that its caller built for this time.
        if statement.is_select or (statement.is_dml and values):
            bound = structures.bound(statement, connection.dialect, where)
            if bound is not None and bound.structure.is_complete:
                text, parameters = bound.execution(values or {})
                return _run(connection, text, parameters)
        return super().execute(connection, statement, values, where)

    def execute_alone(self, engine: Engine, statement: Combined, values: Any) -> Any:
        # In autocommit mode, for a statement that has without_disk among its columns: one round trip.
        with engine.connect().execution_options(**self.connection_options(writing=False)) as connection:
            return self.execute(connection, statement, values)

    def _write_rows(self, connection: AnyConnection, statement: Any, values: Any) -> Any:
        """Runs an INSERT, or another statement for each of many rows, by their columns if they have the same ones."""
        rows = [values] if isinstance(values, Mapping) else values
        columns = tuple(rows[0]) if rows else ()
        structure = None
        if columns and all(row.keys() == rows[0].keys() for row in rows):
            structure = structures.for_rows(statement, connection.dialect, columns)
        if structure is None or structure.text is None:
            return super().execute(connection, statement, values)
        parameters = structure.row_parameters(rows)
        if len(rows) == 1:
            return _run(connection, structure.text, parameters[0])
        return _run_many(connection, structure.text.text, parameters)


def _escaped_by_backslash(value: str) -> str:
    """The value with the wildcards of LIKE escaped by a backslash: LIKE ANY takes no ESCAPE."""
    return re.sub(r"([\\%_])", r"\\\1", value)


def _together(patterns: Sequence[str]) -> list[str]:
    """Regular expressions in the syntax of the server, many in one, of which it keeps 32 compiled ones. Those with
    references to groups or with options stay alone.
    """
    shared = [
        re.sub(r"\\[bBZz]|\\.", lambda m: _WORDS.get(m.group(), m.group()), item, flags=re.S) for item in patterns
    ]
    alone = [item for item in shared if _ALONE.search(item)]
    others = [item for item in shared if not _ALONE.search(item)]
    if len(others) < 2:
        return shared
    parts = [others[start : start + PATTERNS_TOGETHER] for start in range(0, len(others), PATTERNS_TOGETHER)]
    return ["|".join(f"(?:{item})" for item in part) for part in parts] + alone


def _session(address: URL, statement_timeout: float) -> dict[str, Any]:
    """Arguments for connections of PostgreSQL with their settings. A pooler passes no settings on, and prepared
    statements are those of one connection of the server: the next transaction may get another.
    """
    if pooler.is_pooled(address):
        return {"prepare_threshold": None}
    # Queries join many small tables: planning them takes longer than running them, so plans are reused.
    limit = f"-c statement_timeout={round(statement_timeout * 1000)}"
    return {"options": f"-c timezone=UTC -c plan_cache_mode=force_generic_plan -c jit=off {limit}"}


def _run(connection: AnyConnection, compiled: DriverText, parameters: dict[str, Any]) -> Rows | Written:
    """Runs a statement that the driver has prepared, or one on a cursor, which prepares it."""
    pooled, events, text = connection.connection, connection.engine.dispatch, compiled.text
    execution = _Execution(text)
    prepared = _prepared_statements(pooled)
    cursor: Any = prepared
    try:
        alone = isinstance(connection, ReadConnection)
        found = None if compiled.results is None else prepared.find(compiled.server_text, parameters, alone=alone)
        if found is None:
            cursor = connection.cursor() if isinstance(connection, ReadConnection) else pooled.cursor()
        events.before_cursor_execute(connection, cursor, text, parameters, execution, False)
        if found is None:
            cursor.execute(text, parameters)
        else:
            prepared.execute(*found)
        events.after_cursor_execute(connection, cursor, text, parameters, execution, False)
        if compiled.results is None:
            compiled.learn_results(connection.dialect, cursor.description)
        count = cursor.rowcount
        if compiled.metadata is None:
            return Written(count)
        return Rows(compiled.metadata, compiled.converted(cursor.fetchall()), count)
    except connection.dialect.loaded_dbapi.Error as error:
        raise _reported(connection, cursor, execution, parameters, error) from error
    finally:
        if cursor is not prepared:
            cursor.close()


def _run_many(connection: AnyConnection, text: str, rows: list[dict[str, Any]]) -> Written:
    """Runs a statement on the driver's cursor for each of the rows."""
    events, execution, cursor = connection.engine.dispatch, _Execution(text), whole(connection).connection.cursor()
    try:
        events.before_cursor_execute(connection, cursor, text, rows, execution, True)
        cursor.executemany(text, rows)
        events.after_cursor_execute(connection, cursor, text, rows, execution, True)
        return Written(cursor.rowcount)
    except connection.dialect.loaded_dbapi.Error as error:
        raise _reported(connection, cursor, execution, rows, error) from error
    finally:
        cursor.close()


def _prepared_statements(pooled: PoolProxiedConnection) -> PreparedStatements:
    """The statements that the driver's connection has prepared."""
    prepared: PreparedStatements | None = pooled.info.get(_PREPARED)
    if prepared is None:
        from netinv_core.driver.prepared import PreparedStatements  # the driver is an extra

        driver: Any = pooled.driver_connection
        prepared = pooled.info[_PREPARED] = PreparedStatements(driver)
    return prepared


def _reported(
    connection: AnyConnection,
    cursor: Any,
    execution: _Execution,
    parameters: Any,
    error: Any,
) -> Exception:
    """The error to raise for one of the driver, which listeners are told. A lost connection is invalidated."""
    dialect = connection.dialect
    is_disconnect = dialect.is_disconnect(error, connection.connection.dbapi_connection, cursor)
    reported: Exception = sa.exc.DBAPIError.instance(
        execution.statement,
        parameters,
        error,
        dialect.loaded_dbapi.Error,
        hide_parameters=True,
        connection_invalidated=is_disconnect,
        dialect=dialect,
    )
    dialect.dispatch.handle_error(_Failure(execution, error, reported))
    if is_disconnect:
        connection.invalidate(error)
    return reported
