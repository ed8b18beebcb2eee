"""Preview of an undo: the numbers of objects by model, and the objects that are deleted along with others."""

from __future__ import annotations

import dataclasses
import uuid
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import sqlalchemy as sa

from netinv_core.auth import permissions
from netinv_core.changelog.models import CREATE, DELETE, UPDATE, ObjectChange
from netinv_core.errors import NotFound
from netinv_core.labels import plural_of, title_of
from netinv_core.models.base import table_of
from netinv_core.write.dry_run import dry_run
from netinv_extras.changelog.web.changes import CHANGE
from netinv_undo.reverting import revert
from netinv_web.forms.deletion import Affected, by_action

if TYPE_CHECKING:
    from netinv_core.uow import UnitOfWork

MAX_UNASKED = 50  # changes that are undone without a question
_change = table_of(ObjectChange)


@dataclasses.dataclass(frozen=True)
class UndoScope:
    """The changes that an undo takes: the numbers of objects by the action of the change, with the title of the model.

    An object that the request changed in several ways counts with each.
    """

    created: Sequence[tuple[int, str]]
    updated: Sequence[tuple[int, str]]
    deleted: Sequence[tuple[int, str]]

    @property
    def count(self) -> int:
        """The number of all objects."""
        return sum(number for number, _ in (*self.created, *self.updated, *self.deleted))

    @property
    def asks(self) -> bool:
        """True when the user is asked first: it deletes objects, or is about many."""
        return bool(self.created) or self.count > MAX_UNASKED


@dataclasses.dataclass(frozen=True)
class UndoConsequences:
    """The outcome of an undo, as a dry run found it: objects by model, and the number of those that are not listed."""

    deleted: Sequence[Affected]
    restored: Sequence[Affected]
    changed: Sequence[Affected]
    hidden: int


def scope_of(uow: UnitOfWork, change_id: uuid.UUID, *, whole_request: bool) -> UndoScope:
    """The changes that an undo takes; two statements.

    :raises NotFound: for a change that does not exist or that the user may not view
    """
    limits = permissions.visible(uow, uow.registry[CHANGE], _change)
    root = uow.execute(
        sa.select(_change.c.request_id, _change.c.action, _change.c.changed_object_type).where(
            _change.c.id == change_id, *limits
        )
    ).first()
    if root is None:
        raise NotFound()
    if not whole_request and root.action != DELETE:
        return _scope(uow, [(root.action, root.changed_object_type, 1)])
    statement = sa.select(
        _change.c.action, _change.c.changed_object_type, sa.func.count(_change.c.changed_object_id.distinct())
    ).where(_change.c.request_id == root.request_id)
    if not whole_request:
        statement = statement.where(_change.c.action == DELETE)
    grouped = statement.group_by(_change.c.action, _change.c.changed_object_type)
    return _scope(uow, [(action, label, count) for action, label, count in uow.execute(grouped)])


def _scope(uow: UnitOfWork, rows: Sequence[tuple[str, str, int]]) -> UndoScope:
    by_action: Mapping[str, list[tuple[int, str]]] = {CREATE: [], UPDATE: [], DELETE: []}
    for action, label, count in sorted(rows, key=lambda row: -row[2]):
        endpoint = uow.registry.get(label)
        title = label if endpoint is None else title_of(endpoint) if count == 1 else plural_of(endpoint)
        by_action[action].append((count, title))
    return UndoScope(by_action[CREATE], by_action[UPDATE], by_action[DELETE])


def consequences_of(uow: UnitOfWork, change_id: uuid.UUID, *, whole_request: bool) -> UndoConsequences:
    """Undoes changes in a dry run, and returns what that leads to.

    :raises RevertRefused: when something stands against it
    """
    with dry_run(uow) as preview:
        revert(uow, change_id, whole_request=whole_request)
    groups = {action: by_action(uow, preview, action) for action in (DELETE, CREATE, UPDATE)}
    shown = sum(item.count for items in groups.values() for item in items)
    hidden = preview.counts.get("changes", 0) - shown
    return UndoConsequences(groups[DELETE], groups[CREATE], groups[UPDATE], hidden)
