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
VALUES = 200_000  # of a file, with its keys; each alias counts as all that it stands for
LENGTH = 64  # characters of a text that count as one more value
TEXT = "tag:yaml.org,2002:str"
NULLS = frozenset({"", "~", "null", "Null", "NULL"})
_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_NO_KEY: Any = object()


class YamlFault(ValueError):
    """An error in a file; its text is the reason."""


class Block(dict[str, Any]):
    """A mapping that begins at a line, counted from 1; ``lines`` has the line of each key."""

    line: int = 0

    def __init__(self) -> None:
        super().__init__()
        self.lines: dict[str, int] = {}


def read(path: Path) -> Any:
    """Reads a file: returns text, ``None``, or lists and :class:`Block` mappings of these.

    :raises Fault: when the file cannot be read or parsed, with the line number of a parse error
    """
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):  # reading a pipe would block
            raise YamlFault("it is no file")
        if status.st_size > SIZE:
            raise YamlFault(f"it is larger than {SIZE} bytes")
        text = path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise YamlFault(f"it is not UTF-8: byte {error.start + 1}") from None
    except OSError as error:
        raise YamlFault(f"it cannot be read: {error.strerror}") from None
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
        raise YamlFault(f"{position}{error.problem or error.context}") from None
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        raise YamlFault(f"line {line}: {error.reason}") from None
    return document.root


class _Document:
    """State of reading a document.

    ``_open`` is the stack of open mappings and lists, and ``_keys`` the key in each that still needs its value.
    ``_begins`` has their anchors, and the size of the document before each; ``_levels`` how deep each of them nests
    so far. ``_named`` holds the complete values of anchors, with their size and their levels.
    """

    def __init__(self) -> None:
        self.root: Any = None
        self._begun = 0
        self._open: list[Any] = []
        self._keys: list[Any] = []
        self._begins: list[tuple[str | None, int]] = []
        self._levels: list[int] = []
        self._named: dict[str, tuple[Any, int, int]] = {}
        self._size = 0

    def take(self, event: Any) -> None:
        """Processes an event of the parser.

        :raises Fault: for a second document, tags, null characters, deep nesting, unknown aliases and aliases of what
            they are in, and for more values than :data:`VALUES`, aliases replaced
        """
        if isinstance(event, yaml.DocumentStartEvent):
            self._begun += 1
            self._refuse(event, self._begun > 1, "a second document begins")
        elif isinstance(event, yaml.AliasEvent):
            self._refuse(event, event.anchor not in self._named, f"nothing is called {event.anchor}")
            self._add(event, *self._named[str(event.anchor)])
        elif isinstance(event, yaml.ScalarEvent):
            plain = event.implicit[0]
            self._refuse(event, "\0" in event.value, "the null character is not allowed")
            self._refuse(event, not any(event.implicit) and event.tag != TEXT, f"the tag {event.tag} is not allowed")
            value = None if plain and event.value in NULLS else event.value
            size = 1 + len(event.value) // LENGTH
            self._add(event, value, size, 0)
            if event.anchor:
                self._named[event.anchor] = value, size, 0
        elif isinstance(event, yaml.CollectionStartEvent):
            self._refuse(event, not event.implicit, f"the tag {event.tag} is not allowed")
            self._begin(event)
        elif isinstance(event, yaml.CollectionEndEvent):
            self._end()

    def _begin(self, event: Any) -> None:
        """Opens a mapping or list."""
        collection: Any = Block() if isinstance(event, yaml.MappingStartEvent) else []
        if isinstance(collection, Block):
            collection.line = event.start_mark.line + 1
        before = self._size
        self._add(event, collection, 1, 1)
        self._open.append(collection)
        self._keys.append(_NO_KEY)
        self._begins.append((event.anchor, before))
        self._levels.append(1)

    def _end(self) -> None:
        """Closes the innermost mapping or list, and stores it under its anchor if it has one."""
        collection = self._open.pop()
        self._keys.pop()
        anchor, before = self._begins.pop()
        levels = self._levels.pop()
        if self._levels:
            self._levels[-1] = max(self._levels[-1], 1 + levels)
        if anchor:
            self._named[anchor] = collection, self._size - before, levels

    def _add(self, event: Any, value: Any, size: int, levels: int) -> None:
        """Adds a value of a size, which nests in a number of levels."""
        self._size += size
        self._refuse(event, self._size > VALUES, f"it has more than {VALUES:,} values")
        self._refuse(event, len(self._open) + levels > DEPTH, "it nests too deep")
        if self._levels:
            self._levels[-1] = max(self._levels[-1], 1 + levels)
        self._put(event, value)

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
            self._open[-1].lines[value] = event.start_mark.line + 1

    @staticmethod
    def _refuse(event: Any, wrong: bool, reason: str) -> None:
        if wrong:
            raise YamlFault(f"line {event.start_mark.line + 1}: {reason}")
