"""The classes of jobs that there are: those that packages contribute, and those in the modules of a folder (``netinv.jobs_root``)."""

from __future__ import annotations

import contextlib
import dataclasses
import importlib.util
import inspect
import logging
import sys
import threading
import types
import weakref
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from netinv_core.registry import Registry
from netinv_core.write.naming import slugify
from netinv_extras.jobs import Job, JobButtonReceiver, JobHookReceiver

log = logging.getLogger(__name__)
LOCAL, PLUGINS = "local", "plugins"
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


@dataclasses.dataclass(frozen=True)
class Found:
    """A class of jobs and where it was found."""

    source: str
    module: str
    job: type[Job]

    @property
    def path(self) -> str:
        """``source/module/class``."""
        return f"{self.source}/{self.module}/{self.job.__name__}"

    @property
    def slug(self) -> str:
        """The name of the path in URLs."""
        return slugify(self.path.replace("/", "-").replace(".", "-"))

    def described(self) -> dict[str, Any]:
        """What the class says of itself, by column."""
        there = {name: getattr(self.job, name) for name in DESCRIBED}
        grouping = there["grouping"] or getattr(sys.modules.get(self.job.__module__), "name", "") or self.module
        texts = {"grouping": str(grouping)[:255], "name": str(there["name"] or self.job.__name__)[:100], "description": inspect.cleandoc(there["description"])}
        numbers = {name: float(there[name]) for name in ("soft_time_limit", "time_limit")}
        return {**there, **texts, **numbers, "task_queues": [str(name) for name in there["task_queues"]]}

    def kinds(self) -> dict[str, bool]:
        """Which kind of job it is, by column."""
        return {"is_job_hook_receiver": issubclass(self.job, JobHookReceiver), "is_job_button_receiver": issubclass(self.job, JobButtonReceiver)}


Catalog = Mapping[str, Found]
_State = tuple[Any, Catalog]
_known: weakref.WeakKeyDictionary[Registry, _State] = weakref.WeakKeyDictionary()
_looking = threading.Lock()


def catalog(registry: Registry) -> Catalog:
    """Every class by its path; the modules of the folder are read again when one of their files has changed."""
    folder = registry.settings.get("jobs_root") or ""
    state = (folder, _signature(folder))
    found = _known.get(registry)
    if found is None or found[0] != state:
        with _looking:
            found = _known[registry] = (state, {item.path: item for item in (*_contributed(registry), *_in_folder(folder))})
    return found[1]


def signature(registry: Registry) -> Any:
    """What changes when the catalog does."""
    return _signature(registry.settings.get("jobs_root") or "")


def _signature(folder: str) -> tuple[Any, ...]:
    found = []
    for path in _files(folder):
        with contextlib.suppress(FileNotFoundError):
            stat = path.stat()
            found.append((path.name, stat.st_mtime_ns, stat.st_size))
    return tuple(found)


def _files(folder: str) -> list[Path]:
    return sorted(path for path in Path(folder).glob("*.py") if not path.name.startswith("_")) if folder else []


def _contributed(registry: Registry) -> Iterator[Found]:
    for classes in registry.hooks.netinv_jobs(registry=registry):
        for job in classes:
            if isinstance(job, type) and issubclass(job, Job):
                yield Found(PLUGINS, job.__module__, job)
            else:
                log.error("%r is no class of jobs (netinv_extras.jobs.Job) and is left out", job)


def _in_folder(folder: str) -> Iterator[Found]:
    for path in _files(folder):
        try:
            module = _load(path)
        except Exception:
            log.exception("the jobs in %s cannot be read and are left out", path)
            continue
        yield from (Found(LOCAL, path.stem, job) for job in _jobs_of(module))


def _load(path: Path) -> types.ModuleType:
    name = f"netinv_local_jobs.{path.stem}"
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    # Not by the loader: it takes compiled code for current when the source changed within a second.
    exec(compile(path.read_bytes(), str(path), "exec"), module.__dict__)  # noqa: S102 - running what stands there is what the folder is for
    return module


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
