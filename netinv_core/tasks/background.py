"""Background workers: work that takes too long for a task of the queue, in one thread of each process."""

from __future__ import annotations

import abc
import atexit
import datetime
import logging
import os
import threading
import weakref
from typing import TYPE_CHECKING, Self

from sqlalchemy.engine import Engine

from netinv_core.models.base import now
from netinv_core.registry_cache import cached_in_registry
from netinv_core.tasks import queue as task_queue
from netinv_core.tasks import workers
from netinv_core.telemetry import log_context

if TYPE_CHECKING:
    from netinv_core.registry import Registry

log = logging.getLogger(__name__)


@cached_in_registry
def _workers_of(registry: Registry) -> dict[type, BackgroundWorker]:
    """The workers of a registry by class."""
    return {}


class BackgroundWorker(abc.ABC):
    """Does the work of one registry in one process, in a daemon thread that lives while there is work.

    :meth:`poll` starts the thread, or tells the running one to look again. It returns at once, so the worker of the
    queue is free for other tasks. A subclass implements :meth:`work`, which returns when nothing is left to do.
    """

    thread_name = "background"
    shutdown_timeout = 10.0  # seconds that :meth:`stop` waits for the thread

    def __init__(self, engine: Engine, registry: Registry) -> None:
        self._engine, self._registry = engine, registry
        self._changed = threading.Condition()  # guards all that follows, and the state of subclasses
        self._running = self._requested = self._stopping = False
        self._enqueued_for: datetime.datetime | None = None
        self._process = os.getpid()

    @classmethod
    def of_process(cls, engine: Engine, registry: Registry) -> Self:
        """The worker of this process for a registry: created at the first use, and again after a fork."""
        with _lock:
            workers = _workers_of(registry)
            worker = workers.get(cls)
            if not isinstance(worker, cls) or worker._process != os.getpid():
                worker = workers[cls] = cls(engine, registry)
                _workers.add(worker)
            return worker

    # -- called by other threads

    def poll(self) -> None:
        """Requests a look at what is to be done. Returns at once."""
        with self._changed:
            self._requested = True
            self._wake()
            if not self._running:
                self._running, self._stopping = True, False
                threading.Thread(target=self._run, name=self.thread_name, daemon=True).start()

    def wait(self, seconds: float | None = None) -> bool:
        """Waits until nothing is left to do, at most ``seconds``. Returns False when that time was too short."""
        with self._changed:
            return self._changed.wait_for(lambda: not self._running, seconds)

    def stop(self, seconds: float | None = None) -> None:
        """Ends the work: nothing more is begun. Waits for the thread, by default for ``shutdown_timeout``."""
        with self._changed:
            self._stopping = True
            self._wake()
            self._changed.wait_for(lambda: not self._running, self.shutdown_timeout if seconds is None else seconds)

    # -- for subclasses

    @abc.abstractmethod
    def work(self) -> None:
        """Works until nothing is left to do. An exception ends the thread; the next :meth:`poll` starts another."""

    def _wake(self) -> None:
        """Wakes the threads that wait for the condition. Called with the lock held."""
        self._changed.notify_all()

    def _note(self, *, failed: bool) -> None:
        """Has the heartbeat of the process tell whether the work failed."""
        workers.note(self._registry, self.thread_name, failed=failed)

    def _enqueue_for(self, task: str, due: datetime.datetime | None, horizon: datetime.timedelta) -> None:
        """Enqueues a task for the time when something is due, once for each time.

        Times beyond the horizon are left to the task's own schedule.
        """
        if due is not None and due != self._enqueued_for and due - now() < horizon:
            self._enqueued_for = due
            task_queue.enqueue(self._registry, task, at=due)

    # -- the thread

    def _run(self) -> None:
        with log_context.task(self.thread_name):
            self._work_while_requested()

    def _work_while_requested(self) -> None:
        while True:
            with self._changed:
                self._requested = False
            failed = False
            try:
                self.work()
            except Exception:
                log.exception(
                    "the background thread %s failed; what it had claimed is taken up when its lease ends",
                    self.thread_name,
                )
                failed = True
            self._note(failed=failed)
            with self._changed:
                if self._requested and not (failed or self._stopping):
                    continue
                self._running = False
                self._changed.notify_all()
                return


_workers: weakref.WeakSet[BackgroundWorker] = weakref.WeakSet()  # freed with their registries
_lock = threading.Lock()


@atexit.register
def _stop_all() -> None:
    """Stops the workers of this process when it ends in an orderly way."""
    for worker in list(_workers):
        if worker._process == os.getpid():
            worker.stop()
