"""Long work of pages, run in the background by a package that can (hook ``netinv_web_background``).

A page asks :func:`background_of` for it and does the work in the request where there is none.
"""

from __future__ import annotations

import dataclasses
import importlib
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from netinv_core.registry import Registry
    from netinv_core.uow import UnitOfWork

Arguments = Mapping[str, Any]  # JSON values


class Progress(Protocol):
    """Receives how far the work is. After an error nothing of what the work has written is kept."""

    def advance(self, done: int, total: int) -> None:
        """Tells how many of the items are done."""

    def fail(self, message: str) -> None:
        """Tells an error."""


@dataclasses.dataclass(frozen=True)
class BackgroundTask:
    """Work of a page: ``run(uow, arguments, progress)`` does it in one transaction, with the permissions of the user
    who asked for it, and returns a sentence about the outcome. ``name`` is where it is defined:
    ``package.module:NAME``.
    """

    name: str
    title: str
    run: Callable[[UnitOfWork, Arguments, Progress], str]


@dataclasses.dataclass(frozen=True)
class RunState:
    """The state of a run: ``title`` is a word for it; ``done`` of ``total`` items are done; ``outcome`` is the sentence
    of the task. ``path`` leads to more about the run, ``changes`` to what it has changed.
    """

    title: str
    running: bool
    completed: bool = False
    done: int = 0
    total: int = 0
    outcome: str = ""
    errors: Sequence[str] = ()
    path: str = ""
    changes: str = ""


class Background(Protocol):
    """The part of a package that runs tasks. Runs are known to the users who asked for them alone."""

    def start(self, uow: UnitOfWork, task: BackgroundTask, arguments: Arguments) -> str | None:
        """Asks for a run; returns its id, ``None`` when tasks cannot be run."""

    def state(self, uow: UnitOfWork, run: str) -> RunState | None:
        """The state of a run; ``None`` for one that is not known."""

    def cancel(self, uow: UnitOfWork, run: str) -> bool:
        """Ends a run without effect; false when it has ended before."""


def background_of(registry: Registry) -> Background | None:
    """The implementation of the hook ``netinv_web_background``; ``None`` without one."""
    found: list[Background] = [
        item for item in registry.hooks.netinv_web_background(registry=registry) if item is not None
    ]
    return found[0] if found else None


def task_named(name: str) -> BackgroundTask:
    """The task of a name.

    :raises LookupError: when there is none
    """
    module, _, attribute = name.partition(":")
    try:
        task = getattr(importlib.import_module(module), attribute, None)
    except ImportError:
        task = None
    if not isinstance(task, BackgroundTask) or task.name != name:
        raise LookupError(f"There is no task {name}.")
    return task
