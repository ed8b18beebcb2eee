"""Patterns of names: ``eth[0-47]`` stands for 48 names, ``[a,b]-[01-12]`` for 24.

Brackets hold items separated by commas: words, ranges of numbers or ranges of single letters. Several brackets are
combined, the last one changes fastest. Numbers keep leading zeros: ``[08-10]`` stands for 08, 09, 10. A backslash takes
a bracket or a backslash literally.
"""

from __future__ import annotations

import itertools
import re

MAX_TEXTS = 1000  # texts that a pattern stands for
MAX_LENGTH = 20_000  # characters of a pattern
TOO_MANY = f"This stands for more than {MAX_TEXTS:,} objects."
_PARTS = re.compile(r"\\([\[\]\\])|\[([^\[\]]*)\]")
_NUMBERS = re.compile(r"(\d{1,9})-(\d{1,9})\Z")
_LETTERS = re.compile(r"([a-z])-([a-z])\Z|([A-Z])-([A-Z])\Z")


def is_pattern(text: str) -> bool:
    """True for a text that stands for more than one."""
    try:
        return len(expand(text)) > 1
    except ValueError:
        return True


def expand(text: str) -> list[str]:
    """The texts that a pattern stands for; a text without brackets stands for itself.

    :raises ValueError: for a range that does not rise, for a pattern that is too long, and for more than
        :data:`MAX_TEXTS` texts
    """
    if len(text) > MAX_LENGTH:
        raise ValueError(f"A pattern has no more than {MAX_LENGTH:,} characters.")
    parts: list[list[str]] = []
    end, count = 0, 1
    for match in _PARTS.finditer(text):
        parts.append([text[end : match.start()]])
        parts.append([match[1]] if match[1] is not None else _choices(match[2]))
        end, count = match.end(), count * len(parts[-1])
        if count > MAX_TEXTS:
            raise ValueError(TOO_MANY)
    parts.append([text[end:]])
    return ["".join(items) for items in itertools.product(*parts)]


def _choices(inner: str) -> list[str]:
    """The texts that a bracket stands for; one without a comma or a range is literal."""
    items: list[str] = []
    for item in inner.split(","):
        items += _range(item.strip())
        if len(items) > MAX_TEXTS:
            raise ValueError(TOO_MANY)
    return items if len(items) > 1 or _NUMBERS.match(inner.strip()) or _LETTERS.match(inner.strip()) else [f"[{inner}]"]


def _range(item: str) -> list[str]:
    numbers, letters = _NUMBERS.match(item), _LETTERS.match(item)
    if numbers is not None:
        first, last = int(numbers[1]), int(numbers[2])
        width = len(numbers[1]) if numbers[1].startswith("0") else 0
        _check(item, last - first)
        return [str(number).zfill(width) for number in range(first, last + 1)]
    if letters is not None:
        ends = [ord(letter) for letter in letters.groups() if letter is not None]
        _check(item, ends[1] - ends[0])
        return [chr(code) for code in range(ends[0], ends[1] + 1)]
    return [item]


def _check(item: str, steps: int) -> None:
    if steps < 0:
        raise ValueError(f"The range {item} has to rise.")
    if steps >= MAX_TEXTS:
        raise ValueError(TOO_MANY)
