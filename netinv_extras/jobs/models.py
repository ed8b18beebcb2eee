"""The jobs resource: one row per job class that was ever installed, with overrides of the class's attributes."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
from sqlalchemy.engine import Engine
from sqlalchemy.orm import Mapped

from netinv_core import content_types
from netinv_core.auth.account import Identity
from netinv_core.auth.configuration_version import lock_configuration
from netinv_core.changelog.change_set import Change
from netinv_core.changelog.models import CREATE
from netinv_core.changelog.object_data import object_data
from netinv_core.db.engine import session_factory
from netinv_core.driver.sessions import commit
from netinv_core.models.associations import unique_set
from netinv_core.models.base import Primary, table_of
from netinv_core.models.columns import (
    SET_NULL,
    Choices,
    Ref,
    boolean,
    column,
    foreign_key,
    json_document,
    required_text,
    slug,
    text,
)
from netinv_core.presentation import Presentation
from netinv_core.read import filters
from netinv_core.registry_cache import cached_in_registry
from netinv_core.resource import Resource, VersionChange
from netinv_core.sql.plans import plan_of
from netinv_core.uow import UnitOfWork
from netinv_core.write.draft import Draft
from netinv_core.write.system_update import system_update
from netinv_extras.git.models import GitRepository
from netinv_extras.jobs import catalog
from netinv_extras.jobs.catalog import DESCRIBED, JobClass, Key

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.registry import Registry

LABEL = "extras.job"
SOURCES = Choices.of(("local", "Local"), ("git", "Git repository"), ("plugins", "Plugins"))
DEFAULT_QUEUES = ("default", "celery")
MAX_NUMBERED_NAME_LENGTH, MAX_NUMBERED_SLUG_LENGTH = 94, 310  # leaves room for the number
SENSITIVE_WITH_APPROVAL = (
    "A job that may have sensitive variables cannot require approval: its input would be kept in clear until then."
)
OVERRIDES = {name: f"{name}_override" for name in DESCRIBED}
RECEIVERS = ("is_job_hook_receiver", "is_job_button_receiver")


class Job(Primary):
    """A job class. It can be run if it is ``enabled``; an attribute that is overridden is not taken from the class.

    ``path`` is ``source/module/class``. Time limits are in seconds; 0 stands for the default in the settings.
    """

    __tablename__ = "extras_job"
    __table_args__ = (
        sa.UniqueConstraint(
            "source",
            "git_repository_id",
            "module_name",
            "job_class_name",
            name="uq_extras_job_class",
            info={"early": False},
        ),
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
    installed: Mapped[bool] = boolean(True, "Whether the job class is installed", read_only=True)
    enabled: Mapped[bool] = boolean(False, "Whether this job can be run by users")
    is_job_hook_receiver: Mapped[bool] = boolean(False, "Whether job hooks can start this job", read_only=True)
    is_job_button_receiver: Mapped[bool] = boolean(False, "Whether job buttons can start this job", read_only=True)
    has_sensitive_variables: Mapped[bool] = boolean(True, "Whether this job contains sensitive variables")
    has_sensitive_variables_override: Mapped[bool] = boolean(False)
    approval_required: Mapped[bool] = boolean(
        False, "Whether the job requires approval from another user before running"
    )
    approval_required_override: Mapped[bool] = boolean(False)
    commit_default: Mapped[bool] = boolean(True, "Whether a run commits its changes by default")
    commit_default_override: Mapped[bool] = boolean(False)
    hidden: Mapped[bool] = boolean(False, "Whether user interfaces hide the job")
    hidden_override: Mapped[bool] = boolean(False)
    read_only: Mapped[bool] = boolean(False, "Whether runs are prevented from committing changes")
    read_only_override: Mapped[bool] = boolean(False)
    soft_time_limit: Mapped[float] = column(sa.Float(), default=0.0, minimum=0)
    soft_time_limit_override: Mapped[bool] = boolean(False)
    time_limit: Mapped[float] = column(sa.Float(), default=0.0, minimum=0)
    time_limit_override: Mapped[bool] = boolean(False)
    task_queues: Mapped[list[Any]] = json_document(
        "Queues that this job can be put in; if empty, the default queues", default=list
    )
    task_queues_override: Mapped[bool] = boolean(False)


def _as_classes(uow: UnitOfWork, endpoint: Endpoint, keys: Sequence[Any]) -> list[dict[str, Any]]:
    """Returns jobs in the representation of API versions before 1.3."""
    from netinv_extras.jobs.legacy_views import as_classes

    return as_classes(uow, endpoint, keys)


jobs = Resource(
    Job,
    "jobs",
    actions=["run", "approve"],
    brief=["source", "module_name", "job_class_name", "grouping", "name", "slug"],
    order=["grouping", "name"],
    search=["name", "slug", "grouping", "description"],
    filters=[filters.one_of("source", SOURCES, multiple=False)],
    versions=[VersionChange("1.3", listing=_as_classes)],
    writes=["change", "delete"],
    configuration=True,
    exempt_by_name_only=True,
    presentation=Presentation(
        empty="Jobs come from packages, Git repositories and the folder of jobs: add one of these to have some here.",
        columns=["grouping", "description", "source", "enabled", "approval_required"],
        facets=["grouping", "source"],
        summary=["grouping"],
        leading=["run"],
        fieldsets=[
            ("Job", ["name", "description", "grouping", "enabled", "approval_required", "commit_default", "read_only"]),
            ("Limits", ["soft_time_limit", "time_limit", "task_queues", "has_sensitive_variables", "hidden"]),
            ("Class", ["source", "git_repository", "module_name", "job_class_name", "slug", "installed", *RECEIVERS]),
            ("Stated here, in the place of the class", list(OVERRIDES.values())),
        ],
        flags=list(OVERRIDES.values()),
    ),
)


@jobs.prepare
def apply_class_attributes(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """Attributes without override have the values of the class; removing an override resets the value."""
    classes = catalog.catalog(uow)
    for draft in drafts:
        job_class = classes.get(key_of(draft.before))
        stored = {name: draft.before[name] for name in DESCRIBED}
        attributes = stored if job_class is None else job_class.attributes()
        for name, override in OVERRIDES.items():
            if draft[override]:
                continue
            if draft.changed(override):
                draft[name] = attributes[name]
            elif draft.changed(name):
                draft.reject(name, f"Set {override} to change what the job itself says.")


@jobs.rule
def queues_and_approval_are_valid(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """Queues are names. A job with sensitive variables cannot require approval, as its input is stored unencrypted."""
    for draft in drafts:
        queues = draft["task_queues"]
        if not isinstance(queues, list) or not all(isinstance(name, str) and name for name in queues):
            draft.reject("task_queues", "Enter a list of names.")
        if draft["approval_required"] and draft["has_sensitive_variables"]:
            draft.reject("approval_required", SENSITIVE_WITH_APPROVAL)


def key_of(row: Mapping[str, Any]) -> Key:
    """Returns the key of a job's class: source, repository, module and class name."""
    return row["source"], row["git_repository_id"], row["module_name"], row["job_class_name"]


def class_of(uow: UnitOfWork, row: Mapping[str, Any]) -> JobClass | None:
    """Returns the class of a job from its row, or ``None`` if it is not installed."""
    return catalog.catalog(uow).get(key_of(row))


# -- refresh: one row per class


@dataclasses.dataclass(frozen=True)
class Refreshed:
    """Result of :func:`refresh`: keys of the jobs that are new, changed, or no longer installed."""

    added: Sequence[Key]
    changed: Sequence[Key]
    removed: Sequence[Key]


class _UniqueNames:
    """Names and slugs of the jobs, to find unique ones for new or changed jobs."""

    def __init__(self, rows: Iterable[Mapping[str, Any]]) -> None:
        self._owners: dict[tuple[str, str], Any] = {}
        self._slugs: set[str] = set()
        for row in rows:
            self._owners[row["grouping"], row["name"]] = row["id"]
            self._slugs.add(row["slug"])

    def reserve_name(self, owner: Any, grouping: str, name: str) -> str:
        """Reserves the name, or ``name (2)`` and so on if another job of the grouping has it; returns the result."""
        number, candidate = 1, name
        while self._owners.setdefault((grouping, candidate), owner) != owner:
            number += 1
            candidate = f"{name[:MAX_NUMBERED_NAME_LENGTH]} ({number})"
        return candidate

    def reserve_slug(self, slug: str) -> str:
        """Reserves the slug, or ``slug-2`` and so on if another job has it; returns the result.

        Jobs of a deleted repository keep their slugs.
        """
        number, candidate = 1, slug
        while candidate in self._slugs:
            number += 1
            candidate = f"{slug[:MAX_NUMBERED_SLUG_LENGTH]}-{number}"
        self._slugs.add(candidate)
        return candidate


def refresh(uow: UnitOfWork) -> Refreshed:
    """Synchronizes the jobs' rows with the installed classes, under the configuration lock.

    The row of a new class is not enabled. The row of a class that is no longer installed keeps its overrides.
    """
    lock_configuration(uow)
    endpoint, table = uow.registry[LABEL], table_of(Job)
    classes = catalog.catalog(uow)
    rows = {row["id"]: dict(row) for row in uow.execute(sa.select(table).order_by(table.c.id)).mappings()}
    ids = {key_of(row): row_id for row_id, row in rows.items()}
    names = _UniqueNames(rows.values())
    updates: dict[Any, dict[str, Any]] = {}
    new_rows: list[dict[str, Any]] = []
    for key, job_class in classes.items():
        row_id = ids.get(key)
        values = _class_values(job_class, rows.get(row_id))
        values["name"] = names.reserve_name(key if row_id is None else row_id, values["grouping"], values["name"])
        if row_id is None:
            new_rows.append(_new_row(job_class, names.reserve_slug(job_class.slug), values))
        else:
            updates[row_id] = values
    removals = {
        row_id: {"installed": False} for row_id, row in rows.items() if row["installed"] and key_of(row) not in classes
    }
    changed_ids = system_update(uow, endpoint, {**updates, **removals})
    if new_rows:
        _insert(uow, endpoint, new_rows)
    return Refreshed(
        added=[key_of(row) for row in new_rows],
        changed=[key_of(rows[row_id]) for row_id in changed_ids if row_id in updates],
        removed=[key_of(rows[row_id]) for row_id in changed_ids if row_id in removals],
    )


def _class_values(job_class: JobClass, row: Mapping[str, Any] | None) -> dict[str, Any]:
    """Returns the column values of an installed class; overridden attributes are those of the existing row."""
    values = {**job_class.attributes(), **job_class.receiver_flags(), "path": job_class.path, "installed": True}
    if row is not None:
        values |= {name: row[name] for name, override in OVERRIDES.items() if row[override]}
    return values


def _new_row(job_class: JobClass, slug: str, values: Mapping[str, Any]) -> dict[str, Any]:
    source, repository_id, module_name, class_name = job_class.key
    return {
        "source": source,
        "git_repository_id": repository_id,
        "module_name": module_name,
        "job_class_name": class_name,
        "slug": slug,
        **values,
    }


def _insert(uow: UnitOfWork, endpoint: Endpoint, rows: Sequence[dict[str, Any]]) -> None:
    """Inserts the rows of new jobs with their change records."""
    drafts = []
    for row in rows:
        draft = Draft(endpoint, {})
        draft.values = dict(row)
        draft.complete()
        drafts.append(draft)
    uow.execute(sa.insert(endpoint.table), [draft.values for draft in drafts])
    values_by_id = {draft.id: draft.values for draft in drafts}
    for key, representation in plan_of(endpoint).fetch(uow, list(values_by_id)):
        data = object_data(uow, endpoint, values_by_id[key], representation)
        uow.change_set.add(Change(endpoint, key, CREATE, None, representation, data))


@dataclasses.dataclass
class _Refreshed:
    """State of the jobs folder at the last refresh of this process; ``...`` before the first."""

    signature: Any = ...


@cached_in_registry
def _last_refresh(_registry: Registry) -> _Refreshed:
    """The last refresh of a registry."""
    return _Refreshed()


def refresh_if_changed(engine: Engine, registry: Registry) -> None:
    """Refreshes the jobs unless this process has done so for the current state of the jobs folder."""
    signature = catalog.signature(registry)
    refreshed = _last_refresh(registry)
    if refreshed.signature == signature:
        return
    with session_factory(engine)() as session:
        uow = UnitOfWork(registry, session, Identity(superuser=True), writing=True)
        content_types.load(uow)
        refresh(uow)
        commit(session)
    refreshed.signature = signature
