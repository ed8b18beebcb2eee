"""Engines and sessions, locks of rows, and the errors of statements that exceed limits of the database."""

from __future__ import annotations

import re
from typing import Any

import orjson
import sqlalchemy as sa
from sqlalchemy.engine import URL, Connection, Engine, make_url
from sqlalchemy.orm import Session, sessionmaker

from netinv_core.db.availability import is_away, is_busy
from netinv_core.driver import driver_of
from netinv_core.driver.general import WRITING as WRITING
from netinv_core.driver.general import ConnectionLimits
from netinv_core.driver.sessions import OwnedSession
from netinv_core.driver.url_parameters import is_pooled as is_pooled
from netinv_core.wrong_results import WithoutJsonForm


def engine_from(
    url: str, statement_timeout: float = 0, connect_timeout: int = 10, *, silence: int = 60, **options: Any
) -> Engine:
    """Returns an engine for a PostgreSQL (psycopg 3), MariaDB/MySQL (PyMySQL) or SQLite URL.

    Connections of the pool are tested before use, as the server may have closed them
    (:func:`netinv_core.driver.pool.check_connections`).

    :param statement_timeout: seconds after which the database cancels a statement, 0 for never; MySQL only a SELECT
    :param connect_timeout: seconds to wait for a server that does not answer
    :param silence: seconds without an acknowledgement by TCP, after which a connection to PostgreSQL is lost
    """
    address = _with_driver(make_url(url))
    options.setdefault("json_serializer", _to_json)
    options.setdefault("json_deserializer", _from_json)
    driver = driver_of(address.get_backend_name())
    limits = ConnectionLimits(statement_timeout, connect_timeout, silence)
    for name, value in driver.engine_options(address, limits).items():
        options.setdefault(name, value)
    # Errors are logged, and parameters of statements may be secrets.
    engine = sa.create_engine(address, hide_parameters=True, **options)
    driver.prepare_engine(engine, limits, tested=options.get("pool_pre_ping", True))
    return engine


def json_bytes(value: Any) -> bytes:
    """Returns a value as the JSON text that is stored for it.

    :raises WithoutJsonForm: for a value that JSON cannot hold
    """
    try:
        return orjson.dumps(value, option=orjson.OPT_NON_STR_KEYS | orjson.OPT_UTC_Z)
    except orjson.JSONEncodeError as error:
        raise WithoutJsonForm(error, value, json_bytes) from error


def _to_json(value: Any) -> str:
    return json_bytes(value).decode()


def _from_json(stored: Any) -> Any:
    """Parses a JSON document; SQLite returns a document that is a single number as a number."""
    return orjson.loads(stored) if isinstance(stored, str | bytes) else stored


def as_stored(value: Any) -> Any:
    """Converts a value to what is read from a JSON column to which it was written: ids and times become text."""
    return _from_json(_to_json(value))


def _with_driver(address: URL) -> URL:
    drivers = {"postgresql": "postgresql+psycopg", "mysql": "mysql+pymysql", "mariadb": "mariadb+pymysql"}
    return address.set(drivername=drivers.get(address.drivername, address.drivername))


def session_factory(engine: Engine) -> sessionmaker[Session]:
    """Returns a factory of sessions without autoflush, whose objects do not expire on commit.

    They are ended by the functions of :mod:`netinv_core.driver.sessions`.
    """
    return sessionmaker(engine, class_=OwnedSession, autoflush=False, expire_on_commit=False)


def commit_without_disk(connection: Connection) -> None:
    """Has the COMMIT of the present transaction not wait for the disk, on PostgreSQL.

    If the server crashes within a second, the transaction may be undone, as a whole.
    """
    driver_of(connection).commit_without_disk(connection)


def inlined_int(name: str, value: int | None = None) -> Any:
    """A parameter that is a literal in the statement, so that the query planner sees it (LIMIT, OFFSET)."""
    return sa.bindparam(name, value, type_=sa.Integer, literal_execute=True)


def lock_rows(statement: Any) -> Any:
    """Adds FOR UPDATE: locks the rows until the transaction ends; SQLite locks the database at BEGIN IMMEDIATE."""
    return statement.with_for_update()


def lock_parents(statement: Any) -> Any:
    """Adds FOR UPDATE, on PostgreSQL FOR NO KEY UPDATE, for rules about rows that refer to the selected ones.

    Transactions that only insert a reference to one of the rows do not wait on PostgreSQL.
    """
    return statement.with_for_update(key_share=True)


# Error messages about invalid regular expressions, and about statements that exceed limits of the database.
_BAD_FILTER_MESSAGE = re.compile(
    r"regex|too many sql variables|expression tree is too large|parser stack overflow|number of parameters"
    r"|stack depth limit|thread stack overrun|max_allowed_packet|regular expression|user-defined function raised",
    re.I,
)
# SQLite; PostgreSQL; MariaDB; MySQL
_TIMEOUT = re.compile(
    r"interrupted|due to statement timeout|max_statement_time exceeded|maximum statement execution time exceeded"
)


def is_bad_filter_error(error: Exception) -> bool:
    """True for an error about the values of a query: an invalid pattern, a number out of range, too many values."""
    if is_away(error) or is_busy(error):
        return False
    if isinstance(error, sa.exc.DataError | sa.exc.InterfaceError):
        return True
    is_statement_error = isinstance(error, sa.exc.OperationalError | sa.exc.ProgrammingError | sa.exc.InternalError)
    return is_statement_error and _BAD_FILTER_MESSAGE.search(str(error)) is not None


def is_timeout(error: Exception) -> bool:
    """True for the error of a statement that the database cancelled after ``netinv.statement_timeout``."""
    return isinstance(error, sa.exc.OperationalError | sa.exc.InternalError) and bool(_TIMEOUT.search(str(error.orig)))
