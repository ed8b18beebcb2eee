"""Comparisons of texts without regard to case and accents: ``gdansk`` is in ``Gdańsk``.

A pattern has for each letter the set of those that fold to it, so that the databases compare texts as they are stored,
with their own operators: no function of Python is called for a row.
"""

from __future__ import annotations

import unicodedata
from typing import Any

import sqlalchemy as sa

from netinv_core.db.expressions import ContainsFolded
from netinv_core.driver import Driver

# Latin letters with accents, which Unicode decomposes, and those that it does not.
_ACCENTED = (*range(0xC0, 0x250), *range(0x1E00, 0x1F00))
_OTHERS = {"ł": "l", "ø": "o", "đ": "d", "ħ": "h", "ŧ": "t", "ı": "i", "ŀ": "l"}


def fold_character(character: str) -> str:
    """The character in lower case and without accents."""
    lowered = character.lower()
    if lowered in _OTHERS:
        return _OTHERS[lowered]
    base = unicodedata.normalize("NFD", lowered)[:1]
    return base if base.isalpha() else lowered


def _accented_letters() -> dict[str, set[str]]:
    """The letters with accents that fold to each letter."""
    letters: dict[str, set[str]] = {}
    for code in _ACCENTED:
        base = fold_character(chr(code))
        if base.isascii() and base.isalpha():
            letters.setdefault(base, set()).add(chr(code))
    return letters


_BY_BASE = _accented_letters()


def _variants(character: str) -> str | frozenset[str]:
    """The set of the letters that a letter stands for; any other character as it is."""
    base = fold_character(character)
    if not base.isalpha():
        return character
    forms = {character, base, base.upper()} | _BY_BASE.get(base, set())
    return frozenset(form for form in forms if len(form) == 1)


def pattern(driver: Driver, text: str) -> str:
    """The pattern of a text for :func:`contains`."""
    return driver.folded_pattern(map(_variants, unicodedata.normalize("NFC", text)))


def contains(expression: Any, pattern: Any) -> Any:
    """The condition that a text contains another one, given by its :func:`pattern` or as the parameter for it."""
    return ContainsFolded(expression, sa.literal(pattern, sa.types.NullType()) if isinstance(pattern, str) else pattern)
