"""Feature ``git``: Git repositories and their synchronisation."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from huey import crontab
from sqlalchemy.engine import Engine

from netinv_core import settings
from netinv_core.app import Feature
from netinv_core.findings import Finding
from netinv_core.hookspecs import hookimpl
from netinv_core.presentation import MenuSection
from netinv_core.tasks.queue import Task
from netinv_core.write.delete import GenericCascade
from netinv_extras.git import models

if TYPE_CHECKING:
    from netinv_core.registry import Registry


def protocols(text: str) -> tuple[str, ...]:
    """Names of protocols for Git remotes.

    :raises ValueError: for anything else
    """
    names = settings.words(text.lower())
    if not set(names) <= {"https", "http", "ssh", "file"}:
        raise ValueError(text)
    return names


feature = Feature(
    "git",
    "Git repositories",
    [models.git_repositories],
    includes=["netinv_extras.git.views"],
    web=["netinv_extras.git.web.syncs"],
    settings={
        "git_root": (str, "var/git"),
        "git_protocols": (protocols, ("https", "http", "ssh")),
        "git_allow": (settings.targets, ()),
        "git_max_size": (settings.size, 512 * 2**20),
        "git_timeout": (settings.seconds, 120.0),
    },
    menu=[MenuSection("Operations", ["git-repositories"], icon="queue-list", position=703)],
)


@hookimpl
def netinv_generic_cascades(registry: Registry) -> Iterable[GenericCascade]:
    """Deletes the objects that a repository owns."""
    return models.owned_by_repositories(registry)


@hookimpl
def netinv_tasks(registry: Registry) -> Iterable[Task]:
    """The task that synchronises repositories."""
    return [Task(models.SYNC, _sync, crontab(), run_at_startup=True)]


def _sync(engine: Engine, registry: Registry) -> None:
    """Imports the worker on first use, so that a service process does not load it."""
    from netinv_extras.git import worker

    worker.sync(engine, registry)


@hookimpl
def netinv_checks(engine: Engine, registry: Registry) -> Iterable[Finding]:
    """Checks of the addresses that Git may reach, of its folder and of the command ``git``."""
    from netinv_extras.git import checks

    return checks.findings(registry)
