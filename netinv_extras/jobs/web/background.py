"""Long work of pages as runs of a job, which the service asks for and does with the permissions of the user."""

from __future__ import annotations

import json
import re
import uuid
from typing import TYPE_CHECKING, Any, NamedTuple

import sqlalchemy as sa

from netinv_core.hookspecs import hookimpl
from netinv_core.models.base import table_of
from netinv_core.write import delete
from netinv_extras.jobs import live_log
from netinv_extras.jobs import models as job_models
from netinv_extras.jobs import results as job_results
from netinv_extras.jobs.api import Job
from netinv_extras.jobs.job_log import FAILURE, INFO
from netinv_extras.jobs.results import COMPLETED, PENDING, RUNNING, STATES, JobLogEntry, JobResult
from netinv_extras.jobs.variables import StringVar, TextVar
from netinv_web.background import Arguments, Background, BackgroundTask, RunState, task_named
from netinv_web.menu import may

if TYPE_CHECKING:
    from netinv_core.uow import UnitOfWork

PROGRESS = "{} of {}"
MAX_ERRORS = 100  # that a state has
_PROGRESS = re.compile(r"(\d+) of (\d+)")
_ACTIVE = (PENDING, RUNNING)
_jobs, _results, _entries = (table_of(model) for model in (job_models.Job, JobResult, JobLogEntry))


class RunTask(Job):
    """Work that a page has asked for, such as a long import."""

    name = "Work of pages"
    grouping = "Service"
    hidden = True
    system = True
    soft_time_limit = 3600
    time_limit = 3660

    task = StringVar("Where the task is defined")
    arguments = TextVar("Arguments as JSON")

    def run(self, data: dict[str, Any], commit: bool) -> str:
        """Runs the task in the transaction of the job."""
        self.inventory.begin()
        return task_named(data["task"]).run(self.inventory.uow, json.loads(data["arguments"]), self)

    def advance(self, done: int, total: int) -> None:
        """Logs how many items are done."""
        self.log_info(PROGRESS.format(done, total))

    def fail(self, message: str) -> None:
        """Logs an error."""
        self.log_failure(message)


class LogLine(NamedTuple):
    """A log entry that is not stored yet."""

    log_level: str
    message: str


class JobBackground:
    """Runs of tasks are results of the job :class:`RunTask`. Arguments are stored encrypted, and only until a run
    ends.
    """

    def start(self, uow: UnitOfWork, task: BackgroundTask, arguments: Arguments) -> str | None:
        """Asks for a run; ``None`` when the job is not installed yet, in a change request, and for a token that may do
        less than its user, as whom the run would act.
        """
        if uow.aside or uow.identity.limited:
            return None
        is_job = (_jobs.c.module_name == RunTask.__module__, _jobs.c.job_class_name == RunTask.__name__)
        job = uow.execute(sa.select(_jobs).where(*is_job, _jobs.c.installed)).mappings().first()
        if job is None or uow.identity.user_id is None:
            return None
        data = {"task": task.name, "arguments": json.dumps(arguments)}
        result = job_results.row(uow.registry, job, uow.identity.user_id, data, commit=True, at=uow.now)
        job_results.enqueue(uow, [result])
        return str(result["id"])

    def state(self, uow: UnitOfWork, run: str) -> RunState | None:
        """The state of a run of the user, from its result and its log; two statements."""
        row = _own(uow, run)
        if row is None:
            return None
        order = (_entries.c.position, _entries.c.created)
        levels = sa.select(_entries.c.log_level, _entries.c.message).where(_entries.c.job_result_id == row.id)
        entries: list[Any] = list(uow.execute(levels.order_by(*order)).all())
        if row.status == RUNNING:
            entries += [
                LogLine(item["log_level"], item["message"]) for item in live_log.shared_entries(uow.registry, row.id)
            ]
        counts = [
            found for entry in entries if entry.log_level == INFO and (found := _PROGRESS.fullmatch(entry.message))
        ]
        done, total = map(int, counts[-1].groups()) if counts else (0, 0)
        outcome = str((row.data or {}).get("output", "")).strip() if isinstance(row.data, dict) else ""
        errors = [entry.message.partition("\n")[0] for entry in entries if entry.log_level == FAILURE][:MAX_ERRORS]
        results, changes = uow.registry[job_results.LABEL], uow.registry["extras.objectchange"]
        completed = row.status == COMPLETED
        return RunState(
            STATES.labels[row.status],
            row.status in _ACTIVE,
            completed,
            done,
            total,
            outcome,
            errors,
            f"/extras/job-results/{row.id}/" if may(uow, results, "view") else "",
            f"/extras/object-changes/?request_id={row.job_id}" if completed and may(uow, changes, "view") else "",
        )

    def cancel(self, uow: UnitOfWork, run: str) -> bool:
        """Deletes the result of a run that has not ended: then the job cannot commit, and its worker stops it."""
        row = _own(uow, run, locked=True)
        if row is None or row.status not in _ACTIVE:
            return False
        delete.delete(uow.as_system(), uow.registry[job_results.LABEL], [{"id": str(row.id)}])
        return True


def _own(uow: UnitOfWork, run: str, *, locked: bool = False) -> Any:
    """The row of a run that the user has asked for; ``None`` without one."""
    try:
        key = uuid.UUID(run)
    except ValueError:
        return None
    job = sa.select(_jobs.c.id).where(
        _jobs.c.module_name == RunTask.__module__, _jobs.c.job_class_name == RunTask.__name__
    )
    conditions = [_results.c.id == key, _results.c.user_id == uow.identity.user_id, _results.c.job_model_id.in_(job)]
    columns = _results.c.id, _results.c.status, _results.c.data, _results.c.job_id
    statement = sa.select(*columns).where(*conditions)
    return uow.execute(statement.with_for_update() if locked else statement).first()


@hookimpl
def netinv_web_background() -> Background:
    """Runs tasks of pages as jobs."""
    return JobBackground()
