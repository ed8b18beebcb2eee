"""The active config contexts, indexed by the objects that they are limited to."""

from __future__ import annotations

import collections
import dataclasses
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

Data = Mapping[str, Any]


@dataclasses.dataclass(frozen=True)
class ScopedContext:
    """An active context: its data, and the ids (as text) of the objects that it is limited to, by scope name.

    A scope whose last object was deleted has no ids: such a context applies to nothing.
    """

    data: Data
    targets: Mapping[str, frozenset[str]]
    key: Any
    name: str


class ActiveContexts:
    """The active contexts, given in merge order.

    Each is indexed under one of its scopes, that whose objects the fewest contexts are limited to: of thousands only
    those are compared that share an object with the one asked for.

    :ivar scopes: names of the scopes that list an object
    """

    def __init__(self, contexts: Sequence[ScopedContext]) -> None:
        self._contexts = contexts
        self._unlimited: list[int] = []  # positions in the merge order
        self._by_target: dict[tuple[str, str], list[int]] = {}
        numbers = collections.Counter(target for context in contexts for target in _targets(context, context.targets))
        self.scopes = frozenset(scope for scope, _ in numbers)
        for position, context in enumerate(contexts):
            if not context.targets:
                self._unlimited.append(position)
                continue
            sums = {scope: sum(numbers[target] for target in _targets(context, (scope,))) for scope in context.targets}
            indexed = min(sums, key=lambda scope: sums[scope])
            for target in _targets(context, (indexed,)):
                self._by_target.setdefault(target, []).append(position)

    def __bool__(self) -> bool:
        return bool(self._contexts)

    def applicable(self, ids: Mapping[str, Collection[str]]) -> list[ScopedContext]:
        """Returns the contexts that apply to an object, in merge order.

        :param ids: ids (as text) of the objects that the object belongs to, by scope name
        """
        found = set(self._unlimited)
        for scope, targets in ids.items():
            for target in targets:
                found.update(self._by_target.get((scope, target), ()))
        return [
            context
            for context in (self._contexts[position] for position in sorted(found))
            if all(not targets.isdisjoint(ids.get(scope, ())) for scope, targets in context.targets.items())
        ]


def _targets(context: ScopedContext, scopes: Iterable[str]) -> Iterable[tuple[str, str]]:
    """The objects that a context is limited to, as scope and id."""
    return ((scope, key) for scope in scopes for key in context.targets[scope])
