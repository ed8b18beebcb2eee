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


class ShownMember(NamedTuple):
    """Member of a representation. JSON objects in it have their ``display`` or ``label`` as text."""

    value: Any


class Address(NamedTuple):
    """An address without a prefix length."""

    text: str


class Network(NamedTuple):
    """A network, or a host within its network: an address with a prefix length."""

    text: str


class ShareValue(NamedTuple):
    """A part of a whole."""

    part: int
    whole: int


class ListedValues(NamedTuple):
    """A list of values."""

    values: Sequence[Any]


class NullObject(NamedTuple):
    """Null of a reference to objects of a batch, which says what attributes they have."""

    batch: int


class FunctionResult(NamedTuple):
    """A function without arguments that returns ``value``."""

    value: Any


class NullAddress(NamedTuple):
    """Null of an address without a prefix length."""


class NullNetwork(NamedTuple):
    """Null of a network, or of a host within its network."""


class Hidden(NamedTuple):
    """Placeholder of a value that the user may not view."""


class ColumnValue(NamedTuple):
    """An attribute of all objects of a batch: its values, encoded, and what stands for a null among them."""

    values: Sequence[Any]
    null: Any = None


class Unknown(NamedTuple):
    """Attribute that the model does not have, and the most similar name that it has."""

    model: str
    nearest: str


HIDDEN = Hidden()
OBJECT, OBJECTS, RESULT, SHOWN_OBJECT, SHOWN_LIST, HIDDEN_VALUE = "o", "q", "c", "m", "l", "x"
ADDRESS, NETWORK, NULL_OBJECT, NULL_ADDRESS, NULL_NETWORK = "a", "w", "0", "1", "2"
SHARE = "s"
REQUEST = "@"  # first character of names of columns that are no attributes
META, WHERE = "@meta", "@where:"
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
        case FunctionResult(inner):
            return [RESULT, encode(inner)]
        case Address(text):
            return [ADDRESS, text]
        case Network(text):
            return [NETWORK, text]
        case ListedValues(items):
            return [SHOWN_LIST, [encode(item) for item in items]]
        case ShareValue(part, whole):
            return [SHARE, [part, whole]]
        case NullObject(batch):
            return [NULL_OBJECT, batch]
        case ShownMember(inner):
            return _encode_shown(inner)
        case Hidden():
            return [HIDDEN_VALUE]
        case NullAddress():
            return [NULL_ADDRESS]
        case NullNetwork():
            return [NULL_NETWORK]
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
