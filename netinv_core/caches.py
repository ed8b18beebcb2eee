"""Caches of a process that are bounded by size: of a function (:func:`lru_cache`), or of values by weight
(:class:`BoundedCache`). What depends on a registry is kept there (:mod:`netinv_core.registry_cache`). There are no
others.

All are counted alike, for the metrics ``netinv_cache_*``: entries, hits and misses by name.
"""

from __future__ import annotations

import contextlib
import functools
import threading
import weakref
from collections.abc import Callable, Hashable, Iterator
from typing import Any, Generic, NamedTuple, TypeVar

from cachetools import LRUCache

V = TypeVar("V")
F = TypeVar("F", bound=Callable[..., Any])


class Usage(NamedTuple):
    """Entries of the caches of a name, and hits and misses since the last :func:`usage`."""

    entries: int
    hits: int
    misses: int


class CacheCounts:
    """Counts of one cache; several caches may have one name. Threads that count at the same time may lose a count."""

    def __init__(self, name: str, entries: Callable[[], int]) -> None:
        self.name = name
        self.hits = self.misses = 0
        self._entries = entries
        with _lock:
            _counted.add(self)

    def take(self) -> Usage:
        """Returns the usage; hits and misses are then counted from 0."""
        usage = Usage(self._entries(), self.hits, self.misses)
        self.hits = self.misses = 0
        return usage


class _FunctionCounts(CacheCounts):
    """Counts of a function with :func:`functools.lru_cache`, which counts itself."""

    def __init__(self, name: str, function: Any) -> None:
        self._function = function
        self._taken = (0, 0)
        super().__init__(name, lambda: 0)

    def filled(self) -> tuple[int, int]:
        """The number of entries, and the most of them."""
        info = self._function.cache_info()
        return info.currsize, info.maxsize

    def take(self) -> Usage:
        info = self._function.cache_info()
        before, self._taken = self._taken, (info.hits, info.misses)
        # After cache_clear() the function counts from 0.
        hits, misses = (now - (then if then <= now else 0) for now, then in zip(self._taken, before, strict=True))
        return Usage(info.currsize, hits, misses)


_lock = threading.Lock()
_counted: weakref.WeakSet[CacheCounts] = weakref.WeakSet()
_of_functions: list[_FunctionCounts] = []  # keeps them, as functions live as long as the process


def lru_cache(name: str, size: int) -> Callable[[F], F]:
    """Decorator :func:`functools.lru_cache` of a cache with a name."""

    def decorate(function: F) -> F:
        cached: Any = functools.lru_cache(maxsize=size)(function)
        _of_functions.append(_FunctionCounts(name, cached))
        return cached

    return decorate


def usage() -> Iterator[tuple[str, Usage]]:
    """Yields the names of all caches with their usage."""
    with _lock:
        counted = list(_counted)
    by_name: dict[str, list[Usage]] = {}
    for counts in counted:
        by_name.setdefault(counts.name, []).append(counts.take())
    for name, usages in by_name.items():
        yield name, Usage(*map(sum, zip(*usages, strict=True)))


class BoundedCache(Generic[V]):
    """Values by key, in an LRU cache of a total weight of at most ``size`` that threads share.

    ``weigh`` gives the weight of a value, which must not change; by default each weighs 1, so that ``size`` is the
    number of values. A value that weighs more than ``size`` is not kept.
    """

    def __init__(self, name: str, size: int, weigh: Callable[[V], int] | None = None) -> None:
        self.name = name
        self._values: LRUCache[Hashable, V] = LRUCache(size, getsizeof=weigh)
        self._changing = threading.Lock()
        self._counts = CacheCounts(name, self._values.__len__)
        with _lock:
            _bounded.add(self)

    @property
    def size(self) -> int:
        """The greatest weight."""
        return int(self._values.maxsize)

    @property
    def weight(self) -> int:
        """The weight of the values there are."""
        return int(self._values.currsize)

    def get_or_make(self, key: Hashable, make: Callable[[], V]) -> V:
        """Returns the value of a key; the one that ``make`` returns if there is none yet."""
        value = self.get(key)
        if value is None:
            value = make()
            self.set(key, value)
        return value

    def get(self, key: Hashable) -> V | None:
        """Returns the value of a key; ``None`` if there is none."""
        with self._changing:
            value = self._values.get(key)
        self._counts.hits += value is not None
        self._counts.misses += value is None
        return value

    def set(self, key: Hashable, value: V) -> None:
        """Keeps a value in place of the one before."""
        with self._changing:
            self._values.pop(key, None)
            with contextlib.suppress(ValueError):  # of one that weighs more than the size
                self._values[key] = value

    def forget(self, key: Hashable) -> None:
        """Drops the value of a key."""
        with self._changing:
            self._values.pop(key, None)

    def __len__(self) -> int:
        return len(self._values)


_bounded: weakref.WeakSet[BoundedCache[Any]] = weakref.WeakSet()


def weights() -> Iterator[tuple[str, int, int]]:
    """Yields the name, the weight and the size of every cache that requests fill."""
    with _lock:
        bounded = list(_bounded)
    for cache in bounded:
        yield cache.name, cache.weight, cache.size
    for counts in _of_functions:
        yield counts.name, *counts.filled()
