"""Engines and sessions, and the few places where the three databases speak differently."""

from __future__ import annotations

import datetime
import re
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

from netinv_core.columns import Timestamp

WRITING = "netinv_writing"


def engine_from(url: str, **options: Any) -> Engine:
    """An engine for a PostgreSQL, MariaDB/MySQL or SQLite URL; ``postgresql://`` means psycopg 3, ``mysql://`` PyMySQL."""
    address = _with_driver(make_url(url))
    options.setdefault("json_serializer", lambda value: orjson.dumps(value, option=orjson.OPT_NON_STR_KEYS | orjson.OPT_UTC_Z).decode())
    options.setdefault("json_deserializer", _from_json)
    dialect = address.get_backend_name()
    if dialect == "postgresql":
        # Plans join many small tables: planning them anew takes longer than running them.
        options.setdefault("connect_args", {"options": "-c timezone=UTC -c plan_cache_mode=force_generic_plan"})
    elif dialect in ("mysql", "mariadb"):
        options.setdefault("connect_args", {"init_command": "SET time_zone = '+00:00'", "charset": "utf8mb4"})
        options.setdefault("isolation_level", "READ COMMITTED")
        options.setdefault("pool_recycle", 3600)
    if dialect != "sqlite":
        options.setdefault("pool_pre_ping", False)
    engine = sa.create_engine(address, hide_parameters=True, **options)  # what is bound to a statement may be a secret, and errors are logged
    if dialect == "sqlite":
        _prepare_sqlite(engine)
    return engine


def _from_json(stored: Any) -> Any:
    """A JSON document; SQLite keeps one that is a number alone as a number."""
    return orjson.loads(stored) if isinstance(stored, str | bytes) else stored


def _with_driver(address: URL) -> URL:
    drivers = {"postgresql": "postgresql+psycopg", "mysql": "mysql+pymysql", "mariadb": "mariadb+pymysql"}
    return address.set(drivername=drivers.get(address.drivername, address.drivername))


def _prepare_sqlite(engine: Engine) -> None:
    """WAL, enforced foreign keys, Unicode-aware ``lower`` and ``REGEXP``, and transactions that take the write lock first."""

    @event.listens_for(engine, "connect")
    def connect(connection: Any, record: Any) -> None:
        connection.isolation_level = None
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("PRAGMA synchronous=NORMAL")
        connection.execute("PRAGMA foreign_keys=ON")
        connection.execute("PRAGMA busy_timeout=30000")
        connection.create_function("lower", 1, lambda s: s.lower() if isinstance(s, str) else s, deterministic=True)
        connection.create_function("concat_ws", -1, lambda joint, *parts: joint.join(p for p in parts if p is not None), deterministic=True)
        connection.create_function("regexp", 2, _matches, deterministic=True)

    @event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
        writing = connection.get_execution_options().get(WRITING)
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writing else "BEGIN")


def _matches(pattern: str, value: Any) -> bool:
    return value is not None and re.search(pattern, str(value)) is not None


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


def among(dialect: str, column: Any, name: str = "keys") -> ColumnElement[bool]:
    """``column`` is one of the values of the parameter ``name``; the statement's text does not grow with them."""
    if dialect == "postgresql":
        return column == sa.any_(sa.bindparam(name, type_=ARRAY(column.type)))
    if dialect == "sqlite":
        keys = sa.func.json_each(sa.bindparam(name, type_=_KeySet())).table_valued("value")
        return column.in_(sa.select(keys.c.value))
    return column.in_(sa.bindparam(name, type_=column.type, expanding=True))


def literal(name: str, value: int) -> Any:
    """A number written into the statement, so that the database plans for it."""
    return sa.bindparam(name, value, type_=sa.Integer, literal_execute=True)


def lowered(dialect: str, expression: Any) -> Any:
    """``expression`` in lower case, by Unicode's rules on every database."""
    if dialect == "postgresql":
        return sa.func.lower(sa.collate(sa.cast(expression, sa.Text), "und-x-icu"))
    return sa.func.lower(expression)


_POSTGRES_WORDS = {r"\b": r"\y", r"\B": r"\Y", r"\Z": r"\Z", r"\z": r"\Z"}


def matching(dialect: str, expression: Any, pattern: str, *, ignore_case: bool) -> ColumnElement[bool]:
    """``expression`` matches a regular expression (Python's syntax, what all three databases share of it).

    :raises ValueError: when the pattern is not a regular expression
    """
    try:
        re.compile(pattern)
    except (re.error, RecursionError, OverflowError) as error:
        raise ValueError(f"Invalid regular expression: {error}") from None
    if dialect == "postgresql":
        shared = re.sub(r"\\[bBZz]|\\.", lambda m: _POSTGRES_WORDS.get(m.group(), m.group()), pattern, flags=re.S)
        operator = "~*" if ignore_case else "~"
        folding = sa.collate(sa.cast(expression, sa.Text), "und-x-icu")  # the collation C folds and classifies ASCII only
        return folding.op(operator, is_comparison=True)(shared)
    if dialect == "sqlite":
        return expression.op("REGEXP", is_comparison=True)(("(?i)" if ignore_case else "") + pattern)
    flags = "(?i)" if ignore_case else "(?-i)"
    return expression.op("REGEXP", is_comparison=True)(flags + pattern)


def clock(dialect: str) -> ColumnElement[Any]:
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


# What the databases say of a regular expression that they do not take, and of a statement that is too much for them.
_UNDECIDABLE = re.compile(
    r"regex|too many sql variables|expression tree is too large|parser stack overflow|number of parameters|stack depth limit|thread stack overrun"
    r"|max_allowed_packet",
    re.I,
)


def is_undecidable(error: Exception) -> bool:
    """Whether the database refused a value of the query itself (a pattern or number it cannot hold), or more of them than it can compare."""
    return isinstance(error, sa.exc.DataError | sa.exc.InterfaceError) or (
        isinstance(error, sa.exc.OperationalError | sa.exc.ProgrammingError | sa.exc.InternalError) and bool(_UNDECIDABLE.search(str(error)))
    )
