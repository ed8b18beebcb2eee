"""YAML documents of JSON values. Values are built from parser events, so no tag runs a constructor.

Plain scalars are null, ``true``, ``false`` and decimal numbers; all others are text (``no``, ``2030-01-01``,
``12:30``). PyYAML is imported with the first document that is read.
"""

from __future__ import annotations

import itertools
import math
import re
from collections import Counter
from collections.abc import Callable
from typing import Any

import orjson

from netinv_core.caches import lru_cache
from netinv_core.errors import BadRequest, TooLarge
from netinv_core.http.serialization import dumps

MAX_LEVELS = 100
LINES = 4096  # of which bytes are made together
LONG_NAME = 1000  # characters
SHORT = 64  # characters of names whose text is kept
_CONSTANTS: dict[str, bool | None] = {"": None, "~": None, "null": None, "Null": None, "NULL": None}
_CONSTANTS |= dict.fromkeys(("true", "True", "TRUE"), True) | dict.fromkeys(("false", "False", "FALSE"), False)
_INTEGER = re.compile(r"[-+]?(?:0|[1-9][0-9]{0,99})")
_FLOAT = re.compile(r"[-+]?[0-9]{1,100}\.[0-9]{0,100}(?:[eE][-+][0-9]{1,3})?")
# Text that no parser takes for anything else, without quotes: words that are not constants of YAML 1.1.
_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9_/.]*+(?: [A-Za-z0-9_/.]++)*+")
_WORDS = frozenset({"null", "true", "false", "yes", "no", "on", "off", "y", "n"})
_TEXT_TAG = "tag:yaml.org,2002:str"


def dump(value: Any, check: Callable[[int, int], None] = lambda size, values: None) -> bytes:
    """The document of a value that has a form in JSON (:func:`netinv_core.http.serialization.dumps`).

    ``check`` gets the number of bytes and of values while they grow, and refuses a document that becomes too large. A
    list of objects is written object by object; what several of them share, such as a config context, is written once,
    and its values count once.

    Measured for 1000 devices: 80 ms; PyYAML's C dumper 1030 ms.
    """
    document = _WrittenDocument(check)
    document.write(value)
    return document.content


class _WrittenDocument:
    """Bytes of a document: complete lines in ``_pieces``, and the last ones in ``_lines``. Each value has a line."""

    def __init__(self, check: Callable[[int, int], None]) -> None:
        self._check = check
        self._pieces: list[bytes] = []
        self._lines: list[str] = []
        self._size = self._values = 0

    @property
    def content(self) -> bytes:
        """The whole document."""
        self._keep()
        return b"".join(self._pieces)

    def write(self, value: Any) -> None:
        """Writes the value."""
        if type(value) is not list or not value:
            self._put("", value, "")
            return
        pairs = (pair for item in value if type(item) is dict for pair in item.items())
        seen = Counter(id(member) for _, member in pairs if type(member) in _CONTAINERS and member)
        shared: dict[int, list[bytes]] = {}  # the lines of a member, by its identity
        for item in value:
            if type(item) is not dict or not item:
                self._put("- ", item, "  ")
                continue
            start = "- "
            for name, member in item.items():
                mark = _member(start, name, "  ")
                if seen[id(member)] > 1:
                    self._lines.append(mark[:-1])
                    self._put_shared(member, shared)
                else:
                    self._put(mark, member, "    ")
                start = "  "
            self._keep()

    def _put_shared(self, value: Any, shared: dict[int, list[bytes]]) -> None:
        self._keep()
        key, begin = id(value), len(self._pieces)
        if key in shared:
            for piece in shared[key]:
                self._add(piece)
            return
        self._put_items("    ", value, "    ")
        self._keep()
        shared[key] = self._pieces[begin:]

    def _put(self, start: str, value: Any, indent: str) -> None:
        """Adds the lines of a value; ``start`` is the beginning of its first line, ``indent`` that of the others."""
        kind = type(value)
        if kind in _SCALARS:
            self._lines.append(start + _SCALARS[kind](value))
        elif kind not in _CONTAINERS:  # such as a date
            self._put(start, orjson.loads(dumps(value)), indent)
        elif not value:
            self._lines.append(f"{start}{{}}" if kind is dict else f"{start}[]")
        elif start.endswith(": "):  # the items of a member are on lines of their own
            self._lines.append(start[:-1])
            self._put_items(indent, value, indent)
        else:
            self._put_items(start, value, indent)

    def _put_items(self, start: str, value: Any, indent: str) -> None:
        lines, scalars, inner = self._lines, _SCALARS, f"{indent}  "
        pairs = value.items() if type(value) is dict else zip(itertools.repeat(_ITEM), value)
        for name, item in pairs:
            mark = f"{start}- " if name is _ITEM else _member(start, name, indent)
            kind = type(item)
            if kind in scalars:
                lines.append(mark + scalars[kind](item))
            else:
                self._put(mark, item, inner)
            if len(lines) > LINES:
                self._keep()
            start = indent

    def _keep(self) -> None:
        """Makes bytes of the last lines."""
        if self._lines:
            self._values += len(self._lines)
            self._add("\n".join([*self._lines, ""]).encode())
            self._lines.clear()

    def _add(self, piece: bytes) -> None:
        self._pieces.append(piece)
        self._size += len(piece)
        self._check(self._size, self._values)


def _member(start: str, name: Any, indent: str) -> str:
    """The beginning of a member. A long name has a mark, as parsers look for a colon in 1,024 characters only."""
    if type(name) is not str:
        (name,) = orjson.loads(dumps({name: None}))
    if len(name) < SHORT:
        return start + _short_name(name)
    text = _text(name)
    return f"{start}{text}: " if len(text) < LONG_NAME else f"{start}? {text}\n{indent}: "


@lru_cache("names in YAML", 4096)
def _short_name(name: str) -> str:
    """The beginning of a member without a long name, which the next objects have too."""
    return f"{_text(name)}: "


def _text(text: str) -> str:
    """A text, in double quotes if a parser may take it for anything else."""
    if _PLAIN.fullmatch(text) and text.lower() not in _WORDS:
        return text
    quoted = orjson.dumps(text).decode()  # YAML has the escapes of JSON, and \x, \u and \U
    if quoted.isprintable():
        return quoted
    return quoted.encode("ascii", "backslashreplace").decode().replace("\x7f", "\\x7f")


def _float(number: float) -> str:
    """A number that every parser of YAML takes for a float: ``1.0e+20``. Null for what is none, as in JSON."""
    if not math.isfinite(number):
        return "null"
    digits, exponent, power = repr(number).partition("e")
    digits = digits if "." in digits else f"{digits}.0"
    return f"{digits}{exponent}{power}"


_ITEM = object()  # in place of the name of a member: an item of a list
_CONTAINERS = frozenset({dict, list})
_SCALARS: dict[type, Callable[[Any], str]] = {
    str: _text,
    int: str,
    float: _float,
    bool: {True: "true", False: "false"}.__getitem__,
    type(None): lambda value: "null",
}


def load(text: str, *, max_values: int) -> Any:
    """Parses one document; ``None`` for an empty one.

    :raises BadRequest: for a syntax error, an alias, a tag, a repeated name, several documents, too many levels
    :raises TooLarge: for more values
    """
    import yaml

    builder = _DocumentBuilder()
    loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        for count, event in enumerate(yaml.parse(text, Loader=loader)):
            if count > 2 * max_values:  # a member has a name and a value
                raise TooLarge(f"The document has more than {max_values} values (netinv.max_json_values).")
            builder.add(event)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = f"line {mark.line + 1}: " if mark else ""
        raise BadRequest(f"YAML parse error - {line}{error.problem or error.context}") from None
    except yaml.YAMLError as error:
        raise BadRequest(f"YAML parse error - {' '.join(str(error).split())[:200]}") from None
    return builder.documents[0] if builder.documents else None


class _DocumentBuilder:
    """Builds values from events; ``open_values`` are the lists and objects that are not complete, outermost first."""

    def __init__(self) -> None:
        self.documents: list[Any] = []
        self._open_values: list[Any] = []
        self._names: list[Any] = []

    def add(self, event: Any) -> None:
        """Adds an event.

        :raises BadRequest: for what JSON does not have
        """
        import yaml

        if isinstance(event, yaml.AliasEvent):
            raise _refusal(event, "aliases are not accepted")
        if isinstance(event, yaml.ScalarEvent):
            self._put(event, _scalar(event))
        elif isinstance(event, yaml.SequenceStartEvent):
            self._open_collection(event, [])
        elif isinstance(event, yaml.MappingStartEvent):
            self._open_collection(event, {})
        elif isinstance(event, yaml.CollectionEndEvent):
            self._open_values.pop()
            self._names.pop()
        elif isinstance(event, yaml.DocumentStartEvent) and self.documents:
            raise _refusal(event, "one document is expected")

    def _open_collection(self, event: Any, value: Any) -> None:
        if event.tag is not None:
            raise _refusal(event, "tags are not accepted")
        if len(self._open_values) >= MAX_LEVELS:
            raise _refusal(event, f"values are nested in more than {MAX_LEVELS} levels")
        self._put(event, value)
        self._open_values.append(value)
        self._names.append(None)

    def _put(self, event: Any, value: Any) -> None:
        """Adds a value to the innermost list or object, where it may be a name."""
        import yaml

        if not self._open_values:
            self.documents.append(value)
        elif isinstance(self._open_values[-1], list):
            self._open_values[-1].append(value)
        elif self._names[-1] is None:
            name = event.value if isinstance(event, yaml.ScalarEvent) else None
            if name is None or name in self._open_values[-1]:
                raise _refusal(event, "a name is text" if name is None else f"the name {name[:100]!r} is there twice")
            self._names[-1] = name
        else:
            self._open_values[-1][self._names[-1]] = value
            self._names[-1] = None


def _scalar(event: Any) -> Any:
    """The value of a scalar. An integer of more than 64 bits becomes a float, as in JSON."""
    text = event.value
    if event.tag not in (None, "!", _TEXT_TAG):
        raise _refusal(event, "tags are not accepted")
    if event.tag is not None or not event.implicit[0]:
        return text
    if text in _CONSTANTS:
        return _CONSTANTS[text]
    if _INTEGER.fullmatch(text):
        number = int(text)
        return number if -(2**63) <= number < 2**64 else float(number)
    number_or_text = float(text) if _FLOAT.fullmatch(text) else text
    return text if number_or_text in (math.inf, -math.inf) else number_or_text


def _refusal(event: Any, reason: str) -> BadRequest:
    return BadRequest(f"YAML parse error - line {event.start_mark.line + 1}: {reason}")
