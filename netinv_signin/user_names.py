"""User names as directories compare them: all spellings of one name have one prepared form (RFC 4518)."""

from __future__ import annotations

import re
import stringprep
import unicodedata

_SPACES = re.compile(r" +")


def prepare(name: str) -> str:
    """The form of a user name by which attempts to sign in are counted: without characters that are mapped to nothing,
    in NFKC, without case, marks of spaces folded and those at the ends left out.
    """
    mapped = "".join(_map_character(character) for character in name)
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", mapped).casefold())
    return _SPACES.sub(" ", "".join(_map_character(character) for character in folded)).strip()


def _map_character(character: str) -> str:
    """A character after the step *map* (RFC 4518, 2.2): nothing for controls, a space for each kind of space."""
    if unicodedata.category(character) in ("Zs", "Zl", "Zp") or character in "\t\n\v\f\r\x85":
        return " "
    ignored = stringprep.in_table_b1(character) or unicodedata.category(character) in ("Cc", "Cf")
    return "" if ignored else character
