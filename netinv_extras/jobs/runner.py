"""Running jobs: a worker takes results that are pending, has each run in a process of its own, and answers for it until it has ended."""

from __future__ import annotations

import atexit
import contextlib
import dataclasses
import datetime
import logging
import os
import signal
import threading
import time
import uuid
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Engine

from netinv_core.models.base import now
from netinv_core.registry import Registry
from netinv_core.tasks import queue as task_queue
from netinv_extras.jobs import scheduler
from netinv_extras.jobs.claims import ABANDONED, Claims
from netinv_extras.jobs.forkserver import Channel, ForkServer
from netinv_extras.jobs.results import RUN

log = logging.getLogger(__name__)
POLL_INTERVAL = 1.0  # seconds between looks at the queue while something runs
STORE_INTERVAL = 0.25  # seconds between writings of what a job says
START_TIMEOUT = 60.0  # seconds that the process of a job has to begin
PARTING, LAST = 10.0, 2.0  # seconds that there are when the worker is stopped, and those of them that are for writing down what became of jobs
SOON = 90.0  # seconds within which the worker is called for the next schedule; later ones are found by the task's times
DIED = "The process of the job ended before the job did: it was killed, or the machine ran out of memory."
STOPPED = "The worker was stopped while the job ran; nothing that the job wrote was kept."
TOO_LONG = "The job took longer than its time limit of {:g} s and was killed; nothing that it wrote was kept."


@dataclasses.dataclass
class _Watch:
    """What is known of a run while its process lives."""

    link: Channel
    stored: int = 0
    waiting: list[dict[str, Any]] = dataclasses.field(default_factory=list)
    alone: bool = False  # the job is writing where only one can
    pid: int | None = None
    limit: float | None = None
    killed: str = ""
    ended: bool = False


class Runner:
    """Runs the jobs of one registry in one process."""

    def __init__(self, engine: Engine, registry: Registry) -> None:
        self._engine, self._registry = engine, registry
        self._claims = Claims(engine, registry.dialect)
        self._nursery = ForkServer(registry)
        self._changed = threading.Condition()  # guards all that follows
        self._busy = 0
        self._running = self._asked = self._stopping = False
        self._parting: float | None = None
        self._called: datetime.datetime | None = None
        self.process = os.getpid()

    # -- being called

    def poll(self) -> None:
        """Has what is pending run, in threads of their own; returns at once."""
        with self._changed:
            self._asked = True
            self._changed.notify_all()
            if not self._running:
                self._running, self._stopping, self._parting = True, False, None
                threading.Thread(target=self._run, name="jobs", daemon=True).start()

    def wait(self, seconds: float | None = None) -> bool:
        """Waits until nothing is pending and nothing runs; whether that came to be."""
        with self._changed:
            return self._changed.wait_for(lambda: not self._running, seconds)

    def stop(self, seconds: float = PARTING) -> None:
        """Begins nothing more, gives what runs a while, and then ends it."""
        with self._changed:
            self._stopping, self._parting = True, time.monotonic() + max(seconds - LAST, 0)
            self._changed.notify_all()
            self._changed.wait_for(lambda: not self._running, seconds)
        self._nursery.close()

    @property
    def _lease(self) -> datetime.timedelta:
        return datetime.timedelta(seconds=self._registry.settings["job_lease"])

    # -- the thread that looks

    def _run(self) -> None:
        """Looks until there is nothing to do."""
        while True:
            try:
                self._begin()
            except Exception:
                log.exception("jobs could not be looked for")
            with self._changed:
                if not (self._busy or self._asked) or (self._stopping and not self._busy):
                    self._running = False
                    self._changed.notify_all()
                    return
                if not self._asked:
                    self._changed.wait(POLL_INTERVAL)

    def _begin(self) -> None:
        """Ends what is dead, takes what is due, and begins as much as there is room for."""
        with self._changed:
            self._asked = False
            room = 0 if self._stopping else max(self._registry.settings["job_processes"], 1) - self._busy
        self._claims.sweep()
        scheduler.start_due(self._engine, self._registry)
        if room > 0:
            for key, claim in self._claims.claim(room, self._lease):
                with self._changed:
                    self._busy += 1
                threading.Thread(target=self._answer_for, args=(key, claim), name="job", daemon=True).start()
        self._call_again()

    def _call_again(self) -> None:
        """Has the worker called when the next schedule is due, if that is soon."""
        due = scheduler.next_due(self._engine, self._registry)
        if due is not None and due != self._called and (due - now()).total_seconds() < SOON:
            self._called = due
            task_queue.enqueue(self._registry, RUN, at=due)

    # -- a thread for each run

    def _answer_for(self, key: uuid.UUID, claim: uuid.UUID) -> None:
        try:
            told = {
                "settings": self._registry.settings,
                "database": self._engine.url.render_as_string(hide_password=False),
                "result": str(key),
                "claim": str(claim),
            }
            watch = _Watch(self._nursery.start(told))
            try:
                self._follow(key, claim, watch)
            finally:
                watch.link.close()
        except Exception:
            log.exception("the run %s could not be followed; it counts as errored when its lease ends", key)
        with self._changed:
            self._busy -= 1
            self._asked = True
            self._changed.notify_all()

    def _follow(self, key: uuid.UUID, claim: uuid.UUID, watch: _Watch) -> None:
        """Hears what the process says until it is gone."""
        began = kept = stored = time.monotonic()
        with contextlib.suppress(EOFError):
            while True:
                message = watch.link.receive(STORE_INTERVAL)
                if message is not None:
                    self._take(key, watch, message)
                    if message["is"] == "started":
                        began = time.monotonic()
                moment = time.monotonic()
                if watch.waiting and not watch.alone and moment - stored > STORE_INTERVAL:
                    self._store(key, watch)
                    stored = moment
                if not watch.alone and not watch.ended and moment - kept > self._lease.total_seconds() / 4:
                    self._keep(key, claim, watch)
                    kept = moment
                self._stop_late(watch, moment - began)
        if not watch.ended:
            self._store(key, watch)
            self._claims.give_up(key, claim, watch.killed or DIED)

    def _take(self, key: uuid.UUID, watch: _Watch, message: dict[str, Any]) -> None:
        kind = message["is"]
        if kind == "said":
            watch.waiting.append(message["entry"])
        elif kind == "started":
            watch.pid, watch.limit = message["pid"], message["seconds"]
        elif kind == "writing":
            self._store(key, watch)
            watch.alone = True
            watch.link.send({})
        elif kind == "released":
            watch.alone = False
        elif kind == "ending":
            if not watch.alone:
                self._store(key, watch)
            watch.link.send({"stored": watch.stored})
            watch.waiting = []  # the process writes them itself
            watch.alone = True
        elif kind == "ended":
            watch.ended = True

    def _store(self, key: uuid.UUID, watch: _Watch) -> None:
        """Writes what the job said; what cannot be written now is kept."""
        if watch.waiting:
            try:
                self._claims.store(key, watch.waiting)
            except sa.exc.IntegrityError:  # somebody deleted the result
                watch.waiting = []
            except sa.exc.DBAPIError as error:
                log.warning("what a job said could not be written yet: %s", error.orig)
                return
            watch.stored += len(watch.waiting)
            watch.waiting = []

    def _keep(self, key: uuid.UUID, claim: uuid.UUID, watch: _Watch) -> None:
        try:
            stands = self._claims.keep(key, claim, self._lease)
        except sa.exc.DBAPIError as error:
            log.warning("the lease of a job could not be extended: %s", error.orig)
            return
        if not stands:
            self._kill(watch, ABANDONED)

    def _stop_late(self, watch: _Watch, seconds: float) -> None:
        """Kills the process of a job that takes too long, or longer than a worker that is stopped can wait."""
        if watch.ended:
            return
        if watch.pid is None:
            if seconds > START_TIMEOUT:
                raise TimeoutError("the process of a job did not begin")
        elif self._parting is not None and time.monotonic() > self._parting:
            self._kill(watch, STOPPED)
        elif watch.limit is not None and seconds > watch.limit:
            self._kill(watch, TOO_LONG.format(watch.limit))

    def _kill(self, watch: _Watch, reason: str) -> None:
        if watch.pid is not None and not watch.killed:
            watch.killed = reason
            with contextlib.suppress(ProcessLookupError):
                os.kill(watch.pid, signal.SIGKILL)


_runners: dict[Registry, Runner] = {}
_making = threading.Lock()


def runner(engine: Engine, registry: Registry) -> Runner:
    """This process's runner; made anew after a fork."""
    with _making:
        found = _runners.get(registry)
        if found is None or found.process != os.getpid():
            found = _runners[registry] = Runner(engine, registry)
        return found


@atexit.register
def _part() -> None:
    """Ends what runs, when the process ends in an orderly way."""
    for found in _runners.values():
        if found.process == os.getpid():
            found.stop()


def run_jobs(engine: Engine, registry: Registry) -> None:
    """Has the jobs run that are pending or due; returns at once, so that the worker is free for other tasks."""
    runner(engine, registry).poll()
