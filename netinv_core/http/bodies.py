"""Reading bodies within bounds: bytes before they are in memory, JSON values before they are objects, levels before anything recurses."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

import orjson
from pyramid.request import Request

from netinv_core.errors import BadRequest, TooLarge

MAX_LEVELS = 100
# One JSON string, or the unfinished one at the end; possessive, so that it takes one pass and no memory.
_STRING = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\\?\Z)', re.DOTALL)


def content_of(request: Request, most: int, setting: str) -> bytes:
    """The body, no more of which is read than may be there.

    :raises TooLarge: for a longer one, naming the ``setting``
    """
    if request.content_length is not None and request.content_length > most:
        raise TooLarge(f"The request body has {request.content_length} bytes; at most {most} are taken ({setting}).")
    if request.is_body_seekable:
        request.body_file_raw.seek(0)  # an earlier attempt at this request has read it
    content: bytes = request.body_file.read(most + 1)
    if len(content) > most:
        raise TooLarge(f"The request body has more than {most} bytes ({setting}).")
    return content


def json_of(content: bytes, settings: Mapping[str, Any]) -> Any:
    """The JSON value that a body is, with bounds on its values, its levels, and the objects of a list.

    :raises TooLarge: for more values (``netinv.max_json_values``), or more objects in a list (``netinv.max_bulk_objects``)
    :raises BadRequest: for what is not JSON, or nests deeper than :data:`MAX_LEVELS`
    """
    most = settings["max_json_values"]
    if _separators(content) >= most and _separators(_STRING.sub(b"", content)) >= most:
        raise TooLarge(f"The request body holds more than {most} JSON values (netinv.max_json_values).")
    value = _parsed(content)
    if isinstance(value, list) and len(value) > settings["max_bulk_objects"]:
        raise TooLarge(f"The list has {len(value)} items; at most {settings['max_bulk_objects']} are taken at once (netinv.max_bulk_objects).")
    if _deeper(value, MAX_LEVELS):
        raise BadRequest(f"JSON parse error - values are nested in more than {MAX_LEVELS} levels")
    return value


def _separators(content: bytes) -> int:
    """The number of characters that begin a value; JSON has at most one value more."""
    return content.count(b",") + content.count(b"[") + content.count(b"{")


def _parsed(content: bytes) -> Any:
    try:
        return orjson.loads(content)
    except orjson.JSONDecodeError as refused:
        reason: Exception = refused
        try:
            json.loads(content.decode(), parse_constant=_no_constant)
        except (ValueError, RecursionError) as error:
            reason = error
        raise BadRequest(f"JSON parse error - {reason}") from None


def _no_constant(name: str) -> Any:
    raise ValueError(f"Out of range float values are not JSON compliant: {name}")


def _deeper(value: Any, levels: int) -> bool:
    """Tells whether lists and objects are nested in more levels, a level at a time."""
    level = [value] if isinstance(value, dict | list) else []
    for _ in range(levels):
        if not level:
            return False
        parts = (part for outer in level for part in (outer.values() if isinstance(outer, dict) else outer))
        level = [part for part in parts if isinstance(part, dict | list)]
    return bool(level)
