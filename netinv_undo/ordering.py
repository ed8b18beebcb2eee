"""Order of an undo: what was created, changed and deleted is undone in the reverse order, as far as references permit.

An object that was created after a deletion may have the place of the deleted one: its name, its port, its rack unit. It
is deleted before that is created again, unless an update refers to it, which is undone first. An object that was
created before existed beside the deleted one, and is deleted at the end.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from netinv_core.fields import Reference
from netinv_core.models.columns import SET_NULL, column_info
from netinv_undo.net_changes import Identity, NetChange, links_of
from netinv_undo.obstacles import by_endpoint

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint


def made_after(changes: Sequence[NetChange], deletions: Sequence[NetChange]) -> list[NetChange]:
    """The created objects that were made after the first of the deletions."""
    first = min((moment(change.records[-1]) for change in deletions), default=None)
    return [change for change in changes if first is not None and moment(change.records[0]) > first]


def divide_updates(
    updates: Sequence[NetChange], deletions: Sequence[NetChange]
) -> tuple[list[NetChange], list[NetChange]]:
    """The updates to undo before the deleted objects are created again, and those to undo afterwards.

    The first ones are those that were made after the last deletion: they may have given room that is needed again.
    Those that bring back a reference to a deleted object come afterwards. The updates of a model stay together, as
    values may be exchanged among them.
    """
    deleted = {change.identity for change in deletions}
    last = max((moment(change.records[-1]) for change in deletions), default=None)
    before: list[NetChange] = []
    after: list[NetChange] = []
    for group in by_endpoint(updates).values():
        targets = {link.target for change in group for link in links_of(change.endpoint, change.before or {})}
        is_later = last is not None and all(moment(change.records[0]) > last for change in group)
        is_later = is_later and targets.isdisjoint(deleted)
        (before if is_later else after).extend(group)
    return before, after


def moment(record: Any) -> tuple[Any, int]:
    """The place of a change record in time."""
    return record.time, record.position


def held_objects(created: Sequence[NetChange], updates: Iterable[NetChange]) -> set[Identity]:
    """The created objects that cannot be deleted before these updates are undone: an updated object refers to
    them, or another one that is held does.

    References that deletion empties, and lists, hold nothing: the undo of the update restores them.
    """
    by_identity = {change.identity: change for change in created}
    found: set[Identity] = set()
    waiting = list(updates)
    while waiting:
        targets = {target for change in waiting for target in _holding_targets(change.endpoint, change.after or {})}
        new = (targets & by_identity.keys()) - found
        found |= new
        waiting = [by_identity[identity] for identity in new]
    return found


def _holding_targets(endpoint: Endpoint, representation: Any) -> Iterable[Identity]:
    """The targets of an object's references that forbid their deletion, or would delete the object with them."""
    for link in links_of(endpoint, representation):
        field = endpoint.writable.get(link.name)
        if isinstance(field, Reference):
            column = endpoint.table.c.get(field.attribute or "")
            info = None if column is None else column_info(column).foreign_key
            if info is not None and info.on_delete == SET_NULL:
                continue
        elif field is not None and link.deferrable:
            continue
        yield link.target
