"""Differences of MariaDB and MySQL."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import mysql

from netinv_core.db.driver.general import Driver


class MariadbDriver(Driver):
    """Driver of PyMySQL."""

    locks_what_it_reads = checks_each_row = True
    sorts_nulls = compares_rows = False
    most_bytes = 15 * 2**20  # a MEDIUMBLOB has 16 MiB

    def upsert(self, table: sa.Table, rows: list[dict[str, Any]], key: sa.Column[Any], values: dict[str, Any]) -> Any:
        # It assigns columns in order, and later ones see the new values.
        return mysql.insert(table).values(rows).on_duplicate_key_update(list(values.items()))
