"""Differences of MariaDB and MySQL."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import sqlalchemy as sa
from sqlalchemy import event
from sqlalchemy.dialects import mysql
from sqlalchemy.engine import URL, Engine

from netinv_core.driver import data_manager
from netinv_core.driver.general import ConnectionLimits, Driver, any_of

MAX_LIKES = 3  # values that are compared by LIKE, for which it may use an index
# Errors of values that a CHECK forbids: of MariaDB, and of MySQL.
_VIOLATED_CONDITIONS = ((4025,), (3819,))
LONGEST = 5000  # characters of a regular expression: a compiled one has 64 KiB, and a character up to 8 bytes


class MariadbDriver(Driver):
    """Driver of PyMySQL."""

    locks_what_it_reads = checks_each_row = commits_table_changes = True
    sorts_nulls = compares_rows = compares_ranges_of_rows = has_linear_frames = False
    text_cast = sa.CHAR(255)
    columns = "SELECT table_name, column_name FROM information_schema.columns WHERE table_schema = DATABASE()"
    migration_lock = "SELECT GET_LOCK(CONCAT('netinv_migration ', LEFT(SHA1(DATABASE()), 40)), 0)"
    time_type = mysql.DATETIME(fsp=6)
    binary_type = mysql.LONGBLOB()
    most_bytes = 15 * 2**20  # a MEDIUMBLOB has 16 MiB

    def engine_options(self, address: URL, limits: ConnectionLimits) -> dict[str, Any]:
        data_manager.retry_deadlocks_of_mysql()
        command = f"SET time_zone = '+00:00' {_limit(limits.statement)}"
        arguments = {"init_command": command, "charset": "utf8mb4", "connect_timeout": limits.connect}
        own = {"connect_args": arguments, "isolation_level": "READ COMMITTED", "pool_recycle": 3600}
        return super().engine_options(address, limits) | own

    def prepare_engine(self, engine: Engine, limits: ConnectionLimits, *, tested: bool) -> None:
        super().prepare_engine(engine, limits, tested=tested)

        @event.listens_for(engine, "handle_error", retval=True)
        def name_violation(context: Any) -> Any:
            # PyMySQL raises OperationalError for what is IntegrityError in every other driver (PEP 249).
            if context.original_exception.args[:1] not in _VIOLATED_CONDITIONS:
                return None
            error = context.original_exception
            return sa.exc.IntegrityError(context.statement, None, error, hide_parameters=True)

    def chars(self, dialect: Any, length: int) -> Any:
        return mysql.VARCHAR(length, collation=_collation(dialect))

    def long_text(self, dialect: Any) -> Any:
        return mysql.LONGTEXT(collation=_collation(dialect))

    def bytes_type(self, length: int) -> Any:
        return mysql.VARBINARY(length)

    def sorts_members(self, dialect: Any) -> bool:
        return not dialect.is_mariadb

    def lower_value(self, value: str) -> Any:
        # It maps some letters differently from Python (``İ``, ``ẞ``).
        return sa.func.lower(sa.literal(value))

    def like(self, text: Any, values: Sequence[str], before: str, after: str, *, fold: bool) -> Any:
        # It compares a text with 500 alternatives of a regular expression in less time than with 10 patterns of LIKE.
        patterns = [re.escape(value) for value in values]
        few = len(values) <= MAX_LIKES
        long = [value for value, pattern in zip(values, patterns, strict=True) if few or len(pattern) > LONGEST]
        conditions = [super().like(text, long, before, after, fold=fold)] if long else []
        starts, ends = "" if before else "^", "" if after else r"\z"
        for chunk in _chunks([] if few else [pattern for pattern in patterns if len(pattern) <= LONGEST]):
            pattern = sa.literal(f"(?-i){starts}(?:{'|'.join(chunk)}){ends}")
            conditions.append(
                text.op("REGEXP", is_comparison=True)(sa.func.lower(pattern) if fold else pattern)
            )  # nothing in the pattern but the values has capital letters
        return any_of(conditions)

    def upsert(self, table: sa.Table, rows: list[dict[str, Any]], key: sa.Column[Any], values: dict[str, Any]) -> Any:
        # It assigns columns in order, and later ones see the new values.
        return mysql.insert(table).values(rows).on_duplicate_key_update(list(values.items()))


def _chunks(patterns: Iterable[str]) -> Iterator[list[str]]:
    """The patterns in lists that are compiled at once: their sum has at most :data:`LONGEST` characters."""
    chunk: list[str] = []
    size = 0
    for pattern in patterns:
        if chunk and size + len(pattern) > LONGEST:
            yield chunk
            chunk, size = [], 0
        chunk.append(pattern)
        size += len(pattern) + 1
    if chunk:
        yield chunk


def _collation(dialect: Any) -> str:
    """The collation by code point, trailing blanks included: MariaDB's and MySQL's have different names."""
    return "utf8mb4_nopad_bin" if dialect.is_mariadb else "utf8mb4_0900_bin"


def _limit(seconds: float) -> str:
    """SQL that sets the statement timeout: a comment that only MariaDB executes, and one that only MySQL 8 executes."""
    return f"/*M!100101 , max_statement_time = {seconds} */ /*!50708 , max_execution_time = {round(seconds * 1000)} */"
