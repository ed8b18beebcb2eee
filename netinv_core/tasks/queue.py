"""Background work: a Huey queue that carries words, never data; what is to be done is in the database.

The queue is Redis in production and an SQLite file in development, by the setting ``netinv.queue_url``. A worker is a
process of its own (``netinv worker``, or ``huey_consumer netinv_core.tasks.worker.huey``) or a thread of the service.
"""

from __future__ import annotations

import atexit
import dataclasses
import datetime
import functools
import logging
import os
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import sqlalchemy as sa
from huey import Huey, SqliteHuey, crontab
from huey.consumer import Consumer
from sqlalchemy.engine import Engine

from netinv_core.changelog.sequence import number_changes, prune_changes
from netinv_core.db.availability import is_away, reason
from netinv_core.registry import Registry
from netinv_core.tasks.redis_queue import RedisQueue

if TYPE_CHECKING:
    from netinv_core.uow import UnitOfWork

log = logging.getLogger(__name__)
QUEUE_NAME = "netinv"
THREADS = 2  # tasks of one worker at once, unless it is told otherwise: what takes long keeps no message waiting
MIN_INTERVAL = 0.05  # seconds: whoever is awake finds what is put down meanwhile


def queue(url: str) -> Huey:
    """The queue at ``redis://host:port/db`` or ``sqlite:///file``.

    :raises ValueError: for another kind of address
    """
    scheme = urlsplit(url).scheme
    if scheme in ("redis", "rediss", "unix"):
        return RedisQueue(QUEUE_NAME, url)
    if scheme == "sqlite":
        return SqliteHuey(QUEUE_NAME, filename=url.removeprefix("sqlite:///"), results=False)
    raise ValueError(f"netinv.queue_url must be redis://… or sqlite:///…, not {url!r}")


@dataclasses.dataclass(frozen=True)
class Task:
    """Something the worker does: ``run(engine, registry)``, when it is woken for it (:func:`notify_worker`) and at the times that ``at`` says.

    It finds in the database what is to be done, does it once for all who asked, and may be run again at any time. What is ``urgent``
    is also done when a worker starts, and when a service does: whoever was to say the word may have died before.
    """

    name: str
    run: Callable[[Engine, Registry], Any]
    at: Callable[[datetime.datetime], bool] | None = None
    run_at_startup: bool = False


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
        try:
            task.run(engine, registry)
        except sa.exc.SQLAlchemyError as error:
            if not is_away(error):
                raise
            log.error("the task %s was broken off, and is run at its next time: %s", task.name, reason(error))

    if task.run_at_startup:
        huey.on_startup(name=task.name)(run)
    made: Callable[[], Any] = huey.periodic_task(task.at, name=task.name)(run) if task.at is not None else huey.task(name=task.name)(run)
    return made


def notify_worker(uow: UnitOfWork, name: str, *, at: datetime.datetime | None = None) -> None:
    """Has the worker run a task once the transaction is committed, or not before ``at``.

    The word may be lost (with the process, or with the queue), so what a task finds to do must also be found by its times.
    """
    uow.after_commit(lambda: enqueue(uow.registry, name, at=at), ("wake", name, at))


def enqueue(registry: Registry, name: str, *, at: datetime.datetime | None = None) -> None:
    """Has a word put in the queue, if there is one; nobody waits for the queue, and of many equal words that it has not yet got, it gets one."""
    url = registry.settings.get("queue_url")
    if url:
        _notifier.call(QueueMessage(url, name, at))


@dataclasses.dataclass(frozen=True)
class QueueMessage:
    """What is put in the queue at ``url``: that a task be run, not before ``at``."""

    url: str
    name: str
    at: datetime.datetime | None


class _QueueNotifier:
    """Puts words in queues, in a thread of its own that begins with the first word of a process; at most once in :data:`MIN_INTERVAL` seconds."""

    def __init__(self) -> None:
        self._words: dict[QueueMessage, None] = {}
        self._changed = threading.Condition()
        self._process = 0
        self._busy = False

    def call(self, word: QueueMessage) -> None:
        """Takes a word."""
        with self._changed:
            self._words[word] = None
            if self._process != os.getpid():  # a thread does not follow its process through a fork
                self._process, self._busy = os.getpid(), False
                threading.Thread(target=self._run, name="netinv-caller", daemon=True).start()
            if not self._busy:
                self._changed.notify_all()

    def flush(self, seconds: float) -> None:
        """Waits until all words are in their queues, or were refused; but no longer than that."""
        with self._changed:
            self._changed.wait_for(lambda: not (self._words or self._busy), seconds)

    def _run(self) -> None:
        while True:
            with self._changed:
                self._busy = False
                self._changed.notify_all()
                self._changed.wait_for(lambda: self._words)
                words, self._words, self._busy = self._words, {}, True
            for word in words:
                _enqueue(word)
            time.sleep(MIN_INTERVAL)


def _enqueue(word: QueueMessage) -> None:
    """Puts a word in its queue; one that cannot be reached is logged, and left to the task's times."""
    try:
        queue = _queue(word.url)
        task = _task(word.url, word.name)
        queue.enqueue(task.s() if word.at is None else task.s(eta=word.at))
    except Exception as error:  # the queue's own, of whatever kind it is: what was committed stays committed
        log.warning("the worker was not woken for %s: %s", word.name, error)


_notifier = _QueueNotifier()
flush = _notifier.flush
atexit.register(flush, 2.0)


def enqueue_startup_tasks(registry: Registry) -> None:
    """Says the word for whatever may have been left undone."""
    for task in tasks_of(registry):
        if task.run_at_startup:
            enqueue(registry, task.name)


@functools.cache
def _queue(url: str) -> Huey:
    """The queue as those see it who only put words in it."""
    return queue(url)


@functools.cache
def _task(url: str, name: str) -> Any:
    """A task as those know it who only say its name."""
    return _queue(url).task(name=name)(_nothing)


def _nothing() -> None:
    """What a word does where it is only said."""


class Embedded(Consumer):  # type: ignore[misc]
    """A consumer within the service's own process: signals stay with the server."""

    def _set_signal_handlers(self) -> None:
        pass


def start_embedded(huey: Huey) -> Any:
    """Starts a worker in this process."""
    consumer = Embedded(huey, workers=THREADS, worker_type="thread")
    consumer.start()
    log.info("worker embedded: queue %s", huey.storage_kwargs.get("filename") or huey.name)
    return consumer
