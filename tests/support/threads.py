"""Calls made at the same time from many threads."""

from __future__ import annotations

import concurrent.futures
from collections.abc import Callable
from typing import Any

CLIENTS = 64


def at_once(work: Callable[[int], Any], times: int = CLIENTS) -> list[Any]:
    """The results of ``times`` calls made at the same time."""
    with concurrent.futures.ThreadPoolExecutor(times) as pool:
        return list(pool.map(work, range(times)))
