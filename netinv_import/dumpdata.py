"""Reader of files that Django's ``dumpdata`` has written: ``[{"model": "app.model", "pk": …, "fields": {…}}, …]``."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TextIO

from netinv_core.importing.dump import Dump

EXPECTED = "a list of objects with model, pk and fields is expected"
_SPACE = re.compile(r"[ \t\r\n]*")
SQL_BEGINNINGS = ("--", "SET ", "CREATE ", "PGDMP")
CHUNK_LENGTH = 1 << 18


def read(path: Path) -> Dump:
    """Reads a dump from a file. Objects without ``pk`` (with natural keys) get their position as ``no. <n>``.

    :raises ValueError: when it is not a dump, or has two objects of one model and key
    """
    dump = Dump()
    try:
        for position, item in enumerate(_items(path), start=1):
            label, fields = item["model"].lower(), dict(item["fields"])
            key = item.get("pk", f"no. {position}")
            if not isinstance(key, int | str):
                raise TypeError(f"the pk {key} is neither a number nor a text")
            rows = dump.rows(label)
            if key in rows:
                raise ValueError(f"{path} has {label} {key} twice")
            rows[key] = fields
    except (json.JSONDecodeError, UnicodeDecodeError, KeyError, TypeError, AttributeError, OverflowError) as error:
        raise ValueError(f"{path} is not a dump: {EXPECTED} ({error})") from None
    return dump


def _items(path: Path) -> Iterator[Any]:
    """Yields the members of the list in a JSON file, of which a part is in memory.

    :raises ValueError: when it is a database dump in SQL
    :raises TypeError: when it is not a list
    """
    with path.open(encoding="utf-8-sig") as file:
        text = file.read(CHUNK_LENGTH).lstrip()
        if text.startswith(SQL_BEGINNINGS):
            raise ValueError(
                f"{path} is a database dump in SQL: restore it into a PostgreSQL database and give the database's URL"
            )
        if not text.startswith("["):
            raise TypeError(f"it is {type(json.loads(text + file.read())).__name__}")
        yield from _members(text, file)


def _members(text: str, file: TextIO) -> Iterator[Any]:
    """Yields the members of a list, which ``text`` begins and ``file`` goes on with."""
    decode, position, length = json.JSONDecoder().raw_decode, _after_space(text, 1), CHUNK_LENGTH
    while not text.startswith("]", position):
        try:
            item, end = decode(text, position)
            end = _after_space(text, end)
        except json.JSONDecodeError:
            end = len(text)
        if end == len(text):  # the member may go on beyond the text
            if not (more := file.read(length)):
                json.loads(f"[{text[position:]}")  # says what is wrong
                raise TypeError("it has no end")
            text, position, length = text[position:] + more, 0, length * 2
            position = _after_space(text, 0)
            continue
        yield item
        if text[end] not in ",]":
            raise json.JSONDecodeError("Expecting ',' delimiter", text, end)
        position, length = _after_space(text, end + (text[end] == ",")), CHUNK_LENGTH
    if rest := (text[position + 1 :] + file.read()).strip():
        raise json.JSONDecodeError("Extra data", rest, 0)


def _after_space(text: str, position: int) -> int:
    found = _SPACE.match(text, position)
    return found.end() if found else position
