"""Mount point: the path below which a service is reached, such as ``/netinv``; none by default.

It is ``SCRIPT_NAME`` (PEP 3333), which servers set, or the path of ``netinv.base_url``; then it does not matter whether
a proxy removes it from paths. It is handled here alone. Inside the service every path begins at the mount point, in
requests, links and redirects; the absolute URLs of the API begin with :func:`base_of`. An answer gets the mount point
where it has a path: in its redirect, its cookies, and the addresses in HTML and SVG.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import urlsplit

from pyramid.interfaces import IRouter
from pyramid.request import Request
from pyramid.response import Response

Environ = dict[str, Any]
Policy = Callable[[Environ, IRouter], Response]
KEY = "netinv.mount"  # of the WSGI environment
_MARKUP = frozenset({"text/html", "image/svg+xml"})
# Paths in attributes. Values are escaped, so the quotes and the name are those of a template; ``//`` begins a host.
_ADDRESS = re.compile(
    rb"""(\s(?:href|src|action|formaction|data-load|data-poll|data-inline)=["'])(?=/(?!/))""", re.IGNORECASE
)
_COOKIE_PATH = re.compile(r";\s*Path=/(?=;|$)", re.IGNORECASE)
# Browsers refuse a cookie of this name with another path (RFC 6265bis, section 4.1.3.2).
HOST_COOKIE = "__Host-"


def mount_policy(inner: Policy) -> Policy:
    """Execution policy that takes the mount point from a request, and adds it to the answer of ``inner``."""

    def policy(environ: Environ, router: IRouter) -> Response:
        mount = _mount(environ, router.registry.netinv.settings)
        if not mount:
            return inner(environ, router)
        response = inner(_inside(environ, mount), router)
        _add(response, mount)
        return response

    return policy


def mount_of(environ: Mapping[str, Any]) -> str:
    """Returns the mount point of a request, without a closing slash; blank for none."""
    mount: str = environ.get(KEY, "")
    return mount


def base_of(request: Request) -> str:
    """Returns what the absolute URLs in answers to a request begin with: ``netinv.base_url``, or its own address."""
    base: str = request.registry.netinv.settings.get("base_url") or request.host_url
    mount = mount_of(request.environ)
    return base if urlsplit(base).path == mount else f"{base}{mount}"


def _mount(environ: Environ, settings: Mapping[str, Any]) -> str:
    configured = urlsplit(settings.get("base_url") or "").path.rstrip("/")
    return configured or environ.get("SCRIPT_NAME", "").rstrip("/")


def _inside(environ: Environ, mount: str) -> Environ:
    """The environment of a request at a path that begins at the mount point."""
    path = environ.get("PATH_INFO", "")
    if environ.get("SCRIPT_NAME", "").rstrip("/") != mount and (path == mount or path.startswith(f"{mount}/")):
        path = path.removeprefix(mount)
    return {**environ, KEY: mount, "SCRIPT_NAME": "", "PATH_INFO": path or "/"}


def _add(response: Response, mount: str) -> None:
    """Adds the mount point to the paths of an answer."""
    location = response.headers.get("Location", "")
    if location.startswith("/") and not location.startswith("//"):
        response.headers["Location"] = mount + location
    cookies = response.headers.getall("Set-Cookie")
    if cookies:
        del response.headers["Set-Cookie"]
        for cookie in cookies:
            kept = cookie.startswith(HOST_COOKIE)
            value = cookie if kept else _COOKIE_PATH.sub(lambda _: f"; Path={mount}/", cookie)
            response.headers.add("Set-Cookie", value)
    if response.content_type in _MARKUP and response.content_encoding is None:
        encoded = mount.encode()
        response.body = _ADDRESS.sub(lambda found: found[1] + encoded, response.body)
