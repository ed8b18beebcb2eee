"""Guards of changes: functions of packages that see objects before they are changed, and may refuse the changes.

A guard looks at objects under their lock, before the first change of them, and keeps what it needs in
``uow.guard_state``. It checks the net changes of a unit of work before their records are written, so at every door:
requests, jobs, plans, undos, imports and commands. A change that it lets pass as a bypass gets a mark in its record.
"""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from netinv_core.changelog.models import MAX_BYPASSED
from netinv_core.registry_cache import cached_in_registry

if TYPE_CHECKING:
    from netinv_core.changelog.change_set import Change
    from netinv_core.endpoint import Endpoint
    from netinv_core.registry import Registry
    from netinv_core.uow import UnitOfWork

Marks = Mapping[tuple[str, Any], str]  # what was bypassed, by label and id of the object


@dataclasses.dataclass(frozen=True)
class ChangeGuard:
    """Functions of a guard: ``look(uow, endpoint, ids)`` is called before objects are changed or deleted, and
    ``check(uow, changes)`` before change records are written. It returns marks, or raises
    :class:`netinv_core.errors.Denied`.
    """

    look: Callable[[UnitOfWork, Endpoint, Sequence[Any]], None]
    check: Callable[[UnitOfWork, Sequence[Change]], Marks]


@cached_in_registry
def _guards(registry: Registry) -> list[ChangeGuard]:
    return [guard for guards in registry.hooks.netinv_change_guards(registry=registry) for guard in guards]


def look(uow: UnitOfWork, endpoint: Endpoint, keys: Sequence[Any]) -> None:
    """Shows the guards objects that are about to be changed or deleted."""
    for guard in _guards(uow.registry):
        guard.look(uow, endpoint, keys)


def as_author(uow: UnitOfWork) -> UnitOfWork:
    """A copy of the unit of work with the permissions of the user on whose behalf it acts."""
    acting = copy.copy(uow)
    acting.identity, acting.author = uow.author or uow.identity, None
    return acting


def check(uow: UnitOfWork, changes: Sequence[Change]) -> None:
    """Has the guards check changes, and stores their marks in them.

    :raises Denied: for a change that one of them refuses
    """
    if not changes:
        return
    for guard in _guards(uow.registry):
        marks = guard.check(uow, changes)
        for change in changes if marks else ():
            mark = marks.get((change.endpoint.label, change.key))
            if mark is not None:
                change.bypassed = ", ".join(filter(None, (change.bypassed, mark)))[:MAX_BYPASSED]
    for change in changes:
        change.checked = True
