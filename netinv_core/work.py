"""Background work: a Huey queue that carries words, never data; what is to be done is in the database.

The queue is Redis in production and an SQLite file in development, by the setting ``netinv.queue_url``. A worker is a
process of its own (``netinv worker``, or ``huey_consumer netinv_core.worker.huey``) or a thread of the service.
"""

from __future__ import annotations

import datetime
import logging
from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

import sqlalchemy as sa
from huey import Huey, RedisHuey, SqliteHuey, crontab
from huey.consumer import Consumer
from sqlalchemy.engine import Engine

from netinv_core.changes import ObjectChange
from netinv_core.model import now, table_of
from netinv_core.registry import Registry

log = logging.getLogger(__name__)
NAME = "netinv"


def queue(url: str) -> Huey:
    """The queue at ``redis://host:port/db`` or ``sqlite:///file``.

    :raises ValueError: for another kind of address
    """
    scheme = urlsplit(url).scheme
    if scheme in ("redis", "rediss", "unix"):
        return RedisHuey(NAME, url=url, results=False)
    if scheme == "sqlite":
        return SqliteHuey(NAME, filename=url.removeprefix("sqlite:///"), results=False)
    raise ValueError(f"netinv.queue_url must be redis://… or sqlite:///…, not {url!r}")


def add_tasks(huey: Huey, engine: Engine, registry: Registry) -> dict[str, Callable[[], Any]]:
    """Gives the queue the core's periodic tasks; by name, what to call to have one run now."""

    def prune() -> None:
        prune_changes(engine, registry)

    return {"prune_changes": huey.periodic_task(crontab(minute="17", hour="3"), name="prune_changes")(prune)}


def prune_changes(engine: Engine, registry: Registry) -> int:
    """Deletes change records older than ``netinv.changelog_retention`` days (0 keeps all); gives how many."""
    days = registry.settings.get("changelog_retention") or 0
    if not days:
        return 0
    table = table_of(ObjectChange)
    with engine.begin() as connection:
        found = connection.execute(sa.delete(table).where(table.c.time < now() - datetime.timedelta(days=days)))
    log.info("%d change records older than %d days deleted", found.rowcount, days)
    return found.rowcount


class Embedded(Consumer):  # type: ignore[misc]
    """A consumer within the service's own process: signals stay with the server."""

    def _set_signal_handlers(self) -> None:
        pass


def start_embedded(huey: Huey) -> Any:
    """Starts a worker thread in this process."""
    consumer = Embedded(huey, workers=1, worker_type="thread")
    consumer.start()
    log.info("worker embedded: queue %s", huey.storage_kwargs.get("filename") or huey.name)
    return consumer
