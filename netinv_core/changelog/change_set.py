"""Change set: the created, updated and deleted objects of a unit of work, written as one change record for each.

A record holds the representation before and after, and is written in the same transaction as the change itself. Several
changes of one object in one unit of work become one.
"""

from __future__ import annotations

import dataclasses
import uuid
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from netinv_core.changelog.masking import mask_change
from netinv_core.changelog.models import CREATE, DELETE, UPDATE, ObjectChange
from netinv_core.changelog.recorder import record
from netinv_core.models.base import table_of

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.uow import UnitOfWork


@dataclasses.dataclass
class Change:
    """What happened to one object; see :class:`ObjectChange`. ``record`` is the id of its row, once there is one."""

    endpoint: Endpoint
    key: Any
    action: str
    before: dict[str, Any] | None
    after: dict[str, Any] | None
    object_data: dict[str, Any]
    record: uuid.UUID | None = None

    @property
    def name(self) -> str:
        """What the object is called in the change log."""
        shown = self.after or self.before or {}
        return str(shown.get(self.endpoint.resource.name_attribute or "display", ""))[:200]

    def is_nothing(self, earlier: Change) -> bool:
        """Tells that nothing is left of this change and an earlier one of the object, of which it has the ``before``."""
        if self.action == DELETE:
            return earlier.action == CREATE
        return self.before is not None and self.after is not None and same(self.before, self.after)

    def mask(self) -> None:
        """Takes out what the change log does not keep, and keeps it visible that it changed."""
        for name, mask in self.endpoint.masked_columns.items():
            if not any(name in shown for shown in (self.before, self.after) if shown is not None):
                continue
            old, new = (self.before or {}).get(name), (self.after or {}).get(name)
            masked_old, masked_new = mask(old), mask(new)
            if self.before is not None:
                self.before = {**self.before, name: masked_old}
            if self.after is not None:
                masked_new = mask_change(old, new, masked_old, masked_new) if self.before is not None else masked_new
                self.after = {**self.after, name: masked_new}
            self.object_data = {**self.object_data, name: (self.after or self.before or {}).get(name)}


def same(before: dict[str, Any], after: dict[str, Any]) -> bool:
    """Tells that an update changed nothing but the time of the last one."""
    return all(before.get(name) == value for name, value in after.items() if name != "last_updated")


def with_masked(endpoint: Endpoint, shown: dict[str, Any], row: Mapping[str, Any]) -> dict[str, Any]:
    """A representation with the stored values of what the change log masks, by which it sees that one of them changed."""
    hidden = {name: row.get(name) for name in endpoint.masked_columns}
    return {**shown, **hidden} if hidden else shown


class ChangeSet:
    """The changes of a unit of work, until they are written."""

    def __init__(self) -> None:
        self._changes: dict[tuple[str, Any], Change] = {}

    def add(self, change: Change) -> None:
        """Takes a change; with an earlier one of the same object it becomes their net effect, which may be none."""
        name = (change.endpoint.label, change.key)
        earlier = self._changes.pop(name, None) if change.action == DELETE else self._changes.get(name)
        if earlier is not None:
            change.before = earlier.before
            if change.action != DELETE:
                change.action = CREATE if earlier.action == CREATE else UPDATE
            if change.is_nothing(earlier):
                self._changes.pop(name, None)
                return
        self._changes[name] = change

    def clear(self) -> None:
        """Forgets all changes."""
        self._changes.clear()

    def merge(self, later: ChangeSet) -> None:
        """Takes what another journal holds, after its own."""
        for change in later._changes.values():
            self.add(change)

    def write(self, uow: UnitOfWork) -> list[Change]:
        """Writes the rows, what follows them in the same statement where that is possible, and forgets them; gives what was written."""
        found, self._changes = list(self._changes.values()), {}
        recorded = [change for change in found if change.endpoint.resource.recorded and isinstance(change.key, uuid.UUID)]
        if recorded:
            for change in recorded:
                change.mask()
                change.record = uuid.uuid4()
            hooks = uow.registry.hooks
            followers = [follower for some in hooks.netinv_change_inserts(uow=uow, changes=recorded) for follower in some]
            record(uow, table_of(ObjectChange), [_row(uow, change, position) for position, change in enumerate(recorded)], followers)
            hooks.netinv_changes_recorded(uow=uow, changes=recorded)
        return found


def _row(uow: UnitOfWork, change: Change, position: int) -> dict[str, Any]:
    return {
        "id": change.record,
        "user_id": uow.identity.user_id,
        "user_name": uow.identity.username,
        "request_id": uow.request_id,
        "action": change.action,
        "changed_object_type": change.endpoint.label,
        "changed_object_id": change.key,
        "object_repr": change.name,
        "object_data": change.object_data,
        "before": change.before,
        "after": change.after,
        "position": position,
    }
