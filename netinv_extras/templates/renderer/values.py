"""Encoding of the values of templates in messages from the service to the renderer.

Numbers, texts, booleans and null are encoded as themselves, everything else as a list of a tag and its content.
Data can therefore not be mistaken for a reference to an object.
"""

from __future__ import annotations

import datetime
import decimal
from collections.abc import Sequence
from typing import Any, NamedTuple


class ObjectRef(NamedTuple):
    """Reference to an object: the number of its batch and its index in it."""

    batch: int
    place: int


class ObjectRefs(NamedTuple):
    """References to several objects of one batch."""

    batch: int
    places: Sequence[int]


class Label(NamedTuple):
    """A function without arguments that returns ``text``."""

    text: str


class Shown(NamedTuple):
    """Member of a representation. JSON objects in it have their ``display`` or ``label`` as text."""

    value: Any


class Hidden(NamedTuple):
    """Placeholder of a value that the user may not view."""


HIDDEN = Hidden()
OBJECT, OBJECTS, LABEL, SHOWN_OBJECT, SHOWN_LIST, HIDDEN_VALUE = "o", "q", "c", "m", "l", "x"
JSON, DATETIME, DATE, TIME, DECIMAL = "j", "t", "d", "h", "n"
_AS_THEY_ARE = (str, int, float, bool, type(None))


def encode(value: Any) -> Any:
    """Encodes a value; types without a tag (UUIDs, addresses) as text."""
    if type(value) in _AS_THEY_ARE:
        return value
    match value:
        case ObjectRef(batch, place):
            return [OBJECT, batch, place]
        case ObjectRefs(batch, places):
            return [OBJECTS, batch, list(places)]
        case Label(text):
            return [LABEL, text]
        case Shown(inner):
            return _encode_shown(inner)
        case Hidden():
            return [HIDDEN_VALUE]
        case dict() | list() | tuple():
            return [JSON, value]
        case datetime.datetime():
            return [DATETIME, value.isoformat()]
        case datetime.date():
            return [DATE, value.isoformat()]
        case datetime.time():
            return [TIME, value.isoformat()]
        case decimal.Decimal():
            return [DECIMAL, str(value)]
    return str(value)


def _encode_shown(value: Any) -> Any:
    if isinstance(value, dict):
        return [SHOWN_OBJECT, {str(name): _encode_shown(member) for name, member in value.items()}]
    if isinstance(value, list | tuple):
        return [SHOWN_LIST, [_encode_shown(item) for item in value]]
    return encode(value)
