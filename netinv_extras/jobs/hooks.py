"""Job hooks: run jobs after changes of the inventory; runs are enqueued in the transaction of the change."""

from __future__ import annotations

import dataclasses
import logging
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
from sqlalchemy.orm import Mapped

from netinv_core.auth import permissions
from netinv_core.models.associations import content_type_table
from netinv_core.models.base import Organizational, table_of
from netinv_core.models.columns import CASCADE, Ref, boolean, foreign_key, required_text, slug
from netinv_core.presentation import Presentation
from netinv_core.read import filters
from netinv_core.read.listing import rows_of
from netinv_core.resource import Resource, content_type_list
from netinv_core.sql.lookups import convert_flag
from netinv_core.write.draft import ALL
from netinv_core.write.dry_run import Effects
from netinv_extras import change_conditions
from netinv_extras.change_judging import ChangeJudge
from netinv_extras.jobs import results as job_results
from netinv_extras.jobs import schedules as job_schedules
from netinv_extras.jobs.api_client import JobUnitOfWork
from netinv_extras.jobs.models import LABEL, Job
from netinv_extras.webhooks.models import EVENTS, is_recorded

if TYPE_CHECKING:
    from netinv_core.changelog.change_set import Change
    from netinv_core.uow import UnitOfWork
    from netinv_core.write.draft import Draft

log = logging.getLogger(__name__)
HOOK_LABEL = "extras.jobhook"
NO_JOB = "Its job is not installed, or is not enabled."
REFUSED = "{} may not run this job, so the job hook {} did not start it: its users need the permission to run it."


class JobHook(Organizational):
    """A rule that runs a job for each change of an object of certain content types."""

    __tablename__ = "extras_job_hook"

    name: Mapped[str] = required_text(100, unique=True)
    job_id: Mapped[Ref] = foreign_key(Job, on_delete=CASCADE, plain=True)
    enabled: Mapped[bool] = boolean(True)
    type_create: Mapped[bool] = boolean(False, "Call this job hook when a matching object is created.")
    type_update: Mapped[bool] = boolean(False, "Call this job hook when a matching object is updated.")
    type_delete: Mapped[bool] = boolean(False, "Call this job hook when a matching object is deleted.")
    conditions: Mapped[Any | None] = change_conditions.column()
    slug: Mapped[str] = slug(hidden=True)


job_hook_types = content_type_table("extras_job_hook_type", "extras_job_hook")
_hook, _job = table_of(JobHook), table_of(Job)
judge = ChangeJudge("job hook", _hook, job_hook_types)


job_hooks = Resource(
    JobHook,
    "job-hooks",
    title="job hook",
    search=["name"],
    fields=[content_type_list("content_types", job_hook_types, required=True, empty=False, allowed=is_recorded)],
    filters=[filters.value("slug")],
    configuration=True,
    example={"content_types": ["extras.secret"], "type_create": True},
    exempt_by_name_only=True,
    presentation=Presentation(columns=["state", "job", "content_types", *EVENTS, "enabled"]),
)


@job_hooks.filter("cannot_run", multiple=False, kind="boolean")
def cannot_run(uow: UnitOfWork, table: Any, values: list[str]) -> Any:
    """Filters by the enabled job hooks that start nothing, because of their job."""
    condition = obstacle(table).is_not(None)
    return condition if convert_flag(values[-1]) else sa.not_(condition)


def obstacle(table: Any) -> Any:
    """The reason why an enabled job hook cannot start its job; NULL if nothing is in the way."""
    is_runnable = _job.c.id == table.c.job_id, _job.c.enabled, _job.c.installed
    has_job = sa.exists().where(*is_runnable).correlate(table)
    return sa.case((sa.and_(table.c.enabled, sa.not_(has_job)), NO_JOB), else_=sa.null())


@job_hooks.rule
def has_an_event(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """A job hook has at least one event."""
    for draft in drafts:
        if not any(draft[name] for name in EVENTS):
            draft.reject(ALL, "You must select at least one type: create, update, and/or delete.")


@job_hooks.rule
def job_is_a_hook_receiver(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """The job of a job hook is a job hook receiver."""
    check_receiver(uow, drafts, "is_job_hook_receiver", "Select a job that is a job hook receiver.")


job_hooks.rule(change_conditions.rule(job_hook_types))


def check_receiver(uow: UnitOfWork, drafts: Sequence[Draft], flag: str, message: str) -> None:
    """Rejects drafts whose job does not have a flag such as ``is_job_hook_receiver``.

    One statement; none if the jobs are in the row cache or not changed.
    """
    changed = [draft for draft in drafts if draft.changed("job_id")]
    rows = rows_of(uow, Job, [draft["job_id"] for draft in changed])
    for draft in changed:
        if not getattr(rows[draft["job_id"]], flag):
            draft.reject("job", message)


@dataclasses.dataclass(frozen=True)
class _HookedJob:
    """The job of a job hook: the job's row with the hook's id and name, and the (content type, action) pairs that start
    it.
    """

    job: Mapping[str, Any]
    triggers: frozenset[tuple[str, str]]

    @property
    def is_runnable(self) -> bool:
        """True for a job that is installed and enabled."""
        return bool(self.job["enabled"] and self.job["installed"])


def judge_changes(uow: UnitOfWork, changes: Sequence[Change]) -> None:
    """Keeps which changes the conditions of job hooks leave out, before hooks of packages change anything more."""
    if _may_trigger(uow):
        judge.judge(uow, changes)


def enqueue_jobs(uow: UnitOfWork, changes: Sequence[Change]) -> None:
    """Enqueues a run for each change and each job hook that it triggers. The jobs run as the user of the changes.

    Runs of a job that requires approval are scheduled, and wait for it. A job that the user may not run has a failed
    result that says so, once an hour. A statement for each of these kinds, none without runs, and one to read
    constraints. Job hooks whose job is not enabled start nothing, and are logged.
    """
    runs, schedules, refused = [], [], {}
    triggered = _triggered_runs(uow, changes)
    for name in sorted({hooked.job["hook_name"] for hooked, _ in triggered if not hooked.is_runnable}):
        log.warning("the job hook %s started nothing: %s", name, NO_JOB)
    triggered = [(hooked, change) for hooked, change in triggered if hooked.is_runnable]
    allowed = _runnable(uow, triggered)
    for hooked, change in triggered:
        job, data = hooked.job, {"object_change": str(change.record)}
        if job["id"] not in allowed:
            refused[job["hook_id"]] = job
        elif job["approval_required"]:
            kwargs = {"data": data, "commit": True}
            schedules.append(job_schedules.row(uow, job, job_schedules.immediately(uow, job), kwargs, None))
        else:
            runs.append(job_results.row(uow.registry, job, uow.identity.user_id, data, commit=True, at=uow.now))
    if runs:
        job_results.enqueue(uow, runs)
    if schedules:
        job_schedules.add(uow, schedules)
    if refused:
        job_results.add_failed(
            uow, [(job, REFUSED.format(uow.identity.username, job["hook_name"])) for job in refused.values()]
        )


def _runnable(uow: UnitOfWork, triggered: Sequence[tuple[_HookedJob, Change]]) -> set[Any]:
    """The ids of the jobs of job hooks that the user may run."""
    keys = list({hooked.job["id"] for hooked, _ in triggered})
    return permissions.permitted_ids(uow, uow.registry[LABEL], "run", keys) if keys else set()


def effects(uow: UnitOfWork, changes: Sequence[Change]) -> Effects:
    """Returns the runs that :func:`enqueue_jobs` would enqueue, of the job hooks that the user may view."""
    runs = [(hooked, change) for hooked, change in _triggered_runs(uow, changes) if hooked.is_runnable]
    allowed = _runnable(uow, runs)
    runs = [(hooked, change) for hooked, change in runs if hooked.job["id"] in allowed]
    hook_ids = {hooked.job["hook_id"] for hooked, _ in runs}
    visible = permissions.visible_ids(uow, uow.registry[HOOK_LABEL], list(hook_ids)) if hook_ids else ()
    listed = [
        {
            "job_hook": {"id": str(hooked.job["hook_id"]), "name": hooked.job["hook_name"]},
            "event": change.action,
            "object_type": change.endpoint.label,
            "object_id": str(change.key),
        }
        for hooked, change in runs
        if hooked.job["hook_id"] in visible
    ]
    return Effects(len(runs), listed)


def _triggered_runs(uow: UnitOfWork, changes: Sequence[Change]) -> list[tuple[_HookedJob, Change]]:
    """Returns the runs that changes trigger, each as job hook and change, without those that conditions leave out.

    Changes by a job that a job hook started trigger nothing, and neither do changes without a user.
    """
    if not _may_trigger(uow):
        return []
    hooked_jobs: list[_HookedJob] = uow.cached_config("job hooks", _load_hooked_jobs)
    return [
        (hooked, change)
        for hooked in hooked_jobs
        for change in changes
        if change.record is not None and (change.endpoint.label, change.action) in hooked.triggers
        if judge.is_told(uow, hooked.job["hook_id"], change.record)
    ]


def _may_trigger(uow: UnitOfWork) -> bool:
    """False for changes by a job that a job hook started, and for those without a user."""
    is_of_hook = isinstance(uow, JobUnitOfWork) and not uow.starts_jobs
    return not is_of_hook and uow.identity.user_id is not None


def _load_hooked_jobs(uow: UnitOfWork) -> list[_HookedJob]:
    """Loads the jobs of enabled job hooks, one entry per job hook; also those that cannot be run. Two statements."""
    columns = [
        _hook.c.id.label("hook_id"),
        _hook.c.name.label("hook_name"),
        *(_hook.c[name].label(f"hook_{name}") for name in EVENTS),
        *_job.c,
    ]
    joined = sa.select(*columns).join_from(_hook, _job, _job.c.id == _hook.c.job_id)
    statement = joined.where(_hook.c.enabled).order_by(_hook.c.name)
    rows = [dict(row) for row in uow.execute(statement).mappings()]
    if not rows:
        return []
    labels = change_conditions.labels_of(uow, job_hook_types, [row["hook_id"] for row in rows])
    hooked_jobs = []
    for row in rows:
        actions = [action for name, action in EVENTS.items() if row[f"hook_{name}"]]
        triggers = frozenset((label, action) for label in labels.get(row["hook_id"], ()) for action in actions)
        hooked_jobs.append(_HookedJob(row, triggers))
    return hooked_jobs
