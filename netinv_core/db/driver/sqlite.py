"""Differences of SQLite."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa

from netinv_core.db.driver.general import Driver


class SqliteDriver(Driver):
    """Driver of the module ``sqlite3``."""

    locks_database = lists_are_json = True

    def before_slash(self, text: Any) -> Any:
        return sa.func.substr(text, 1, sa.func.instr(text, "/") - 1, type_=sa.Text)
