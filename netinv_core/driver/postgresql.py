"""Differences of PostgreSQL. Statements run directly on the connection of psycopg, or as on other databases."""

from __future__ import annotations

import functools
import importlib
import re
from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql
from sqlalchemy.dialects.postgresql import ARRAY
from sqlalchemy.engine import URL, Connection, Engine

from netinv_core.driver import direct, url_parameters
from netinv_core.driver.combined import Combined
from netinv_core.driver.explain import Explain
from netinv_core.driver.general import WRITING, ConnectionLimits, Driver, Values, any_of, retype
from netinv_core.driver.json_members import PostgresqlMembers
from netinv_core.driver.read_connection import ReadConnection

# TCP keep-alive detects a lost server within a minute; the default of the operating system is two hours.
_KEEPALIVE = {"keepalives_idle": 30, "keepalives_interval": 10, "keepalives_count": 3}
_WORDS = {r"\b": r"\y", r"\B": r"\Y", r"\Z": r"\Z", r"\z": r"\Z"}  # of regular expressions
# References to groups, options, comments, names, and classes within sets.
_ALONE = re.compile(r"\\[0-9]|\(\?(?!:|=|!|<=|<!)|\[[:.=]")
PATTERNS_TOGETHER = 50  # in one regular expression


class PostgresqlDriver(Driver):
    """Driver of psycopg."""

    has_text_indexes = times_are_aware = has_sequences = True
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
        arguments = {**_session(address, limits.statement), **waits}
        if url_parameters.is_direct(address):
            # With the driver, which an installation may lack.
            arguments["cursor_factory"] = importlib.import_module("netinv_core.driver.psycopg_cursor").Cursor
        return super().engine_options(address, limits) | {"connect_args": arguments}

    def prepare_engine(self, engine: Engine, limits: ConnectionLimits, *, tested: bool) -> None:
        super().prepare_engine(engine, limits, tested=tested)
        url_parameters.remove_own(engine)
        if url_parameters.is_pooled(engine.url):
            url_parameters.set_time_zone(engine)
        if url_parameters.is_direct(engine.url):
            direct.choose(engine)

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

    def in_list(self, column: Any, parameter: Any) -> Any:
        return column == sa.any_(retype(parameter, ARRAY(column.type)))

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

    def planner_literal(self, text: str) -> Any:
        if "\x00" in text:  # which the server refuses as a parameter
            return text
        return sa.bindparam(None, text, type_=sa.Text(), unique=True, literal_execute=True)

    def uuid_text(self, column: Any) -> Any:
        return sa.cast(column, sa.Text)

    def instant_text(self, column: Any) -> Any:
        return sa.func.to_char(column, 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"', type_=sa.Text)

    def now(self) -> Any:
        return sa.func.clock_timestamp()

    def estimated_count(self, table: Any) -> Any:
        size = "SELECT CAST(reltuples AS BIGINT) FROM pg_class WHERE oid = to_regclass(CAST(:name AS TEXT))"
        return sa.text(size).bindparams(name=table.name)

    def expected_rows(self, select: Any) -> Any:
        return Explain(select)

    def typed_null(self, null: Any) -> Any:
        return null

    def before_slash(self, text: Any) -> Any:
        return sa.func.split_part(text, "/", 1, type_=sa.Text)

    def sortable_bytes(self, column: Any) -> Any:
        return sa.collate(sa.func.encode(column, "hex", type_=sa.Text), "C")

    def stored_bytes(self, column: Any) -> Any:
        # Of a text the size is beside it, so it is not read.
        return sa.func.octet_length(sa.cast(column, sa.Text), type_=sa.BigInteger)

    def upsert(self, table: sa.Table, rows: list[dict[str, Any]], key: sa.Column[Any], values: dict[str, Any]) -> Any:
        return postgresql.insert(table).values(rows).on_conflict_do_update(index_elements=[key], set_=values)

    def interrupt(self, connection: Any) -> None:
        connection.cancel()

    def read_connection(self, engine: Engine) -> ReadConnection | None:
        return ReadConnection(engine) if direct.is_chosen(engine) else None

    def execute(
        self,
        connection: Connection | ReadConnection,
        statement: Any,
        values: Values = None,
        where: Sequence[Any] = (),
    ) -> Any:
        if isinstance(statement, Combined):
            return statement.at_once(functools.partial(self.execute, connection), values)
        if direct.is_chosen(connection.engine):
            result = direct.execute(connection, statement, values, where)
            if result is not None:
                return result
        return super().execute(connection, statement, values, where)

    def execute_alone(self, engine: Engine, statement: Combined, values: Any) -> Any:
        # In autocommit mode, for a statement that has without_disk among its columns: one round trip.
        with engine.connect().execution_options(**self.connection_options(writing=False)) as connection:
            return self.execute(connection, statement, values)


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
    if url_parameters.is_pooled(address):
        return {"prepare_threshold": None}
    # Queries join many small tables: planning them takes longer than running them, so plans are reused.
    limit = f"-c statement_timeout={round(statement_timeout * 1000)}"
    return {"options": f"-c timezone=UTC -c plan_cache_mode=force_generic_plan -c jit=off {limit}"}
