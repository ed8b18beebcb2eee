"""The renderer ``orjson``: what a view returns as JSON, or as a page that shows the JSON to browsers.

A package may make these pages: ``config.set_netinv_html_renderer(function)``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from pyramid.request import Request

from netinv_core.http import browsable, versions
from netinv_core.http.request_uow import negotiation_of
from netinv_core.http.serialization import dumps_within

# Makes the page for browsers: gets the request, the data and the status; returns the body and the headers of the
# response.
HtmlRenderer = Callable[[Request, Any, int], tuple[bytes, Mapping[str, str]]]


def set_html_renderer(config: Any, function: HtmlRenderer) -> None:
    """Replaces the page that shows answers to browsers (directive ``set_netinv_html_renderer``)."""
    config.registry.netinv_html_renderer = function


def factory(info: Any) -> Callable[[Any, Mapping[str, Any]], bytes]:
    """The renderer factory (``config.add_renderer``)."""
    return render


def render(value: Any, system: Mapping[str, Any]) -> bytes:
    """The body of ``request.response`` in the negotiated media type, whose headers it sets."""
    request = system["request"]
    if negotiation_of(request).media_type == versions.HTML:
        function: HtmlRenderer = getattr(request.registry, "netinv_html_renderer", browsable.page)
        body, headers = function(request, value, request.response.status_int)
        request.response.headers.update(headers)
        return body
    request.response.headers["Content-Type"] = versions.JSON
    return dumps_within(request.registry.netinv, value)
