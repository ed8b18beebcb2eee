"""YAML as the files of the device-type library are written: text, lists and mappings, each mapping with its line.

Read event by event, so that a file can neither nest too deep for the reader nor make anything else, and text stays as it is
written: ``1.10`` is no number and ``on`` no truth value until a field takes it for one.
"""

from __future__ import annotations

import stat
from pathlib import Path
from typing import Any

import yaml

DEPTH = 20
SIZE = 2**20
TEXT = "tag:yaml.org,2002:str"
NULLS = frozenset({"", "~", "null", "Null", "NULL"})
_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_NO_KEY: Any = object()


class Fault(ValueError):
    """What is wrong with a file."""


class Block(dict[str, Any]):
    """A mapping that begins at a line, counted from 1."""

    line: int = 0


def read(path: Path) -> Any:
    """What a file holds: text, ``None``, lists and :class:`Block` s of these.

    :raises Fault: with the line, where there is one
    """
    try:
        found = path.stat()
        if not stat.S_ISREG(found.st_mode):  # reading a pipe would wait for ever
            raise Fault("it is no file")
        if found.st_size > SIZE:
            raise Fault(f"it is larger than {SIZE} bytes")
        text = path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise Fault(f"it is not UTF-8: byte {error.start + 1}") from None
    except OSError as error:
        raise Fault(f"it cannot be read: {error.strerror}") from None
    return parse(text)


def parse(text: str) -> Any:
    """The document in a text; as :func:`read`."""
    document = _Document()
    try:
        for event in yaml.parse(text, _Loader):
            document.take(event)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        where = f"line {mark.line + 1}, column {mark.column + 1}: " if mark else ""
        raise Fault(f"{where}{error.problem or error.context}") from None
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        raise Fault(f"line {line}: {error.reason}") from None
    return document.found


class _Document:
    """A document as far as it has been read: the blocks and lists that are open, and the key that waits for its value in each."""

    def __init__(self) -> None:
        self.found: Any = None
        self._begun = 0
        self._open: list[Any] = []
        self._keys: list[Any] = []
        self._named: dict[str, Any] = {}

    def take(self, event: Any) -> None:
        """Takes an event of the parser.

        :raises Fault: for what these files have no use for
        """
        if isinstance(event, yaml.DocumentStartEvent):
            self._begun += 1
            self._refuse(event, self._begun > 1, "a second document begins")
        elif isinstance(event, yaml.AliasEvent):
            self._refuse(event, event.anchor not in self._named, f"nothing is called {event.anchor}")
            self._put(event, self._named[str(event.anchor)])
        elif isinstance(event, yaml.ScalarEvent):
            plain = event.implicit[0]
            self._refuse(event, "\0" in event.value, "the null character is not allowed")
            self._refuse(event, not any(event.implicit) and event.tag != TEXT, f"the tag {event.tag} is not allowed")
            self._name(event, None if plain and event.value in NULLS else event.value)
        elif isinstance(event, yaml.CollectionStartEvent):
            self._refuse(event, not event.implicit, f"the tag {event.tag} is not allowed")
            self._refuse(event, len(self._open) >= DEPTH, "it nests too deep")
            self._begin(event)
        elif isinstance(event, yaml.CollectionEndEvent):
            self._open.pop()
            self._keys.pop()

    def _begin(self, event: Any) -> None:
        made: Any = Block() if isinstance(event, yaml.MappingStartEvent) else []
        if isinstance(made, Block):
            made.line = event.start_mark.line + 1
        self._name(event, made)
        self._open.append(made)
        self._keys.append(_NO_KEY)

    def _name(self, event: Any, value: Any) -> None:
        self._put(event, value)
        if event.anchor:
            self._named[event.anchor] = value

    def _put(self, event: Any, value: Any) -> None:
        if not self._open:
            self.found = value
        elif isinstance(self._open[-1], list):
            self._open[-1].append(value)
        elif self._keys[-1] is not _NO_KEY:
            self._open[-1][self._keys[-1]] = value
            self._keys[-1] = _NO_KEY
        else:
            self._refuse(event, not isinstance(value, str), "a key is text")
            self._refuse(event, value in self._open[-1], f"{value} is there twice")
            self._keys[-1] = value

    @staticmethod
    def _refuse(event: Any, wrong: bool, reason: str) -> None:
        if wrong:
            raise Fault(f"line {event.start_mark.line + 1}: {reason}")
