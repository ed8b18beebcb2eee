"""Transactions that wait for a lock, as the database server lists them: races wait for them instead of for a time."""

from __future__ import annotations

import threading
import time
from concurrent.futures import Future
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Engine

from netinv_core.db.engine import engine_from
from netinv_core.driver import driver_of

PATIENCE = 60.0  # seconds
# Seconds between two looks. InnoDB renews innodb_trx when nobody has read it for 0.1 seconds: who reads it more often
# sees the same transactions for ever. Two processes that look each quarter of a second leave it such a pause.
_EVERY = {"mysql": 0.25}
_WAITING = {
    "postgresql": (
        "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
    ),
    "mysql": (
        "SELECT count(*) FROM information_schema.processlist AS process"
        " LEFT JOIN information_schema.innodb_trx AS trx ON trx.trx_mysql_thread_id = process.id"
        " WHERE process.db = database() AND (trx.trx_state = 'LOCK WAIT' OR process.state = 'User lock')"
    ),
}


class LockWaits:
    """Counts the connections to a database that wait for a lock, on a connection of its own. Threads may share it."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._every = _EVERY.get(engine.dialect.name, 0.0)
        self._lock, self._count, self._next = threading.Lock(), 0, 0.0
        self._query = _WAITING.get(engine.dialect.name)
        url = engine.url.render_as_string(hide_password=False)
        self._own = engine_from(url, isolation_level="AUTOCOMMIT", poolclass=sa.NullPool) if self._query else engine

    def count(self) -> int:
        """The number of connections that wait. SQLite does not tell: there it is that of those that are in use besides
        the one that writes.
        """
        if self._query is None:
            pool: Any = self._engine.pool
            return max(pool.checkedout() - 1, 0) if hasattr(pool, "checkedout") else 0
        with self._lock:
            if time.monotonic() >= self._next:
                with self._own.connect() as connection:
                    self._count = int(connection.scalar(sa.text(self._query)) or 0)
                self._next = time.monotonic() + self._every
            return self._count


def until_it_waits(engine: Engine, future: Future[Any]) -> None:
    """Waits until a connection waits for a lock, or the call that is expected to is over.

    :raises AssertionError: after a minute
    """
    waits, deadline = LockWaits(engine), time.monotonic() + PATIENCE
    while not waits.count() and not future.done():
        assert time.monotonic() < deadline, "nothing waits for a lock"
        time.sleep(0.02)


def is_locked(engine: Engine, table: sa.Table, key: Any) -> bool:
    """True where a transaction that changes a row would wait for another one. On SQLite, that is any row."""
    url = engine.url.render_as_string(hide_password=False)
    probe = engine_from(url, isolation_level="AUTOCOMMIT", poolclass=sa.NullPool)
    row = sa.select(table.c.id).where(table.c.id == key).with_for_update(nowait=True, key_share=True)
    begin = ("PRAGMA busy_timeout = 0", "BEGIN IMMEDIATE")
    try:
        with probe.connect() as connection:
            if driver_of(engine).locks_database:
                for statement in begin:
                    connection.exec_driver_sql(statement)
            else:
                connection.execute(row)
    except sa.exc.DBAPIError:
        return True
    return False
