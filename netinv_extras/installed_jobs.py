"""Jobs as a resource: one row for each class that was ever found, with what this installation overrides of what the class says."""

from __future__ import annotations

import weakref
from collections.abc import Mapping, Sequence
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Engine
from sqlalchemy.orm import Mapped

from netinv_core import changes, content_types
from netinv_core.auth.identity import Identity
from netinv_core.context import Context
from netinv_core.database import session_factory
from netinv_core.model import Choices, Primary, column, document, required_text, slug, switch, table_of, text, unique_set
from netinv_core.read import filters
from netinv_core.registry import Endpoint, Registry
from netinv_core.resource import Resource, VersionChange
from netinv_core.write.amend import amend
from netinv_core.write.draft import Draft
from netinv_extras import job_catalog
from netinv_extras.job_catalog import DESCRIBED, Found

LABEL = "extras.job"
SOURCES = Choices.of(("local", "Local"), ("git", "Git repository"), ("plugins", "Plugins"))
DEFAULT_QUEUES = ("default", "celery")
OVERRIDES = {name: f"{name}_override" for name in DESCRIBED}


class Job(Primary):
    """A class of work that users start. Whether it may be run (``enabled``) is said here; what is overridden is no longer taken from the class.

    Time limits are in seconds, 0 stands for the settings'.
    """

    __tablename__ = "extras_job"
    __table_args__ = (
        sa.UniqueConstraint("source", "module_name", "job_class_name", info={"early": False}),
        unique_set("grouping", "name"),
    )

    source: Mapped[str] = column(length=16, read_only=True)
    module_name: Mapped[str] = column(length=100, read_only=True)
    job_class_name: Mapped[str] = column(length=100, read_only=True)
    grouping: Mapped[str] = required_text(255, "Human-readable grouping that this job belongs to")
    grouping_override: Mapped[bool] = switch(False)
    name: Mapped[str] = required_text(100, "Human-readable name of this job")
    name_override: Mapped[bool] = switch(False)
    slug: Mapped[str] = slug(length=320)
    description: Mapped[str] = text(None)
    description_override: Mapped[bool] = switch(False)
    installed: Mapped[bool] = switch(True, "Whether the class is there", read_only=True)
    enabled: Mapped[bool] = switch(False, "Whether this job can be run by users")
    is_job_hook_receiver: Mapped[bool] = switch(False, "Whether this job is started by changes", read_only=True)
    is_job_button_receiver: Mapped[bool] = switch(False, "Whether this job is started for an object", read_only=True)
    has_sensitive_variables: Mapped[bool] = switch(True, "Whether this job contains sensitive variables")
    has_sensitive_variables_override: Mapped[bool] = switch(False)
    approval_required: Mapped[bool] = switch(False, "Whether the job requires approval from another user before running")
    approval_required_override: Mapped[bool] = switch(False)
    commit_default: Mapped[bool] = switch(True, "Whether the job writes unless it is told not to")
    commit_default_override: Mapped[bool] = switch(False)
    hidden: Mapped[bool] = switch(False, "Whether lists for people leave the job out")
    hidden_override: Mapped[bool] = switch(False)
    read_only: Mapped[bool] = switch(False, "Whether the job is prevented from writing")
    read_only_override: Mapped[bool] = switch(False)
    soft_time_limit: Mapped[float] = column(sa.Float(), default=0.0, minimum=0)
    soft_time_limit_override: Mapped[bool] = switch(False)
    time_limit: Mapped[float] = column(sa.Float(), default=0.0, minimum=0)
    time_limit_override: Mapped[bool] = switch(False)
    task_queues: Mapped[list[Any]] = document("Queues that this job can be put in; none stands for the usual one", default=list)
    task_queues_override: Mapped[bool] = switch(False)


def _as_classes(context: Context, endpoint: Endpoint) -> Any:
    """What versions before 1.3 know of jobs; made by :mod:`netinv_extras.job_classes`, which needs their results."""
    from netinv_extras.job_classes import as_classes

    return as_classes(context, endpoint)


jobs = Resource(
    Job,
    "jobs",
    brief=["source", "module_name", "job_class_name", "grouping", "name", "slug"],
    order=["grouping", "name"],
    search=["name", "slug", "grouping", "description"],
    filters=[filters.one_of("source", SOURCES, multiple=False)],
    versions=[VersionChange("1.3", listing=_as_classes)],
    writes=["change", "delete"],
)


@jobs.prepare
def keep_to_the_class(context: Context, drafts: Sequence[Draft]) -> None:
    """What is not overridden is as the class says: other values are refused, and what was overridden goes back."""
    classes = job_catalog.catalog(context.registry)
    for draft in drafts:
        found = classes.get(path_of(draft.before))
        own = found.described() if found is not None else {name: draft.before[name] for name in DESCRIBED}
        for name, override in OVERRIDES.items():
            if draft[override]:
                continue
            if draft.changed(override):
                draft[name] = own[name]
            elif draft.changed(name):
                draft.reject(name, f"Set {override} to change what the job itself says.")


@jobs.rule
def can_be_run(context: Context, drafts: Sequence[Draft]) -> None:
    """Queues are names; what is kept for approval is kept in clear, so it cannot be sensitive; the soft limit comes first."""
    for draft in drafts:
        queues = draft["task_queues"]
        if not isinstance(queues, list) or not all(isinstance(name, str) and name for name in queues):
            draft.reject("task_queues", "Enter a list of names.")
        if draft["approval_required"] and draft["has_sensitive_variables"]:
            draft.reject("approval_required", "A job that may have sensitive variables cannot require approval: its input would be kept in clear until then.")


def path_of(row: Mapping[str, Any]) -> str:
    """``source/module/class`` of a job, given its row or representation."""
    return f"{row['source']}/{row['module_name']}/{row['job_class_name']}"


def class_of(context: Context, row: Mapping[str, Any]) -> Found | None:
    """The class of a job, given its row or representation; ``None`` when it is not there."""
    return job_catalog.catalog(context.registry).get(path_of(row))


def refresh(context: Context) -> dict[str, int]:
    """Makes the rows agree with the classes that there are; how many were ``added``, ``changed`` and found ``gone``.

    A class that appears is not enabled; the row of one that is gone stays, with what was overridden, until it is deleted.
    """
    endpoint, table = context.registry[LABEL], table_of(Job)
    classes = job_catalog.catalog(context.registry)
    rows = {path_of(row): dict(row) for row in context.execute(sa.select(table).order_by(table.c.id)).mappings()}
    names = {(row["grouping"], row["name"]): path for path, row in rows.items()}
    wanted: dict[Any, dict[str, Any]] = {}
    new = []
    for path, found in classes.items():
        row = rows.get(path)
        values = {**found.described(), **found.kinds(), "installed": True}
        if row is not None:
            values |= {name: row[name] for name, override in OVERRIDES.items() if row[override]}
        values["name"] = _free_name(names, path, values["grouping"], values["name"])
        if row is None:
            new.append(_row(found, values))
        else:
            wanted[row["id"]] = values
    gone = {row["id"]: {"installed": False} for path, row in rows.items() if path not in classes and row["installed"]}
    changed = amend(context, endpoint, {**wanted, **gone})
    if new:
        _insert(context, endpoint, new)
    context.journal.write(context)
    return {"added": len(new), "changed": len(changed) - len(gone), "gone": len(gone)}


_found: weakref.WeakKeyDictionary[Registry, Any] = weakref.WeakKeyDictionary()


def find(engine: Engine, registry: Registry) -> None:
    """Makes the rows agree with the classes, when those may have changed since this process last did."""
    state = job_catalog.signature(registry)
    if _found.get(registry, ...) == state:
        return
    with session_factory(engine)() as session:
        context = Context(registry, session, Identity(superuser=True), writing=True)
        content_types.load(context)
        refresh(context)
        session.commit()
    _found[registry] = state


def _free_name(names: dict[tuple[str, str], str], path: str, grouping: str, name: str) -> str:
    """The name, or one with a number where another job of the grouping has it; takes it."""
    number, free = 1, name
    while names.setdefault((grouping, free), path) != path:
        number += 1
        free = f"{name[:94]} ({number})"
    return free


def _row(found: Found, values: Mapping[str, Any]) -> dict[str, Any]:
    """The row of a class that is new."""
    return {"source": found.source, "module_name": found.module, "job_class_name": found.job.__name__, "slug": found.slug, **values}


def _insert(context: Context, endpoint: Endpoint, rows: Sequence[dict[str, Any]]) -> None:
    """Writes the rows of new jobs, recorded like any change."""
    drafts = []
    for row in rows:
        draft = Draft(endpoint, {})
        draft.values = dict(row)
        draft.complete()
        drafts.append(draft)
    context.write(sa.insert(endpoint.table), [draft.values for draft in drafts])
    for key, shown in endpoint.plan().fetch(context, [draft.id for draft in drafts]):
        values = next(draft.values for draft in drafts if draft.id == key)
        context.journal.add(changes.Change(endpoint, key, changes.CREATE, None, shown, changes.flat(context, endpoint, values, shown)))
