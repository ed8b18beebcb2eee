"""Databases of the tests; :mod:`netinv_testing.databases` makes them. And queues."""

from __future__ import annotations

import os
import uuid
from pathlib import Path

from netinv_testing.databases import (
    DIALECT,
    SERVER,
    drop_unused,
    empty_database,
    migrate,
    migrated_database,
    template_database,
    unsynced_commits,
)

__all__ = [
    "DIALECT",
    "SERVER",
    "drop_unused",
    "empty_database",
    "migrate",
    "migrated_database",
    "new_queue_url",
    "template_database",
    "unsynced_commits",
]


def new_queue_url(folder: Path) -> str:
    """The queue of this pytest process: a Redis database of its own, counted from the one that ``NETINV_TEST_QUEUE``
    names, or a file.

    With a common queue, the worker of one process would take the tasks of another and run them on its own database.
    """
    named = os.environ.get("NETINV_TEST_QUEUE")
    if not named:
        return f"sqlite:///{folder / f'queue-{uuid.uuid4().hex[:6]}.sqlite'}"
    server, _, first = named.rpartition("/")
    return f"{server}/{int(first) + int(os.environ.get('PYTEST_XDIST_WORKER', 'gw0').removeprefix('gw'))}"
