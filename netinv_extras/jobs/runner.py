"""The worker that runs jobs: claims pending results, starts a process for each, and follows it until it has ended."""

from __future__ import annotations

import contextlib
import dataclasses
import datetime
import logging
import os
import signal
import threading
import time
import uuid
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
from sqlalchemy.engine import Engine

from netinv_core.tasks.background import BackgroundWorker
from netinv_core.telemetry import log_context
from netinv_extras.jobs import live_log, scheduler
from netinv_extras.jobs.claims import ABANDONED, Claims
from netinv_extras.jobs.forkserver import Channel, ForkServer
from netinv_extras.jobs.results import RUN

if TYPE_CHECKING:
    from netinv_core.registry import Registry

log = logging.getLogger(__name__)
POLL_INTERVAL = 1.0  # seconds between queries for pending jobs while one runs
STORE_INTERVAL = 0.25  # seconds between writes of a job's log entries
START_TIMEOUT = 60.0  # seconds for the start of a job's process
STOP_MARGIN = 2.0  # seconds of the shutdown timeout that are reserved for recording results
SCHEDULE_HORIZON = datetime.timedelta(seconds=90)  # later schedules are left to the periodic task
DIED = "The process of the job ended before the job did: it was killed, or the machine ran out of memory."
STOPPED = "The worker was stopped while the job ran; nothing that the job wrote was kept."
TOO_LONG = "The job took longer than its time limit of {:g} s and was killed; nothing that it wrote was kept."


@dataclasses.dataclass
class _Watch:
    """State of a run while its process is alive.

    ``waiting`` holds log entries that are not stored, ``stored`` counts the others; ``shared`` of the former are shown
    through the queue. ``limit`` is the time limit (seconds).
    """

    channel: Channel
    stored: int = 0
    shared: int = 0
    waiting: list[dict[str, Any]] = dataclasses.field(default_factory=list)
    alone: bool = False  # the job writes, and the database permits one writer
    pid: int | None = None
    limit: float | None = None
    killed: str = ""
    ended: bool = False


class Runner(BackgroundWorker):
    """Runs the jobs of one registry in one process."""

    thread_name = "jobs"

    def __init__(self, engine: Engine, registry: Registry) -> None:
        super().__init__(engine, registry)
        self._claims = Claims(engine)
        self._fork_server = ForkServer(registry)
        self._busy = 0
        self._kill_after: float | None = None  # time.monotonic() after which running jobs are killed, while stopping

    def poll(self) -> None:
        """Requests a query for pending jobs, in a new thread or in the running one."""
        with self._changed:
            if not self._running:
                self._kill_after = None
            super().poll()

    def stop(self, seconds: float | None = None) -> None:
        """Starts no further jobs; kills running ones shortly before the timeout."""
        seconds = self.shutdown_timeout if seconds is None else seconds
        with self._changed:
            self._kill_after = time.monotonic() + max(seconds - STOP_MARGIN, 0)
        super().stop(seconds)
        self._fork_server.close()

    @property
    def _lease(self) -> datetime.timedelta:
        return datetime.timedelta(seconds=self._registry.settings["job_lease"])

    # -- the background thread

    def work(self) -> None:
        """Claims and starts runs until nothing is pending and nothing runs."""
        while True:
            try:
                self._begin()
            except Exception:
                if not self._busy:
                    raise
                log.exception("the search for pending jobs failed")
            with self._changed:
                if not (self._busy or self._requested) or (self._stopping and not self._busy):
                    return
                if not self._requested:
                    self._changed.wait(POLL_INTERVAL)

    def _begin(self) -> None:
        """Ends runs whose lease has ended, creates due scheduled runs, and starts pending ones up to the limit."""
        with self._changed:
            self._requested = False
            room = 0 if self._stopping else max(self._registry.settings["job_processes"], 1) - self._busy
        self._claims.sweep()
        scheduler.start_due(self._engine, self._registry)
        if room > 0:
            for key, claim in self._claims.claim_pending(room, self._lease):
                with self._changed:
                    self._busy += 1
                threading.Thread(target=self._run_job, args=(key, claim), name="job", daemon=True).start()
        self._enqueue_for(RUN, scheduler.next_due(self._engine, self._registry), SCHEDULE_HORIZON)

    # -- a thread for each run

    def _run_job(self, key: uuid.UUID, claim: uuid.UUID) -> None:
        with log_context.task(f"job {key}"):
            self._run_in_process(key, claim)
        with self._changed:
            self._busy -= 1
            self._requested = True
            self._changed.notify_all()

    def _run_in_process(self, key: uuid.UUID, claim: uuid.UUID) -> None:
        try:
            options = {
                "settings": self._registry.settings,
                "database": self._engine.url.render_as_string(hide_password=False),
                "result": str(key),
                "claim": str(claim),
            }
            watch = _Watch(self._fork_server.start(options))
            try:
                self._follow(key, claim, watch)
            finally:
                watch.channel.close()
                self._share(key, watch, [])
        except TimeoutError as error:
            log.error("%s: the run %s counts as errored when its lease ends", error, key)
            self._fork_server.close()  # it is stuck: the next run starts another one
        except Exception:
            log.exception("the run %s could not be followed; it counts as errored when its lease ends", key)

    def _follow(self, key: uuid.UUID, claim: uuid.UUID, watch: _Watch) -> None:
        """Handles the messages of the process and renews the lease, until the process has ended."""
        began = renewed = stored = time.monotonic()
        with contextlib.suppress(EOFError):
            while True:
                message = watch.channel.receive(STORE_INTERVAL)
                if message is not None:
                    self._take(key, watch, message)
                    if message["is"] == "started":
                        began = time.monotonic()
                moment = time.monotonic()
                if watch.waiting and moment - stored > STORE_INTERVAL:
                    if watch.alone:
                        self._share(key, watch, watch.waiting)
                    else:
                        self._store(key, watch)
                    stored = moment
                if not watch.alone and not watch.ended and moment - renewed > self._lease.total_seconds() / 4:
                    self._renew(key, claim, watch)
                    renewed = moment
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
        elif kind == "refused":
            log.warning("the run %s was not started: %s", key, message["reason"])
        elif kind == "writing":
            self._store(key, watch)
            watch.alone = True
            watch.channel.send({})
        elif kind == "released":
            watch.alone = False
        elif kind == "ending":
            if not watch.alone:
                self._store(key, watch)
            watch.channel.send({"stored": watch.stored})
            watch.waiting = []  # the process writes the rest itself
            watch.alone = True
        elif kind == "ended":
            watch.ended = True

    def _share(self, key: uuid.UUID, watch: _Watch, entries: list[dict[str, Any]]) -> None:
        """Shows entries that cannot be stored yet."""
        if len(entries) != watch.shared:
            live_log.share(self._registry, key, entries)
            watch.shared = len(entries)

    def _store(self, key: uuid.UUID, watch: _Watch) -> None:
        """Writes the log entries received. Those that cannot be written now are kept."""
        if watch.waiting:
            try:
                self._claims.store(key, watch.waiting)
            except sa.exc.IntegrityError:  # the result was deleted
                watch.waiting = []
            except sa.exc.DBAPIError as error:
                log.warning("log entries of a job could not be written yet: %s", error.orig)
                return
            watch.stored += len(watch.waiting)
            watch.waiting = []

    def _renew(self, key: uuid.UUID, claim: uuid.UUID, watch: _Watch) -> None:
        try:
            renewed = self._claims.renew(key, claim, self._lease)
        except sa.exc.DBAPIError as error:
            log.warning("the lease of a job could not be extended: %s", error.orig)
            return
        if not renewed:
            self._kill(watch, ABANDONED)

    def _stop_late(self, watch: _Watch, seconds: float) -> None:
        """Kills the process after the job's time limit, or when a stopping worker can wait no longer.

        :raises TimeoutError: when the process has not started in time
        """
        if watch.ended:
            return
        if watch.pid is None:
            if seconds > START_TIMEOUT:
                raise TimeoutError("the process of a job did not begin")
        elif self._kill_after is not None and time.monotonic() > self._kill_after:
            self._kill(watch, STOPPED)
        elif watch.limit is not None and seconds > watch.limit:
            self._kill(watch, TOO_LONG.format(watch.limit))

    def _kill(self, watch: _Watch, reason: str) -> None:
        if watch.pid is not None and not watch.killed:
            watch.killed = reason
            with contextlib.suppress(ProcessLookupError):
                os.kill(watch.pid, signal.SIGKILL)


def runner(engine: Engine, registry: Registry) -> Runner:
    """Returns the runner of this process."""
    return Runner.of_process(engine, registry)


def run_jobs(engine: Engine, registry: Registry) -> None:
    """The task of the queue: starts the jobs that are pending or due. Returns at once."""
    runner(engine, registry).poll()
