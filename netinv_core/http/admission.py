"""Admission: checks of host, method, path and header sizes before a request is routed, and headers on every answer:
those of security, the request's id, and times. It begins the log context of the request, and writes log and metrics.

It wraps Pyramid's execution policy, the outermost function of the service. A request refused here costs neither routing
nor a connection to the database.
"""

from __future__ import annotations

import logging
import re
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pyramid.interfaces import IRouter
from pyramid.response import Response
from webob.datetime_utils import parse_date

from netinv_core.errors import BadRequest, HeaderTooLarge, NotAllowed, NotFound, RequestError, TooLarge, TooLong
from netinv_core.http import health, rate_limits, request_id
from netinv_core.http.problems import error_response, unexpected
from netinv_core.http.request_id import id_of
from netinv_core.telemetry import access_log, log_context, metrics
from netinv_core.telemetry.log_context import LogContext
from netinv_core.telemetry.tracing import tracing_of

log = logging.getLogger(__name__)
Environ = dict[str, Any]
Policy = Callable[[Environ, IRouter], Response]
METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS")
MAX_PATH_LENGTH = 4096
MAX_QUERY_LENGTH = 2**16
MAX_HEADER_LENGTH = 4096
# Headers that netinv or its libraries parse. The time of some parsers is the square of the length.
PARSED = (
    *("ACCEPT", "ACCEPT_ENCODING", "AUTHORIZATION", "HOST", "RANGE"),
    *("IF_MATCH", "IF_MODIFIED_SINCE", "IF_NONE_MATCH", "IF_RANGE", "IF_UNMODIFIED_SINCE"),
)
DATES = ("HTTP_IF_MODIFIED_SINCE", "HTTP_IF_UNMODIFIED_SINCE", "HTTP_IF_RANGE")  # or an ETag in the last one
_PARSED = {"CONTENT_TYPE": "Content-Type", **{f"HTTP_{name}": name.title().replace("_", "-") for name in PARSED}}
_HOST = re.compile(r"(\[[0-9a-f:.]+\]|[a-z0-9_][a-z0-9_.-]*)(?::[0-9]{1,5})?", re.IGNORECASE)
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
# For JSON answers, which load and frame nothing. HTML pages set a policy of their own.
DATA_POLICY = "default-src 'none'; frame-ancestors 'none'"


def admission_policy(inner: Policy) -> Policy:
    """Execution policy that checks a request, passes it to ``inner``, and adds security headers to the answer."""

    def policy(environ: Environ, router: IRouter) -> Response:
        settings: Mapping[str, Any] = router.registry.netinv.settings
        began = time.perf_counter()
        context = LogContext(id_of(environ), environ.get("REMOTE_ADDR") or "")
        token = log_context.enter(context)
        try:
            response = traced(environ, router, context)
            _complete(response, environ, settings)
            seconds = time.perf_counter() - began
            if settings["server_timing"]:
                response.headers["Server-Timing"] = _timing(context, seconds)
            access_log.write(environ, response, context, seconds)
            metrics.observe(environ["REQUEST_METHOD"], response.status_int, context, seconds)
            metrics.sample(router.registry.netinv_engine)
        finally:
            log_context.leave(token)
        return response

    def traced(environ: Environ, router: IRouter, context: LogContext) -> Response:
        settings: Mapping[str, Any] = router.registry.netinv.settings
        tracing = tracing_of(settings)
        if tracing is None or environ.get("PATH_INFO") in health.PATHS:
            return answer(environ, router, settings)
        with tracing.request(environ, context) as span:
            response = answer(environ, router, settings)
            tracing.answered(span, environ["REQUEST_METHOD"], response.status_int, context)
        return response

    def answer(environ: Environ, router: IRouter, settings: Mapping[str, Any]) -> Response:
        try:
            if environ.get("PATH_INFO") not in health.PATHS:
                rate_limits.check_address(environ, settings)
            check(environ, settings)
            return inner(environ, router)
        except RequestError as error:
            return error_response(error, environ)
        except Exception:
            method, path = environ.get("REQUEST_METHOD"), environ.get("PATH_INFO")
            log.exception("%s %s failed outside of the views (request %s)", method, path, id_of(environ))
            return unexpected(environ)

    return policy


def _timing(context: LogContext, seconds: float) -> str:
    """The value of Server-Timing (W3C): milliseconds of the database and of the whole request."""
    count, milliseconds = context.statements, context.statement_seconds * 1000
    noun = "statement" if count == 1 else "statements"
    return f'db;dur={milliseconds:.1f};desc="{count} {noun}", total;dur={seconds * 1000:.1f}'


def _is_date(text: str) -> bool:
    """False for a text that WebOb fails to convert to a date, such as one of the year 99999."""
    try:
        parse_date(text)
    except (ValueError, OverflowError):
        return False
    return True


def check(environ: Environ, settings: Mapping[str, Any]) -> None:
    """Checks the first line and the headers of a request.

    :raises RequestError: 400, 404, 405, 413, 414 or 431
    """
    environ.pop("HTTP_X_VHM_ROOT", None)  # Pyramid would let a client choose the root of traversal
    for name, header in _PARSED.items():
        if len(environ.get(name, "")) > MAX_HEADER_LENGTH:
            raise HeaderTooLarge(f"The header {header} has more than {MAX_HEADER_LENGTH} characters.")
    for name in DATES:
        if name in environ and not _is_date(environ[name]):
            del environ[name]  # RFC 9110, section 13.1.3: such a header is ignored
    if environ.get("PATH_INFO") not in health.PATHS:  # probes come by address, and get no URLs
        check_host(environ.get("HTTP_HOST"), settings["allowed_hosts"])
    if environ["REQUEST_METHOD"] not in METHODS:
        raise NotAllowed(environ["REQUEST_METHOD"][:20], ", ".join(METHODS))
    _check_path(environ.get("PATH_INFO", ""))
    if len(environ.get("QUERY_STRING", "")) > MAX_QUERY_LENGTH:
        raise TooLong(f"The query has more than {MAX_QUERY_LENGTH} characters.")
    if "HTTP_AUTHORIZATION" not in environ and "HTTP_COOKIE" not in environ:
        _check_length(environ.get("CONTENT_LENGTH"), settings["max_anonymous_request_size"])


def check_host(header: str | None, allowed_hosts: Sequence[str]) -> None:
    """Checks the header Host against ``netinv.allowed_hosts``; an empty list allows every well-formed host.

    :raises BadRequest: naming the setting
    """
    if header is None:
        if allowed_hosts:
            raise BadRequest("The header Host is missing.")
        return
    host = _HOST.fullmatch(header) if len(header) < 300 else None
    if host is None:
        raise BadRequest("The header Host is no name or address of a host.")
    name = host[1].lower().rstrip(".")
    if allowed_hosts and not any(_matches(name, pattern) for pattern in allowed_hosts):
        raise BadRequest("The header Host names a host that this service is not configured for (netinv.allowed_hosts).")


def _matches(name: str, pattern: str) -> bool:
    """True for a host that a pattern allows: its name, a domain with a leading dot for every name below it, or
    ``*``.
    """
    return pattern in ("*", name) or (pattern.startswith(".") and f".{name}".endswith(pattern))


def _check_path(path: str) -> None:
    """Checks the decoded path: its length, control characters, and segments with a meaning in traversal.

    Those are ``.`` and ``..``, and ``@@``, which starts the name of a view.

    :raises RequestError: 404, or 414 for a path that is too long
    """
    if len(path) > MAX_PATH_LENGTH:
        raise TooLong(f"The path has more than {MAX_PATH_LENGTH} characters.")
    if _CONTROL.search(path) or "/@@" in path or ("/." in path and not {".", ".."}.isdisjoint(path.split("/"))):
        raise NotFound()


def _check_length(text: str | None, max_length: int) -> None:
    """Checks the length of a body without credentials.

    :raises TooLarge: naming the setting
    """
    if text and text.isdecimal() and int(text[:20]) > max_length:
        raise TooLarge(
            f"The request body has {text[:20]} bytes; "
            f"without credentials at most {max_length} are taken (netinv.max_anonymous_request_size)."
        )


def _complete(response: Response, environ: Environ, settings: Mapping[str, Any]) -> None:
    """Adds the request's id, and security headers for browsers and caches, except those that the view set."""
    headers = response.headers
    headers[request_id.HEADER] = str(id_of(environ))
    headers.setdefault("X-Content-Type-Options", "nosniff")
    headers.setdefault("X-Frame-Options", "DENY")
    headers.setdefault("Referrer-Policy", "same-origin")
    headers.setdefault("Content-Security-Policy", DATA_POLICY)
    headers.setdefault("Cache-Control", "no-store")
    if settings["hsts_seconds"] and environ.get("wsgi.url_scheme") == "https":
        headers.setdefault("Strict-Transport-Security", f"max-age={settings['hsts_seconds']}")
