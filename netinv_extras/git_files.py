"""Files of a repository as data: JSON and YAML, bounded, and of nothing but what JSON can hold."""

from __future__ import annotations

import datetime
import math
from pathlib import PurePosixPath
from typing import Any

import orjson
import yaml

LARGEST = 1 << 20  # bytes
MOST_VALUES = 100_000
_YAML = (".yaml", ".yml")
SUFFIXES = (".json", *_YAML)
_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class Fault(ValueError):
    """What is wrong with a file."""


def text(content: bytes) -> str:
    """A file's text.

    :raises Fault: when it is none, or too long
    """
    if len(content) > LARGEST:
        raise Fault(f"it is larger than {LARGEST} bytes")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise Fault(f"it is not UTF-8: byte {error.start + 1}") from None


def document(path: str, content: bytes) -> Any:
    """What a file holds, by its suffix JSON or YAML.

    :raises Fault: when it is not what its suffix says
    """
    written = text(content)
    try:
        if PurePosixPath(path).suffix in _YAML:
            return _Plain().value(yaml.load(written, _Loader))  # noqa: S506 - a safe loader
        return orjson.loads(written)
    except orjson.JSONDecodeError as error:
        raise Fault(f"it is not JSON: {error}") from None
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise Fault(f"it is not YAML: {f'line {mark.line + 1}: ' if mark else ''}{error.problem or error.context}") from None
    except (yaml.YAMLError, ValueError) as error:
        raise error if isinstance(error, Fault) else Fault(f"it is not YAML: {' '.join(str(error).split())[:200]}") from None
    except RecursionError:
        raise Fault("it is nested too deeply") from None


class _Plain:
    """Values as JSON has them; what aliases repeat counts as often as it is repeated."""

    def __init__(self) -> None:
        self._left = MOST_VALUES

    def value(self, found: Any) -> Any:
        self._left -= 1
        if self._left < 0:
            raise Fault(f"it holds more than {MOST_VALUES} values")
        if isinstance(found, dict):
            return {self._name(name): self.value(item) for name, item in found.items()}
        if isinstance(found, list):
            return [self.value(item) for item in found]
        if isinstance(found, datetime.date):  # a datetime too
            return found.isoformat()
        if found is None or isinstance(found, str | bool | int) or (isinstance(found, float) and math.isfinite(found)):
            return found
        raise Fault(f"it holds a value that JSON has no form for: {type(found).__name__}")

    @staticmethod
    def _name(name: Any) -> str:
        if isinstance(name, str | int) and not isinstance(name, bool):
            return str(name)
        raise Fault(f"a mapping names a member by something else than text: {name}")
