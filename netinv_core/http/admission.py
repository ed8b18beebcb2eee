"""Admission: checks of host, method, path and header sizes before a request is routed, and security headers on every answer.

It wraps Pyramid's execution policy, the outermost function of the service: what is refused here has cost neither a route nor a
connection to the database.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pyramid.interfaces import IRouter
from pyramid.response import Response

from netinv_core.errors import BadRequest, HeaderTooLarge, NotAllowed, NotFound, RequestError, TooLarge, TooLong, bounded
from netinv_core.http.serialization import json_response

log = logging.getLogger(__name__)
Environ = dict[str, Any]
Policy = Callable[[Environ, IRouter], Response]
METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS")
MAX_PATH = 4096
MAX_QUERY = 2**16
MAX_HEADER = 4096
# The headers that netinv or its libraries parse; some of those parsers take the square of the length.
PARSED = ("ACCEPT", "ACCEPT_ENCODING", "AUTHORIZATION", "HOST", "IF_MATCH", "IF_MODIFIED_SINCE", "IF_NONE_MATCH", "IF_RANGE", "IF_UNMODIFIED_SINCE", "RANGE")
_PARSED = {"CONTENT_TYPE": "Content-Type", **{f"HTTP_{name}": name.title().replace("_", "-") for name in PARSED}}
_HOST = re.compile(r"(\[[0-9a-f:.]+\]|[a-z0-9_][a-z0-9_.-]*)(?::[0-9]{1,5})?", re.IGNORECASE)
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
# Answers are data, never documents that load or frame something; pages set a policy of their own.
DATA_POLICY = "default-src 'none'; frame-ancestors 'none'"


def admitting(inner: Policy) -> Policy:
    """An execution policy that checks a request, has ``inner`` run it, and completes the headers of the answer."""

    def policy(environ: Environ, router: IRouter) -> Response:
        settings: Mapping[str, Any] = router.registry.netinv.settings
        try:
            check(environ, settings)
            response = inner(environ, router)
        except RequestError as error:
            response = json_response(bounded(error.body), error.status)
            response.headers.update(error.headers)
        except Exception:
            log.exception("%s %s failed outside of the views", environ.get("REQUEST_METHOD"), environ.get("PATH_INFO"))
            response = json_response({"detail": "The service failed to answer this request; the failure was logged."}, 500)
        _complete(response, environ, settings)
        return response

    return policy


def check(environ: Environ, settings: Mapping[str, Any]) -> None:
    """Refuses a request by its first line and headers alone.

    :raises Refused: with the status that says why
    """
    environ.pop("HTTP_X_VHM_ROOT", None)  # Pyramid would let a client choose by it where traversal begins
    for name, header in _PARSED.items():
        if len(environ.get(name, "")) > MAX_HEADER:
            raise HeaderTooLarge(f"The header {header} has more than {MAX_HEADER} characters.")
    check_host(environ.get("HTTP_HOST"), settings["allowed_hosts"])
    if environ["REQUEST_METHOD"] not in METHODS:
        raise NotAllowed(environ["REQUEST_METHOD"][:20], ", ".join(METHODS))
    _check_path(environ.get("PATH_INFO", ""))
    if len(environ.get("QUERY_STRING", "")) > MAX_QUERY:
        raise TooLong(f"The query has more than {MAX_QUERY} characters.")
    if "HTTP_AUTHORIZATION" not in environ:
        _check_length(environ.get("CONTENT_LENGTH"), settings["max_anonymous_request_size"])


def check_host(given: str | None, allowed: Sequence[str]) -> None:
    """Refuses a request for another host than those allowed (``netinv.allowed_hosts``); an empty list allows any that is well-formed.

    :raises BadRequest: naming the setting
    """
    if given is None:
        if allowed:
            raise BadRequest("The header Host is missing.")
        return
    host = _HOST.fullmatch(given) if len(given) < 300 else None
    if host is None:
        raise BadRequest("The header Host is no name or address of a host.")
    name = host[1].lower().rstrip(".")
    if allowed and not any(pattern in ("*", name) or (pattern.startswith(".") and f".{name}".endswith(pattern)) for pattern in allowed):
        raise BadRequest("The header Host names a host that this service is not configured for (netinv.allowed_hosts).")


def _check_path(path: str) -> None:
    """Refuses paths that are too long, hold control characters, or have segments by which traversal leads elsewhere, however encoded.

    Those are ``.`` and ``..``, and ``@@``, which ends a path before its end.

    :raises Refused: 404, or 414 for a path that is too long
    """
    if len(path) > MAX_PATH:
        raise TooLong(f"The path has more than {MAX_PATH} characters.")
    if _CONTROL.search(path) or "/@@" in path or ("/." in path and not {".", ".."}.isdisjoint(path.split("/"))):
        raise NotFound()


def _check_length(text: str | None, most: int) -> None:
    """Refuses a body without credentials that is longer than what signing in needs.

    :raises TooLarge: naming the setting
    """
    if text and text.isdecimal() and int(text[:20]) > most:
        raise TooLarge(f"The request body has {text[:20]} bytes; without credentials at most {most} are taken (netinv.max_anonymous_request_size).")


def _complete(response: Response, environ: Environ, settings: Mapping[str, Any]) -> None:
    """Adds the headers that tell browsers and caches what not to do with an answer, where its view did not set them."""
    headers = response.headers
    headers.setdefault("X-Content-Type-Options", "nosniff")
    headers.setdefault("X-Frame-Options", "DENY")
    headers.setdefault("Referrer-Policy", "same-origin")
    headers.setdefault("Content-Security-Policy", DATA_POLICY)
    headers.setdefault("Cache-Control", "no-store")
    if settings["hsts_seconds"] and environ.get("wsgi.url_scheme") == "https":
        headers.setdefault("Strict-Transport-Security", f"max-age={settings['hsts_seconds']}")
