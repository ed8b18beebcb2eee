"""Masking: what the change log, messages and records show in place of credentials."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

MASK = "********"
CHANGED = f"{MASK} (changed)"
# Characters of a secret that is replaced wherever it occurs: a shorter one would be revealed by what it is replaced in.
SHORTEST = 8
_CREDENTIAL = re.compile(
    r"auth|token|secret|passw|cookie|credential|signature|session|bearer|jwt|key|\bsig\b|\bpwd\b", re.IGNORECASE
)


def mask(value: Any) -> Any:
    """The mask in place of a value, if there is one, and nothing more of it."""
    return MASK if value else value


def mask_change(before: Any, after: Any, masked_before: Any, masked_after: Any) -> Any:
    """The masked form of a value after a change: another one than before if the value is another one."""
    if before != after and masked_before == masked_after and isinstance(masked_after, str):
        return masked_after.replace(MASK, CHANGED)
    return masked_after


def credential_name(name: str) -> bool:
    """Tells whether the name of a header or parameter says that its value is a credential."""
    return _CREDENTIAL.search(name) is not None


def without_secrets(text: str, secrets: Iterable[str]) -> str:
    """A text with the mask in place of each secret, in the order given, so the longest has to be first.

    Secrets of fewer than :data:`SHORTEST` characters are left alone: masked letters of a text that somebody else chose
    would tell which they are.
    """
    for secret in secrets:
        if len(secret) >= SHORTEST:
            text = text.replace(secret, MASK)
    return text
