"""The renderer ``orjson``: what a view returns as JSON, or as a page that shows the JSON to browsers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from netinv_core.http import browsable, versions
from netinv_core.http.request_uow import negotiation_of
from netinv_core.http.serialization import dumps


def factory(info: Any) -> Callable[[Any, Mapping[str, Any]], bytes]:
    """The renderer factory (``config.add_renderer``)."""
    return render


def render(value: Any, system: Mapping[str, Any]) -> bytes:
    """The body of ``request.response`` in the negotiated media type, whose headers it sets."""
    request = system["request"]
    if negotiation_of(request).media_type == versions.HTML:
        request.response.headers.update(browsable.HEADERS)
        return browsable.page(request, value, request.response.status_int)
    request.response.headers["Content-Type"] = versions.JSON
    return dumps(value)
