"""Waits for a condition, in place of a time that would be too short on a busy machine."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

PATIENCE = 60.0  # seconds: for machines that have much else to do


def until(condition: Callable[[], Any], seconds: float = PATIENCE) -> Any:
    """Polls a condition; returns its first true value.

    :raises AssertionError: when it does not become true in time
    """
    deadline = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < deadline, "it did not come about in time"
        time.sleep(0.02)
    return found
