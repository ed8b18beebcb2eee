"""Poolers of connections between the service and PostgreSQL, such as PgBouncer."""

from __future__ import annotations

from typing import Any

from sqlalchemy import event
from sqlalchemy.engine import URL, Engine

POOLER, TRANSACTION = "pooler", "transaction"  # parameter of database URLs, and its value


def is_pooled(address: URL) -> bool:
    """True for a URL with ``?pooler=transaction``: a pooler such as PgBouncer gives each transaction any connection.

    :raises ValueError: for another kind of pooler
    """
    kind = address.query.get(POOLER)
    if kind not in (None, TRANSACTION):
        raise ValueError(f"{POOLER}={kind} in the URL: the only kind is {TRANSACTION}")
    return kind is not None


def prepare(engine: Engine) -> None:
    """Sets the time zone of connections through a pooler: poolers restore this setting for each client."""

    @event.listens_for(engine, "do_connect")
    def remove_own_argument(dialect: Any, record: Any, arguments: Any, parameters: dict[str, Any]) -> None:
        parameters.pop(POOLER, None)

    @event.listens_for(engine, "connect")
    def set_time_zone(connection: Any, record: Any) -> None:
        connection.execute("SET timezone TO 'UTC'")
        connection.commit()
