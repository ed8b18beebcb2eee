"""Differences of MariaDB and MySQL."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import mysql
from sqlalchemy.engine import URL

from netinv_core.db import data_manager
from netinv_core.db.driver.general import ConnectionLimits, Driver


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

    def chars(self, dialect: Any, length: int) -> Any:
        return mysql.VARCHAR(length, collation=_collation(dialect))

    def long_text(self, dialect: Any) -> Any:
        return mysql.LONGTEXT(collation=_collation(dialect))

    def packed(self, length: int) -> Any:
        return mysql.VARBINARY(length)

    def sorts_members(self, dialect: Any) -> bool:
        return not dialect.is_mariadb

    def lower_value(self, value: str) -> Any:
        # It maps some letters differently from Python (``İ``, ``ẞ``).
        return sa.func.lower(sa.literal(value))

    def upsert(self, table: sa.Table, rows: list[dict[str, Any]], key: sa.Column[Any], values: dict[str, Any]) -> Any:
        # It assigns columns in order, and later ones see the new values.
        return mysql.insert(table).values(rows).on_duplicate_key_update(list(values.items()))


def _collation(dialect: Any) -> str:
    """The collation by code point, trailing blanks included: MariaDB's and MySQL's have different names."""
    return "utf8mb4_nopad_bin" if dialect.is_mariadb else "utf8mb4_0900_bin"


def _limit(seconds: float) -> str:
    """SQL that sets the statement timeout: a comment that only MariaDB executes, and one that only MySQL 8 executes."""
    return f"/*M!100101 , max_statement_time = {seconds} */ /*!50708 , max_execution_time = {round(seconds * 1000)} */"
