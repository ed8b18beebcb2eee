"""Formats of a list other than pages of JSON. Each is selected by a query parameter, and contributed by a package."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from pyramid.request import Request
from pyramid.response import Response

from netinv_core.http import versions
from netinv_core.http.request_uow import RequestUnitOfWork
from netinv_core.http.serialization import query_of
from netinv_core.read.listing import Parameters

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint


@dataclasses.dataclass(frozen=True)
class ListFormat:
    """A format of lists, selected by the query parameter ``parameter``; ``help`` describes its value.

    ``render(uow, endpoint, value, parameters)`` gives the response: ``value`` is the last value of the parameter, ``parameters``
    are the filters of the query. ``applies`` selects the lists that have the format. The response has a media type of its own,
    regardless of the Accept header.
    """

    parameter: str
    render: Callable[[RequestUnitOfWork, Endpoint, str, Parameters], Response]
    applies: Callable[[Endpoint], bool] = lambda endpoint: True
    help: str = ""


def requested_format(request: Request, endpoint: Endpoint) -> ListFormat | None:
    """The format that the query selects; ``None`` for a page."""
    text = request.query_string
    formats = endpoint.list_formats.items()
    return next((item for name, item in formats if name in text and name in query_of(request)), None)


def offers(request: Request) -> Sequence[str]:
    """The media types of a list beside JSON and HTML: for a format, all those of the Accept header."""
    if requested_format(request, request.context.endpoint) is None:
        return ()
    return [media for _, media, _ in versions.media_ranges(request.headers.get("Accept", ""))]
