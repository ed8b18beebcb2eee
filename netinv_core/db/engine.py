"""Engines and sessions, and SQL that differs between PostgreSQL, MariaDB/MySQL and SQLite."""

from __future__ import annotations

import datetime
import functools
import importlib
import re
import time
import uuid
from typing import Any

import orjson
import sqlalchemy as sa
from sqlalchemy import event
from sqlalchemy.dialects.postgresql import ARRAY
from sqlalchemy.engine import URL, Connection, Engine, make_url
from sqlalchemy.orm import Session, sessionmaker
from sqlalchemy.sql.elements import ColumnElement
from sqlalchemy.types import TypeDecorator

from netinv_core import patterns
from netinv_core.db import data_manager
from netinv_core.db.availability import is_away, is_busy
from netinv_core.db.pool import WatchedPool, check_connections
from netinv_core.models.types import Timestamp

WRITING = "netinv_writing"
POOLER, TRANSACTION = "pooler", "transaction"  # parameter of database URLs, and its value
PATTERN_SECONDS = 1.0  # processor time for the regular expressions of one SQLite statement
INSTRUCTIONS_BETWEEN_CHECKS = 100_000  # instructions of SQLite's virtual machine, about a millisecond
MANY_VALUES = 500
_KEY_TYPES = (uuid.UUID, int, str)
_CLOCK = "netinv statement clock"
# TCP keep-alive detects a lost PostgreSQL server within a minute; the default of the operating system is two hours.
_KEEPALIVE = {"keepalives_idle": 30, "keepalives_interval": 10, "keepalives_count": 3}


def engine_from(
    url: str, statement_timeout: float = 0, connect_timeout: int = 10, *, silence: int = 60, **options: Any
) -> Engine:
    """Returns an engine for a PostgreSQL (psycopg 3), MariaDB/MySQL (PyMySQL) or SQLite URL.

    Connections of the pool are tested before use, as the server may have closed them
    (:func:`netinv_core.db.pool.check_connections`).

    :param statement_timeout: seconds after which the database cancels a statement, 0 for never; MySQL only a SELECT
    :param connect_timeout: seconds to wait for a server that does not answer
    :param silence: seconds without an acknowledgement by TCP, after which a connection to PostgreSQL is lost
    """
    address = _with_driver(make_url(url))
    options.setdefault("json_serializer", _to_json)
    options.setdefault("json_deserializer", _from_json)
    dialect = address.get_backend_name()
    if dialect == "postgresql":
        waits = {"connect_timeout": connect_timeout, "tcp_user_timeout": silence * 1000, **_KEEPALIVE}
        # With the driver, which an installation may lack.
        cursor = {"cursor_factory": importlib.import_module("netinv_core.db.driver.psycopg_cursor").Cursor}
        options.setdefault("connect_args", {**_postgresql_session(address, statement_timeout), **waits, **cursor})
    elif dialect in ("mysql", "mariadb"):
        data_manager.retry_deadlocks_of_mysql()
        command = f"SET time_zone = '+00:00' {_mysql_limit(statement_timeout)}"
        arguments = {"init_command": command, "charset": "utf8mb4", "connect_timeout": connect_timeout}
        options.setdefault("connect_args", arguments)
        options.setdefault("isolation_level", "READ COMMITTED")
        options.setdefault("pool_recycle", 3600)
    if dialect != "sqlite":
        options.setdefault("poolclass", WatchedPool)
    # Errors are logged, and parameters of statements may be secrets.
    engine = sa.create_engine(address, hide_parameters=True, **options)
    if dialect == "sqlite":
        _prepare_sqlite(engine, statement_timeout)
    elif options.get("pool_pre_ping", True):
        check_connections(engine)
    if is_pooled(address):
        _prepare_pooled(engine)
    return engine


def is_pooled(address: URL) -> bool:
    """True for a URL with ``?pooler=transaction``: a pooler such as PgBouncer gives each transaction any connection.

    :raises ValueError: for another kind of pooler
    """
    kind = address.query.get(POOLER)
    if kind not in (None, TRANSACTION):
        raise ValueError(f"{POOLER}={kind} in the URL: the only kind is {TRANSACTION}")
    return kind is not None


def _postgresql_session(address: URL, statement_timeout: float) -> dict[str, Any]:
    """Arguments for connections of PostgreSQL with their settings. A pooler passes no settings on, and prepared
    statements are those of one connection of the server: the next transaction may get another.
    """
    if is_pooled(address):
        return {"prepare_threshold": None}
    # Queries join many small tables: planning them takes longer than running them, so plans are reused.
    limit = f"-c statement_timeout={round(statement_timeout * 1000)}"
    return {"options": f"-c timezone=UTC -c plan_cache_mode=force_generic_plan -c jit=off {limit}"}


def _prepare_pooled(engine: Engine) -> None:
    """Sets the time zone of connections through a pooler: poolers restore this setting for each client."""

    @event.listens_for(engine, "do_connect")
    def remove_own_argument(dialect: Any, record: Any, arguments: Any, parameters: dict[str, Any]) -> None:
        parameters.pop(POOLER, None)

    @event.listens_for(engine, "connect")
    def set_time_zone(connection: Any, record: Any) -> None:
        connection.execute("SET timezone TO 'UTC'")
        connection.commit()


def _mysql_limit(seconds: float) -> str:
    """SQL that sets the statement timeout: a comment that only MariaDB executes, and one that only MySQL 8 executes."""
    return f"/*M!100101 , max_statement_time = {seconds} */ /*!50708 , max_execution_time = {round(seconds * 1000)} */"


def json_bytes(value: Any) -> bytes:
    """Returns a value as the JSON text that is stored for it."""
    return orjson.dumps(value, option=orjson.OPT_NON_STR_KEYS | orjson.OPT_UTC_Z)


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


class _SqliteClock:
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


def _prepare_sqlite(engine: Engine, statement_timeout: float) -> None:
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
        clock = record.info[_CLOCK] = _SqliteClock(statement_timeout)
        connection.create_function("netinv_matches", 3, clock.matches, deterministic=True)
        if statement_timeout:
            connection.set_progress_handler(clock.is_over, INSTRUCTIONS_BETWEEN_CHECKS)

    @event.listens_for(engine, "before_cursor_execute")
    def execute(connection: Connection, *statement: Any) -> None:
        connection.info[_CLOCK].start()

    @event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
        writing = connection.get_execution_options().get(WRITING)
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writing else "BEGIN")


def _lower(value: Any) -> Any:
    return value.lower() if isinstance(value, str) else value


def _concat_ws(separator: str, *parts: str | None) -> str:
    return separator.join(part for part in parts if part is not None)


def session_factory(engine: Engine) -> sessionmaker[Session]:
    """Returns a factory of sessions without autoflush, whose objects do not expire on commit."""
    return sessionmaker(engine, autoflush=False, expire_on_commit=False)


class _KeySet(TypeDecorator[list[Any]]):
    """Parameter type: a list of keys as one JSON text, for SQLite's ``json_each``."""

    impl = sa.Text
    cache_ok = True

    def process_bind_param(self, value: list[Any] | None, dialect: Any) -> str:
        return orjson.dumps([key.hex if isinstance(key, uuid.UUID) else key for key in value or ()]).decode()


def options_for(dialect: str, *, writing: bool) -> dict[str, Any]:
    """Returns the execution options of a unit of work's connection.

    A writing one takes SQLite's write lock at its start. A reading one uses autocommit on PostgreSQL: it saves BEGIN
    and ROLLBACK, and at READ COMMITTED each statement has its own snapshot anyway.
    """
    if writing:
        return {WRITING: True}
    return {"isolation_level": "AUTOCOMMIT"} if dialect == "postgresql" else {}


def commit_without_disk(connection: Connection) -> None:
    """Has the COMMIT of the present transaction not wait for the disk, on PostgreSQL.

    If the server crashes within a second, the transaction may be undone, as a whole.
    """
    if connection.dialect.name == "postgresql":
        connection.exec_driver_sql("SET LOCAL synchronous_commit = off")


def in_parameter(dialect: str, column: Any, name: str = "keys") -> ColumnElement[bool]:
    """The condition that ``column`` is one of the values of the parameter ``name``; one parameter for all values."""
    if dialect == "postgresql":
        return column == sa.any_(sa.bindparam(name, type_=ARRAY(column.type)))
    if dialect == "sqlite":
        keys = sa.func.json_each(sa.bindparam(name, type_=_KeySet())).table_valued("value")
        return column.in_(sa.select(keys.c.value))
    return column.in_(sa.bindparam(name, type_=column.type, expanding=True))


def in_values(dialect: str, column: Any, values: list[Any]) -> ColumnElement[bool]:
    """The condition that ``column`` is one of the values; one parameter for many of them, where the database has such.

    SQLite takes 32,766 parameters in a statement, PostgreSQL 65,535.
    """
    if len(values) > MANY_VALUES and dialect == "postgresql":
        return column == sa.any_(sa.literal(values, ARRAY(column.type)))
    if len(values) > MANY_VALUES and dialect == "sqlite" and all(isinstance(key, _KEY_TYPES) for key in values):
        keys = sa.func.json_each(sa.literal(values, _KeySet())).table_valued("value")
        return column.in_(sa.select(keys.c.value))
    return column.in_(values)


def inlined_int(name: str, value: int | None = None) -> Any:
    """A parameter that is a literal in the statement, so that the query planner sees it (LIMIT, OFFSET)."""
    return sa.bindparam(name, value, type_=sa.Integer, literal_execute=True)


def lower(dialect: str, expression: Any) -> Any:
    """SQL expression: ``expression`` in lower case, by the rules of Unicode on every database."""
    if isinstance(getattr(expression, "table", None), sa.Table):
        return _lower_column(dialect, expression)
    return _in_lower_case(dialect, expression)


@functools.cache
def _lower_column(dialect: str, column: Any) -> Any:
    """The column of a model in lower case, kept: a search compares several."""
    return _in_lower_case(dialect, column)


def _in_lower_case(dialect: str, expression: Any) -> Any:
    if dialect == "postgresql":
        return sa.func.lower(sa.collate(sa.cast(expression, sa.Text), "und-x-icu"))
    return sa.func.lower(expression)


def contains(dialect: str, expression: Any, pattern: Any, *, is_ascii: bool) -> Any:
    """The condition that a text matches a pattern for LIKE, in lower case, with the escape character ``/``.

    For a pattern of ASCII (``is_ascii``), only ASCII letters of the text are folded, which takes a fifth of the time on
    PostgreSQL and a hundredth on SQLite. The letters outside of ASCII whose lower case is in it (``K``, the Kelvin
    sign, and ``İ``) are not found so.
    """
    if is_ascii and dialect == "postgresql":
        return sa.func.lower(sa.collate(sa.cast(expression, sa.Text), "C")).like(pattern, escape="/")
    if is_ascii and dialect == "sqlite":
        return expression.like(pattern, escape="/")
    return lower(dialect, expression).like(lower(dialect, pattern), escape="/")


def lower_value(dialect: str, value: str) -> Any:
    """A value in lower case, to compare with :func:`lower`.

    MariaDB and MySQL convert it themselves, as they map some letters differently from Python (``İ``, ``ẞ``).
    """
    return sa.func.lower(sa.literal(value)) if dialect in ("mysql", "mariadb") else value.lower()


_POSTGRES_WORDS = {r"\b": r"\y", r"\B": r"\Y", r"\Z": r"\Z", r"\z": r"\Z"}


def regex_match(dialect: str, expression: Any, pattern: str, *, ignore_case: bool) -> ColumnElement[bool]:
    """The condition that ``expression`` matches a regular expression, in the syntax common to Python and the databases.

    :raises ValueError: for an invalid or too long pattern
    """
    patterns.check(pattern)
    if dialect == "postgresql":
        shared = re.sub(r"\\[bBZz]|\\.", lambda m: _POSTGRES_WORDS.get(m.group(), m.group()), pattern, flags=re.S)
        operator = "~*" if ignore_case else "~"
        # The collation C knows upper and lower case and classes of ASCII characters only.
        folding = sa.collate(sa.cast(expression, sa.Text), "und-x-icu")
        return folding.op(operator, is_comparison=True)(shared)
    if dialect == "sqlite":
        return sa.func.netinv_matches(pattern, expression, int(ignore_case), type_=sa.Boolean) == 1
    flags = "(?i)" if ignore_case else "(?-i)"
    return expression.op("REGEXP", is_comparison=True)(flags + pattern)


def db_now(dialect: str) -> ColumnElement[Any]:
    """SQL expression: the present time by the clock of the database, which all processes share.

    It is the time of the statement, not of the transaction: a row written after a wait for a lock has a later time than
    the row of the transaction that held the lock.
    """
    if dialect == "postgresql":
        return sa.func.clock_timestamp()
    if dialect == "sqlite":
        return sa.literal(datetime.datetime.now(datetime.UTC), Timestamp())
    return sa.literal_column("UTC_TIMESTAMP(6)")


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
