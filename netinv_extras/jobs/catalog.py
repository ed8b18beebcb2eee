"""Catalog of the installed job classes.

Sources: classes that packages contribute, modules in the folder ``netinv.jobs_root``, and modules of Git repositories
(if ``netinv.git_jobs`` is set).
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
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from netinv_core.models.base import table_of
from netinv_core.registry_cache import cached_in_registry
from netinv_core.write.slugs import slugify
from netinv_extras.git.models import GitRepository, job_modules
from netinv_extras.jobs.api import Job, JobButtonReceiver, JobHookReceiver, is_registered
from netinv_extras.jobs.calls import POST_RUN, test_methods
from netinv_extras.jobs.declarations import settings_of
from netinv_extras.jobs.imports import import_error_text
from netinv_extras.jobs.modules import JobSource, load

if TYPE_CHECKING:
    from netinv_core.registry import Registry
    from netinv_core.uow import UnitOfWork

log = logging.getLogger(__name__)
LOCAL, GIT, PLUGINS = "local", "git", "plugins"
LOCAL_PACKAGE = "netinv_local_jobs"
RUN_METHODS = ((JobHookReceiver, "receive_job_hook"), (JobButtonReceiver, "receive_job_button"), (Job, "run"))
# Attributes of job classes that are columns of jobs and can be overridden.
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
    """Git repository of a job class."""

    id: uuid.UUID
    slug: str


@dataclasses.dataclass(frozen=True)
class JobClass:
    """A job class with its source; ``grouping`` is the default of its module."""

    source: str
    module: str
    job: type[Job]
    grouping: str = ""
    repository: Repository | None = None

    @property
    def key(self) -> Key:
        """Unique key of the class."""
        return self.source, self.repository.id if self.repository is not None else None, self.module, self.job.__name__

    @property
    def path(self) -> str:
        """Path ``source/module/class``; the source of a repository is ``git.<slug>``."""
        source = self.source if self.repository is None else f"{self.source}.{self.repository.slug}"
        return f"{source}/{self.module}/{self.job.__name__}"

    @property
    def slug(self) -> str:
        """Slug of the path, for URLs."""
        return slugify(self.path.replace("/", "-").replace(".", "-"))

    def attributes(self) -> dict[str, Any]:
        """Returns the attributes of the class by column, shortened to the columns' lengths."""
        settings = settings_of(self.job)
        values = {name: settings[name] for name in DESCRIBED}
        return {
            **values,
            "grouping": str(values["grouping"] or self.grouping or self.module)[:255],
            "name": str(values["name"] or self.job.__name__)[:100],
            "description": inspect.cleandoc(values["description"]),
            "soft_time_limit": float(values["soft_time_limit"]),
            "time_limit": float(values["time_limit"]),
            "task_queues": [str(name) for name in values["task_queues"]],
        }

    def receiver_flags(self) -> dict[str, bool]:
        """Returns the columns that say if it is started by job hooks or by job buttons."""
        return {
            "is_job_hook_receiver": issubclass(self.job, JobHookReceiver),
            "is_job_button_receiver": issubclass(self.job, JobButtonReceiver),
        }


Catalog = Mapping[Key, JobClass]
_load_lock = threading.Lock()


@dataclasses.dataclass
class _Loaded:
    """Classes that are loaded, each part with the state it was loaded from, and the errors of files of the folder."""

    folder: Any = None
    installed: Catalog = dataclasses.field(default_factory=dict)
    errors: Mapping[str, str] = dataclasses.field(default_factory=dict)
    repositories: dict[uuid.UUID, _LoadedRepository] = dataclasses.field(default_factory=dict)


@cached_in_registry
def _loaded_classes(_registry: Registry) -> _Loaded:
    """The classes of a registry's packages, folder and repositories."""
    return _Loaded()


def catalog(uow: UnitOfWork) -> Catalog:
    """Returns all job classes by key.

    The folder's modules are reloaded after one of its files has changed, a repository's modules after a sync.
    """
    job_classes = [item for repository in _repositories(uow).values() for item in repository.job_classes]
    return {**_read_installed(uow.registry), **{item.key: item for item in job_classes}}


def import_errors_of(uow: UnitOfWork, repository_id: uuid.UUID) -> Mapping[str, str]:
    """Returns the errors of a repository's modules that cannot be imported, by module name."""
    repository = _repositories(uow).get(repository_id)
    return repository.errors if repository is not None else {}


def signature(registry: Registry) -> Any:
    """Returns the state of the jobs folder: names, modification times and sizes of its files."""
    return _signature(registry.settings["jobs_root"])


# -- packages and folder


def errors_of_folder(registry: Registry) -> Mapping[str, str]:
    """Returns the errors of files of the jobs folder that cannot be imported, by their names."""
    _read_installed(registry)
    return _loaded_classes(registry).errors


def _read_installed(registry: Registry) -> Catalog:
    """Returns the classes of packages and of the jobs folder, cached by the state of the folder."""
    folder = registry.settings["jobs_root"]
    state = (folder, _signature(folder))
    loaded = _loaded_classes(registry)
    if loaded.folder != state:
        with _load_lock:
            errors: dict[str, str] = {}
            job_classes = (*_package_classes(registry), *_in_folder(folder, errors))
            loaded.installed, loaded.errors = {item.key: item for item in job_classes}, errors
            loaded.folder = state
    return loaded.installed


def _signature(folder: str) -> tuple[Any, ...]:
    entries = []
    for path in _files(folder):
        with contextlib.suppress(FileNotFoundError):
            stat = path.stat()
            entries.append((path.name, stat.st_mtime_ns, stat.st_size))
    return tuple(entries)


def _files(folder: str) -> list[Path]:
    return sorted(Path(folder).glob("*.py")) if folder else []


def _package_classes(registry: Registry) -> Iterator[JobClass]:
    """Yields the classes of packages, from the hook ``netinv_jobs``."""
    for classes in registry.hooks.netinv_jobs(registry=registry):
        for job in classes:
            if isinstance(job, type) and issubclass(job, Job):
                yield JobClass(PLUGINS, job.__module__, job, grouping_of(sys.modules.get(job.__module__)))
            else:
                log.error("%r is not a job class (netinv_extras.jobs.Job) and is ignored", job)


def _in_folder(folder: str, errors: dict[str, str]) -> Iterator[JobClass]:
    """Yields the classes of the jobs folder; files that cannot be read or imported are put in ``errors`` and logged."""
    sources = {}
    for path in _files(folder):
        try:
            sources[path.stem] = JobSource(path.read_bytes(), str(path))
        except OSError as error:
            log.error("the jobs in %s cannot be read and are ignored: %s", path, error.strerror)
            errors[path.name] = str(error.strerror)
    modules, import_errors = load(LOCAL_PACKAGE, sources)
    for name, import_error in import_errors.items():
        origin = sources[name].origin
        reason = import_error_text(import_error, origin)
        log.error("the jobs in %s cannot be imported and are ignored: %s", origin, reason, exc_info=import_error)
        errors[f"{name}.py"] = reason
    for name, module in modules.items():
        yield from (JobClass(LOCAL, name, job, grouping_of(module)) for job in _jobs_of(module))


# -- Git repositories


@dataclasses.dataclass(frozen=True)
class _LoadedRepository:
    """Modules of a repository that this process has loaded: their state, their classes, and import errors by module."""

    state: Any
    job_classes: tuple[JobClass, ...]
    errors: Mapping[str, str]


def _repositories(uow: UnitOfWork) -> Mapping[uuid.UUID, _LoadedRepository]:
    """Returns the loaded modules of Git repositories by repository id, cached by the digests of the modules.

    One statement, plus one for each repository whose modules have changed.
    """
    if not uow.registry.settings["git_jobs"]:
        return {}
    repository = table_of(GitRepository)
    columns = repository.c.id, repository.c.slug, job_modules.c.name, job_modules.c.digest
    statement = sa.select(*columns).join_from(repository, job_modules)
    digests: dict[Repository, list[Any]] = {}
    for key, slug, name, digest in uow.execute(statement.order_by(repository.c.id, job_modules.c.name)):
        digests.setdefault(Repository(key, slug), []).append((name, digest))
    cached = _loaded_classes(uow.registry)
    loaded: dict[uuid.UUID, _LoadedRepository] = {}
    for item, modules in digests.items():
        state, former = (item.slug, modules), cached.repositories.get(item.id)
        unchanged = former is not None and former.state == state
        loaded[item.id] = former if former is not None and unchanged else _load_repository(uow, item, state)
    cached.repositories = loaded
    return loaded


def _load_repository(uow: UnitOfWork, repository: Repository, state: Any) -> _LoadedRepository:
    """Imports the modules of a repository; those that cannot be imported are logged and ignored. One statement."""
    of_repository = job_modules.c.repository_id == repository.id
    rows = uow.execute(sa.select(job_modules.c.name, job_modules.c.code).where(of_repository))
    sources = {name: JobSource(code.encode(), f"{repository.slug}:jobs/{name}.py") for name, code in rows}
    modules, errors = load(f"netinv_git_jobs_{repository.id.hex}", sources)
    messages = {name: import_error_text(error, sources[name].origin) for name, error in errors.items()}
    for name, message in messages.items():
        log.warning("the jobs in %s cannot be imported and are ignored: %s", sources[name].origin, message)
    job_classes = [
        JobClass(GIT, name, job, grouping_of(module), repository)
        for name, module in modules.items()
        for job in _jobs_of(module)
    ]
    return _LoadedRepository(state, tuple(job_classes), messages)


# -- modules


def grouping_of(module: types.ModuleType | None) -> str:
    """Returns the default grouping of a module's jobs: its variable ``name``."""
    return str(getattr(module, "name", None) or "")


def _jobs_of(module: types.ModuleType) -> Iterable[type[Job]]:
    """Returns the job classes of a module: its list ``jobs``, those that it registers, or all that it defines and that
    run.
    """
    listed = getattr(module, "jobs", None)
    if listed is not None:
        return [job for job in listed if isinstance(job, type) and issubclass(job, Job)]
    classes = [job for job in vars(module).values() if isinstance(job, type) and issubclass(job, Job)]
    registered = [job for job in dict.fromkeys(classes) if is_registered(job)]
    if registered:
        return registered
    return [job for job in dict.fromkeys(classes) if job.__module__ == module.__name__ and _is_runnable(job)]


def _is_runnable(job: type[Job]) -> bool:
    """Returns true if the class defines the method that does its work, such as ``run``, or has tests."""
    base, method = next((base, method) for base, method in RUN_METHODS if issubclass(job, base))
    defined = [name for name in (method, POST_RUN) if getattr(job, name) is not getattr(base, name)]
    return bool(defined or test_methods(job))
