"""Mount point: the path below which a service is reached, such as ``/netinv``; none by default.

It is ``SCRIPT_NAME`` (PEP 3333), which servers set, or the path of ``netinv.base_url``; then it does not matter whether
a proxy removes it from paths. It is handled here alone. Inside the service every path begins at the mount point. Three
functions add it: :func:`base_of` for the absolute URLs of the API, :func:`url_of` for links in markup (the filter
``url`` of templates), and the execution policy for redirects and cookies.
"""

from __future__ import annotations

import contextvars
import re
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import quote, unquote_to_bytes, urlsplit

from markupsafe import Markup, escape
from pyramid.interfaces import IRouter
from pyramid.request import Request
from pyramid.response import Response

Environ = dict[str, Any]
Policy = Callable[[Environ, IRouter], Response]
KEY = "netinv.mount"  # of the WSGI environment
_current: contextvars.ContextVar[str] = contextvars.ContextVar("netinv mount point", default="")
_PATH_CHARACTERS = "/~!$&'()*+,=:@"  # of a path, that stay as they are (RFC 3986); without ``;``, which ends a cookie's
_COOKIE_PATH = re.compile(r";\s*Path=/(?=;|$)", re.IGNORECASE)
# Browsers refuse a cookie of this name with another path (RFC 6265bis, section 4.1.3.2).
HOST_COOKIE = "__Host-"


def with_mount_point(inner: Policy) -> Policy:
    """Execution policy that takes the mount point from a request, and adds it to the answer of ``inner``."""

    def policy(environ: Environ, router: IRouter) -> Response:
        mount = _mount(environ, router.registry.netinv.settings)
        if not mount:
            return inner(environ, router)
        encoded = quote(mount.encode("latin-1"), safe=_PATH_CHARACTERS)
        token = _current.set(encoded)
        try:
            response = inner({**_inside(environ, mount), KEY: encoded}, router)
        finally:
            _current.reset(token)
        _add(response, encoded)
        return response

    return policy


def mount_of(environ: Mapping[str, Any]) -> str:
    """Returns the mount point of a request, encoded for URLs, without a closing slash; blank for none."""
    mount: str = environ.get(KEY, "")
    return mount


def url_of(path: Any) -> Any:
    """Returns the URL of a path of this service, for a link in markup; other addresses are returned unchanged.

    It is relative to the host, such as ``/netinv/dcim/sites/``.
    """
    mount = _current.get()
    if not mount:
        return path
    text = path if isinstance(path, str) else str(path)
    if not text.startswith("/") or text.startswith("//"):
        return path
    return escape(mount) + text if isinstance(text, Markup) else mount + text


def base_of(request: Request) -> str:
    """Returns what the absolute URLs in answers to a request begin with: ``netinv.base_url``, or its own address."""
    base: str = request.registry.netinv.settings["base_url"] or request.host_url
    mount = mount_of(request.environ)
    return base if urlsplit(base).path == mount else f"{base}{mount}"


def _mount(environ: Environ, settings: Mapping[str, Any]) -> str:
    """The mount point as in WSGI environments: decoded, each byte as a character of Latin-1."""
    configured = unquote_to_bytes(urlsplit(settings["base_url"]).path.rstrip("/")).decode("latin-1")
    return configured or environ.get("SCRIPT_NAME", "").rstrip("/")


def _inside(environ: Environ, mount: str) -> Environ:
    """The environment of a request at a path that begins at the mount point."""
    path = environ.get("PATH_INFO", "")
    if environ.get("SCRIPT_NAME", "").rstrip("/") != mount and (path == mount or path.startswith(f"{mount}/")):
        path = path.removeprefix(mount)
    return {**environ, "SCRIPT_NAME": "", "PATH_INFO": path or "/"}


def _add(response: Response, mount: str) -> None:
    """Adds the mount point to the redirect and the cookies of an answer."""
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
