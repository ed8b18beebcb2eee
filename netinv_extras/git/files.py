"""Parsing of JSON and YAML files of a repository, with bounds; values that JSON cannot hold are refused."""

from __future__ import annotations

import datetime
import math
from pathlib import PurePosixPath
from typing import Any

import orjson

MAX_FILE_BYTES = 1 << 20
MAX_VALUES = 100_000  # of one file
MAX_VALUES_OF_KIND = 1_000_000  # of all files of one kind
MAX_DEPTH = 100
MAX_NUMBER_LENGTH = 100  # characters
TOO_MANY = f"it holds more than {MAX_VALUES} values"
TOO_DEEP = "it is nested too deeply"
TOO_LARGE = "it holds a number that is too large"
_YAML = (".yaml", ".yml")
SUFFIXES = (".json", *_YAML)


class FileFault(ValueError):
    """Error in a file; its text is the reason that a report shows."""


def text(content: bytes) -> str:
    """Decodes the content of a file as UTF-8.

    :raises Fault: when it is not UTF-8 or too long
    """
    if len(content) > MAX_FILE_BYTES:
        raise FileFault(f"it is larger than {MAX_FILE_BYTES} bytes")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise FileFault(f"it is not UTF-8: byte {error.start + 1}") from None


class DataFileReader:
    """Reads the data files of one kind of contents, whose values are bounded in total."""

    def __init__(self) -> None:
        self._remaining = MAX_VALUES_OF_KIND

    def document(self, path: str, content: bytes) -> Any:
        """Returns the value of a file, which is JSON or YAML by its suffix.

        :raises Fault: for a syntax error, or too many values
        """
        source = text(content)
        try:
            value = _yaml_value(source) if PurePosixPath(path).suffix in _YAML else orjson.loads(source)
            converter = _JsonConverter(min(MAX_VALUES, self._remaining))
            value = converter.convert(value)
        except orjson.JSONDecodeError as error:
            raise FileFault(f"it is not JSON: {error}") from None
        except FileFault:
            raise
        except ValueError as error:
            raise FileFault(f"it is not YAML: {' '.join(str(error).split())[:200]}") from None
        except RecursionError:
            raise FileFault(TOO_DEEP) from None
        self._remaining -= converter.count
        return value


def _yaml_value(source: str) -> Any:
    """Loads a YAML text.

    :raises Fault: for a syntax error, too deep a nesting, or too many values
    """
    from netinv_extras.git import yaml_files  # local import: PyYAML takes 1 MiB of each process

    return yaml_files.load(source)


class _JsonConverter:
    """Converts loaded values to JSON values and counts them. Repeated aliases count each time."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self.count = 0

    def convert(self, value: Any) -> Any:
        """Returns the JSON value of a loaded one; dates become text (ISO 8601).

        :raises Fault: for a value that JSON cannot hold, or too many values
        """
        self.count += 1
        if self.count > self._limit:
            in_total = f"it and the files before it hold more than {MAX_VALUES_OF_KIND} values"
            raise FileFault(TOO_MANY if self._limit == MAX_VALUES else in_total)
        if isinstance(value, dict):
            return {self._name(name): self.convert(item) for name, item in value.items()}
        if isinstance(value, list):
            return [self.convert(item) for item in value]
        if isinstance(value, datetime.date):  # also a datetime
            return value.isoformat()
        if isinstance(value, int) and not -(2**63) <= value < 2**64:
            raise FileFault(TOO_LARGE)
        if value is None or isinstance(value, str | bool | int) or (isinstance(value, float) and math.isfinite(value)):
            return value
        raise FileFault(f"it holds a value that JSON has no form for: {type(value).__name__}")

    @staticmethod
    def _name(name: Any) -> str:
        if isinstance(name, str | int) and not isinstance(name, bool):
            return str(name)
        raise FileFault(f"a mapping names a member by something else than text: {name}")
