"""Jobs as a resource: one row for each class that was ever found, with what this installation overrides of what the class says."""

from __future__ import annotations

import dataclasses
import weakref
from collections.abc import Mapping, Sequence
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Engine
from sqlalchemy.orm import Mapped

from netinv_core import content_types
from netinv_core.auth.identity import Identity, lock_configuration
from netinv_core.changelog.change_set import Change
from netinv_core.changelog.models import CREATE
from netinv_core.changelog.object_data import object_data
from netinv_core.db.engine import session_factory
from netinv_core.endpoint import Endpoint
from netinv_core.models.associations import unique_set
from netinv_core.models.base import Primary, table_of
from netinv_core.models.columns import SET_NULL, Choices, Ref, boolean, column, foreign_key, json_document, required_text, slug, text
from netinv_core.read import filters
from netinv_core.registry import Registry
from netinv_core.resource import Resource, VersionChange
from netinv_core.uow import UnitOfWork
from netinv_core.write.draft import Draft
from netinv_core.write.system_update import system_update
from netinv_extras.git.models import GitRepository
from netinv_extras.jobs import catalog
from netinv_extras.jobs.catalog import DESCRIBED, JobClass, Key

LABEL = "extras.job"
SOURCES = Choices.of(("local", "Local"), ("git", "Git repository"), ("plugins", "Plugins"))
DEFAULT_QUEUES = ("default", "celery")
OVERRIDES = {name: f"{name}_override" for name in DESCRIBED}


class Job(Primary):
    """A class of work that users start. Whether it may be run (``enabled``) is said here; what is overridden is no longer taken from the class.

    ``path`` is the one of the class, ``source/module/class``. Time limits are in seconds, 0 stands for the settings'.
    """

    __tablename__ = "extras_job"
    __table_args__ = (
        sa.UniqueConstraint("source", "git_repository_id", "module_name", "job_class_name", name="uq_extras_job_class", info={"early": False}),
        unique_set("grouping", "name"),
    )

    source: Mapped[str] = column(length=16, read_only=True)
    git_repository_id: Mapped[Ref | None] = foreign_key(GitRepository, on_delete=SET_NULL, hidden=True)
    module_name: Mapped[str] = column(length=100, read_only=True)
    job_class_name: Mapped[str] = column(length=100, read_only=True)
    path: Mapped[str] = column(length=320, hidden=True)
    grouping: Mapped[str] = required_text(255, "Human-readable grouping that this job belongs to")
    grouping_override: Mapped[bool] = boolean(False)
    name: Mapped[str] = required_text(100, "Human-readable name of this job")
    name_override: Mapped[bool] = boolean(False)
    slug: Mapped[str] = slug(length=320)
    description: Mapped[str] = text(None)
    description_override: Mapped[bool] = boolean(False)
    installed: Mapped[bool] = boolean(True, "Whether the class is there", read_only=True)
    enabled: Mapped[bool] = boolean(False, "Whether this job can be run by users")
    is_job_hook_receiver: Mapped[bool] = boolean(False, "Whether this job is started by changes", read_only=True)
    is_job_button_receiver: Mapped[bool] = boolean(False, "Whether this job is started for an object", read_only=True)
    has_sensitive_variables: Mapped[bool] = boolean(True, "Whether this job contains sensitive variables")
    has_sensitive_variables_override: Mapped[bool] = boolean(False)
    approval_required: Mapped[bool] = boolean(False, "Whether the job requires approval from another user before running")
    approval_required_override: Mapped[bool] = boolean(False)
    commit_default: Mapped[bool] = boolean(True, "Whether the job writes unless it is told not to")
    commit_default_override: Mapped[bool] = boolean(False)
    hidden: Mapped[bool] = boolean(False, "Whether lists for people leave the job out")
    hidden_override: Mapped[bool] = boolean(False)
    read_only: Mapped[bool] = boolean(False, "Whether the job is prevented from writing")
    read_only_override: Mapped[bool] = boolean(False)
    soft_time_limit: Mapped[float] = column(sa.Float(), default=0.0, minimum=0)
    soft_time_limit_override: Mapped[bool] = boolean(False)
    time_limit: Mapped[float] = column(sa.Float(), default=0.0, minimum=0)
    time_limit_override: Mapped[bool] = boolean(False)
    task_queues: Mapped[list[Any]] = json_document("Queues that this job can be put in; none stands for the usual one", default=list)
    task_queues_override: Mapped[bool] = boolean(False)


def _as_classes(uow: UnitOfWork, endpoint: Endpoint, keys: Sequence[Any]) -> list[dict[str, Any]]:
    """Jobs as versions before 1.3 list them; made by :mod:`netinv_extras.jobs.legacy_views`, which needs their results."""
    from netinv_extras.jobs.legacy_views import as_classes

    return as_classes(uow, endpoint, keys)


jobs = Resource(
    Job,
    "jobs",
    brief=["source", "module_name", "job_class_name", "grouping", "name", "slug"],
    order=["grouping", "name"],
    search=["name", "slug", "grouping", "description"],
    filters=[filters.one_of("source", SOURCES, multiple=False)],
    versions=[VersionChange("1.3", listing=_as_classes)],
    writes=["change", "delete"],
    exempt_by_name_only=True,
)


@jobs.prepare
def keep_to_the_class(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """What is not overridden is as the class says: other values are refused, and what was overridden goes back."""
    classes = catalog.catalog(uow)
    for draft in drafts:
        found = classes.get(key_of(draft.before))
        own = found.described() if found is not None else {name: draft.before[name] for name in DESCRIBED}
        for name, override in OVERRIDES.items():
            if draft[override]:
                continue
            if draft.changed(override):
                draft[name] = own[name]
            elif draft.changed(name):
                draft.reject(name, f"Set {override} to change what the job itself says.")


@jobs.rule
def can_be_run(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """Queues are names; what is kept for approval is kept in clear, so it cannot be sensitive; the soft limit comes first."""
    for draft in drafts:
        queues = draft["task_queues"]
        if not isinstance(queues, list) or not all(isinstance(name, str) and name for name in queues):
            draft.reject("task_queues", "Enter a list of names.")
        if draft["approval_required"] and draft["has_sensitive_variables"]:
            draft.reject("approval_required", "A job that may have sensitive variables cannot require approval: its input would be kept in clear until then.")


def key_of(row: Mapping[str, Any]) -> Key:
    """What tells the class of a job from all others, given the job's row."""
    return row["source"], row["git_repository_id"], row["module_name"], row["job_class_name"]


def class_of(uow: UnitOfWork, row: Mapping[str, Any]) -> JobClass | None:
    """The class of a job, given its row; ``None`` when it is not there."""
    return catalog.catalog(uow).get(key_of(row))


@dataclasses.dataclass(frozen=True)
class Refreshed:
    """What tells those jobs apart that are new, that changed, and whose classes are not there any more."""

    added: Sequence[Key]
    changed: Sequence[Key]
    gone: Sequence[Key]


def refresh(uow: UnitOfWork) -> Refreshed:
    """Makes the rows agree with the classes that there are; who does so at the same time waits.

    A class that appears is not enabled; the row of one that is gone stays, with what was overridden, until it is deleted.
    """
    lock_configuration(uow)
    endpoint, table = uow.registry[LABEL], table_of(Job)
    classes = catalog.catalog(uow)
    rows = {row["id"]: dict(row) for row in uow.execute(sa.select(table).order_by(table.c.id)).mappings()}
    ids = {key_of(row): key for key, row in rows.items()}
    names = {(row["grouping"], row["name"]): key for key, row in rows.items()}
    slugs = {row["slug"] for row in rows.values()}
    wanted: dict[Any, dict[str, Any]] = {}
    new = []
    for which, found in classes.items():
        key = ids.get(which, which)
        values = {**found.described(), **found.kinds(), "path": found.path, "installed": True}
        if which in ids:
            values |= {name: rows[key][name] for name, override in OVERRIDES.items() if rows[key][override]}
        values["name"] = _free_name(names, key, values["grouping"], values["name"])
        if which in ids:
            wanted[key] = values
        else:
            new.append(_row(found, _free_slug(slugs, found.slug), values))
    gone = {key: {"installed": False} for key, row in rows.items() if key_of(row) not in classes and row["installed"]}
    changed = system_update(uow, endpoint, {**wanted, **gone})
    if new:
        _insert(uow, endpoint, new)
    added = [key_of(row) for row in new]
    return Refreshed(added, [key_of(rows[key]) for key in changed if key in wanted], [key_of(rows[key]) for key in changed if key in gone])


_found: weakref.WeakKeyDictionary[Registry, Any] = weakref.WeakKeyDictionary()


def find(engine: Engine, registry: Registry) -> None:
    """Makes the rows agree with the classes, when those may have changed since this process last did."""
    state = catalog.signature(registry)
    if _found.get(registry, ...) == state:
        return
    with session_factory(engine)() as session:
        uow = UnitOfWork(registry, session, Identity(superuser=True), writing=True)
        content_types.load(uow)
        refresh(uow)
        session.commit()
    _found[registry] = state


def _free_name(names: dict[tuple[str, str], Any], key: Any, grouping: str, name: str) -> str:
    """The name, or one with a number where another job of the grouping has it; takes it."""
    number, free = 1, name
    while names.setdefault((grouping, free), key) != key:
        number += 1
        free = f"{name[:94]} ({number})"
    return free


def _free_slug(taken: set[str], slug: str) -> str:
    """The slug, or one with a number where another job has it (that of a repository which is gone may); takes it."""
    number, free = 1, slug
    while free in taken:
        number += 1
        free = f"{slug[:310]}-{number}"
    taken.add(free)
    return free


def _row(found: JobClass, slug: str, values: Mapping[str, Any]) -> dict[str, Any]:
    """The row of a class that is new."""
    source, repository, module, name = found.key
    return {"source": source, "git_repository_id": repository, "module_name": module, "job_class_name": name, "slug": slug, **values}


def _insert(uow: UnitOfWork, endpoint: Endpoint, rows: Sequence[dict[str, Any]]) -> None:
    """Writes the rows of new jobs, recorded like any change."""
    drafts = []
    for row in rows:
        draft = Draft(endpoint, {})
        draft.values = dict(row)
        draft.complete()
        drafts.append(draft)
    uow.write(sa.insert(endpoint.table), [draft.values for draft in drafts])
    for key, shown in endpoint.plan().fetch(uow, [draft.id for draft in drafts]):
        values = next(draft.values for draft in drafts if draft.id == key)
        uow.change_set.add(Change(endpoint, key, CREATE, None, shown, object_data(uow, endpoint, values, shown)))
