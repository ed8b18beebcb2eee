"""Filters as text, such as ``site:lisbon status:!planned name~core``, for people who type them.

Grammar: terms are separated by whitespace. A term without an operator is searched for (the filter ``q``); the others
are a filter's name, an operator and values with commas between them::

    name:value   equal            name:!value   not equal
    name~value   contains         name!~value   does not contain
    name>value   greater          name>=value   at least
    name<value   less             name<=value   at most

``null`` is the value of a reference that is not set. Other lookups are written with their suffix:
``name__isw:core``. Double quotes enclose a value with whitespace, commas, quotes or operators; ``\\`` before a quote or
a backslash takes it literally.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

SEARCH = "q"
OPERATORS = {":!": "n", ":": "", "!~": "nic", "~": "ic", ">=": "gte", ">": "gt", "<=": "lte", "<": "lt"}
_OPERATOR_OF = {suffix: operator for operator, suffix in OPERATORS.items()}
_NAME = re.compile(r"([A-Za-z_][A-Za-z0-9_-]*)(:!|!~|>=|<=|[:~<>])")
_ADDRESS = re.compile(r"[0-9A-Fa-f]{0,4}(:[0-9A-Fa-f]{0,4}){2,}(/\d+)?(?=\s|\Z)")  # of IPv6, or a MAC address
_QUOTED = re.compile(r'"((?:[^"\\]|\\.)*)("|\Z)', re.DOTALL)
_BARE = re.compile(r"[^\s,]+")
_WORD = re.compile(r"\S+")
_NEEDS_QUOTES = re.compile(r'[\s,"\\]|\A[!~:<>=]|\A\Z')
_HAS_OPERATOR = re.compile(r'[\s"\\:~<>!]')


def parse(text: str) -> list[tuple[str, list[str]]]:
    """The query parameters of a text, each with its values. Every text has a meaning: there are no errors."""
    parameters: dict[str, list[str]] = {}
    words: list[str] = []
    place = 0
    while place < len(text):
        if text[place].isspace():
            place += 1
            continue
        name = None if _ADDRESS.match(text, place) else _NAME.match(text, place)
        if name is None:
            word, place = _term(text, place, _WORD)
            words.append(word)
            continue
        values, place = _values(text, name.end())
        if values:
            suffix = OPERATORS[name[2]]
            parameters.setdefault(f"{name[1]}__{suffix}" if suffix else name[1], []).extend(values)
    if words:
        parameters.setdefault(SEARCH, []).append(" ".join(words))
    return list(parameters.items())


def _values(text: str, place: int) -> tuple[list[str], int]:
    """The values from a place on, and the place after them."""
    values: list[str] = []
    while place < len(text) and not text[place].isspace():
        if text[place] == ",":
            place += 1
            continue
        value, place = _term(text, place, _BARE)
        values.append(value)
    return [value for value in values if value], place


def _term(text: str, place: int, bare: re.Pattern[str]) -> tuple[str, int]:
    """The quoted or bare text at a place, and the place after it. A quote that is not closed reaches to the end."""
    quoted = _QUOTED.match(text, place)
    if quoted is not None:
        return re.sub(r"\\(.)", r"\1", quoted[1], flags=re.DOTALL), quoted.end()
    match = bare.match(text, place)
    assert match is not None  # the caller has skipped whitespace and commas
    return match[0], match.end()


def write_text(parameters: Sequence[tuple[str, Sequence[str]]]) -> str:
    """The text of query parameters; :func:`parse` gives them back. A search stands at the end."""
    terms = [_write_parameter(name, values) for name, values in parameters if name != SEARCH and values]
    for name, values in parameters:
        if name == SEARCH and len(values) == 1:
            terms.append(_quote(values[0]) if _HAS_OPERATOR.search(values[0]) else values[0])
        elif name == SEARCH:
            terms.append(_write_parameter(name, values))
    return " ".join(terms)


def _write_parameter(name: str, values: Sequence[str]) -> str:
    base, _, suffix = name.rpartition("__")
    if base and suffix in _OPERATOR_OF and suffix:
        name, operator = base, _OPERATOR_OF[suffix]
    else:
        operator = ":"
    return f"{name}{operator}{','.join(_quote(value) if _NEEDS_QUOTES.search(value) else value for value in values)}"


def _quote(value: str) -> str:
    escaped = value.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
