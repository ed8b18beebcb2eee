"""Obstacles: what stands against the undo of changes, found by comparison with the objects as they are now.

A later change of the same field stands against it, unless the field has the value again that the change gave it. So
changes can be undone one after the other, from the newest to the oldest, and an undo can be undone.
"""

from __future__ import annotations

import dataclasses
import uuid
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from netinv_core.auth import permissions
from netinv_core.changelog.differences import field_of, is_equal, is_own, members
from netinv_core.changelog.later_changes import LaterChanges
from netinv_core.changelog.models import CREATE, DELETE, UPDATE
from netinv_core.db.engine import as_stored
from netinv_core.db.expressions import in_parameter
from netinv_core.errors import Denied
from netinv_core.read import listing
from netinv_core.sql.plans import plan_of
from netinv_core.write import offered, trees
from netinv_undo.followed_values import FollowedValues
from netinv_undo.net_changes import NetChange
from netinv_undo.refusals import WHOLE, Refusals
from netinv_undo.restorable import NOT_KEPT, obstacle, recorded_values

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.uow import UnitOfWork

OPPOSITE = {CREATE: "delete", UPDATE: "change", DELETE: "add"}  # the permission that the undo of an action takes
GONE = "The object does not exist any more."
EXISTS = "An object with this id exists again."
OTHER_VALUE = "It has another value now."
NOTHING = "Nothing is left to undo."
UNDEFINED = "The field is no longer defined."
DERIVED = "It follows from another change, which is to be undone instead."


@dataclasses.dataclass(frozen=True)
class Restoration:
    """Values to write for a net change, by member, and the reasons why others are not restored.

    The values of an object to be deleted are empty. A led object is one that the user may not change: its values come
    by the undo of the change of another one that takes it along, or the undo is ``denied``, or refused without that
    where the user may not view the object.
    """

    change: NetChange
    values: Mapping[str, Any]
    not_restored: Mapping[str, str]
    is_led: bool = False
    denied: Denied | None = None


def by_endpoint(changes: Iterable[NetChange]) -> dict[Endpoint, list[NetChange]]:
    """Groups net changes by endpoint, in order."""
    groups: dict[Endpoint, list[NetChange]] = {}
    for change in changes:
        groups.setdefault(change.endpoint, []).append(change)
    return groups


def examine(uow: UnitOfWork, changes: Sequence[NetChange]) -> list[Restoration]:
    """Locks the objects and returns what is to be written, without changes that leave nothing to write.

    :raises Denied: without permission for one of the objects
    :raises RevertRefused: when anything stands against it
    """
    examination = _Examination(uow, changes)
    restorations = [examination.examine(change) for change in changes]
    examination.refusals.raise_any()
    needed = [item for item in restorations if item.values or item.change.action == CREATE]
    if not needed:
        for item in restorations:
            for name, reason in item.not_restored.items() or ((WHOLE, NOTHING),):
                examination.refusals.add(item.change, name, reason)
        examination.refusals.raise_any()
    return needed


class _Examination:
    """The objects of net changes as they are now, and the reasons against the undo."""

    def __init__(self, uow: UnitOfWork, changes: Sequence[NetChange]) -> None:
        self.refusals = Refusals()
        self._current: dict[tuple[str, uuid.UUID], Mapping[str, Any]] = {}
        self._led: dict[tuple[str, uuid.UUID], Denied | None] = {}
        trees.lock_whole(uow, {change.endpoint for change in changes})
        for action in (CREATE, UPDATE, DELETE):
            for endpoint, group in by_endpoint(c for c in changes if c.action == action).items():
                self._load(uow, endpoint, [change.key for change in group], action)
        self._followed = FollowedValues(changes, self._current)
        keys = {change.key for change in changes}
        records = {record.id for change in changes for record in change.records}
        self._later = LaterChanges(uow, keys, min(change.time for change in changes), records)

    def _load(self, uow: UnitOfWork, endpoint: Endpoint, keys: list[uuid.UUID], action: str) -> None:
        """Reads the objects that exist, and locks those that are to be written.

        :raises Denied: without permission for one that the user may view
        """
        permission = OPPOSITE[action]
        if action == UPDATE:
            keys = self._led_and_own(uow, endpoint, keys)
        elif action == DELETE:
            permissions.check(uow, endpoint, permission)
            column = endpoint.table.c.id
            statement = sa.select(column).where(in_parameter(column))
            existing = uow.execute(statement, {"keys": keys}).scalars()
            self._current |= {(endpoint.label, key): {} for key in existing}
            return
        else:
            rows = listing.rows_for_change(uow, endpoint, keys, permission)
            if _visible(uow, endpoint, [key for key in keys if key not in rows]):
                raise Denied()
            keys = list(rows)
        representations = plan_of(endpoint).fetch(uow, keys)
        self._current |= {(endpoint.label, key): as_stored(item) for key, item in representations}

    def _led_and_own(self, uow: UnitOfWork, endpoint: Endpoint, keys: list[uuid.UUID]) -> list[uuid.UUID]:
        """Locks the objects that the user may change; of the others, remembers what is to be said of each."""
        denied: Denied | None = None
        try:
            rows = listing.rows_for_change(uow, endpoint, keys, OPPOSITE[UPDATE])
        except Denied as error:
            rows, denied = {}, error
        led = [key for key in keys if key not in rows]
        visible = _visible(uow, endpoint, led) if denied is None else ()
        for key in led:
            self._led[endpoint.label, key] = denied or (Denied() if key in visible else None)
        return keys

    def examine(self, change: NetChange) -> Restoration:
        """Returns what is to be written to undo a change; adds the reasons against it to the refusals."""
        endpoint, permission = change.endpoint, OPPOSITE[change.action]
        current = self._current.get((endpoint.label, change.key))
        if (reason := offered.refusal(endpoint, permission)) is not None:
            self.refusals.add(change, WHOLE, reason)
        elif change.action == DELETE:
            return self._examine_deletion(change, current)
        elif current is None and change.action == UPDATE and not self._writable(endpoint, change.changed_names()):
            return Restoration(change, {}, {})  # there was nothing to write
        elif current is None:
            later = self._later.of_object(endpoint.label, change.key, DELETE)
            self.refusals.add(change, WHOLE, GONE, later)
        elif change.action == CREATE:
            self._examine_creation(change, current)
        else:
            return self._examine_update(change, current)
        return Restoration(change, {}, {})

    def _examine_deletion(self, change: NetChange, current: Mapping[str, Any] | None) -> Restoration:
        endpoint = change.endpoint
        values, obstacles = recorded_values(endpoint, change.before or {})
        if current is not None:
            later = self._later.of_object(endpoint.label, change.key, CREATE)
            self.refusals.add(change, WHOLE, EXISTS, later)
        for name, reason in obstacles.items():
            field = field_of(endpoint, name)
            if field is not None and field.required:
                self.refusals.add(change, name, reason)
        return Restoration(change, values, obstacles)

    def _examine_creation(self, change: NetChange, current: Mapping[str, Any]) -> None:
        names = members(change.endpoint, change.after)
        self._refuse_other_values(change, self._writable(change.endpoint, names), current)

    def _examine_update(self, change: NetChange, current: Mapping[str, Any]) -> Restoration:
        endpoint = change.endpoint
        values: dict[str, Any] = {}
        not_restored: dict[str, str] = {}
        before, now = members(endpoint, change.before), members(endpoint, current)
        followed = self._followed.remaining_values(change)
        names = change.changed_names()
        writable = self._writable(endpoint, names)
        for name in writable:
            reason = obstacle(endpoint, name, before.get(name))
            if reason is not None or obstacle(endpoint, name, members(endpoint, change.after).get(name)) == NOT_KEPT:
                not_restored[name] = reason or NOT_KEPT
            elif "." in name and name not in now:
                not_restored[name] = UNDEFINED
            elif name in followed and is_equal(endpoint, name, *followed[name]):
                continue  # the undo of what it shows restores it
            elif not is_equal(endpoint, name, before.get(name), now.get(name)):
                values[name] = endpoint.writable[name.partition(".")[0]].restored(before.get(name), now.get(name))
        self._refuse_other_values(change, values, current)
        if not writable:
            not_restored = dict.fromkeys((name for name in names if is_own(endpoint, name)), DERIVED)
        identity = (endpoint.label, change.key)
        return Restoration(change, values, not_restored, identity in self._led, self._led.get(identity))

    def _refuse_other_values(self, change: NetChange, names: Collection[str], current: Mapping[str, Any]) -> None:
        """Adds a reason for each member whose value is no longer the one that the change gave it.

        :raises Denied: for a led object
        """
        endpoint, after, now = (
            change.endpoint,
            {**members(change.endpoint, change.after), **self._followed.after(change)},
            members(change.endpoint, current),
        )
        for name in names:
            is_shown = name in now and obstacle(endpoint, name, after.get(name)) != NOT_KEPT
            if not is_shown or is_equal(endpoint, name, after.get(name), now.get(name)):
                continue
            if (endpoint.label, change.key) in self._led:
                refuse_led(self.refusals, change, self._led[endpoint.label, change.key])
                return
            self.refusals.add(change, name, OTHER_VALUE, self._later.of_field(endpoint, change.key, name))

    @staticmethod
    def _writable(endpoint: Endpoint, names: Iterable[str]) -> list[str]:
        return [name for name in names if name.partition(".")[0] in endpoint.writable]


def refuse_led(refusals: Refusals, change: NetChange, denied: Denied | None) -> None:
    """Adds the reason against the undo of a led object that is not taken back as it was; says no more of it.

    :raises Denied: unless the user may change other objects of the kind, and may not view this one
    """
    if denied is not None:
        raise denied
    refusals.add(change, WHOLE, GONE)


def _visible(uow: UnitOfWork, endpoint: Endpoint, keys: list[uuid.UUID]) -> set[uuid.UUID]:
    """Returns those of the ids whose objects exist and may be viewed by the user."""
    column = endpoint.table.c.id
    conditions = permissions.visible(uow, endpoint, endpoint.table)
    statement = sa.select(column).where(in_parameter(column), *conditions)
    return set(uow.execute(statement, {"keys": keys}).scalars()) if keys else set()
