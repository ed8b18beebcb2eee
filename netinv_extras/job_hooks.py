"""Job hooks: which changes of the inventory start which jobs, written down in the transaction of the change itself."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Mapped

from netinv_core.changes import Change
from netinv_core.context import Context
from netinv_core.database import among
from netinv_core.model import CASCADE, Organizational, Ref, labels_of, required_text, slug, switch, table_of, to
from netinv_core.read import filters
from netinv_core.read.pages import rows_of
from netinv_core.resource import Resource, labels
from netinv_core.write.draft import ALL, Draft
from netinv_extras import job_results
from netinv_extras.installed_jobs import Job
from netinv_extras.job_inventory import JobContext
from netinv_extras.webhooks import EVENTS, is_recorded


class JobHook(Organizational):
    """A job that is started by changes of certain models: it is given each change."""

    __tablename__ = "extras_job_hook"

    name: Mapped[str] = required_text(100, unique=True)
    job_id: Mapped[Ref] = to(Job, on_delete=CASCADE, plain=True)
    enabled: Mapped[bool] = switch(True)
    type_create: Mapped[bool] = switch(False, "Call this job hook when a matching object is created.")
    type_update: Mapped[bool] = switch(False, "Call this job hook when a matching object is updated.")
    type_delete: Mapped[bool] = switch(False, "Call this job hook when a matching object is deleted.")
    slug: Mapped[str] = slug(hidden=True)


job_hook_types = labels_of("extras_job_hook_type", "extras_job_hook")
_hook, _job = table_of(JobHook), table_of(Job)


job_hooks = Resource(
    JobHook,
    "job-hooks",
    title="job hook",
    search=["name"],
    fields=[labels("content_types", job_hook_types, required=True, empty=False, allowed=is_recorded)],
    filters=[filters.value("slug")],
    configuration=True,
    example={"content_types": ["extras.secret"], "type_create": True},
    exempt_by_name_only=True,
)


@job_hooks.rule
def starts_on_something(context: Context, drafts: Sequence[Draft]) -> None:
    """A job hook has at least one event."""
    for draft in drafts:
        if not any(draft[name] for name in EVENTS):
            draft.reject(ALL, "You must select at least one type: create, update, and/or delete.")


@job_hooks.rule
def starts_a_receiver(context: Context, drafts: Sequence[Draft]) -> None:
    """The job is one that takes changes."""
    of_kind(context, drafts, "is_job_hook_receiver", "Select a job that is a job hook receiver.")


def of_kind(context: Context, drafts: Sequence[Draft], kind: str, message: str) -> None:
    """Rejects jobs that are not of a kind: one statement, none where the job is known or stays."""
    wanted = [draft for draft in drafts if draft.changed("job_id")]
    rows = rows_of(context, Job, [draft["job_id"] for draft in wanted])
    for draft in wanted:
        if not getattr(rows[draft["job_id"]], kind):
            draft.reject("job", message)


@dataclasses.dataclass(frozen=True)
class _Hooked:
    """The row of a job that is to be started, and by which changes: labels and actions."""

    job: Mapping[str, Any]
    by: frozenset[tuple[str, str]]


def emit(context: Context, changes: Sequence[Change]) -> None:
    """Asks for a run of each job for each change that starts it: one statement for all of them, none when no job hook says so.

    Changes that a job hook's own job makes start none, and neither do those that nobody made.
    """
    if (isinstance(context, JobContext) and not context.starts_jobs) or context.identity.user_id is None:
        return
    hooked: list[_Hooked] = context.configured("job hooks", _hooked)
    rows = []
    for found in hooked:
        for change in changes:
            if change.record is not None and (change.endpoint.label, change.action) in found.by:
                data = {"object_change": str(change.record)}
                rows.append(job_results.row(context.registry, found.job, context.identity.user_id, data, commit=True, at=context.now))
    if rows:
        job_results.ask_for(context, rows)


def _hooked(context: Context) -> list[_Hooked]:
    """The jobs that any enabled job hook starts, once for each job hook."""
    columns = [_hook.c.id.label("hook_id"), *(_hook.c[name].label(f"hook_{name}") for name in EVENTS), *_job.c]
    statement = sa.select(*columns).join_from(_hook, _job, _job.c.id == _hook.c.job_id).where(_hook.c.enabled, _job.c.enabled, _job.c.installed)
    hooks = [dict(row) for row in context.execute(statement.order_by(_hook.c.name)).mappings()]
    if not hooks:
        return []
    types = sa.select(job_hook_types.c.owner_id, job_hook_types.c.label).where(among(context.registry.dialect, job_hook_types.c.owner_id))
    named: dict[Any, list[str]] = {}
    for owner, label in context.execute(types, {"keys": [row["hook_id"] for row in hooks]}):
        named.setdefault(owner, []).append(label)
    return [
        _Hooked(row, frozenset((label, action) for label in named.get(row["hook_id"], ()) for name, action in EVENTS.items() if row[f"hook_{name}"]))
        for row in hooks
    ]
