"""Engines and sessions, and the few places where the three databases speak differently."""

from __future__ import annotations

import datetime
import re
import time
import uuid
from typing import Any

import orjson
import sqlalchemy as sa
import zope.sqlalchemy
from sqlalchemy import event
from sqlalchemy.dialects.postgresql import ARRAY
from sqlalchemy.engine import URL, Connection, Engine, make_url
from sqlalchemy.orm import Session, sessionmaker
from sqlalchemy.sql.elements import ColumnElement
from sqlalchemy.types import TypeDecorator

from netinv_core import patterns
from netinv_core.db.availability import is_away, is_busy
from netinv_core.models.types import Timestamp

WRITING = "netinv_writing"
PATTERN_SECONDS = 1.0  # processor time that the regular expressions of one SQLite statement may take
INSTRUCTIONS_BETWEEN_CHECKS = 100_000  # of SQLite's virtual machine, about a millisecond
_CLOCK = "netinv statement clock"
# A PostgreSQL server that vanished is noticed within a minute, not after the two hours of the operating system.
_KEEPALIVE = {"keepalives_idle": 30, "keepalives_interval": 10, "keepalives_count": 3, "tcp_user_timeout": 60_000}


def engine_from(url: str, statement_timeout: float = 0, connect_timeout: int = 10, **options: Any) -> Engine:
    """An engine for a PostgreSQL, MariaDB/MySQL or SQLite URL; ``postgresql://`` means psycopg 3, ``mysql://`` PyMySQL.

    The database cancels a statement after ``statement_timeout`` seconds, 0 for never; MySQL only a SELECT. A server that does not
    answer is given up after ``connect_timeout`` seconds. Each connection is tried before it is used again: the server may have closed it.
    """
    address = _with_driver(make_url(url))
    options.setdefault("json_serializer", lambda value: orjson.dumps(value, option=orjson.OPT_NON_STR_KEYS | orjson.OPT_UTC_Z).decode())
    options.setdefault("json_deserializer", _from_json)
    dialect = address.get_backend_name()
    if dialect == "postgresql":
        # Plans join many small tables: planning them anew takes longer than running them.
        limit = f"-c statement_timeout={round(statement_timeout * 1000)}"
        wanted = f"-c timezone=UTC -c plan_cache_mode=force_generic_plan {limit}"
        options.setdefault("connect_args", {"options": wanted, "connect_timeout": connect_timeout, **_KEEPALIVE})
    elif dialect in ("mysql", "mariadb"):
        command = f"SET time_zone = '+00:00' {_mysql_limit(statement_timeout)}"
        options.setdefault("connect_args", {"init_command": command, "charset": "utf8mb4", "connect_timeout": connect_timeout})
        options.setdefault("isolation_level", "READ COMMITTED")
        options.setdefault("pool_recycle", 3600)
    if dialect != "sqlite":
        options.setdefault("pool_pre_ping", True)
    engine = sa.create_engine(address, hide_parameters=True, **options)  # what is bound to a statement may be a secret, and errors are logged
    if dialect == "sqlite":
        _prepare_sqlite(engine, statement_timeout)
    return engine


def _mysql_limit(seconds: float) -> str:
    """Assignments of the statement time limit: a comment that MariaDB alone executes, and one that MySQL 8 alone does."""
    return f"/*M!100101 , max_statement_time = {seconds} */ /*!50708 , max_execution_time = {round(seconds * 1000)} */"


def _from_json(stored: Any) -> Any:
    """A JSON document; SQLite keeps one that is a number alone as a number."""
    return orjson.loads(stored) if isinstance(stored, str | bytes) else stored


def _with_driver(address: URL) -> URL:
    drivers = {"postgresql": "postgresql+psycopg", "mysql": "mysql+pymysql", "mariadb": "mariadb+pymysql"}
    return address.set(drivername=drivers.get(address.drivername, address.drivername))


class _SqliteClock:
    """Time limits of the statement that a SQLite connection is executing: of all of it, and of its regular expressions."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self.start()

    def start(self) -> None:
        """Begins with a new statement."""
        self._end = time.monotonic() + self.seconds if self.seconds else float("inf")
        self._patterns = patterns.Budget(PATTERN_SECONDS)

    def is_over(self) -> bool:
        """Tells SQLite to interrupt the statement."""
        return time.monotonic() > self._end

    def matches(self, pattern: str, value: Any, ignore_case: int) -> bool:
        """The SQL function ``netinv_matches``."""
        return value is not None and self._patterns.search(pattern, str(value), ignore_case=bool(ignore_case))


def _prepare_sqlite(engine: Engine, statement_timeout: float) -> None:
    """WAL, enforced foreign keys, Unicode-aware ``lower``, ``netinv_matches``, and transactions that take the write lock first."""

    @event.listens_for(engine, "connect")
    def connect(connection: Any, record: Any) -> None:
        connection.isolation_level = None
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("PRAGMA synchronous=NORMAL")
        connection.execute("PRAGMA foreign_keys=ON")
        connection.execute("PRAGMA busy_timeout=30000")
        connection.create_function("lower", 1, lambda s: s.lower() if isinstance(s, str) else s, deterministic=True)
        connection.create_function("concat_ws", -1, lambda joint, *parts: joint.join(p for p in parts if p is not None), deterministic=True)
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


def session_factory(engine: Engine) -> sessionmaker[Session]:
    """Sessions that never flush by surprise and keep what they read."""
    return sessionmaker(engine, autoflush=False, expire_on_commit=False)


def join_transaction(session: Session, manager: Any) -> None:
    """Makes the session commit and abort with the transaction manager of the request."""
    zope.sqlalchemy.register(session, transaction_manager=manager)


class _KeySet(TypeDecorator[list[Any]]):
    """A list of keys as one JSON text parameter (SQLite's ``json_each``)."""

    impl = sa.Text
    cache_ok = True

    def process_bind_param(self, value: list[Any] | None, dialect: Any) -> str:
        return orjson.dumps([key.hex if isinstance(key, uuid.UUID) else key for key in value or ()]).decode()


def options_for(dialect: str, *, writing: bool) -> dict[str, Any]:
    """The execution options of a unit of work's connection.

    A writing one takes SQLite's write lock at its start; a reading one spares PostgreSQL the BEGIN and ROLLBACK
    around statements that each see a snapshot of their own anyway.
    """
    if writing:
        return {WRITING: True}
    return {"isolation_level": "AUTOCOMMIT"} if dialect == "postgresql" else {}


def in_parameter(dialect: str, column: Any, name: str = "keys") -> ColumnElement[bool]:
    """``column`` is one of the values of the parameter ``name``; the statement's text does not grow with them."""
    if dialect == "postgresql":
        return column == sa.any_(sa.bindparam(name, type_=ARRAY(column.type)))
    if dialect == "sqlite":
        keys = sa.func.json_each(sa.bindparam(name, type_=_KeySet())).table_valued("value")
        return column.in_(sa.select(keys.c.value))
    return column.in_(sa.bindparam(name, type_=column.type, expanding=True))


def inlined_int(name: str, value: int) -> Any:
    """A number written into the statement, so that the database plans for it."""
    return sa.bindparam(name, value, type_=sa.Integer, literal_execute=True)


def lower(dialect: str, expression: Any) -> Any:
    """``expression`` in lower case, by Unicode's rules on every database."""
    if dialect == "postgresql":
        return sa.func.lower(sa.collate(sa.cast(expression, sa.Text), "und-x-icu"))
    return sa.func.lower(expression)


def lower_value(dialect: str, value: str) -> Any:
    """A value in lower case, to be compared with :func:`lowered`; MariaDB and MySQL map some letters otherwise than Python (``İ``, ``ẞ``)."""
    return sa.func.lower(sa.literal(value)) if dialect in ("mysql", "mariadb") else value.lower()


_POSTGRES_WORDS = {r"\b": r"\y", r"\B": r"\Y", r"\Z": r"\Z", r"\z": r"\Z"}


def regex_match(dialect: str, expression: Any, pattern: str, *, ignore_case: bool) -> ColumnElement[bool]:
    """``expression`` matches a regular expression (Python's syntax, what all three databases share of it).

    :raises ValueError: when the pattern is not a regular expression, or too long
    """
    patterns.check(pattern)
    if dialect == "postgresql":
        shared = re.sub(r"\\[bBZz]|\\.", lambda m: _POSTGRES_WORDS.get(m.group(), m.group()), pattern, flags=re.S)
        operator = "~*" if ignore_case else "~"
        folding = sa.collate(sa.cast(expression, sa.Text), "und-x-icu")  # the collation C folds and classifies ASCII only
        return folding.op(operator, is_comparison=True)(shared)
    if dialect == "sqlite":
        return sa.func.netinv_matches(pattern, expression, int(ignore_case), type_=sa.Boolean) == 1
    flags = "(?i)" if ignore_case else "(?-i)"
    return expression.op("REGEXP", is_comparison=True)(flags + pattern)


def db_now(dialect: str) -> ColumnElement[Any]:
    """The time at which a statement runs, by the one clock that all processes share: the database's.

    What was written after waiting for a row carries a later time than what held it, on whatever machine either was asked for.
    """
    if dialect == "postgresql":
        return sa.func.clock_timestamp()
    if dialect == "sqlite":
        return sa.literal(datetime.datetime.now(datetime.UTC), Timestamp())
    return sa.literal_column("UTC_TIMESTAMP(6)")


def lock_rows(statement: Any) -> Any:
    """Holds the rows read until the transaction ends (SQLite holds the whole database since ``BEGIN IMMEDIATE``)."""
    return statement.with_for_update()


def lock_parents(statement: Any) -> Any:
    """Holds the rows read as :func:`lock_rows` does, for rules over what refers to them.

    On PostgreSQL those who only refer to one of the rows (its foreign keys are checked) need not wait.
    """
    return statement.with_for_update(key_share=True)


# What the databases say of a regular expression that they do not take, and of a statement that is too much for them.
_BAD_FILTER_STATES = re.compile(
    r"regex|too many sql variables|expression tree is too large|parser stack overflow|number of parameters|stack depth limit|thread stack overrun"
    r"|max_allowed_packet|regular expression|user-defined function raised",
    re.I,
)
# SQLite; PostgreSQL; MariaDB; MySQL
_TIMEOUT = re.compile(r"interrupted|due to statement timeout|max_statement_time exceeded|maximum statement execution time exceeded")


def is_bad_filter_error(error: Exception) -> bool:
    """Whether the database refused a value of the query itself (a pattern or number it cannot hold), or more of them than it can compare."""
    if is_away(error) or is_busy(error):
        return False
    return isinstance(error, sa.exc.DataError | sa.exc.InterfaceError) or (
        isinstance(error, sa.exc.OperationalError | sa.exc.ProgrammingError | sa.exc.InternalError) and bool(_BAD_FILTER_STATES.search(str(error)))
    )


def is_timeout(error: Exception) -> bool:
    """Tells the error of a statement that the database cancelled after ``netinv.statement_timeout``."""
    return isinstance(error, sa.exc.OperationalError | sa.exc.InternalError) and bool(_TIMEOUT.search(str(error.orig)))
