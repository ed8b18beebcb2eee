"""Parameters of database URLs of PostgreSQL that netinv takes itself: ``pooler`` and ``execution``."""

from __future__ import annotations

from typing import Any

from sqlalchemy import event
from sqlalchemy.engine import URL, Engine

POOLER, TRANSACTION = "pooler", "transaction"
EXECUTION, DIRECT, SQLALCHEMY = "execution", "direct", "sqlalchemy"


def is_pooled(address: URL) -> bool:
    """True for a URL with ``?pooler=transaction``: a pooler such as PgBouncer gives each transaction any connection.

    :raises ValueError: for another kind of pooler
    """
    return _value(address, POOLER, (TRANSACTION,)) is not None


def is_direct(address: URL) -> bool:
    """False for a URL with ``?execution=sqlalchemy``: SQLAlchemy runs all statements, as on other databases.

    :raises ValueError: for another way of execution
    """
    return _value(address, EXECUTION, (DIRECT, SQLALCHEMY)) != SQLALCHEMY


def _value(address: URL, name: str, known: tuple[str, ...]) -> Any:
    """The value of a parameter; ``None`` without it."""
    value = address.query.get(name)
    if value not in (None, *known):
        raise ValueError(f"{name}={value} in the URL: the values are {' and '.join(known)}")
    return value


def remove_own(engine: Engine) -> None:
    """Has the parameters not be passed to the driver."""

    @event.listens_for(engine, "do_connect")
    def remove(dialect: Any, record: Any, arguments: Any, parameters: dict[str, Any]) -> None:
        parameters.pop(POOLER, None)
        parameters.pop(EXECUTION, None)


def set_time_zone(engine: Engine) -> None:
    """Sets the time zone of connections through a pooler: poolers restore this setting for each client."""

    @event.listens_for(engine, "connect")
    def set_on_connection(connection: Any, record: Any) -> None:
        connection.execute("SET timezone TO 'UTC'")
        connection.commit()
