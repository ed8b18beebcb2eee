"""Bounded reading of request bodies: bytes, JSON values, items of a list and levels of nesting are limited."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from email.message import Message
from typing import Any

from pyramid.request import Request

from netinv_core import json_values
from netinv_core.errors import BadRequest, Invalid, TooLarge, UnsupportedMedia

NO_SURROGATE = "Surrogates, which are halves of characters, are not allowed."
# One JSON string, or the unfinished one at the end; possessive, so that it takes one pass and no memory.
_STRING = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\\?\Z)', re.DOTALL)

_SURROGATE = re.compile("[\ud800-\udfff]")


def read_content(request: Request, max_size: int, setting: str) -> bytes:
    """The body, of which at most ``max_size`` bytes and one more are read.

    :raises TooLarge: for a longer one, naming the ``setting``
    """
    if request.content_length is not None and request.content_length > max_size:
        raise TooLarge(
            f"The request body has {request.content_length} bytes; at most {max_size} are taken ({setting})."
        )
    if request.is_body_seekable:
        request.body_file_raw.seek(0)  # already read by an earlier attempt at this request
    # A buffered reader allocates what it is asked for, so no more than the announced length is.
    content: bytes = request.body_file.read(max_size + 1 if request.content_length is None else request.content_length)
    if len(content) > max_size:
        raise TooLarge(f"The request body has more than {max_size} bytes ({setting}).")
    return content


def require_utf8(content_type: str) -> None:
    """Refuses a body in another charset, which would be read as something else than was sent.

    :raises UnsupportedMedia: for a media type with the parameter ``charset`` for another one
    """
    if "charset" not in content_type.lower():
        return
    header = Message()
    header["Content-Type"] = content_type
    charset = header.get_param("charset", "")
    name = charset if isinstance(charset, str) else "".join(part or "" for part in charset[::2])
    if name.strip().lower().replace("-", "") not in ("", "utf8", "usascii"):
        raise UnsupportedMedia(f'Unsupported charset "{name[:40]}" in request: UTF-8 is expected.')


def json_of(content: bytes, settings: Mapping[str, Any]) -> Any:
    """The JSON value of a body, with limits on its values, its levels, and the objects of a list.

    :raises TooLarge: for more values (``netinv.max_json_values``), or more objects in a list
        (``netinv.max_bulk_objects``)
    :raises BadRequest: for invalid JSON, and for too many levels (:mod:`netinv_core.json_values`)
    """
    max_values = settings["max_json_values"]
    if _separators(content) >= max_values and _separators(_STRING.sub(b"", content)) >= max_values:
        raise TooLarge(f"The request body holds more than {max_values} JSON values (netinv.max_json_values).")
    try:
        return check_body(json_values.parse(content), settings)
    except json_values.InvalidJson as error:
        _name_surrogates(error.lenient)
        raise BadRequest(f"JSON parse error - {error}") from None


def check_body(value: Any, settings: Mapping[str, Any]) -> Any:
    """A parsed body.

    :raises TooLarge: for a list of more objects than ``netinv.max_bulk_objects``
    """
    if isinstance(value, list) and len(value) > settings["max_bulk_objects"]:
        max_objects = settings["max_bulk_objects"]
        raise TooLarge(
            f"The list has {len(value)} items; at most {max_objects} are taken at once (netinv.max_bulk_objects)."
        )
    return value


def _separators(content: bytes) -> int:
    """The number of commas and opening brackets; JSON has at most one value more."""
    return content.count(b",") + content.count(b"[") + content.count(b"{")


def _name_surrogates(body: Any) -> None:
    """Names the members of an object, or of each object of a list, that hold half of a surrogate pair.

    :raises Invalid: with the errors by member
    """
    items = body if isinstance(body, list) else [body]
    errors = [
        {name: [NO_SURROGATE] for name, value in item.items() if _has_surrogate(value) and not _has_surrogate(name)}
        for item in items
        if isinstance(item, dict)
    ]
    if any(errors):
        raise Invalid.batch(errors) if isinstance(body, list) else Invalid(errors[0])


def _has_surrogate(value: Any) -> bool:
    return _SURROGATE.search(json.dumps(value, ensure_ascii=False)) is not None
