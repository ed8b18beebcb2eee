"""Execution of statements by SQLAlchemy."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from netinv_core.db.driver.combined import Combined
from netinv_core.db.driver.read_connection import ReadConnection

if TYPE_CHECKING:
    from sqlalchemy.engine import Connection, Engine

Values = Mapping[str, Any] | Sequence[Mapping[str, Any]] | None


class Driver:
    """Driver of a database that needs no way of its own to run statements."""

    def __init__(self, dialect: str) -> None:
        self.dialect = dialect

    def read_connection(self, engine: Engine) -> ReadConnection | None:
        """The connection of a unit of work that only reads; ``None`` where it is that of its session."""
        return None

    def execute(
        self,
        connection: Connection | ReadConnection,
        statement: Any,
        values: Values = None,
        where: Sequence[Any] = (),
    ) -> Any:
        """The result of a statement for these values of its parameters, or for those of each of many rows.

        A statement that its caller keeps is compiled once, and SELECTs of the same structure are, too.

        :param where: further conditions, for a SELECT that the caller keeps
        :raises sqlalchemy.exc.DBAPIError: as :meth:`sqlalchemy.engine.Connection.execute`
        """
        if isinstance(statement, Combined):
            return statement.in_steps(functools.partial(self.execute, connection), values)
        return whole(connection).execute(statement.where(*where) if where else statement, values)


def whole(connection: Connection | ReadConnection) -> Connection:
    """SQLAlchemy's connection."""
    return connection.whole if isinstance(connection, ReadConnection) else connection
