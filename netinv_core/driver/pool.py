"""Pool of database connections that counts waits for a free one, and the check of a connection before its use."""

from __future__ import annotations

import select
import time
from typing import Any

import sqlalchemy as sa
from sqlalchemy import event
from sqlalchemy.engine import Engine
from sqlalchemy.pool import PoolProxiedConnection, QueuePool

from netinv_core.telemetry import metrics

_IDLE_SINCE = "netinv: idle since"
PING_AFTER = 30.0  # seconds; the time after which the server of an idle connection may have vanished without a word


class WatchedPool(QueuePool):
    """Pool whose waits are in the metrics, those that ended without a connection among them."""

    def __init__(self, creator: Any, pool_size: int = 5, max_overflow: int = 10, **options: Any) -> None:
        super().__init__(creator, pool_size=pool_size, max_overflow=max_overflow, **options)
        self._most = pool_size + max_overflow

    def connect(self) -> PoolProxiedConnection:
        """A connection, once one is free."""
        if self.checkedout() < self._most:
            return super().connect()
        began = time.perf_counter()
        try:
            return super().connect()
        finally:
            metrics.POOL_WAITS.inc()
            metrics.POOL_WAIT_SECONDS.inc(time.perf_counter() - began)


def check_connections(engine: Engine) -> None:
    """Checks a connection when it is taken from the pool, and replaces it if the server has closed it.

    ``pool_pre_ping`` sends a statement each time, which takes a tenth of the processor time of a small request.
    """

    @event.listens_for(engine, "checkin")
    def checkin(connection: Any, record: Any) -> None:
        record.info[_IDLE_SINCE] = time.monotonic()

    @event.listens_for(engine, "checkout")
    def checkout(connection: Any, record: Any, proxy: Any) -> None:
        idle_since = record.info.pop(_IDLE_SINCE, None)
        if idle_since is None or not _may_be_closed(connection, time.monotonic() - idle_since):
            return
        try:
            engine.dialect.do_ping(connection)
        except engine.dialect.loaded_dbapi.Error as error:
            raise sa.exc.InvalidatePoolError() from error


def _may_be_closed(connection: Any, seconds: float) -> bool:
    """True for an idle connection that has to be tested with a statement.

    A server that closes a connection of psycopg makes its socket readable. Of other drivers the socket is not known.
    """
    server = getattr(connection, "pgconn", None)
    if server is None or seconds > PING_AFTER:
        return True
    poll = select.poll()
    poll.register(server.socket, select.POLLIN)
    return bool(poll.poll(0))
