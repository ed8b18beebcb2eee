"""Parsing of JSON that clients sent, in bodies and in members of forms: levels of nesting are limited."""

from __future__ import annotations

import json
from typing import Any

import orjson

MAX_LEVELS = 100


class InvalidJson(ValueError):
    """JSON that is not taken. ``line`` and ``column`` are where it is wrong, 0 when that is not known.

    ``lenient`` is the value that the standard library reads from it, which may hold lone surrogates.
    """

    def __init__(self, reason: str, line: int = 0, column: int = 0, lenient: Any = None) -> None:
        super().__init__(reason)
        self.line, self.column, self.lenient = line, column, lenient


def parse(content: bytes | str) -> Any:
    """The value of a JSON document.

    :raises InvalidJson: for anything else, and for more than :data:`MAX_LEVELS` levels
    """
    try:
        value = orjson.loads(content)
    except orjson.JSONDecodeError as refused:
        raise _explain_error(content, refused) from None
    if _deeper(value, MAX_LEVELS):
        raise InvalidJson(f"values are nested in more than {MAX_LEVELS} levels")
    return value


def _explain_error(content: bytes | str, refused: Exception) -> InvalidJson:
    """The error in the words of the standard library, which names the place; its parser may exhaust the stack."""
    try:
        text = content if isinstance(content, str) else content.decode()
        lenient = json.loads(text, parse_constant=_no_constant)
    except json.JSONDecodeError as error:
        return InvalidJson(str(error), error.lineno, error.colno)
    except (ValueError, RecursionError) as error:
        return InvalidJson(str(error))
    return InvalidJson(str(refused), lenient=None if _deeper(lenient, MAX_LEVELS) else lenient)


def _no_constant(name: str) -> Any:
    raise ValueError(f"Out of range float values are not JSON compliant: {name}")


def _deeper(value: Any, levels: int) -> bool:
    """True if lists and objects are nested in more levels. Iterates level by level, without recursion."""
    level = [value] if isinstance(value, dict | list) else []
    for _ in range(levels):
        if not level:
            return False
        parts = (part for outer in level for part in (outer.values() if isinstance(outer, dict) else outer))
        level = [part for part in parts if isinstance(part, dict | list)]
    return bool(level)
