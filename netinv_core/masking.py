"""What the change log shows of values that are nobody else's business."""

from __future__ import annotations

from typing import Any

MASK = "********"
CHANGED = f"{MASK} (changed)"


def mask(value: Any) -> Any:
    """Whether there is a value, and nothing more of it."""
    return MASK if value else value


def mask_change(before: Any, after: Any, masked_before: Any, masked_after: Any) -> Any:
    """The masked form of a value after a change: another one than before if the value is another one."""
    if before != after and masked_before == masked_after and isinstance(masked_after, str):
        return masked_after.replace(MASK, CHANGED)
    return masked_after
