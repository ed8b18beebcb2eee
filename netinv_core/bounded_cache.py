"""Cache of the values that were used last, and counts of the uses of a cache."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

V = TypeVar("V")


@dataclasses.dataclass(slots=True)
class CacheCounts:
    """Uses of a cache since the last :meth:`take`. Threads that count at the same time may lose a count."""

    hits: int = 0
    misses: int = 0

    def take(self) -> tuple[int, int]:
        """The hits and misses, which are then counted from 0."""
        counts = self.hits, self.misses
        self.hits = self.misses = 0
        return counts


class BoundedCache(Generic[V]):
    """Values by key; at most ``size``, beyond which those are dropped that were not used for longest."""

    def __init__(self, size: int) -> None:
        self.size = size
        self._values: dict[Hashable, V] = {}

    def get_or_make(self, key: Hashable, make: Callable[[], V]) -> V:
        """Returns the value of a key; the one that ``make`` returns if there is none yet."""
        value = self._values.pop(key, None)
        if value is None:
            value = make()
        self._values[key] = value  # the last in the order of insertion is the one used last
        while len(self._values) > self.size:
            self._values.pop(next(iter(self._values)), None)
        return value

    def __len__(self) -> int:
        return len(self._values)
