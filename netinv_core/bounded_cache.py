"""Cache of the values that were used last."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

V = TypeVar("V")


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
