"""Advice for a name that is not known, in messages about it."""

from __future__ import annotations

import difflib
from collections.abc import Collection


def nearest(name: str, known: Collection[str], likeness: float = 0.6) -> str | None:
    """The known name that is most similar, whatever its case and between its words; ``None`` without such a one."""
    by_letters = {_letters(item): item for item in sorted(known)}
    similar = difflib.get_close_matches(_letters(name), by_letters, 1, likeness)
    return by_letters[similar[0]] if similar else None


def _letters(name: str) -> str:
    return "".join(filter(str.isalnum, name)).lower()


def advice(name: str, known: Collection[str]) -> str:
    """The known name that is most similar, as a question; without such a one, all of them."""
    similar = difflib.get_close_matches(name, known, 1)
    return f"did you mean {similar[0]}?" if similar else f"expected one of {', '.join(known) or 'none'}"


def hint(name: str, known: Collection[str]) -> str:
    """The known name that is most similar, as the end of a sentence; nothing without such a one."""
    found = nearest(name, known)
    return f"; did you mean {found}?" if found else ""
