"""Listeners to events of SQLAlchemy, which packages add for all engines and sessions: those of a package that is left
out are removed, because they would be called without it.
"""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Callable, Collection, Iterator
from typing import Any

from sqlalchemy import event
from sqlalchemy.event import api


@dataclasses.dataclass(frozen=True)
class PackageListener:
    """A call of :func:`sqlalchemy.event.listen`."""

    target: Any
    name: str
    function: Callable[..., Any]
    arguments: tuple[Any, ...]
    options: dict[str, Any]

    @property
    def is_active(self) -> bool:
        """True while it is called."""
        return bool(event.contains(self.target, self.name, self.function))


_listeners: dict[str, list[PackageListener]] = {}  # by package


@contextlib.contextmanager
def note_listeners(package: str) -> Iterator[None]:
    """Notes the listeners that the block adds as those of a package."""
    listen = api.listen
    found = _listeners.setdefault(package, [])

    def note(target: Any, identifier: str, fn: Callable[..., Any], *arguments: Any, **options: Any) -> None:
        listen(target, identifier, fn, *arguments, **options)
        found.append(PackageListener(target, identifier, fn, arguments, options))

    api.listen = event.listen = note  # `listens_for` calls the former
    try:
        yield
    finally:
        api.listen = event.listen = listen


def remove(packages: Collection[str]) -> list[PackageListener]:
    """Removes the listeners of packages, which it returns."""
    removed = [item for package in packages for item in _listeners.get(package, ()) if item.is_active]
    for item in removed:
        event.remove(item.target, item.name, item.function)
    return removed


@contextlib.contextmanager
def without_listeners(packages: Collection[str]) -> Iterator[None]:
    """Removes the listeners of packages for the time of the block."""
    found = remove(packages)
    try:
        yield
    finally:
        for item in found:
            event.listen(item.target, item.name, item.function, *item.arguments, **item.options)
