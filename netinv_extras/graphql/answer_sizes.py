"""Sizes of the objects in the answer to a query, added up while it is built.

The executor makes an object once for each row and refers to it wherever the answer holds it; only JSON repeats it. So
each object knows the size of all that is below it, and a level is refused as soon as it is too large.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from operator import add
from typing import TYPE_CHECKING, Any

from netinv_core import answer_size
from netinv_extras.graphql.types import BOOLEAN, DATE, DATE_TIME, FLOAT, INT, Member, ScalarMember

if TYPE_CHECKING:
    from netinv_core.registry import Registry

Size = tuple[int, int]  # objects, bytes
NOTHING: Size = (0, answer_size.VALUE)
_SHORT = {INT, BOOLEAN, FLOAT, DATE, DATE_TIME}


class AnswerSizes:
    """The sizes of the representations of one query."""

    def __init__(self, registry: Registry) -> None:
        self._registry = registry
        self._sizes: dict[int, Size] = {}  # by identity: the executor keeps each object until its parents are made
        self._built = 0
        self._root: Size = (0, 0)

    def add(
        self, name: str, member: Member | None, values: Sequence[Any], objects: list[int], sizes: list[int]
    ) -> None:
        """Adds the values of a member to the sizes of the objects that have it.

        :raises AnswerTooLarge: when these objects together, or all values made so far, are too large for the answer
        """
        constant = len(name) + answer_size.MEMBER
        if member is None or isinstance(member, ScalarMember):
            if member is not None and member.type in _SHORT:
                own = [constant + answer_size.VALUE] * len(values)
            else:
                own = [constant + size for size in answer_size.sizes_of(values)]
            self._built += sum(own)
        else:
            below = self._all_of(values)
            objects[:] = map(add, objects, (count for count, _ in below))
            own = [constant + size for _, size in below]
            self._built += (constant + answer_size.VALUE) * len(values)
        sizes[:] = map(add, sizes, own)
        answer_size.check(self._registry, sum(objects), max(sum(sizes), self._built))

    def keep(self, representations: Iterable[Any], objects: Iterable[int], sizes: Iterable[int]) -> None:
        """Stores the sizes of objects that are complete."""
        self._sizes.update(zip(map(id, representations), zip(objects, sizes, strict=True), strict=True))

    def add_root(self, value: Any) -> None:
        """Adds the value of a root field to the answer.

        :raises AnswerTooLarge: when the answer is too large with it
        """
        ((objects, size),) = self._all_of([value])
        self._root = self._root[0] + objects, self._root[1] + size
        answer_size.check(self._registry, *self._root)

    def _all_of(self, values: Sequence[Any]) -> list[Size]:
        """Returns the size of each object, or of each list of objects; a list that several share is added up once."""
        lists: dict[int, Size] = {}
        found = []
        for value in values:
            if value.__class__ is list:
                if id(value) not in lists:
                    parts = [self._sizes.get(id(part), NOTHING) for part in value]
                    lists[id(value)] = sum(part[0] for part in parts), sum(part[1] + 1 for part in parts) + 2
                found.append(lists[id(value)])
            else:
                found.append(NOTHING if value is None else self._sizes[id(value)])
        return found
