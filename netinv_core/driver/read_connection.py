"""Connection of a unit of work that only reads, on PostgreSQL."""

from __future__ import annotations

from typing import Any

from sqlalchemy.engine import Connection, Engine
from sqlalchemy.pool import PoolProxiedConnection

from netinv_core.driver.undocumented import connection_around

_AUTOCOMMIT = {"isolation_level": "AUTOCOMMIT"}


class ReadConnection:
    """A connection of the pool, taken for the first statement. Each statement has a transaction of its own.

    Most statements run on the driver's connection; :attr:`whole` is SQLAlchemy's, for the others. To make it, to set
    its autocommit mode, and to reset both takes 0.1 ms of processor time.
    """

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.dialect = engine.dialect
        self._pooled: PoolProxiedConnection | None = None
        self._whole: Connection | None = None

    @property
    def connection(self) -> PoolProxiedConnection:
        """The pool's connection.

        :raises sqlalchemy.exc.DBAPIError: when there is none
        """
        if self._pooled is None:
            try:
                self._pooled = self.engine.raw_connection()
            except self.dialect.loaded_dbapi.Error:
                self._whole = self.engine.connect().execution_options(**_AUTOCOMMIT)  # with SQLAlchemy's error
                self._pooled = self._whole.connection
        return self._pooled

    @property
    def closed(self) -> bool:
        """True while no connection is taken."""
        return self._pooled is None

    @property
    def whole(self) -> Connection:
        """SQLAlchemy's connection."""
        if self._whole is None or self._whole.closed:
            self._whole = connection_around(self.engine, self.connection).execution_options(**_AUTOCOMMIT)
        return self._whole

    def cursor(self) -> Any:
        """A cursor of the driver's connection, in autocommit mode."""
        return self.whole.connection.cursor()

    def invalidate(self, error: BaseException | None = None) -> None:
        """Marks a connection that was lost."""
        if self._whole is not None:
            self._whole.invalidate(error)
        elif self._pooled is not None:
            self._pooled.invalidate(error)

    def close(self) -> None:
        """Returns the connection to the pool. The next statement takes one again."""
        if self._whole is not None:
            self._whole.close()
        elif self._pooled is not None:
            self._pooled.close()
        self._whole = self._pooled = None
