"""Tasks of the worker: those of the core and of packages, and their registration with the queue."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from sqlalchemy.engine import Engine

from netinv_core import upkeep
from netinv_core.backups import schedule as backups
from netinv_core.changelog.sequence import number_changes
from netinv_core.imports import without
from netinv_core.packages import errors_of
from netinv_core.tasks import queue
from netinv_core.tasks.queue import Task, enqueue

with without("opentelemetry"):  # redis would load it for metrics of its own, which are not used: 2 MiB
    from huey import Huey, crontab

if TYPE_CHECKING:
    from netinv_core.registry import Registry


def check_names(registry: Registry) -> None:
    """Checks that each task has a name of its own.

    :raises PackageError: for a plugin with a task that another package has
    """
    taken = dict.fromkeys(("number_changes", "upkeep", "backup"), "the core")
    pairs = [*registry.call_each("netinv_tasks", registry=registry)]
    for package, tasks in sorted(pairs, key=lambda pair: registry.is_plugin(pair[0])):
        with errors_of(package):
            for task in tasks:
                if task.name in taken:
                    raise ValueError(f"it claims the task {task.name!r}, which {taken[task.name]} has")
                taken[task.name] = f"the package {package}"


def tasks_of(registry: Registry) -> list[Task]:
    """Every package's tasks, the core's among them."""
    contributed = [task for tasks in registry.hooks.netinv_tasks(registry=registry) for task in tasks]
    own = [
        Task("number_changes", number_changes, crontab(minute="*")),
        Task("upkeep", upkeep.run_hourly, crontab(minute="17")),
    ]
    if registry.settings["backup_folder"]:
        own.append(Task("backup", backups.run_when_due, crontab(minute="*/5")))
    return [*own, *contributed]


def add_tasks(huey: Huey, engine: Engine, registry: Registry) -> dict[str, Callable[[], Any]]:
    """Registers every package's tasks with the queue; returns functions, by name, that enqueue a task now."""
    return queue.add_tasks(huey, engine, registry, tasks_of(registry))


def enqueue_startup_tasks(registry: Registry) -> None:
    """Enqueues the tasks that may have been left undone by a process that died."""
    for task in tasks_of(registry):
        if task.run_at_startup:
            enqueue(registry, task.name)
