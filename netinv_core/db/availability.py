"""Availability of the database: errors that say it cannot answer now, told from those that say a statement is wrong."""

from __future__ import annotations

import re

import sqlalchemy as sa
from sqlalchemy.engine import Engine

# SQLSTATE of PostgreSQL: connection, resources, operator (shutdown, start-up), refused sign-in, unknown database.
_AWAY_STATES = re.compile(r"08...|53...|57P..|28...|3D000")
_BUSY_STATES = re.compile(r"40001|40P01|55P03")
# Error numbers of MariaDB: refused sign-in, unknown database, too many connections, shutdown, connection refused, lost or killed.
_AWAY_CODES = frozenset({1040, 1044, 1045, 1049, 1053, 1077, 1079, 1129, 1130, 1203, 1927, 2002, 2003, 2005, 2006, 2013, 2014, 2045, 2055, 4031})
_BUSY_CODES = frozenset({1020, 1205, 1213})
_AWAY_SQLITE = re.compile(r"unable to open database|disk I/O error|disk is full|readonly database|closed database|not a database|is locked")


def is_away(error: BaseException) -> bool:
    """Tells the error of a database that cannot be reached, has no connection or no room left, closed the connection, or (SQLite) stays locked."""
    if isinstance(error, sa.exc.TimeoutError):  # no connection of the pool was free in time
        return True
    if not isinstance(error, sa.exc.DBAPIError):
        return False
    unconnected = isinstance(error, sa.exc.OperationalError) and error.statement is None and _state(error) is None and _code(error) is None
    return error.connection_invalidated or (unconnected and not _is_sqlite(error)) or _says(error, _AWAY_STATES, _AWAY_CODES) or _is_sqlite(error, _AWAY_SQLITE)


def is_busy(error: BaseException) -> bool:
    """Tells the error of a transaction that the database gave up because of another one: a deadlock, or a lock that was not free in time."""
    return isinstance(error, sa.exc.DBAPIError) and _says(error, _BUSY_STATES, _BUSY_CODES)


def reason(error: BaseException) -> str:
    """The first line of what the driver says, for the log and for who runs a command."""
    text = str(error.orig if isinstance(error, sa.exc.DBAPIError) else error).strip()
    return text.partition("\n")[0] or type(error).__name__


def start_error(engine: Engine, error: BaseException) -> str | None:
    """The reason why a process cannot start on this database, in words for the operator; ``None`` for another error."""
    name = engine.url.render_as_string()  # without its password
    if is_away(error):
        return f"the database {name} cannot be reached: {reason(error)}"
    if isinstance(error, sa.exc.DBAPIError) and not sa.inspect(engine).has_table("core_content_type"):
        return f"the database {name} has no tables of netinv yet; run `netinv migrate` first"
    return None


def _says(error: sa.exc.DBAPIError, states: re.Pattern[str], codes: frozenset[int]) -> bool:
    state, code = _state(error), _code(error)
    if code is not None:  # PyMySQL's errors have a state besides, which says less
        return code in codes
    return state is not None and states.fullmatch(state) is not None


def _state(error: sa.exc.DBAPIError) -> str | None:
    """The SQLSTATE that PostgreSQL gave; ``None`` when there was no connection to give it."""
    return getattr(error.orig, "sqlstate", None)


def _code(error: sa.exc.DBAPIError) -> int | None:
    """The number of an error of PyMySQL."""
    code = error.orig.args[0] if error.orig is not None and error.orig.args else None
    return code if isinstance(code, int) else None


def _is_sqlite(error: sa.exc.DBAPIError, words: re.Pattern[str] | None = None) -> bool:
    return type(error.orig).__module__ == "sqlite3" and (words is None or words.search(str(error.orig)) is not None)
