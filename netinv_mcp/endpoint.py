"""The path ``/mcp/``: streamable HTTP without sessions, with answers in JSON.

The token of the header ``Authorization`` authenticates. Cookies do not count, so no page of another site can use the
session of a browser.
"""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

from pyramid.request import Request

from netinv_core.errors import Denied, Invalid
from netinv_core.http.security_policy import AUTHENTICATED

PATH = "/mcp/"
MISSING = 'the setting netinv.mcp needs the SDK of the protocol: pip install "netinv[mcp]" ({})'
NOT_HERE = "Not taken here: name the change request in the arguments of a tool."
UNKNOWN = "Unknown parameter"
NO_ORIGIN = "Pages of this origin may not use the protocol (netinv.mcp_origins)."


class Entrance:
    """The context of the path: of a request without cookies, from an origin that may send it."""

    def __init__(self, request: Request) -> None:
        request.environ.pop("HTTP_COOKIE", None)
        if "X-Change-Request" in request.headers:
            raise Invalid.field("X-Change-Request", NOT_HERE)
        if request.query_string:
            raise Invalid({name[:100]: [UNKNOWN] for name in request.GET})
        if "Origin" in request.headers and request.headers["Origin"].lower() not in _origins(request):
            raise Denied(NO_ORIGIN)


def _origins(request: Request) -> set[str]:
    """The origins (RFC 6454) whose pages may use the protocol: that of the service, and those of the setting."""
    settings = request.registry.netinv.settings
    base = urlsplit(settings["base_url"] or request.host_url)
    return {origin.lower() for origin in (f"{base.scheme}://{base.netloc}", request.host_url, *settings["mcp_origins"])}


def includeme(config: Any) -> None:
    """Adds the path, where the service has the protocol.

    :raises ImportError: without the SDK
    """
    if not config.registry.netinv.settings["mcp"]:
        return
    try:
        from netinv_mcp.protocol import serve
    except ImportError as error:
        raise ImportError(MISSING.format(error)) from None
    config.add_route("mcp", PATH, factory=Entrance)
    config.add_view(serve, route_name="mcp", permission=AUTHENTICATED, allow="POST", read_only=True, personal=True)
