"""Reader for the YAML of the device-type library: text, lists and mappings, each mapping with its line number.

It consumes the parser's events instead of using a YAML loader. So the depth of nesting is limited, tags cannot
construct objects, and scalars stay text: ``1.10`` is no number and ``on`` no boolean until a field parses it.
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
    """An error in a file; its text is the reason."""


class Block(dict[str, Any]):
    """A mapping that begins at a line, counted from 1."""

    line: int = 0


def read(path: Path) -> Any:
    """Reads a file: returns text, ``None``, or lists and :class:`Block` mappings of these.

    :raises Fault: when the file cannot be read or parsed, with the line number of a parse error
    """
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):  # reading a pipe would block
            raise Fault("it is no file")
        if status.st_size > SIZE:
            raise Fault(f"it is larger than {SIZE} bytes")
        text = path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise Fault(f"it is not UTF-8: byte {error.start + 1}") from None
    except OSError as error:
        raise Fault(f"it cannot be read: {error.strerror}") from None
    return parse(text)


def parse(text: str) -> Any:
    """Parses a document from text; see :func:`read`."""
    document = _Document()
    try:
        for event in yaml.parse(text, _Loader):
            document.take(event)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        position = f"line {mark.line + 1}, column {mark.column + 1}: " if mark else ""
        raise Fault(f"{position}{error.problem or error.context}") from None
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        raise Fault(f"line {line}: {error.reason}") from None
    return document.root


class _Document:
    """State of reading a document.

    ``_open`` is the stack of open mappings and lists, and ``_keys`` the key in each that still needs its value.
    ``_named`` holds the values of anchors.
    """

    def __init__(self) -> None:
        self.root: Any = None
        self._begun = 0
        self._open: list[Any] = []
        self._keys: list[Any] = []
        self._named: dict[str, Any] = {}

    def take(self, event: Any) -> None:
        """Processes an event of the parser.

        :raises Fault: for a second document, tags, null characters, deep nesting and unknown aliases
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
        """Opens a mapping or list."""
        collection: Any = Block() if isinstance(event, yaml.MappingStartEvent) else []
        if isinstance(collection, Block):
            collection.line = event.start_mark.line + 1
        self._name(event, collection)
        self._open.append(collection)
        self._keys.append(_NO_KEY)

    def _name(self, event: Any, value: Any) -> None:
        """Adds a value, and stores it under its anchor if it has one."""
        self._put(event, value)
        if event.anchor:
            self._named[event.anchor] = value

    def _put(self, event: Any, value: Any) -> None:
        """Adds a value to the innermost open collection: as an item, as a key, or as the value of the last key."""
        if not self._open:
            self.root = value
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
