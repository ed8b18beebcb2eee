"""Background tasks: a Huey queue whose messages only wake the worker. All state is in the database.

The queue is Redis in production and an SQLite file in development, by the setting ``netinv.queue_url``. A worker is a
process of its own (``netinv worker``, or ``huey_consumer netinv_core.tasks.worker.huey``) or a thread of the service.
"""

from __future__ import annotations

import atexit
import dataclasses
import datetime
import logging
import os
import signal
import threading
import time
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import sqlalchemy as sa
from sqlalchemy.engine import Engine

from netinv_core import reloading
from netinv_core.caches import lru_cache
from netinv_core.db.availability import is_away, reason
from netinv_core.imports import without
from netinv_core.package_faults import package_at_fault
from netinv_core.packages import exceptions_only
from netinv_core.tasks import workers
from netinv_core.tasks.messages import ReadableMessages
from netinv_core.tasks.workers import Heartbeat
from netinv_core.telemetry import log_context

with without("opentelemetry"):  # redis would load it for metrics of its own, which are not used: 2 MiB
    from huey import Huey, SqliteHuey
    from huey.consumer import Consumer

if TYPE_CHECKING:
    from netinv_core.registry import Registry
    from netinv_core.uow import UnitOfWork

log = logging.getLogger(__name__)
QUEUE_NAME = "netinv"
THREADS = 2  # tasks of one worker at once by default, so that a long task keeps no message waiting
TIMEOUT = 1.0  # seconds in which Redis is to answer a process that is no worker
MIN_INTERVAL = 0.05  # seconds between two rounds of messages: a worker that is awake needs no further one


class FileQueue(ReadableMessages, SqliteHuey):  # type: ignore[misc]
    """The queue in an SQLite file."""


def queue(url: str, timeout: float | None = None) -> Huey:
    """The queue at ``redis://host:port/db`` or ``sqlite:///file``.

    :param timeout: seconds to wait for Redis, by default as long as a worker does
    :raises ValueError: for another kind of address
    """
    scheme = urlsplit(url).scheme
    if scheme in ("redis", "rediss", "unix"):
        from netinv_core.tasks.redis_queue import RedisQueue  # the library is an extra

        return RedisQueue(QUEUE_NAME, url, timeout)
    if scheme == "sqlite":
        return FileQueue(QUEUE_NAME, filename=url.removeprefix("sqlite:///"), results=False)
    raise ValueError(f"netinv.queue_url must be redis://… or sqlite:///…, not {url!r}")


@dataclasses.dataclass(frozen=True)
class Task:
    """A task of the worker: ``run(engine, registry)``, called after :func:`notify_worker` and on the schedule ``at``.

    The task reads from the database what is to be done, and does it for all messages at once. It may run again at any
    time. With ``run_at_startup`` it also runs when a worker or a service starts, because a process may have died
    between its commit and its message.
    """

    name: str
    run: Callable[[Engine, Registry], Any]
    at: Callable[[datetime.datetime], bool] | None = None
    run_at_startup: bool = False


def add_tasks(huey: Huey, engine: Engine, registry: Registry, tasks: Iterable[Task]) -> dict[str, Callable[[], Any]]:
    """Registers tasks with the queue, and the heartbeat of the process that will run them.

    Returns functions, by name, that enqueue a task now.
    """
    heartbeat = Heartbeat(engine, workers.failing_tasks(registry))
    huey.on_startup(name="heartbeat")(heartbeat.start)
    huey.on_shutdown(name="heartbeat")(heartbeat.stop)
    return {task.name: _add_task(huey, task, engine, registry, heartbeat) for task in tasks}


def _add_task(huey: Huey, task: Task, engine: Engine, registry: Registry, heartbeat: Heartbeat) -> Callable[[], Any]:
    def run() -> None:
        with log_context.task(task.name), heartbeat.of_task(task.name):
            failed = True
            try:
                with exceptions_only():
                    task.run(engine, registry)
                failed = False
            except sa.exc.SQLAlchemyError as error:
                if not is_away(error):
                    raise
                log.error("the task %s was broken off, and is run at its next time: %s", task.name, reason(error))
            except Exception as error:
                if (package := package_at_fault(registry, error)) is not None:
                    registry.faults.note(registry, package, error)
                    log.error("the task %s failed in the package %s", task.name, package)
                raise
            finally:
                workers.note(registry, task.name, failed=failed)

    if task.run_at_startup:
        huey.on_startup(name=task.name)(run)
    register = huey.task(name=task.name) if task.at is None else huey.periodic_task(task.at, name=task.name)
    registered: Callable[[], Any] = register(run)  # its messages name this module, as those of :func:`_task` do
    return registered


def notify_worker(uow: UnitOfWork, name: str, *, at: datetime.datetime | None = None) -> None:
    """Enqueues a task after the commit of the transaction, to run at once or not before ``at``.

    The message may be lost with the process or with the queue, so every task needs a schedule too.
    """
    uow.after_commit(lambda: enqueue(uow.registry, name, at=at), ("wake", name, at))


def enqueue(registry: Registry, name: str, *, at: datetime.datetime | None = None) -> None:
    """Enqueues a task asynchronously; does nothing without a queue. Pending duplicates are coalesced."""
    url = registry.settings["queue_url"]
    if url:
        _notifier.call(QueueMessage(url, name, at))


@dataclasses.dataclass(frozen=True)
class QueueMessage:
    """A message for the queue at ``url``: run a task, not before ``at``."""

    url: str
    name: str
    at: datetime.datetime | None


class _QueueNotifier:
    """Sends messages to queues, at most once in :data:`MIN_INTERVAL` seconds.

    Its thread starts with the first message of a process.
    """

    def __init__(self) -> None:
        self._messages: dict[QueueMessage, None] = {}
        self._changed = threading.Condition()
        self._process = 0
        self._busy = False

    def call(self, message: QueueMessage) -> None:
        """Takes a message to send. Returns at once."""
        with self._changed:
            self._messages[message] = None
            if self._process != os.getpid():  # a thread does not follow its process through a fork
                self._process, self._busy = os.getpid(), False
                threading.Thread(target=self._run, name="netinv-caller", daemon=True).start()
            if not self._busy:
                self._changed.notify_all()

    def flush(self, seconds: float) -> None:
        """Waits until all messages were sent or refused, at most ``seconds``."""
        with self._changed:
            self._changed.wait_for(lambda: not (self._messages or self._busy), seconds)

    def _run(self) -> None:
        while True:
            with self._changed:
                self._busy = False
                self._changed.notify_all()
                self._changed.wait_for(lambda: self._messages)
                messages, self._messages, self._busy = self._messages, {}, True
            for message in messages:
                _enqueue(message)
            time.sleep(MIN_INTERVAL)


def _enqueue(message: QueueMessage) -> None:
    """Sends a message. A queue that cannot be reached is logged; the task then runs on its schedule."""
    try:
        queue = queue_at(message.url)
        task = _task(message.url, message.name)
        queue.enqueue(task.s() if message.at is None else task.s(eta=message.at))
    except Exception as error:  # errors of the queue, of any kind: the commit stands
        log.warning("the worker was not woken for %s: %s", message.name, error)


_notifier = _QueueNotifier()
flush = _notifier.flush
atexit.register(flush, 2.0)


def length(url: str) -> int | None:
    """The number of messages in the queue at a URL; ``None`` when it cannot be reached."""
    try:
        return int(queue_at(url).pending_count())
    except Exception as error:  # errors of the queue, of any kind
        log.warning("the length of the queue is not known: %s", error)
        return None


@lru_cache("connections", 64)
def queue_at(url: str) -> Huey:
    """The queue at a URL, one object for each process: for sending, and for its storage. It waits for
    :data:`TIMEOUT`, as requests wait for it.
    """
    return queue(url, TIMEOUT)


@lru_cache("connections", 2000)
def _task(url: str, name: str) -> Any:
    """A task by name, for sending only."""
    return queue_at(url).task(name=name)(_do_nothing)


def _do_nothing() -> None:
    """Stands for the function of a task in processes that only send its messages."""


class Embedded(Consumer):  # type: ignore[misc]
    """A consumer within the service's own process: signals stay with the server."""

    def _set_signal_handlers(self) -> None:
        pass


class Standalone(Consumer):  # type: ignore[misc]
    """A consumer in a process of its own. SIGHUP, with which Huey starts the process anew, rereads the ini file."""

    def start(self) -> None:
        """Sets the handlers of signals, then starts the threads. Huey sets them last, and a signal before ends it."""
        self._set_signal_handlers()
        super().start()

    def _set_signal_handlers(self) -> None:
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGHUP})  # as long as Huey has a handler of its own
        super()._set_signal_handlers()
        reloading.listen()
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGHUP})

    def loop(self, health_check_ts: float | None = None) -> Any:
        """Waits for a signal; called again and again."""
        reloading.reload_if_requested()
        return super().loop(health_check_ts)


def start_embedded(huey: Huey) -> Any:
    """Starts a worker in this process."""
    consumer = Embedded(huey, workers=THREADS, worker_type="thread")
    consumer.start()
    log.info("worker embedded: queue %s", huey.storage_kwargs.get("filename") or huey.name)
    return consumer
