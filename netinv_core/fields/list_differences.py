"""Lists changed by difference: a body has ``{"add": [...], "remove": [...]}`` in place of the whole list.

A difference is applied to the list that is stored once the row of its object is locked, so that concurrent differences
of one list all take effect. Adding what a list has, and removing what it does not have, changes nothing.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import colander

from netinv_core.errors import short

if TYPE_CHECKING:
    from netinv_core.uow import UnitOfWork
    from netinv_core.write.draft import Draft, ListField

ADD, REMOVE = "add", "remove"
MEMBERS = frozenset({ADD, REMOVE})
UNKNOWN = "A list is changed by 'add' and 'remove'; '{}' is neither."
NO_LIST = "'{}' takes a list, not a {}."
IN_BOTH = "An item is either added or removed: '{}'."
REPLACED = "PUT takes the whole list; 'add' and 'remove' change it with PATCH."


@dataclasses.dataclass(eq=False)
class ListDifference:
    """Items to add to a list, and items to remove from it; ``applied`` once the draft has the whole list."""

    add: list[Any] = dataclasses.field(default_factory=list)
    remove: list[Any] = dataclasses.field(default_factory=list)
    applied: bool = False

    def applied_to(self, stored: Sequence[Any]) -> list[Any]:
        """The list without what is removed, then what is added. Items are ids or other plain values.

        :raises ValueError: for an item that is both added and removed
        """
        removed = set(self.remove)
        both = next((item for item in self.add if item in removed), None)
        if both is not None:
            raise ValueError(IN_BOTH.format(short(str(both))))
        return list(dict.fromkeys([*(item for item in stored if item not in removed), *self.add]))


def is_difference(value: Any) -> bool:
    """True for a value with a member ``add`` or ``remove``."""
    return isinstance(value, Mapping) and not value.keys().isdisjoint(MEMBERS)


def parse(draft: Draft, value: Any) -> ListDifference | None:
    """Parses the difference that a value of a list field is; ``None`` for any other value.

    :raises colander.Invalid: for other members, members that are no lists, and in a body that replaces the object
    """
    if not is_difference(value):
        return None
    if draft.replaces:
        raise colander.Invalid(None, REPLACED)
    for name, items in value.items():
        if name not in MEMBERS:
            raise colander.Invalid(None, UNKNOWN.format(short(str(name))))
        if not isinstance(items, list):
            raise colander.Invalid(None, NO_LIST.format(name, type(items).__name__))
    return ListDifference(list(value.get(ADD, ())), list(value.get(REMOVE, ())))


def apply(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """Turns the differences of drafts into whole lists: one SELECT for each field, none without differences."""
    groups: dict[ListField, list[tuple[Draft, ListDifference]]] = {}
    for draft in drafts:
        for field, difference in draft.differences:
            if difference.applied:
                continue
            difference.applied = True
            groups.setdefault(field, []).append((draft, difference))
    for field, sent in groups.items():
        keys = [draft.id for draft, _ in sent if not draft.new]
        stored = field.stored_lists(uow, keys) if keys else {}
        for draft, difference in sent:
            if field.name in draft.errors:
                continue
            try:
                field.set_list(draft, difference.applied_to(stored.get(draft.id, ())))
            except ValueError as error:
                draft.reject(field.name, str(error))
