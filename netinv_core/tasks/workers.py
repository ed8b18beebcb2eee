"""Workers: each process that runs tasks of the queue says in a row of ``core_worker`` that it lives, twice a minute."""

from __future__ import annotations

import contextlib
import datetime
import logging
import os
import socket
import threading
import time
import uuid
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection, Engine
from sqlalchemy.orm import Mapped

from netinv_core.driver import driver_of
from netinv_core.models.base import TRANSIENT, Model, now, table_of
from netinv_core.models.columns import column
from netinv_core.registry_cache import cached_in_registry

if TYPE_CHECKING:
    from netinv_core.registry import Registry

log = logging.getLogger(__name__)
INTERVAL = 30.0  # seconds between two writes
PATIENCE = datetime.timedelta(seconds=100)  # since the last write, after which a worker is taken for dead
LONG = 1800.0  # seconds of a task until it is logged
END_TIMEOUT = 5.0  # seconds that an ending worker waits for the deletion of its row
KEPT = datetime.timedelta(days=1)  # how long one is listed that ended without a word
MAX_NAME = 255  # characters of a host's name


class WorkerProcess(Model):
    """A process that runs tasks; ``task`` is the one that it began last, empty before the first.

    ``failing`` has the names of the tasks whose last run in this process failed, separated by spaces.
    """

    __tablename__ = "core_worker"
    __table_args__ = {"info": {TRANSIENT: True}}

    host: Mapped[str] = column(length=MAX_NAME)
    process: Mapped[int]
    started: Mapped[datetime.datetime]
    seen: Mapped[datetime.datetime]
    task: Mapped[str] = column(length=100)
    failing: Mapped[str] = column(length=MAX_NAME, default="")


_worker = table_of(WorkerProcess)


@cached_in_registry
def failing_tasks(registry: Registry) -> dict[str, None]:
    """The names of the tasks of this process whose last run failed."""
    return {}


def note(registry: Registry, task: str, *, failed: bool) -> None:
    """Keeps the outcome of a run of a task, or of the background work that it started."""
    if failed:
        failing_tasks(registry)[task] = None
    else:
        failing_tasks(registry).pop(task, None)


class Heartbeat:
    """Writes the row of this process from a daemon thread, and deletes it at an orderly end.

    ``failing`` are the names of the tasks that fail, which others change.
    """

    def __init__(self, engine: Engine, failing: Collection[str] = ()) -> None:
        self._engine, self._failing = engine, failing
        self._changing = threading.Lock()
        self._stopped: threading.Event | None = None
        self._thread: threading.Thread | None = None
        self.task = ""
        self._running: dict[int, tuple[str, float]] = {}  # name and start of the task of each thread
        self._told: set[float] = set()  # starts of those that were logged

    @contextlib.contextmanager
    def of_task(self, name: str) -> Iterator[None]:
        """Context manager of a task that a thread runs. One that takes very long is logged once."""
        self.task = name
        self._running[threading.get_ident()] = name, time.monotonic()
        try:
            yield
        finally:
            del self._running[threading.get_ident()]

    def tell_long(self) -> None:
        """Logs the tasks that have been running for longer than :data:`LONG`."""
        for name, start in list(self._running.values()):
            if (passed := time.monotonic() - start) > LONG and start not in self._told:
                self._told.add(start)
                log.warning(
                    "the task %s has been running for %d minutes; others wait for its thread", name, passed / 60
                )

    def start(self) -> None:
        """Starts the thread, if it does not run. Called by each thread of a consumer."""
        with self._changing:
            if self._stopped is None:
                self._stopped = threading.Event()
                self._thread = threading.Thread(
                    target=self._run, args=(self._stopped,), name="netinv-heartbeat", daemon=True
                )
                self._thread.start()

    def stop(self) -> None:
        """Ends the thread, and waits for it while the database answers."""
        with self._changing:
            thread, stopped, self._stopped = self._thread, self._stopped, None
        if stopped is not None and thread is not None:
            stopped.set()
            thread.join(END_TIMEOUT)

    def _run(self, stopped: threading.Event) -> None:
        key, started = uuid.uuid4(), now()
        while True:
            self._attempt(lambda connection: self._write(connection, key, started))
            self.tell_long()
            if stopped.wait(INTERVAL):
                break
        self._attempt(lambda connection: connection.execute(sa.delete(_worker).where(_worker.c.id == key)))

    def _attempt(self, write: Callable[[Connection], Any]) -> None:
        """Writes in a transaction. Errors of the database are logged: the worker goes on, and the next heartbeat may
        succeed.
        """
        try:
            options = driver_of(self._engine).connection_options(writing=True)
            with self._engine.connect().execution_options(**options) as connection, connection.begin():
                write(connection)
        except sa.exc.SQLAlchemyError as error:
            log.debug("no heartbeat: %s", error)

    def _write(self, connection: Connection, key: uuid.UUID, started: datetime.datetime) -> None:
        update = sa.update(_worker).where(_worker.c.id == key).values(seen=now(), task=self.task, failing=self._names())
        if connection.execute(update).rowcount:
            return
        connection.execute(sa.delete(_worker).where(_worker.c.seen < now() - KEPT))
        words = {"host": socket.gethostname()[:MAX_NAME], "process": os.getpid(), "task": self.task}
        values = {"id": key, "started": started, "seen": now(), "failing": self._names()}
        connection.execute(sa.insert(_worker).values(**values, **words))

    def _names(self) -> str:
        return " ".join(sorted(self._failing))[:MAX_NAME]


def workers(connection: Connection) -> Sequence[Any]:
    """The workers of the last day, those that live first, by host and process: ``alive`` and the columns of the
    table.
    """
    alive = (_worker.c.seen > now() - PATIENCE).label("alive")
    return connection.execute(sa.select(alive, _worker).order_by(alive.desc(), _worker.c.host, _worker.c.process)).all()


def summary(connection: Connection) -> tuple[int, datetime.datetime | None]:
    """The number of live workers, and the time of the last heartbeat; ``None`` if no worker is known."""
    alive = sa.func.count(sa.case((_worker.c.seen > now() - PATIENCE, 1)))
    row = connection.execute(sa.select(alive, sa.func.max(_worker.c.seen))).one()
    return int(row[0]), row[1]


def live(connection: Connection) -> tuple[int, list[str]]:
    """The number of live workers, and the names of the tasks whose last run in one of them failed; one statement."""
    texts = connection.execute(sa.select(_worker.c.failing).where(_worker.c.seen > now() - PATIENCE)).scalars().all()
    return len(texts), sorted({name for text in texts for name in text.split()})
