"""Parsing of query and body, and JSON responses."""

from __future__ import annotations

import decimal
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl

import orjson
from pyramid.request import Request
from pyramid.response import Response

from netinv_core import answer_size
from netinv_core.errors import BadRequest, Invalid, UnsupportedMedia
from netinv_core.fields.images import uploads_of
from netinv_core.http import bodies, multipart
from netinv_core.read.filters import NOT_ONE
from netinv_core.wrong_results import WithoutJsonForm

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.registry import Registry

_OPTIONS = orjson.OPT_UTC_Z | orjson.OPT_NON_STR_KEYS
MAX_PARAMETERS = 2000
_BLANK = [""]
LONGEST_PIECE = 64  # items of a list that are written together
LARGE_PIECE = 1 << 18  # bytes: the items after a larger piece are written one by one
Query = dict[str, list[str]]


def _other(value: Any) -> Any:
    if isinstance(value, decimal.Decimal):
        return str(value)
    raise TypeError(f"{type(value).__name__} has no JSON form")


def dumps(value: Any) -> bytes:
    """JSON: times in UTC ending in ``Z``, decimals as strings.

    :raises WithoutJsonForm: for a value that JSON cannot hold
    """
    try:
        return orjson.dumps(value, _other, _OPTIONS)
    except orjson.JSONEncodeError as error:
        raise WithoutJsonForm(error, value, dumps) from error


def dumps_within(registry: Registry, value: Any) -> bytes:
    """JSON of an answer. Its lists are written in pieces, so that a large one is refused before all of it is in memory.

    :raises AnswerTooLarge: for more bytes than ``netinv.max_answer_size``
    """
    if isinstance(value, list):
        return _list_within(registry, value)
    if isinstance(value, dict):
        lists = {name: member for name, member in value.items() if isinstance(member, list)}
        value = {**value, **{name: orjson.Fragment(_list_within(registry, items)) for name, items in lists.items()}}
    content, limit = dumps(value), registry.settings["max_answer_size"]
    if limit and len(content) > limit:
        answer_size.check(registry, 0, len(content))
    return content


def _list_within(registry: Registry, items: list[Any]) -> bytes:
    pieces, start, step, size = [], 0, 1, 0
    limit = registry.settings["max_answer_size"]
    while start < len(items):
        pieces.append(dumps(items[start : start + step])[1:-1])
        size += len(pieces[-1])
        if limit and size > limit:
            answer_size.check(registry, 0, size)
        start += step
        step = min(step * 2, LONGEST_PIECE) if len(pieces[-1]) < LARGE_PIECE else 1
    return b"[%b]" % b",".join(pieces)


def json_response(body: Any, status: int = 200) -> Response:
    """A JSON response."""
    return Response(body=dumps(body), status=status, content_type="application/json", charset=None)


def query_of(request: Request) -> Query:
    """The query's parameters, each with all its values, in order.

    :raises BadRequest: for more than :data:`MAX_PARAMETERS`
    """
    query: Query = {}
    try:
        pairs = parse_qsl(request.query_string, keep_blank_values=True, errors="replace", max_num_fields=MAX_PARAMETERS)
    except ValueError:
        raise BadRequest(f"The query has more than {MAX_PARAMETERS} parameters.") from None
    for name, value in pairs:
        query.setdefault(name, []).append(value)
    return query


def single_value(query: Mapping[str, list[str]], name: str) -> str:
    """The value of a parameter that takes one; blank without it. It may be given twice with the same value.

    :raises Invalid: naming it, for two different values
    """
    values = query.get(name, _BLANK)
    if len(values) > 1 and len({*values}) > 1:
        raise Invalid.field(name, NOT_ONE)
    return values[-1]


def body_of(request: Request, endpoint: Endpoint | None = None) -> Any:
    """The JSON body, an empty one as an empty object; an ``endpoint`` that takes files also takes a form for one of its
    objects.

    :raises UnsupportedMedia: for a body that is not said to be JSON
    :raises Refused: for one that is not what it is said to be, or larger than the settings allow
    """
    content_type = request.headers.get("Content-Type", "")
    media = content_type.partition(";")[0].strip().lower()
    if endpoint is not None and uploads_of(endpoint) and media in multipart.MEDIA:
        return multipart.read(request, endpoint)
    settings = request.registry.netinv.settings
    content = bodies.read_content(request, settings["max_request_size"], "netinv.max_request_size")
    if not content:
        return {}
    if media != "application/json":
        raise UnsupportedMedia(f'Unsupported media type "{content_type}" in request.')
    return bodies.json_of(content, settings)
