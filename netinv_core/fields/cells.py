"""Cells: text forms of single values, lists within a cell, and the escape of formulas."""

from __future__ import annotations

import csv
import decimal
import io
import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import orjson

from netinv_core.records import CellColumn as CellColumn

if TYPE_CHECKING:
    pass

BLANK = '""'  # the cell of a blank text in a field that may also be null, whose cell is empty
_BLANK_LIKE = re.compile(r"'*\"\"")
_FORMULA_LIKE = re.compile(r"'*[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]")
_BOOLEANS = {"yes": "true", "y": "true", "x": "true", "on": "true", "no": "false", "n": "false", "off": "false"}
_DATE = re.compile(r"([0-9]{1,4})([./-])([0-9]{1,2})\2([0-9]{1,4})(?:[ T]0?0:00(?::00)?)?")
_YEAR_LENGTH, _MONTHS = 4, 12
_NUMBER = re.compile(r"[+-]?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")


def boolean_text(text: str) -> str:
    """``true`` or ``false`` for the words of spreadsheets (``TRUE``, ``Yes``, ``x``); other texts as they are."""
    word = text.strip().casefold()
    return _BOOLEANS.get(word, word if word in ("true", "false") else text)


def date_text(text: str) -> str:
    """The date of a cell as ``YYYY-MM-DD``, where its form is unambiguous: ``2024/1/31``, ``31.1.2024``, ``1/31/2024``.

    Other texts stay, such as ``1/2/2024``, which is a day in January or in February.
    """
    match = _DATE.fullmatch(text.strip())
    if match is None:
        return text
    first, sign, second, third = match.groups()
    if len(first) == _YEAR_LENGTH and len(third) <= 2:
        return f"{first}-{second:0>2}-{third:0>2}"
    if len(third) != _YEAR_LENGTH or len(first) > 2:
        return text
    if sign == "." or int(first) > _MONTHS:
        return f"{third}-{second:0>2}-{first:0>2}"
    return f"{third}-{first:0>2}-{second:0>2}" if int(second) > _MONTHS or first == second else text


def text_of(value: Any) -> str:
    """The text of a value for reading: choices by value, nested objects by display, lists of these with commas."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    if isinstance(value, dict) and set(value) == {"value", "label"}:
        return text_of(value["value"])
    if isinstance(value, dict) and "display" in value:
        return text_of(value["display"])
    if isinstance(value, list) and not any(isinstance(item, list) or is_document(item) for item in value):
        return join_items(map(text_of, value))
    return json_text(value)


def is_document(value: Any) -> bool:
    """True for an object that is neither a choice nor a nested representation."""
    return isinstance(value, dict) and "display" not in value and set(value) != {"value", "label"}


def json_text(value: Any) -> str:
    """JSON of a value; text, times and ids without quotes."""
    text = orjson.dumps(value, str, orjson.OPT_UTC_Z | orjson.OPT_NON_STR_KEYS).decode()
    scalar = isinstance(value, decimal.Decimal) or not isinstance(value, dict | list | str)
    return text.strip('"') if scalar else text


def join_items(items: Iterable[str]) -> str:
    """One line of CSV: items with commas or quotes are quoted."""
    texts = list(items)
    if not texts:
        return ""
    stream = io.StringIO()
    csv.writer(stream).writerow(texts)  # it quotes the characters of its line terminator
    return stream.getvalue().removesuffix("\r\n")


def split_items(text: str) -> list[str]:
    """The items of :func:`join_items`; white space around them is removed.

    :raises ValueError: for unbalanced quotes
    """
    if not text.strip():
        return []
    try:
        rows = list(csv.reader(io.StringIO(text, newline=""), skipinitialspace=True, strict=True))
    except csv.Error:
        rows = []
    if len(rows) != 1:
        raise ValueError("Items are separated by commas; an item with a comma is in double quotes.")
    return [item.strip() for item in rows[0]]


def blank_marked(text: str) -> str:
    """The cell of a text that is not null; :data:`BLANK` for a blank one."""
    if not text:
        return BLANK
    return f"'{text}" if _BLANK_LIKE.fullmatch(text) else text


def without_blank_mark(text: str) -> str:
    """The text of a cell made by :func:`blank_marked`."""
    if text == BLANK:
        return ""
    return text[1:] if _BLANK_LIKE.fullmatch(text) else text


def escape_formula(text: str) -> str:
    """A cell with an apostrophe before it, if a spreadsheet could take it for a formula. Numbers are none."""
    return f"'{text}" if _FORMULA_LIKE.match(text) and not _NUMBER.fullmatch(text) else text


def without_escape(text: str) -> str:
    """The text of a cell made by :func:`escape_formula`."""
    return text[1:] if text.startswith("'") and _FORMULA_LIKE.match(text) else text


def escape(cells: Sequence[str]) -> list[str]:
    """A row of cells that are safe to open in a spreadsheet."""
    return [escape_formula(cell) for cell in cells]
