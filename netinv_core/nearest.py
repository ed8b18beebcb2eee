"""Advice for a name that is not known, in messages about it."""

from __future__ import annotations

import difflib
from collections.abc import Collection


def advice(name: str, known: Collection[str]) -> str:
    """The known name that is most similar, as a question; without such a one, all of them."""
    similar = difflib.get_close_matches(name, known, 1)
    return f"did you mean {similar[0]}?" if similar else f"expected one of {', '.join(known) or 'none'}"
