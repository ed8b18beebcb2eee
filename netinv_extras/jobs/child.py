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
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
from sqlalchemy.engine import Engine

from netinv_core import crypto
from netinv_core.auth import identity
from netinv_core.auth.account import ANONYMOUS, Identity
from netinv_core.content_types import load
from netinv_core.db.engine import engine_from, session_factory
from netinv_core.driver.sessions import commit, rollback
from netinv_core.errors import Denied, RequestError, error_text
from netinv_core.http.versions import NEWEST
from netinv_core.models.base import now, table_of
from netinv_core.read import listing
from netinv_extras.jobs import imports
from netinv_extras.jobs import input as job_input
from netinv_extras.jobs import models as job_models
from netinv_extras.jobs.api import Job, JobFailed, JobHookReceiver, SoftTimeLimitExceeded
from netinv_extras.jobs.api_client import Inventory, JobUnitOfWork
from netinv_extras.jobs.aside_runs import AsideRun, NotEntered
from netinv_extras.jobs.calls import call_post_run, run_job
from netinv_extras.jobs.forkserver import Channel
from netinv_extras.jobs.job_log import FAILURE, GROUPING, INFO, LogEntry
from netinv_extras.jobs.models import class_of
from netinv_extras.jobs.results import COMPLETED, ERRORED, FAILED, RUNNING, JobLogEntry, JobResult
from netinv_extras.jobs.run_views import NOT_ENABLED, NOT_INSTALLED
from netinv_extras.jobs.schedules import ScheduledJob

if TYPE_CHECKING:
    from netinv_core.registry import Registry
    from netinv_core.uow import UnitOfWork

log = logging.getLogger(__name__)
_result, _entry = table_of(JobResult), table_of(JobLogEntry)
REVERTED = "Database changes have been reverted automatically."
REVERTED_FOR_ERROR = "Database changes have been reverted due to error."
ADDED = "{} added to the change request {}."
MOMENT = 0.01  # seconds until the soft time limit is tried again while a message is being sent
NOT_APPROVED = "The job requires approval by now, which this run does not have. Ask for it anew."
OWNER_MISSING = "Whoever asked for this job has no active account any more, or may not run it."


class _NotRunnable(Exception):
    """The job cannot be run, with the reason."""


class _JobLeaseLost(Exception):
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
        JobRun(registry, engine, link, uuid.UUID(options["result"]), uuid.UUID(options["claim"])).go()
    except _JobLeaseLost:
        return 1
    except Exception:
        log.exception("a job could not be brought to its end")
        return 1
    finally:
        engine.dispose()
    return 0


@dataclasses.dataclass(frozen=True)
class _Prepared:
    """A job that may be run, with its permissions, the user who started it, arguments and time limits (seconds).

    ``data`` are stored values for a run in a change request, which may have the objects that they name.
    """

    job: type[Job]
    who: Identity
    author: Identity
    data: dict[str, Any]
    commit: bool
    soft_time_limit: float
    time_limit: float
    proposed_in: uuid.UUID | None


def _is_approved(uow: UnitOfWork, schedule_id: uuid.UUID | None) -> bool:
    """True for runs of a schedule that somebody has approved."""
    table = table_of(ScheduledJob)
    is_approved = sa.select(table.c.id).where(table.c.id == schedule_id, table.c.approved_at.is_not(None))
    return uow.execute(is_approved).first() is not None


class JobRun:
    """A run of a job, from its claim to its recorded result."""

    def __init__(self, registry: Registry, engine: Engine, link: Channel, result: uuid.UUID, claim: uuid.UUID) -> None:
        self._registry = registry
        self._sessions = session_factory(engine)
        self._link = link
        self._key, self._claim = result, claim
        self._entries: list[LogEntry] = []
        self._answers: queue.SimpleQueue[dict[str, Any]] = queue.SimpleQueue()
        # One writer at a time: the worker does not write while the job does.
        self._alone = registry.driver.locks_database

    def go(self) -> None:
        """Prepares the job, runs it and records the result."""
        threading.Thread(target=self._listen, name="worker", daemon=True).start()
        with self._context() as uow:
            claimed = sa.select(_result).where(_result.c.id == self._key, _result.c.claimed_by == self._claim)
            row = uow.execute(claimed).mappings().first()
            if row is None or row["status"] != RUNNING:
                raise _JobLeaseLost
            uow.request_id = row["job_id"]
            load(uow)
            try:
                prepared = self._prepare(uow, dict(row))
            except (_NotRunnable, LookupError, ValueError) as error:
                uow.release()
                self._link.send({"is": "started", "pid": os.getpid(), "seconds": None})
                self._end_unfinished(str(error))
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
        settings = uow.registry.settings
        arguments = json.loads(crypto.decrypt(settings["secret"], row["arguments"]))
        aside = arguments.get("proposed_in")
        try:
            uow.identity = identity.by_id(uow, row["user_id"])
            if not system and job["id"] not in listing.rows(uow, endpoint, [job["id"]], "run"):
                raise _NotRunnable(OWNER_MISSING)
        except (LookupError, Denied):
            raise _NotRunnable(OWNER_MISSING) from None
        is_trial = row["schedule_id"] is None and not arguments["commit"]
        if job["approval_required"] and not (system or is_trial or _is_approved(uow, row["schedule_id"])):
            raise _NotRunnable(NOT_APPROVED)
        own = system or aside is not None  # permissions
        return _Prepared(
            job_class.job,
            uow.identity if own else dataclasses.replace(uow.identity, superuser=True),
            uow.identity,
            job_input.load(uow, job_class.job, arguments["data"]) if aside is None else arguments["data"],
            arguments["commit"] and (system or not job["read_only"]),
            job["soft_time_limit"] or settings["job_soft_time_limit"],
            job["time_limit"] or settings["job_time_limit"],
            None if aside is None else uuid.UUID(aside),
        )

    @contextlib.contextmanager
    def _context(self) -> Iterator[JobUnitOfWork]:
        with self._sessions() as session:
            base = self._registry.settings["base_url"]
            yield JobUnitOfWork(self._registry, session, ANONYMOUS, base, NEWEST)

    # -- the job

    def _run(self, uow: JobUnitOfWork, prepared: _Prepared) -> None:
        uow.identity, uow.author = prepared.who, prepared.author
        inventory = Inventory(uow, self._before_writing)
        job = prepared.job(inventory, self._take)
        self._link.send({"is": "started", "pid": os.getpid(), "seconds": prepared.time_limit})
        try:
            with self._soft_limit(prepared.soft_time_limit), self._placed(inventory, prepared) as (aside, values):
                output = run_job(job, values, prepared.commit) + call_post_run(job)
            data = {"output": output}
            if prepared.commit and not job.failed:
                inventory.begin()
                uow.change_set.check(uow)
                self._finish(uow, COMPLETED, data, self._keep(aside))
                return
        except _JobLeaseLost:
            raise
        except _NotRunnable as error:
            self._roll_back(uow)
            self._end_unfinished(str(error))
            return
        except JobFailed as error:
            self._roll_back(uow)
            self._log(FAILURE, str(error))
            self._log(INFO, REVERTED_FOR_ERROR)
            self._post_run(job)
            self._end(FAILED, None)
            return
        except BaseException as error:  # everything that a job raises, including SystemExit
            self._roll_back(uow)
            self._log(FAILURE, _exception_text(error))
            self._log(INFO, REVERTED_FOR_ERROR)
            self._post_run(job)
            self._end(ERRORED, None)
            return
        self._roll_back(uow)
        self._log(INFO, REVERTED)
        self._end(FAILED if job.failed else COMPLETED, data)

    @contextlib.contextmanager
    def _placed(self, inventory: Inventory, prepared: _Prepared) -> Iterator[tuple[AsideRun | None, dict[str, Any]]]:
        """Runs the block in the change request of the run, if it has one. Yields it, with the job's values.

        :raises _NotRunnable: when it cannot be entered, or has no object that was chosen
        """
        if prepared.proposed_in is None:
            yield None, prepared.data
            return
        inventory.begin()
        aside = AsideRun(inventory.uow, prepared.proposed_in)
        with contextlib.ExitStack() as stack:
            try:
                stack.enter_context(aside.entered())
                values = job_input.load(inventory.uow, prepared.job, prepared.data)
            except (NotEntered, LookupError, ValueError) as error:
                raise _NotRunnable(str(error)) from error
            yield aside, values

    def _keep(self, aside: AsideRun | None) -> int | None:
        """Adds what the job wrote to its change request; returns the number of changes, ``None`` without one."""
        if aside is None:
            return None
        count = aside.keep()
        self._log(INFO, ADDED.format(f"{count:,} {'change' if count == 1 else 'changes'}", aside.title))
        return count

    def _post_run(self, job: Job) -> None:
        """Calls ``post_run`` after an exception, unless it was called already. It can read the inventory only."""
        if job.post_run_called:
            return
        job.failed = True
        with self._context() as uow:
            uow.request_id, uow.identity = job.inventory.uow.request_id, job.inventory.uow.identity
            job.inventory = Inventory(uow, _refuse_to_write)
            try:
                call_post_run(job)
            except _JobLeaseLost:
                raise
            except BaseException as error:
                self._log(FAILURE, _exception_text(error))

    def _roll_back(self, uow: JobUnitOfWork) -> None:
        rollback(uow.session)
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
        entry = dataclasses.replace(entry, position=len(self._entries) + 1)
        self._entries.append(entry)
        values = dataclasses.asdict(entry) | {"id": str(entry.id), "created": entry.created.isoformat()}
        self._link.send({"is": "said", "entry": values})

    def _log(self, level: str, message: str) -> None:
        self._take(LogEntry(uuid.uuid4(), 0, now(), GROUPING, level, message))

    # -- the end

    def _end_unfinished(self, reason: str) -> None:
        """Records the result of a job that could not be run, and has the worker log the reason."""
        self._link.send({"is": "refused", "reason": reason})
        self._log(FAILURE, reason)
        self._end(ERRORED, None, unfinished=True)

    def _end(self, status: str, data: Any, *, unfinished: bool = False) -> None:
        """Records the result in a transaction of its own, when the job's writes are rolled back."""
        with self._context() as uow:
            uow.writing = True
            self._finish(uow, status, data, unfinished=unfinished)

    def _finish(
        self, uow: UnitOfWork, status: str, data: Any, proposed: int | None = None, *, unfinished: bool = False
    ) -> None:
        """Records the result and the log entries that the worker has not stored, and commits.

        :param proposed: the number of changes that the run added to its change request
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
            "unfinished": unfinished,
            **({} if proposed is None else {"proposed_changes": proposed}),
        }
        if uow.execute(ending.values(values)).rowcount != 1:
            raise _JobLeaseLost
        if rest := self._entries[stored:]:
            uow.execute(sa.insert(_entry), [dataclasses.asdict(entry) | {"job_result_id": self._key} for entry in rest])
        commit(uow.session)
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


def _refuse_to_write() -> None:
    """Refuses writes of ``post_run`` after an exception.

    :raises JobFailed: always
    """
    raise JobFailed("The job has failed: post_run can no longer write.")


def _exception_text(error: BaseException) -> str:
    """Returns an exception as text for the log: its message and its traceback."""
    message = error_text(error.body) if isinstance(error, RequestError) else imports.reason_of(error)
    lines = "".join(traceback.format_tb(error.__traceback__))
    return f"An exception occurred: `{type(error).__name__}: {message}`\n```\n{lines}```".replace("\x00", "�")
