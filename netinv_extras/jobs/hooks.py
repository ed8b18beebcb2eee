"""Job hooks: which changes of the inventory start which jobs, written down in the transaction of the change itself."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Mapped

from netinv_core.changelog.change_set import Change
from netinv_core.db.engine import in_parameter
from netinv_core.models.associations import content_type_table
from netinv_core.models.base import Organizational, table_of
from netinv_core.models.columns import CASCADE, Ref, boolean, foreign_key, required_text, slug
from netinv_core.read import filters
from netinv_core.read.listing import rows_of
from netinv_core.resource import Resource, content_type_list
from netinv_core.uow import UnitOfWork
from netinv_core.write.draft import ALL, Draft
from netinv_extras.jobs import results as job_results
from netinv_extras.jobs.api_client import JobUnitOfWork
from netinv_extras.jobs.models import Job
from netinv_extras.webhooks.models import EVENTS, is_recorded


class JobHook(Organizational):
    """A job that is started by changes of certain models: it is given each change."""

    __tablename__ = "extras_job_hook"

    name: Mapped[str] = required_text(100, unique=True)
    job_id: Mapped[Ref] = foreign_key(Job, on_delete=CASCADE, plain=True)
    enabled: Mapped[bool] = boolean(True)
    type_create: Mapped[bool] = boolean(False, "Call this job hook when a matching object is created.")
    type_update: Mapped[bool] = boolean(False, "Call this job hook when a matching object is updated.")
    type_delete: Mapped[bool] = boolean(False, "Call this job hook when a matching object is deleted.")
    slug: Mapped[str] = slug(hidden=True)


job_hook_types = content_type_table("extras_job_hook_type", "extras_job_hook")
_hook, _job = table_of(JobHook), table_of(Job)


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
)


@job_hooks.rule
def starts_on_something(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """A job hook has at least one event."""
    for draft in drafts:
        if not any(draft[name] for name in EVENTS):
            draft.reject(ALL, "You must select at least one type: create, update, and/or delete.")


@job_hooks.rule
def starts_a_receiver(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """The job is one that takes changes."""
    of_kind(uow, drafts, "is_job_hook_receiver", "Select a job that is a job hook receiver.")


def of_kind(uow: UnitOfWork, drafts: Sequence[Draft], kind: str, message: str) -> None:
    """Rejects jobs that are not of a kind: one statement, none where the job is known or stays."""
    wanted = [draft for draft in drafts if draft.changed("job_id")]
    rows = rows_of(uow, Job, [draft["job_id"] for draft in wanted])
    for draft in wanted:
        if not getattr(rows[draft["job_id"]], kind):
            draft.reject("job", message)


@dataclasses.dataclass(frozen=True)
class _Hooked:
    """The row of a job that is to be started, and by which changes: labels and actions."""

    job: Mapping[str, Any]
    by: frozenset[tuple[str, str]]


def emit(uow: UnitOfWork, changes: Sequence[Change]) -> None:
    """Asks for a run of each job for each change that starts it: one statement for all of them, none when no job hook says so.

    Changes that a job hook's own job makes start none, and neither do those that nobody made.
    """
    if (isinstance(uow, JobUnitOfWork) and not uow.starts_jobs) or uow.identity.user_id is None:
        return
    hooked: list[_Hooked] = uow.cached_config("job hooks", _hooked)
    rows = []
    for found in hooked:
        for change in changes:
            if change.record is not None and (change.endpoint.label, change.action) in found.by:
                data = {"object_change": str(change.record)}
                rows.append(job_results.row(uow.registry, found.job, uow.identity.user_id, data, commit=True, at=uow.now))
    if rows:
        job_results.enqueue(uow, rows)


def _hooked(uow: UnitOfWork) -> list[_Hooked]:
    """The jobs that any enabled job hook starts, once for each job hook."""
    columns = [_hook.c.id.label("hook_id"), *(_hook.c[name].label(f"hook_{name}") for name in EVENTS), *_job.c]
    statement = sa.select(*columns).join_from(_hook, _job, _job.c.id == _hook.c.job_id).where(_hook.c.enabled, _job.c.enabled, _job.c.installed)
    hooks = [dict(row) for row in uow.execute(statement.order_by(_hook.c.name)).mappings()]
    if not hooks:
        return []
    types = sa.select(job_hook_types.c.owner_id, job_hook_types.c.label).where(in_parameter(uow.registry.dialect, job_hook_types.c.owner_id))
    named: dict[Any, list[str]] = {}
    for owner, label in uow.execute(types, {"keys": [row["hook_id"] for row in hooks]}):
        named.setdefault(owner, []).append(label)
    return [
        _Hooked(row, frozenset((label, action) for label in named.get(row["hook_id"], ()) for name, action in EVENTS.items() if row[f"hook_{name}"]))
        for row in hooks
    ]
