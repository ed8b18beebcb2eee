"""Process of a job: prepares and runs it. The job's writes and its result are committed in one transaction."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import logging
import os
import queue
import signal
import threading
import traceback
import uuid
from collections.abc import Iterator
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Engine

from netinv_core.auth import crypto, identity
from netinv_core.auth.account import ANONYMOUS, Identity
from netinv_core.content_types import load
from netinv_core.db.driver import driver_of
from netinv_core.db.engine import engine_from, session_factory
from netinv_core.errors import Denied, RequestError, error_text
from netinv_core.http.versions import NEWEST
from netinv_core.models.base import now, table_of
from netinv_core.read import listing
from netinv_core.types import Registry, UnitOfWork
from netinv_extras.jobs import input as job_input
from netinv_extras.jobs import models as job_models
from netinv_extras.jobs.api import (
    FAILURE,
    GROUPING,
    INFO,
    Job,
    JobFailed,
    JobHookReceiver,
    LogEntry,
    SoftTimeLimitExceeded,
)
from netinv_extras.jobs.api_client import Inventory, JobUnitOfWork
from netinv_extras.jobs.forkserver import Channel
from netinv_extras.jobs.models import class_of
from netinv_extras.jobs.results import COMPLETED, ERRORED, FAILED, RUNNING, JobLogEntry, JobResult
from netinv_extras.jobs.run_views import NOT_ENABLED, NOT_INSTALLED

log = logging.getLogger(__name__)
_result, _entry = table_of(JobResult), table_of(JobLogEntry)
REVERTED = "Database changes have been reverted automatically."
REVERTED_FOR_ERROR = "Database changes have been reverted due to error."
MOMENT = 0.01  # seconds until the soft time limit is tried again while a message is being sent
OWNER_MISSING = "Whoever asked for this job has no active account any more, or may not run it."


class _NotRunnable(Exception):
    """The job cannot be run, with the reason."""


class _LeaseLost(Exception):
    """The lease of the run has ended, or another process holds it."""


def main(registry: Registry, link: Channel) -> int:
    """Runs the job that the first message specifies; returns the exit status of the process."""
    options = link.receive()
    assert options is not None
    registry.settings.clear()
    registry.settings.update(options["settings"])
    registry.content_types = {}
    engine = engine_from(options["database"])
    try:
        Run(registry, engine, link, uuid.UUID(options["result"]), uuid.UUID(options["claim"])).go()
    except _LeaseLost:
        return 1
    except Exception:
        log.exception("a job could not be brought to its end")
        return 1
    finally:
        engine.dispose()
    return 0


@dataclasses.dataclass(frozen=True)
class _Prepared:
    """A job that may be run, with its user, arguments and time limits (seconds)."""

    job: type[Job]
    who: Identity
    data: dict[str, Any]
    commit: bool
    soft_time_limit: float
    time_limit: float


class Run:
    """A run of a job, from its claim to its recorded result."""

    def __init__(self, registry: Registry, engine: Engine, link: Channel, result: uuid.UUID, claim: uuid.UUID) -> None:
        self._registry = registry
        self._sessions = session_factory(engine)
        self._link = link
        self._key, self._claim = result, claim
        self._entries: list[LogEntry] = []
        self._answers: queue.SimpleQueue[dict[str, Any]] = queue.SimpleQueue()
        # One writer at a time: the worker does not write while the job does.
        self._alone = driver_of(registry.dialect).locks_database

    def go(self) -> None:
        """Prepares the job, runs it and records the result."""
        threading.Thread(target=self._listen, name="worker", daemon=True).start()
        with self._context() as uow:
            claimed = sa.select(_result).where(_result.c.id == self._key, _result.c.claimed_by == self._claim)
            row = uow.execute(claimed).mappings().first()
            if row is None or row["status"] != RUNNING:
                raise _LeaseLost
            uow.request_id = row["job_id"]
            load(uow)
            try:
                prepared = self._prepare(uow, dict(row))
            except (_NotRunnable, LookupError, ValueError) as error:
                uow.release()
                self._link.send({"is": "started", "pid": os.getpid(), "seconds": None})
                self._log(FAILURE, str(error))
                self._end(ERRORED, None)
                return
            uow.release()
        with self._context() as uow:
            uow.request_id = row["job_id"]
            uow.starts_jobs = not issubclass(prepared.job, JobHookReceiver)  # no endless chain of job hooks
            self._run(uow, prepared)

    # -- before

    def _prepare(self, uow: JobUnitOfWork, row: dict[str, Any]) -> _Prepared:
        endpoint = uow.registry[job_models.LABEL]
        selected = sa.select(endpoint.table).where(endpoint.table.c.id == row["job_model_id"])
        job = uow.execute(selected).mappings().first()
        job_class = class_of(uow, job) if job is not None else None
        if job is None or job_class is None:
            raise _NotRunnable(NOT_INSTALLED)
        system = job_class.job.system
        if not (job["enabled"] or system):
            raise _NotRunnable(NOT_ENABLED)
        try:
            uow.identity = identity.by_id(uow, row["user_id"])
            if row["schedule_id"] is not None and job["id"] not in listing.rows(uow, endpoint, [job["id"]], "run"):
                raise _NotRunnable(OWNER_MISSING)
        except (LookupError, Denied):
            raise _NotRunnable(OWNER_MISSING) from None
        settings = uow.registry.settings
        arguments = json.loads(crypto.decrypt(settings.get("secret", ""), row["arguments"]))
        return _Prepared(
            job_class.job,
            uow.identity if system else dataclasses.replace(uow.identity, superuser=True),
            job_input.load(uow, job_class.job, arguments["data"]),
            arguments["commit"] and (system or not job["read_only"]),
            job["soft_time_limit"] or settings["job_soft_time_limit"],
            job["time_limit"] or settings["job_time_limit"],
        )

    @contextlib.contextmanager
    def _context(self) -> Iterator[JobUnitOfWork]:
        with self._sessions() as session:
            base = self._registry.settings.get("base_url") or ""
            yield JobUnitOfWork(self._registry, session, ANONYMOUS, base, NEWEST)

    # -- the job

    def _run(self, uow: JobUnitOfWork, prepared: _Prepared) -> None:
        uow.identity = prepared.who
        inventory = Inventory(uow, self._before_writing)
        job = prepared.job(inventory, self._take)
        self._link.send({"is": "started", "pid": os.getpid(), "seconds": prepared.time_limit})
        try:
            with self._soft_limit(prepared.soft_time_limit):
                output = job.run(prepared.data, prepared.commit)
            data = {"output": "" if output is None else f"\n{output}".replace("\x00", "�")}
            if prepared.commit and not job.failed:
                inventory.begin()
                self._finish(uow, COMPLETED, data)
                return
        except _LeaseLost:
            raise
        except JobFailed as error:
            self._roll_back(uow)
            self._log(FAILURE, str(error))
            self._log(INFO, REVERTED_FOR_ERROR)
            self._end(FAILED, None)
            return
        except BaseException as error:  # everything that a job raises, including SystemExit
            self._roll_back(uow)
            self._log(FAILURE, _exception_text(error))
            self._log(INFO, REVERTED_FOR_ERROR)
            self._end(ERRORED, None)
            return
        self._roll_back(uow)
        self._log(INFO, REVERTED)
        self._end(FAILED if job.failed else COMPLETED, data)

    def _roll_back(self, uow: JobUnitOfWork) -> None:
        uow.session.rollback()
        uow.release()
        if self._alone and uow.writing:
            self._link.send({"is": "released"})

    @contextlib.contextmanager
    def _soft_limit(self, seconds: float) -> Iterator[None]:
        """Raises :class:`SoftTimeLimitExceeded` in the block after ``seconds`` (SIGALRM)."""

        def late(number: int, frame: Any) -> None:
            if self._link.busy:
                signal.setitimer(signal.ITIMER_REAL, MOMENT)
            else:
                raise SoftTimeLimitExceeded(f"The job has taken longer than its soft time limit of {seconds:g} s.")

        former: Any = signal.signal(signal.SIGALRM, late)
        signal.setitimer(signal.ITIMER_REAL, seconds)
        try:
            yield
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, former)

    # -- log entries

    def _take(self, entry: LogEntry) -> None:
        """Keeps a log entry and sends it to the worker, which stores it unless only the job can write."""
        self._entries.append(entry)
        values = dataclasses.asdict(entry) | {"id": str(entry.id), "created": entry.created.isoformat()}
        self._link.send({"is": "said", "entry": values})

    def _log(self, level: str, message: str) -> None:
        position = self._entries[-1].position + 1 if self._entries else 1
        self._take(LogEntry(uuid.uuid4(), position, now(), GROUPING, level, message))

    # -- the end

    def _end(self, status: str, data: Any) -> None:
        """Records the result in a transaction of its own, when the job's writes are rolled back."""
        with self._context() as uow:
            uow.writing = True
            self._finish(uow, status, data)

    def _finish(self, uow: UnitOfWork, status: str, data: Any) -> None:
        """Records the result and the log entries that the worker has not stored, and commits.

        :raises _LeaseLost: when the lease was lost, or the run was ended by another process
        """
        stored = self._ask("ending")["stored"]
        running = _result.c.id == self._key, _result.c.claimed_by == self._claim, _result.c.status == RUNNING
        ending = sa.update(_result).where(*running)
        values = {
            "status": status,
            "completed": now(),
            "data": data,
            "arguments": "",
            "claimed_by": None,
            "claimed_until": None,
        }
        if uow.execute(ending.values(values)).rowcount != 1:
            raise _LeaseLost
        if rest := self._entries[stored:]:
            uow.execute(sa.insert(_entry), [dataclasses.asdict(entry) | {"job_result_id": self._key} for entry in rest])
        uow.session.commit()
        self._link.send({"is": "ended"})

    # -- the worker

    def _before_writing(self) -> None:
        """Asks the worker not to write while the job does, on databases with one writer."""
        if self._alone:
            self._ask("writing")

    def _ask(self, what: str) -> dict[str, Any]:
        with self._link.undisturbed():
            self._link.send({"is": what})
            return self._answers.get()

    def _listen(self) -> None:
        """Thread: receives the worker's answers; ends the process when the worker is gone."""
        with contextlib.suppress(EOFError):
            while (answer := self._link.receive()) is not None:
                self._answers.put(answer)
        os._exit(1)


def _exception_text(error: BaseException) -> str:
    """Returns an exception as text for the log: its message and its traceback."""
    message = error_text(error.body) if isinstance(error, RequestError) else str(error)
    lines = "".join(traceback.format_tb(error.__traceback__))
    return f"An exception occurred: `{type(error).__name__}: {message}`\n```\n{lines}```".replace("\x00", "�")
