"""Files of a repository as data: JSON and YAML, bounded, and of nothing but what JSON can hold."""

from __future__ import annotations

import datetime
import math
from pathlib import PurePosixPath
from typing import Any

import orjson
import yaml

LARGEST = 1 << 20  # bytes
MOST_VALUES = 100_000  # of one file
MOST_TOGETHER = 1_000_000  # of all files of a kind
DEEPEST = 100
LONGEST_NUMBER = 100  # characters
TOO_MANY = f"it holds more than {MOST_VALUES} values"
TOO_DEEP = "it is nested too deeply"
TOO_LARGE = "it holds a number that is too large"
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


class Reader:
    """Reads the data files of one kind of contents; what they hold together is bounded too."""

    def __init__(self) -> None:
        self._left = MOST_TOGETHER

    def document(self, path: str, content: bytes) -> Any:
        """The data of a file, by its suffix JSON or YAML.

        :raises Fault: when it is not what its suffix says, or holds too much
        """
        written = text(content)
        try:
            value = _yaml(written) if PurePosixPath(path).suffix in _YAML else orjson.loads(written)
            plain = _Plain(min(MOST_VALUES, self._left))
            value = plain.value(value)
        except orjson.JSONDecodeError as error:
            raise Fault(f"it is not JSON: {error}") from None
        except yaml.MarkedYAMLError as error:
            mark = error.problem_mark or error.context_mark
            raise Fault(f"it is not YAML: {f'line {mark.line + 1}: ' if mark else ''}{error.problem or error.context}") from None
        except (yaml.YAMLError, ValueError) as error:
            raise error if isinstance(error, Fault) else Fault(f"it is not YAML: {' '.join(str(error).split())[:200]}") from None
        except RecursionError:
            raise Fault(TOO_DEEP) from None
        self._left -= plain.count
        return value


def _yaml(written: str) -> Any:
    """The value of a YAML text: its events are counted before it is loaded, because the loader recurses in C, where nothing bounds it.

    :raises Fault: when it is nested too deeply, or holds too much
    """
    depth = 0
    for count, event in enumerate(yaml.parse(written, _Loader)):
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
        if depth > DEEPEST:
            raise Fault(TOO_DEEP)
        if count > 2 * MOST_VALUES:  # a member has a name and a value
            raise Fault(TOO_MANY)
    return yaml.load(written, _BoundedLoader)  # noqa: S506 - a safe loader


class _BoundedLoader(_Loader):  # type: ignore[misc]
    """A safe loader that bounds what a few characters can make it do: merge keys that double, numbers of base 60."""

    merged = 0

    def flatten_mapping(self, node: Any) -> None:
        super().flatten_mapping(node)
        self.merged += len(node.value)
        if self.merged > 2 * MOST_VALUES:
            raise Fault(TOO_MANY)

    def construct_bounded_int(self, node: Any) -> int:
        """An integer; one of base 60 (YAML 1.1: ``190:20:30``) takes time that grows with the square of its length."""
        if len(node.value) > LONGEST_NUMBER:
            raise Fault(TOO_LARGE)
        return int(self.construct_yaml_int(node))


_BoundedLoader.add_constructor("tag:yaml.org,2002:int", _BoundedLoader.construct_bounded_int)


class _Plain:
    """Values as JSON has them; what aliases repeat counts as often as it is repeated."""

    def __init__(self, most: int) -> None:
        self._most = most
        self.count = 0

    def value(self, found: Any) -> Any:
        """The value of a node.

        :raises Fault: when JSON has no form for it, or there are too many
        """
        self.count += 1
        if self.count > self._most:
            raise Fault(TOO_MANY if self._most == MOST_VALUES else f"it and the files before it hold more than {MOST_TOGETHER} values")
        if isinstance(found, dict):
            return {self._name(name): self.value(item) for name, item in found.items()}
        if isinstance(found, list):
            return [self.value(item) for item in found]
        if isinstance(found, datetime.date):  # a datetime too
            return found.isoformat()
        if isinstance(found, int) and not -(2**63) <= found < 2**64:
            raise Fault(TOO_LARGE)
        if found is None or isinstance(found, str | bool | int) or (isinstance(found, float) and math.isfinite(found)):
            return found
        raise Fault(f"it holds a value that JSON has no form for: {type(found).__name__}")

    @staticmethod
    def _name(name: Any) -> str:
        if isinstance(name, str | int) and not isinstance(name, bool):
            return str(name)
        raise Fault(f"a mapping names a member by something else than text: {name}")
