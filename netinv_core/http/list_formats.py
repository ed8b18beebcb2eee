"""Other forms of a list than pages of JSON: each is asked for by a query parameter, and contributed by a package."""

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
    """A form of lists, asked for by the query parameter ``parameter``; ``help`` says what its value is.

    ``render(context, endpoint, value, parameters)`` gives the answer: ``value`` is the parameter's last one, ``parameters`` are the
    filters of the query. ``applies`` says which lists have it. Its media type is its own, whatever the request accepts.
    """

    parameter: str
    render: Callable[[RequestUnitOfWork, Endpoint, str, Parameters], Response]
    applies: Callable[[Endpoint], bool] = lambda endpoint: True
    help: str = ""


def requested_format(request: Request, endpoint: Endpoint) -> ListFormat | None:
    """The rendition that a request asks for; ``None`` for a page."""
    text = request.query_string
    return next((found for name, found in endpoint.list_formats.items() if name in text and name in query_of(request)), None)


def offers(request: Request) -> Sequence[str]:
    """The media types of a list beside JSON and HTML: for a format, whose media type is its own, all that the request names."""
    if requested_format(request, request.context.endpoint) is None:
        return ()
    return [media for _, media, _ in versions.media_ranges(request.headers.get("Accept", ""))]
