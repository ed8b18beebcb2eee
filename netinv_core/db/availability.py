"""Classification of database errors: unavailable or busy databases, in contrast to wrong statements."""

from __future__ import annotations

import re
from pathlib import Path

import sqlalchemy as sa
from sqlalchemy.engine import Engine

# SQLSTATE of PostgreSQL: connection, resources, operator (shutdown, start-up), rejected sign-in, unknown database.
_AWAY_STATES = re.compile(r"08...|53...|57P..|28...|3D000")
_BUSY_STATES = re.compile(r"40001|40P01|55P03")
# Error numbers of MariaDB: rejected sign-in, unknown database, too many connections, shutdown, connection refused, lost
# or killed.
_AWAY_CODES_SERVER = frozenset({1040, 1044, 1045, 1049, 1053, 1077, 1079, 1129, 1130, 1203, 1927, 4031})
_AWAY_CODES = _AWAY_CODES_SERVER | {2002, 2003, 2005, 2006, 2013, 2014, 2045, 2055}
_BUSY_CODES = frozenset({1020, 1205, 1213})
_AWAY_SQLITE = re.compile(
    r"unable to open database|disk I/O error|disk is full|readonly database|closed database|not a database|is locked"
)

_UNOPENED = re.compile(r"unable to open database")


def is_away(error: BaseException) -> bool:
    """True for an error of an unavailable database.

    It cannot be reached, has no free connection or disk space, closed the connection, or (SQLite) stays locked.
    """
    if isinstance(error, sa.exc.TimeoutError):  # the connection pool has no free connection
        return True
    if not isinstance(error, sa.exc.DBAPIError):
        return False
    if error.connection_invalidated or _has_code(error, _AWAY_STATES, _AWAY_CODES):
        return True
    if _is_sqlite(error):
        return _is_sqlite(error, _AWAY_SQLITE)
    is_connecting = isinstance(error, sa.exc.OperationalError) and error.statement is None
    return is_connecting and _state(error) is None and _code(error) is None


def is_busy(error: BaseException) -> bool:
    """True for an error of a conflict with another transaction: a serialization failure, a deadlock, a lock timeout."""
    return isinstance(error, sa.exc.DBAPIError) and _has_code(error, _BUSY_STATES, _BUSY_CODES)


def reason(error: BaseException) -> str:
    """Returns the first line of the driver's error message."""
    text = str(error.orig if isinstance(error, sa.exc.DBAPIError) else error).strip()
    return text.partition("\n")[0] or type(error).__name__


def unreachable(engine: Engine, error: BaseException) -> str:
    """A sentence for the operator about a database that cannot be reached, with the remedy."""
    name = engine.url.render_as_string()  # without the password
    return f"the database {name} cannot be reached: {reason(error)}; {remedy(engine, error)}"


def remedy(engine: Engine, error: BaseException) -> str:
    """The remedy for a database that cannot be reached; for a file of SQLite, that for what is in its way."""
    if isinstance(error, sa.exc.DBAPIError) and _is_sqlite(error, _UNOPENED):
        path = Path(engine.url.database or "")
        if path.is_dir():
            return f"{path} is a folder: have netinv.database_url name a file in it"
        if not path.parent.is_dir():
            return f"make the folder {path.parent}, or correct netinv.database_url"
        return "allow the account that runs this to write the file and its folder"
    return "start the database, or correct netinv.database_url"


def start_error(engine: Engine, error: BaseException, command: str = "netinv") -> str | None:
    """Returns a message for the operator why a process cannot start on this database; ``None`` for another error."""
    name = engine.url.render_as_string()  # without the password
    if is_away(error):
        return unreachable(engine, error)
    if isinstance(error, sa.exc.DBAPIError) and not sa.inspect(engine).has_table("core_content_type"):
        return f"the database {name} has no tables of netinv yet; run `{command} migrate` first"
    return None


def _has_code(error: sa.exc.DBAPIError, states: re.Pattern[str], codes: frozenset[int]) -> bool:
    """True when an error has one of these SQLSTATEs or MariaDB error numbers."""
    state, code = _state(error), _code(error)
    if code is not None:  # errors of PyMySQL have a SQLSTATE too, which is less specific
        return code in codes
    return state is not None and states.fullmatch(state) is not None


def _state(error: sa.exc.DBAPIError) -> str | None:
    """The SQLSTATE of an error of PostgreSQL; ``None`` without a connection."""
    return getattr(error.orig, "sqlstate", None)


def _code(error: sa.exc.DBAPIError) -> int | None:
    """The error number of MariaDB or MySQL, from PyMySQL."""
    code = error.orig.args[0] if error.orig is not None and error.orig.args else None
    return code if isinstance(code, int) else None


def _is_sqlite(error: sa.exc.DBAPIError, message: re.Pattern[str] | None = None) -> bool:
    """True for an error of SQLite whose text matches ``message``."""
    if type(error.orig).__module__ != "sqlite3":
        return False
    return message is None or message.search(str(error.orig)) is not None


def is_violation(error: BaseException | None) -> bool:
    """True for an error caused by a violated constraint of the database.

    An error that is raised again while its own consequences are handled is among its own causes.
    """
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        if isinstance(error, sa.exc.IntegrityError):
            return True
        seen.add(id(error))
        error = error.__cause__ or error.__context__
    return False
