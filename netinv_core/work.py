"""Background work: a Huey queue that carries words, never data; what is to be done is in the database.

The queue is Redis in production and an SQLite file in development, by the setting ``netinv.queue_url``. A worker is a
process of its own (``netinv worker``, or ``huey_consumer netinv_core.worker.huey``) or a thread of the service.
"""

from __future__ import annotations

import dataclasses
import datetime
import functools
import logging
from collections.abc import Callable
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from huey import Huey, RedisHuey, SqliteHuey, crontab
from huey.consumer import Consumer
from sqlalchemy.engine import Engine

from netinv_core.numbering import number_changes, prune_changes
from netinv_core.registry import Registry

if TYPE_CHECKING:
    from netinv_core.context import Context

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


@dataclasses.dataclass(frozen=True)
class Task:
    """Something the worker does: ``run(engine, registry)``, when it is woken for it (:func:`wake`) and at the times that ``at`` says.

    It finds in the database what is to be done, does it once for all who asked, and may be run again at any time. What is ``urgent``
    is also done when a worker starts, and when a service does: whoever was to say the word may have died before.
    """

    name: str
    run: Callable[[Engine, Registry], Any]
    at: Callable[[datetime.datetime], bool] | None = None
    urgent: bool = False


def tasks_of(registry: Registry) -> list[Task]:
    """Every package's tasks, the core's among them."""
    contributed = [task for tasks in registry.hooks.netinv_tasks(registry=registry) for task in tasks]
    own = [Task("number_changes", number_changes, crontab(minute="*")), Task("prune_changes", prune_changes, crontab(minute="17", hour="3"))]
    return [*own, *contributed]


def add_tasks(huey: Huey, engine: Engine, registry: Registry) -> dict[str, Callable[[], Any]]:
    """Gives the queue every package's tasks; by name, what to call to have one run now."""
    return {task.name: _added(huey, task, engine, registry) for task in tasks_of(registry)}


def _added(huey: Huey, task: Task, engine: Engine, registry: Registry) -> Callable[[], Any]:
    def run() -> None:
        task.run(engine, registry)

    if task.urgent:
        huey.on_startup(name=task.name)(run)
    made: Callable[[], Any] = huey.periodic_task(task.at, name=task.name)(run) if task.at is not None else huey.task(name=task.name)(run)
    return made


def wake(context: Context, name: str, *, at: datetime.datetime | None = None) -> None:
    """Has the worker run a task once the transaction is committed, or not before ``at``.

    The word may be lost (with the process, or with the queue), so what a task finds to do must also be found by its times.
    """
    context.after_commit(lambda: call(context.registry, name, at=at), ("wake", name, at))


def call(registry: Registry, name: str, *, at: datetime.datetime | None = None) -> None:
    """Puts a word in the queue, if there is one; a queue that cannot be reached is logged, and left to the task's times."""
    url = registry.settings.get("queue_url")
    if not url:
        return
    try:
        queue, words = _words(url, tuple(task.name for task in tasks_of(registry)))
        queue.enqueue(words[name].s() if at is None else words[name].s(eta=at))
    except Exception as error:  # the queue's own, of whatever kind it is: what was committed stays committed
        log.warning("the worker was not woken for %s: %s", name, error)


def call_urgent(registry: Registry) -> None:
    """Says the word for whatever may have been left undone."""
    for task in tasks_of(registry):
        if task.urgent:
            call(registry, task.name)


@functools.cache
def _words(url: str, names: tuple[str, ...]) -> tuple[Huey, dict[str, Any]]:
    """The queue as those see it who only put words in it."""
    huey = queue(url)
    return huey, {name: huey.task(name=name)(_nothing) for name in names}


def _nothing() -> None:
    """What a word does where it is only said."""


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
