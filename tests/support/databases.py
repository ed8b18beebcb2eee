"""Databases of the tests; :mod:`netinv_testing.databases` makes them. And queues."""

from __future__ import annotations

import functools
import os
import uuid
from pathlib import Path

import redis
import sqlalchemy as sa

from netinv_testing.databases import (
    DIALECT,
    SERVER,
    drop_abandoned,
    drop_unused,
    empty_database,
    migrate,
    migrated_database,
    process_mark,
    template_database,
    unsynced_commits,
)

__all__ = [
    "DIALECT",
    "ENDLESS",
    "SERVER",
    "drop_abandoned",
    "drop_unused",
    "empty_database",
    "migrate",
    "migrated_database",
    "new_queue_url",
    "template_database",
    "unsynced_commits",
]


#: A statement that does not end within the time of a test.
ENDLESS = sa.text(
    "WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 900) "
    "SELECT count(*) FROM numbers a, numbers b, numbers c, numbers d WHERE a.n + b.n + c.n + d.n = -1"
)
LEASE = 4 * 3600  # seconds
REDIS_DATABASES = 16  # of a server as it is installed
LEASES = "netinv-tests:database"  # keys in the database that NETINV_TEST_QUEUE names: which process uses which one


def new_queue_url(folder: Path) -> str:
    """The queue of this pytest process: a Redis database of its own on the server that ``NETINV_TEST_QUEUE`` names, or
    a file.

    With a common queue, the worker of one process would take the tasks of another and run them on its own database.
    """
    named = os.environ.get("NETINV_TEST_QUEUE")
    if not named:
        return f"sqlite:///{folder / f'queue-{uuid.uuid4().hex[:6]}.sqlite'}"
    return f"{named.rpartition('/')[0]}/{_leased_database(named)}"


@functools.cache
def _leased_database(url: str) -> int:
    """A database after the one in the URL, which no other process has until this one is gone.

    :raises RuntimeError: when all of them are in use
    """
    server, own = redis.Redis.from_url(url), process_mark(os.getpid())
    host = own.partition("_")[0]
    for number in range(int(url.rpartition("/")[2]) + 1, REDIS_DATABASES):
        key = f"{LEASES}:{number}"
        holder = (server.get(key) or b"").decode()
        if holder.partition("_")[0] == host and process_mark(int(holder.split("_")[1])) != holder:
            server.delete(key)
        if server.set(key, own, nx=True, ex=LEASE):
            return number
    raise RuntimeError(f"all databases of {url} are in use by other test processes")
