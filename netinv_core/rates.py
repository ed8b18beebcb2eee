"""Rates of requests, and token buckets in the memory of a process that enforce them."""

from __future__ import annotations

import collections
import dataclasses
import threading
import time

_PERIODS = {"second": 1, "minute": 60, "hour": 3600}  # seconds
MAX_BUCKETS = 10_000  # of a process; beyond that the ones not used for longest are dropped


@dataclasses.dataclass(frozen=True)
class Rate:
    """``requests`` in any ``seconds``; all of them may come at once."""

    requests: int
    seconds: int

    def __str__(self) -> str:
        return f"{self.requests}/{next(name for name, seconds in _PERIODS.items() if seconds == self.seconds)}"

    @property
    def per_second(self) -> float:
        """Requests that one more second allows."""
        return self.requests / self.seconds


def rate(text: str) -> Rate | None:
    """A rate such as ``600/minute``; ``None`` for an empty text.

    :raises ValueError: for another text
    :raises KeyError: for a period other than second, minute and hour
    """
    if not text.strip():
        return None
    requests, _, period = text.strip().lower().partition("/")
    if int(requests) < 1:
        raise ValueError(text)
    return Rate(int(requests), _PERIODS[period])


class MemoryBuckets:
    """Token buckets by key. A bucket holds as many tokens as its rate has requests, and fills at that rate."""

    def __init__(self) -> None:
        self._buckets: collections.OrderedDict[str, tuple[float, float]] = collections.OrderedDict()  # tokens, time
        self._changing = threading.Lock()

    def take(self, key: str, rate: Rate) -> float:
        """Takes a token. Returns 0, or the seconds until there is one."""
        now = time.monotonic()
        with self._changing:
            tokens, at = self._buckets.pop(key, (float(rate.requests), now))
            tokens = min(rate.requests, tokens + (now - at) * rate.per_second)
            granted = tokens >= 1
            self._buckets[key] = tokens - granted, now
            if len(self._buckets) > MAX_BUCKETS:
                self._buckets.popitem(last=False)
        return 0.0 if granted else (1 - tokens) / rate.per_second

    def __len__(self) -> int:
        return len(self._buckets)
