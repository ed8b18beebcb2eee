"""Revert of a change, or of all changes of a request, in the transaction of a unit of work.

Deleted objects are created again, updates are undone, created objects are deleted, in the order of
:mod:`netinv_undo.ordering`. Everything is written with the permissions and the rules that apply to clients, and
recorded as changes of the unit of work.
"""

from __future__ import annotations

import dataclasses
import uuid
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from netinv_core.changelog.models import CREATE, DELETE, UPDATE
from netinv_core.db.expressions import in_parameter
from netinv_core.errors import Denied, RequestError
from netinv_core.fields import Reference
from netinv_core.models.columns import CASCADE, column_info
from netinv_core.sql.plans import plan_of
from netinv_core.write.delete import children_first, delete
from netinv_undo.net_changes import NetChange, identity_of, load
from netinv_undo.obstacles import Restoration, by_endpoint, examine
from netinv_undo.ordering import divide_updates, held_objects, made_after
from netinv_undo.recreation import Recreation, restore_memberships
from netinv_undo.refusals import RevertRefused, refusal_of
from netinv_undo.updates import Updates

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.uow import UnitOfWork

MAX_PART = 250  # objects that are written between two steps of the progress
# What the undo of an action does to the object.
DONE = {CREATE: DELETE, UPDATE: UPDATE, DELETE: CREATE}


@dataclasses.dataclass(frozen=True)
class RevertedObject:
    """An object that a revert wrote: the action, its name in the change log and that in context, its
    representation now, and the members that were not restored.

    ``changes`` are the ids of the records that were undone, ``not_restored`` the reasons by member. There is no
    representation of an object that is deleted, or that was taken along and that the user may not change.
    """

    endpoint: Endpoint
    key: uuid.UUID
    action: str
    name: str
    name_in_context: str
    changes: Sequence[uuid.UUID]
    representation: dict[str, Any] | None
    not_restored: Mapping[str, str]


def revert(
    uow: UnitOfWork,
    change_id: uuid.UUID,
    *,
    whole_request: bool = False,
    advance: Callable[[int, int], None] | None = None,
) -> list[RevertedObject]:
    """Undoes a change, with ``whole_request`` all changes of its request; returns the objects that were written.
    ``advance`` is called between its parts with the number of objects that are done, and that of all.

    The number of statements depends on the number of models and on the depth of references, not on that of objects.
    With ``advance``, objects are created and deleted in parts of :data:`MAX_PART`, each of which takes the same number.

    :raises NotFound: for a change that does not exist or that the user may not view
    :raises Denied: without permission to create, change or delete one of the objects
    :raises RevertRefused: with the reasons by object and field, when later changes, references or rules stand against
        it
    """
    changes = load(uow, change_id, whole_request=whole_request)
    if advance is not None:
        advance(0, len(changes))  # their examination takes as long as the writes
    restorations = write(uow, changes, advance)
    uow.registry.hooks.netinv_reverted(uow=uow, changes=changes)
    written = _representations(uow, [item.change for item in restorations if not item.is_led])
    return [
        RevertedObject(
            item.change.endpoint,
            item.change.key,
            DONE[item.change.action],
            item.change.name,
            item.change.name_in_context,
            [record.id for record in item.change.records],
            written.get(item.change),
            item.not_restored,
        )
        for item in restorations
    ]


def write(
    uow: UnitOfWork, changes: Sequence[NetChange], advance: Callable[[int, int], None] | None = None
) -> list[Restoration]:
    """Undoes net changes; returns what was written. The errors are those of :func:`revert`."""
    restorations = examine(uow, changes)
    _Undo(uow, restorations, advance).run()
    return restorations


class _Undo:
    """The writes of an undo, in their order."""

    def __init__(
        self, uow: UnitOfWork, restorations: Sequence[Restoration], advance: Callable[[int, int], None] | None
    ) -> None:
        self._uow = uow
        self._restoration_of = {item.change: item for item in restorations}
        self._advance = advance
        self._most = len(restorations) if advance is None else MAX_PART
        self._done = 0
        self._created = self._with_action(CREATE)
        is_current = not self._created and not self._with_action(DELETE)
        self._updates = Updates(uow, restorations, self._report_progress, is_current=is_current)

    def _with_action(self, action: str) -> list[NetChange]:
        return [change for change in self._restoration_of if change.action == action]

    def _report_progress(self, count: int) -> None:
        self._done += count
        if count:
            self._tell()

    def _tell(self) -> None:
        if self._advance is not None:
            self._advance(self._done, len(self._restoration_of))

    def run(self) -> None:
        """Writes everything."""
        deleted = self._with_action(DELETE)
        restorations = [self._restoration_of[change] for change in deleted]
        early, late = divide_updates(self._with_action(UPDATE), deleted)
        first = made_after(self._created, deleted)
        self._delete(first, [*early, *late])
        self._updates.write(early)
        self._delete(first, late)
        Recreation(self._uow, restorations, self._most, self._report_progress).run()
        self._update_late(late)
        self._updates.settle()
        restore_memberships(self._uow, restorations)
        self._delete(self._created, [])

    def _update_late(self, updates: Sequence[NetChange]) -> None:
        """Undoes updates beside the created objects. What a rule refuses there, such as the master of a chassis that
        leaves it, is undone when those that no update holds are deleted, which may have taken it back.
        """
        if not (updates and self._created):
            self._updates.write(updates)
            return
        done = self._done
        try:
            with self._uow.savepoint():
                self._updates.write(updates)
        except RevertRefused:
            self._done = done
            self._delete(self._created, updates)
            self._updates.write(updates)

    def _delete(self, changes: Sequence[NetChange], updates: Sequence[NetChange]) -> None:
        """Deletes those created objects that are not held by updates that are still to be undone."""
        kept, there = held_objects(self._created, updates), set(self._created)
        chosen = [change for change in changes if change in there and change.identity not in kept]
        changed = set(chosen)
        self._created = [change for change in self._created if change not in changed]
        self._report_progress(len(chosen) - _delete(self._uow, chosen, self._most, self._report_progress))


def _delete(uow: UnitOfWork, changes: Sequence[NetChange], most: int, advanced: Callable[[int], None]) -> int:
    """Deletes created objects, children before parents; those that the deletion of another one includes go with it.

    At most so many objects of a model go at once, the last created first; returns the number of those that were told.
    """
    told = 0
    created = {change.identity for change in changes}
    groups = by_endpoint(change for change in changes if not _goes_with_another(change, created))
    endpoints = {endpoint.label: endpoint for endpoint in groups}
    for label in children_first(uow.registry, endpoints):
        group = list(groups[endpoints[label]])
        while group:
            group, part = group[:-most], group[-most:]
            _delete_part(uow, endpoints[label], part)
            told += len(part)
            advanced(len(part))
    return told


def _delete_part(uow: UnitOfWork, endpoint: Endpoint, group: Sequence[NetChange]) -> None:
    """Deletes those of the objects that are still there."""
    clause = in_parameter(endpoint.table.c.id)
    statement = sa.select(endpoint.table.c.id).where(clause)
    keys = set(uow.execute(statement, {"keys": [change.key for change in group]}).scalars())
    remaining = [change for change in group if change.key in keys]
    try:
        delete(uow, endpoint, [{"id": str(change.key)} for change in remaining])
    except RequestError as error:
        if isinstance(error, Denied):
            raise
        raise refusal_of(error, remaining) from error


def _goes_with_another(change: NetChange, created: set[tuple[str, str]]) -> bool:
    """True for an object whose foreign key cascades to another one of the created objects."""
    endpoint, after = change.endpoint, change.after or {}
    for name, field in endpoint.writable.items():
        if isinstance(field, Reference) and after.get(name):
            link = column_info(endpoint.table.c[field.attribute]).foreign_key
            target = identity_of(field, after[name])
            if link is not None and link.on_delete == CASCADE and target in created and target != change.identity:
                return True
    return False


def _representations(uow: UnitOfWork, changes: Sequence[NetChange]) -> dict[NetChange, dict[str, Any]]:
    """Returns the representations of the objects that exist now."""
    representations: dict[NetChange, dict[str, Any]] = {}
    for endpoint, group in by_endpoint(change for change in changes if change.action != CREATE).items():
        by_id = dict(plan_of(endpoint).fetch(uow, [change.key for change in group]))
        representations |= {change: by_id[change.key] for change in group if change.key in by_id}
    return representations
