"""The classes of jobs that there are: those that packages contribute, those in the modules of a folder (``netinv.jobs_root``), and those
that Git repositories brought (with ``netinv.git_jobs``).
"""

from __future__ import annotations

import contextlib
import dataclasses
import inspect
import logging
import sys
import threading
import types
import uuid
import weakref
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from netinv_core.models.base import table_of
from netinv_core.registry import Registry
from netinv_core.uow import UnitOfWork
from netinv_core.write.slugs import slugify
from netinv_extras.git.models import GitRepository, job_modules
from netinv_extras.jobs.api import Job, JobButtonReceiver, JobHookReceiver
from netinv_extras.jobs.modules import Source, load

log = logging.getLogger(__name__)
LOCAL, GIT, PLUGINS = "local", "git", "plugins"
LOCAL_PACKAGE = "netinv_local_jobs"
DOING = ((JobHookReceiver, "receive_job_hook"), (JobButtonReceiver, "receive_job_button"), (Job, "run"))
# What describes a job and can be overridden, by column, with how a class says it.
DESCRIBED = (
    "grouping",
    "name",
    "description",
    "has_sensitive_variables",
    "approval_required",
    "commit_default",
    "hidden",
    "read_only",
    "soft_time_limit",
    "time_limit",
    "task_queues",
)


Key = tuple[str, uuid.UUID | None, str, str]  # source, repository, module, class


@dataclasses.dataclass(frozen=True)
class Repository:
    """The Git repository that a class came from."""

    id: uuid.UUID
    slug: str


@dataclasses.dataclass(frozen=True)
class JobClass:
    """A class of jobs, where it was found, and the ``grouping`` that its module says."""

    source: str
    module: str
    job: type[Job]
    grouping: str = ""
    repository: Repository | None = None

    @property
    def key(self) -> Key:
        """What tells it from all others."""
        return self.source, self.repository.id if self.repository is not None else None, self.module, self.job.__name__

    @property
    def path(self) -> str:
        """``source/module/class``; the source is ``git.<slug>`` for a repository."""
        source = self.source if self.repository is None else f"{self.source}.{self.repository.slug}"
        return f"{source}/{self.module}/{self.job.__name__}"

    @property
    def slug(self) -> str:
        """The name of the path in URLs."""
        return slugify(self.path.replace("/", "-").replace(".", "-"))

    def described(self) -> dict[str, Any]:
        """What the class says of itself, by column."""
        there = {name: getattr(self.job, name) for name in DESCRIBED}
        grouping = there["grouping"] or self.grouping or self.module
        texts = {"grouping": str(grouping)[:255], "name": str(there["name"] or self.job.__name__)[:100], "description": inspect.cleandoc(there["description"])}
        numbers = {name: float(there[name]) for name in ("soft_time_limit", "time_limit")}
        return {**there, **texts, **numbers, "task_queues": [str(name) for name in there["task_queues"]]}

    def kinds(self) -> dict[str, bool]:
        """Which kind of job it is, by column."""
        return {"is_job_hook_receiver": issubclass(self.job, JobHookReceiver), "is_job_button_receiver": issubclass(self.job, JobButtonReceiver)}


Catalog = Mapping[Key, JobClass]
_known: weakref.WeakKeyDictionary[Registry, tuple[Any, Catalog]] = weakref.WeakKeyDictionary()
_brought: weakref.WeakKeyDictionary[Registry, dict[uuid.UUID, _LoadedRepository]] = weakref.WeakKeyDictionary()
_looking = threading.Lock()


def catalog(uow: UnitOfWork) -> Catalog:
    """Every class by what tells it apart. Modules of the folder are read again when one of its files has changed, those of a repository after a sync."""
    brought = [found for repository in _of_repositories(uow).values() for found in repository.found]
    return {**_installed(uow.registry), **{found.key: found for found in brought}}


def faults_of(uow: UnitOfWork, repository: uuid.UUID) -> Mapping[str, str]:
    """What is wrong with those modules of a repository that cannot be imported."""
    found = _of_repositories(uow).get(repository)
    return found.faults if found is not None else {}


def signature(registry: Registry) -> Any:
    """What changes when the folder does."""
    return _signature(registry.settings.get("jobs_root") or "")


# -- of packages and of the folder


def _installed(registry: Registry) -> Catalog:
    folder = registry.settings.get("jobs_root") or ""
    state = (folder, _signature(folder))
    found = _known.get(registry)
    if found is None or found[0] != state:
        with _looking:
            found = _known[registry] = (state, {item.key: item for item in (*_contributed(registry), *_in_folder(folder))})
    return found[1]


def _signature(folder: str) -> tuple[Any, ...]:
    found = []
    for path in _files(folder):
        with contextlib.suppress(FileNotFoundError):
            stat = path.stat()
            found.append((path.name, stat.st_mtime_ns, stat.st_size))
    return tuple(found)


def _files(folder: str) -> list[Path]:
    return sorted(Path(folder).glob("*.py")) if folder else []


def _contributed(registry: Registry) -> Iterator[JobClass]:
    for classes in registry.hooks.netinv_jobs(registry=registry):
        for job in classes:
            if isinstance(job, type) and issubclass(job, Job):
                yield JobClass(PLUGINS, job.__module__, job, grouping_of(sys.modules.get(job.__module__)))
            else:
                log.error("%r is no class of jobs (netinv_extras.jobs.api.Job) and is left out", job)


def _in_folder(folder: str) -> Iterator[JobClass]:
    sources = {}
    for path in _files(folder):
        try:
            sources[path.stem] = Source(path.read_bytes(), str(path))
        except OSError as error:
            log.error("the jobs in %s cannot be read and are left out: %s", path, error.strerror)
    modules, faults = load(LOCAL_PACKAGE, sources)
    for name, fault in faults.items():
        log.error("the jobs in %s cannot be imported and are left out", sources[name].place, exc_info=fault)
    for name, module in modules.items():
        yield from (JobClass(LOCAL, name, job, grouping_of(module)) for job in _jobs_of(module))


# -- of repositories


@dataclasses.dataclass(frozen=True)
class _LoadedRepository:
    """What a process has of a repository's modules: in which state, the classes, and what is wrong with modules."""

    state: Any
    found: tuple[JobClass, ...]
    faults: Mapping[str, str]


def _of_repositories(uow: UnitOfWork) -> Mapping[uuid.UUID, _LoadedRepository]:
    """What repositories brought, by their ids: one statement, and one more for each repository whose modules are not those that this process has."""
    if not uow.registry.settings.get("git_jobs"):
        return {}
    repository = table_of(GitRepository)
    statement = sa.select(repository.c.id, repository.c.slug, job_modules.c.name, job_modules.c.digest).join_from(repository, job_modules)
    there: dict[Repository, list[Any]] = {}
    for key, slug, name, digest in uow.execute(statement.order_by(repository.c.id, job_modules.c.name)):
        there.setdefault(Repository(key, slug), []).append((name, digest))
    known = _brought.get(uow.registry, {})
    found = {}
    for which, modules in there.items():
        state, had = (which.slug, modules), known.get(which.id)
        found[which.id] = had if had is not None and had.state == state else _load_repository(uow, which, state)
    _brought[uow.registry] = found
    return found


def _load_repository(uow: UnitOfWork, repository: Repository, state: Any) -> _LoadedRepository:
    rows = uow.execute(sa.select(job_modules.c.name, job_modules.c.code).where(job_modules.c.repository_id == repository.id))
    sources = {name: Source(code.encode(), f"{repository.slug}:jobs/{name}.py") for name, code in rows}
    modules, faults = load(f"netinv_git_jobs_{repository.id.hex}", sources)
    for name, error in faults.items():
        log.warning("the jobs in %s cannot be imported and are left out: %s: %s", sources[name].place, type(error).__name__, error)
    found = [JobClass(GIT, name, job, grouping_of(module), repository) for name, module in modules.items() for job in _jobs_of(module)]
    return _LoadedRepository(state, tuple(found), {name: f"{type(error).__name__}: {error}" for name, error in faults.items()})


# -- of modules


def grouping_of(module: types.ModuleType | None) -> str:
    """What a module says its jobs belong to."""
    return str(getattr(module, "name", None) or "")


def _jobs_of(module: types.ModuleType) -> Iterable[type[Job]]:
    """The jobs that a module defines: those that it lists as ``jobs``, else every class with something to do."""
    listed = getattr(module, "jobs", None)
    if listed is not None:
        return [job for job in listed if isinstance(job, type) and issubclass(job, Job)]
    own = [job for job in vars(module).values() if isinstance(job, type) and issubclass(job, Job) and job.__module__ == module.__name__]
    return [job for job in dict.fromkeys(own) if _does_something(job)]


def _does_something(job: type[Job]) -> bool:
    base, method = next((base, method) for base, method in DOING if issubclass(job, base))
    return getattr(job, method) is not getattr(base, method)
