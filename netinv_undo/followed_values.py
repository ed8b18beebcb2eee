"""Fields that show other objects, such as relationships, where the same undo takes the changes of these back.

The record of an object has what was shown at its time. What the request created later is not in it, what it deleted
later still is: the records of these other objects say what became of the values, before and after.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_undo.net_changes import NetChange

Values = dict[tuple[str, uuid.UUID], dict[str, Any]]  # by label and id, and by name of the field
Pairs = dict[str, list[tuple[Any, Any]]]  # representations before and after by label


class FollowedValues:
    """Values of such fields (:meth:`netinv_core.fields.base.Field.followed`): those that the changes left, and those
    that remain to be written beside the undo of the other objects.

    :param current: the representations of the objects now, by label and id
    """

    def __init__(self, changes: Sequence[NetChange], current: Mapping[tuple[str, uuid.UUID], Any]) -> None:
        done, undone = Pairs(), Pairs()
        for change in changes:
            done.setdefault(change.endpoint.label, []).append((change.before, change.after))
            undone.setdefault(change.endpoint.label, []).append((change.after, change.before))
        self._after = _read_followed(((change, change.after) for change in changes), done)
        self._before = _read_followed(((change, change.before) for change in changes), undone)
        self._now = _read_followed(((change, current.get(_identity(change))) for change in changes), undone)

    def after(self, change: NetChange) -> Mapping[str, Any]:
        """The values that the changes left, by name of the field."""
        return self._after.get(_identity(change), {})

    def remaining_values(self, change: NetChange) -> Mapping[str, tuple[Any, Any]]:
        """The values before the changes, and those that the undo of what is shown leads to, by name of the field."""
        before, now = self._before.get(_identity(change), {}), self._now.get(_identity(change), {})
        return {name: (value, now[name]) for name, value in before.items() if name in now}


def _identity(change: NetChange) -> tuple[str, uuid.UUID]:
    return change.endpoint.label, change.key


def _read_followed(representations: Iterable[tuple[NetChange, Any]], changes: Pairs) -> Values:
    """Returns the values of fields that are read on request only, which show other objects, after the changes."""
    groups: dict[Endpoint, dict[uuid.UUID, Any]] = {}
    for change, representation in representations:
        if representation is not None:
            groups.setdefault(change.endpoint, {})[change.key] = representation
    values = Values()
    for endpoint, group in groups.items():
        for name, field in endpoint.writable.items():
            if field.opt_in:
                found = {key: representation[name] for key, representation in group.items() if name in representation}
                for key, value in field.followed(found, changes).items():
                    values.setdefault((endpoint.label, key), {})[name] = value
    return values
