"""Filters of templates. The renderer loads this file alone, without the package and without netinv."""

from __future__ import annotations


def ticket(value: str, prefix: str = "CHG") -> str:
    """The number of a change: ``7`` → ``CHG-0007``."""
    return f"{prefix}-{int(value):04}"
