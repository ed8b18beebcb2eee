"""Packed states: the representations and the flat form of an object in a change record, compressed with a dictionary.

A record is a byte with the format, one with the number of the dictionary, one with the number of ids, these ids in 16
bytes each, and a raw DEFLATE stream (RFC 1951) of three lines of JSON: the representation after the change, the one
before, and the flat form. In the lines a control character, which JSON escapes, stands for each id, the first one for
the object's own. A record is without that id, which its row has in a column, and is read with the id behind it. Records
of format 1 have it as the first of their ids.

A dictionary holds what most representations of a model have in common. Its number is its line in
``dictionaries.jsonl``, from 1 on. Released lines never change and are never removed: records are read with them for as
long as they are kept, also when the package of their model is no longer installed. Later lines may name a model again:
new records use the last one. ``*`` is for models without a line.
"""

from __future__ import annotations

import dataclasses
import uuid
import zlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import orjson

from netinv_core import answer_size
from netinv_core.caches import lru_cache
from netinv_core.db.engine import json_bytes
from netinv_core.telemetry.log_context import current

FORMAT, WITH_OWN_ID = 2, 1
FORMATS = frozenset((FORMAT, WITH_OWN_ID))
LEVEL = 3  # of zlib, 1 to 9: 6 takes 3 µs more a record, of 15, for a twentieth of its size
PARTS = ("after", "before", "object_data")  # in the order in which they are packed
_LINES = {name: number for number, name in enumerate(PARTS)}
_FILE = Path(__file__).with_name("dictionaries.jsonl")
_MARKS = [bytes((code,)) for code in range(32) if code != ord("\n")]
_HEADER, _ID = 3, 16  # bytes
_CACHED = 8  # inflated records: the parts of one are read one after the other
SMALL = 4096  # bytes of a record that is inflated at once and may be kept: inflation is at most a thousandfold
_SLICE = 16384  # bytes of a larger record that are inflated before their size is counted


@dataclasses.dataclass(frozen=True)
class Dictionaries:
    """The dictionaries by number, and the number of the newest by content type."""

    texts: Sequence[bytes]
    numbers: Mapping[str, int]


@lru_cache("constants", 1)
def dictionaries() -> Dictionaries:
    """Reads the dictionaries."""
    entries = [orjson.loads(line) for line in _FILE.read_bytes().splitlines()]
    numbers = {label: number for number, entry in enumerate(entries, 1) for label in entry["types"]}
    return Dictionaries([b"", *(entry["text"].encode() for entry in entries)], numbers)


def pack(label: str, key: uuid.UUID, states: Mapping[str, Any]) -> bytes:
    """Packs the states of an object, by the names of :data:`PARTS`.

    :param label: the content type of the object
    :param key: the object's id
    """
    known = dictionaries()
    number = known.numbers.get(label, known.numbers["*"])
    content, ids = with_marks(key, states)
    compressor = zlib.compressobj(LEVEL, zlib.DEFLATED, -zlib.MAX_WBITS, zdict=known.texts[number])
    others = [item.bytes for item in ids[1:]]
    header = bytes((FORMAT, number, len(others)))
    return b"".join((header, *others, compressor.compress(content), compressor.flush()))


def with_marks(key: uuid.UUID, states: Mapping[str, Any]) -> tuple[bytes, list[uuid.UUID]]:
    """Returns the lines of JSON with marks for the object's id and those in its flat form, and these ids."""
    content = b"\n".join([json_bytes(states[name]) for name in PARTS])
    found = [value for value in states["object_data"].values() if type(value) is uuid.UUID]
    ids = list(dict.fromkeys([key, *found]))[: len(_MARKS)]
    for mark, item in zip(_MARKS, ids, strict=False):
        text = json_bytes(item)[1:-1]  # in a fifth of the time of str(item).encode()
        content = mark.join(content.split(text))  # in two thirds of the time of replace()
    return content, ids


def unpack(packed: bytes, name: str) -> Any:
    """Returns one of the packed states.

    :param packed: the record and the object's id, in 16 bytes or as text
    :raises ValueError: for a format or a dictionary of a later release
    :raises AnswerTooLarge: when the states that a request reads are larger together than an answer may be
    """
    lines, own_id = (_recently_inflated if len(packed) <= SMALL else _inflate)(packed)
    line, count = lines[_LINES[name]], packed[2]
    context = current()
    if context is not None and context.most_inflated:
        answer_size.count_inflated(context, len(line))
    if line != b"null":
        text = own_id + packed[_HEADER : _HEADER + count * _ID].hex()
        for mark, start in zip(_MARKS, range(0, len(text), 2 * _ID), strict=False):
            if mark in line:
                line = line.replace(mark, _id_text(text[start : start + 2 * _ID]))
    return orjson.loads(line)


def _inflate(packed: bytes) -> tuple[list[bytes], str]:
    """The three lines of JSON, with marks, and the digits of the id that is not among those of the record."""
    inflater, start, small = _inflater(packed), _start(packed), len(packed) <= SMALL
    content = inflater.decompress(packed[start:]) if small else b"".join(_slices(inflater, packed))
    lines, own_id = content.split(b"\n"), inflater.unused_data
    if packed[0] == WITH_OWN_ID:
        return lines, ""
    return lines, own_id.hex() if len(own_id) == _ID else own_id.decode().replace("-", "")


def _inflater(packed: bytes) -> Any:
    known, (version, number) = dictionaries(), packed[:2]
    if version not in FORMATS or number >= len(known.texts):
        raise ValueError(f"a change record of format {version} with dictionary {number} is of a later release")
    return zlib.decompressobj(-zlib.MAX_WBITS, zdict=known.texts[number])


def _start(packed: bytes) -> int:
    """The place of the stream, behind the ids."""
    return _HEADER + packed[2] * _ID


def inflated_size(packed: bytes, most: int) -> int:
    """The bytes of the states of a record; of more than ``most`` no more are inflated, and none are kept.

    :raises ValueError: as :func:`unpack`
    """
    size = 0
    for part in _slices(_inflater(packed), packed):
        size += len(part)
        if size > most:
            break
    return size


def _slices(inflater: Any, packed: bytes) -> Iterator[bytes]:
    """The content of a record in parts.

    :raises AnswerTooLarge: when they are larger together than an answer may be
    """
    context, size, start = current(), 0, _start(packed)
    while start < len(packed):
        part = inflater.decompress(packed[start : start + _SLICE])
        size, start = size + len(part), start + _SLICE
        if context is not None and context.most_inflated:
            answer_size.check_inflated(context, size)
        yield part


_recently_inflated = lru_cache("unpacked states", _CACHED)(_inflate)


def _id_text(digits: str) -> bytes:
    """An id of 32 hexadecimal digits as JSON has it; :class:`uuid.UUID` takes four times as long."""
    return f"{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}".encode()
