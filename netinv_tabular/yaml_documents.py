"""YAML documents of JSON values. Values are built from parser events, so no tag runs a constructor.

Plain scalars are null, ``true``, ``false`` and decimal numbers; all others are text (``no``, ``2030-01-01``,
``12:30``). PyYAML is imported with the first document that is read.
"""

from __future__ import annotations

import math
import re
from typing import Any

import orjson

from netinv_core.errors import BadRequest, TooLarge

MAX_LEVELS = 100
_CONSTANTS: dict[str, bool | None] = {"": None, "~": None, "null": None, "Null": None, "NULL": None}
_CONSTANTS |= dict.fromkeys(("true", "True", "TRUE"), True) | dict.fromkeys(("false", "False", "FALSE"), False)
_INTEGER = re.compile(r"[-+]?(?:0|[1-9][0-9]{0,99})")
_FLOAT = re.compile(r"[-+]?[0-9]{1,100}\.[0-9]{0,100}(?:[eE][-+][0-9]{1,3})?")
# Text that no parser takes for anything else, without quotes: words that are not constants of YAML 1.1.
_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9_/.]*(?: [A-Za-z0-9_/.]+)*")
_WORDS = frozenset({"null", "true", "false", "yes", "no", "on", "off", "y", "n"})
_TEXT_TAG = "tag:yaml.org,2002:str"


def dump(json_content: bytes) -> bytes:
    """The document of a value, which is stated as JSON.

    Measured for 1000 devices: 80 ms; PyYAML's C dumper 1030 ms.
    """
    lines: list[str] = []
    _write(lines, "", orjson.loads(json_content), "")
    return "\n".join([*lines, ""]).encode()


def _write(lines: list[str], start: str, value: Any, indent: str) -> None:
    """Adds the lines of a value; ``start`` is the beginning of its first line, ``indent`` that of the others."""
    if not value or not isinstance(value, dict | list):
        lines.append(f"{start}{_written(value)}")
        return
    if start.endswith(": "):  # the items of a member are on lines of their own
        lines.append(start.rstrip())
        start = indent
    pairs = value.items() if isinstance(value, dict) else ((None, item) for item in value)
    for name, item in pairs:
        mark = "- " if name is None else f"{_written(name)}: "
        _write(lines, f"{start}{mark}", item, f"{indent}  ")
        start = indent


def _written(value: Any) -> str:
    """A scalar, or an empty list or object."""
    if not isinstance(value, str):
        return orjson.dumps(value).decode() if not isinstance(value, float) else _float(value)
    if _PLAIN.fullmatch(value) and value.lower() not in _WORDS:
        return value
    if value.isprintable():
        return orjson.dumps(value).decode()
    escaped = (
        char if char.isprintable() else f"\\U{ord(char):08x}"
        for char in value.replace("\\", "\\\\").replace('"', '\\"')
    )
    return f'"{"".join(escaped)}"'


def _float(number: float) -> str:
    """A number that every parser of YAML takes for a float: ``1.0e+20``."""
    digits, exponent, power = repr(number).partition("e")
    digits = digits if "." in digits else f"{digits}.0"
    return f"{digits}{exponent}{power}"


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
            raise _refused(event, "aliases are not accepted")
        if isinstance(event, yaml.ScalarEvent):
            self._put(event, _scalar(event))
        elif isinstance(event, yaml.SequenceStartEvent):
            self._open(event, [])
        elif isinstance(event, yaml.MappingStartEvent):
            self._open(event, {})
        elif isinstance(event, yaml.CollectionEndEvent):
            self._open_values.pop()
            self._names.pop()
        elif isinstance(event, yaml.DocumentStartEvent) and self.documents:
            raise _refused(event, "one document is expected")

    def _open(self, event: Any, value: Any) -> None:
        if event.tag is not None:
            raise _refused(event, "tags are not accepted")
        if len(self._open_values) >= MAX_LEVELS:
            raise _refused(event, f"values are nested in more than {MAX_LEVELS} levels")
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
                raise _refused(event, "a name is text" if name is None else f"the name {name[:100]!r} is there twice")
            self._names[-1] = name
        else:
            self._open_values[-1][self._names[-1]] = value
            self._names[-1] = None


def _scalar(event: Any) -> Any:
    """The value of a scalar. An integer of more than 64 bits becomes a float, as in JSON."""
    text = event.value
    if event.tag not in (None, "!", _TEXT_TAG):
        raise _refused(event, "tags are not accepted")
    if event.tag is not None or not event.implicit[0]:
        return text
    if text in _CONSTANTS:
        return _CONSTANTS[text]
    if _INTEGER.fullmatch(text):
        number = int(text)
        return number if -(2**63) <= number < 2**64 else float(number)
    number_or_text = float(text) if _FLOAT.fullmatch(text) else text
    return text if number_or_text in (math.inf, -math.inf) else number_or_text


def _refused(event: Any, reason: str) -> BadRequest:
    return BadRequest(f"YAML parse error - line {event.start_mark.line + 1}: {reason}")
