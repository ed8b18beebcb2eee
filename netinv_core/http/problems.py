"""Errors as ``application/problem+json`` (RFC 9457), for clients whose Accept header names it."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from pyramid.response import Response

from netinv_core.errors import (
    NON_FIELD,
    InternalError,
    Invalid,
    PackageFailed,
    RequestError,
    cut_to_limits,
    error_text,
    explain,
)
from netinv_core.http import negotiation, versions
from netinv_core.http.serialization import dumps, json_response
from netinv_core.package_faults import package_at_fault
from netinv_core.telemetry.log_context import id_of

if TYPE_CHECKING:
    from netinv_core.registry import Registry

log = logging.getLogger(__name__)
PROBLEM = versions.PROBLEM
SCHEMA_NAME = "Problem"
_TEXT = {"type": "string"}
SCHEMA: dict[str, Any] = {
    "type": "object",
    "description": "An error (RFC 9457), for clients that accept `application/problem+json`.",
    "properties": {
        "type": {**_TEXT, "description": "Always `about:blank`."},
        "title": {**_TEXT, "description": "The phrase of the status."},
        "status": {"type": "integer"},
        "code": {**_TEXT, "description": "The kind of error; a program may rely on it."},
        "detail": {**_TEXT, "description": "All messages in one line."},
        "instance": {**_TEXT, "description": "The id of the request, as in the header `X-Request-ID`."},
        "errors": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "message": _TEXT,
                    "pointer": {**_TEXT, "description": "JSON pointer into the request's body (RFC 6901)."},
                    "parameter": {**_TEXT, "description": "The query parameter, of a request without a body."},
                    "index": {
                        "type": "integer",
                        "description": "The position of the object in a list that was sent, from 0.",
                    },
                },
                "required": ["message"],
            },
        },
    },
    "required": ["type", "title", "status", "code", "detail", "instance", "errors"],
}
PACKAGE_FAILED = (
    "The package {} failed, so that this request could not be answered; what it had changed was undone. "
    "The failure was logged with the id {}."
)
_OF_THE_WHOLE = ("detail", NON_FIELD, "__all__")


def error_response(error: RequestError, environ: dict[str, Any]) -> Response:
    """The response to an error: its body as JSON, or a problem where the client accepts one."""
    body = cut_to_limits(error.body)
    response = json_response({**body, **error.extra} if error.extra else body, error.status)
    if accepts_problem(environ.get("HTTP_ACCEPT", "")):
        response = Response(
            body=dumps(problem_of(error, body, environ)), status=error.status, content_type=PROBLEM, charset=None
        )
    response.headers.update(error.headers)
    if environ.get("PATH_INFO", "").startswith("/api/"):  # a view that negotiates replaces it
        response.headers["API-Version"] = negotiation.version_asked(environ)
    return response


def unexpected_response(environ: dict[str, Any], package: str | None = None) -> Response:
    """The response to an unexpected error: 500, or 503 where a ``package`` is at fault."""
    if package is None:
        return error_response(InternalError(), environ)
    return error_response(PackageFailed(PACKAGE_FAILED.format(package, id_of(environ))), environ)


def log_unexpected(error: Exception, environ: dict[str, Any], registry: Registry, failure: str) -> Response:
    """The response to an unexpected error, which is logged with its traceback and the plugin that is at fault.

    :param failure: a sentence about the request
    """
    package = package_at_fault(registry, error)
    if package is not None:
        registry.faults.note(registry, package, error)
    place = "" if package is None else f" in the package {package}"
    log.error("%s%s (request %s)", failure, place, id_of(environ), exc_info=error)
    return unexpected_response(environ, package)


def accepts_problem(accept: str) -> bool:
    """True for an Accept header that names problems (a wildcard does not)."""
    return PROBLEM in accept.lower() and any(
        media == PROBLEM and quality for quality, media, _ in negotiation.media_ranges(accept)
    )


def problem_of(error: RequestError, body: Any, environ: dict[str, Any]) -> dict[str, Any]:
    """The problem of an error with a body."""
    in_query = environ["REQUEST_METHOD"] in ("GET", "HEAD")
    located = cut_to_limits(Invalid.batch(error.object_errors).body) if any(error.object_errors) else body
    return {
        "type": "about:blank",
        "title": HTTPStatus(error.status).phrase,
        "status": error.status,
        "code": error.code,
        "detail": error_text(body),
        "instance": f"urn:uuid:{id_of(environ)}",
        "errors": [
            _entry(path, message, in_query)
            for path, message in _messages(located, ())
            if path or not _is_detail(located)
        ],
        **error.extra,
    }


def _is_detail(body: Any) -> bool:
    """True for a body that says nothing but ``detail``."""
    return isinstance(body, dict) and body.keys() <= {"detail"}


def _messages(body: Any, path: tuple[str | int, ...]) -> Iterator[tuple[tuple[str | int, ...], str]]:
    """Each message of a body, with its path: names of fields and positions in lists."""
    if isinstance(body, dict):
        for name, value in body.items():
            yield from _messages(value, path if name in _OF_THE_WHOLE else (*path, name))
    elif isinstance(body, list):
        for position, value in enumerate(body):
            yield from _messages(value, (*path, position) if isinstance(value, dict | list) else path)
    else:
        yield path, explain(body)


def _entry(path: tuple[str | int, ...], message: str, in_query: bool) -> dict[str, Any]:
    if in_query:
        return {"message": message, **({"parameter": str(path[0])} if path else {})}
    index = {"index": path[0]} if path and isinstance(path[0], int) else {}
    steps = (str(step).replace("~", "~0").replace("/", "~1") for step in path)
    return {"message": message, "pointer": "".join(f"/{step}" for step in steps), **index}
