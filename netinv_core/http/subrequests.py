"""Subrequests: requests that a view sends to the service itself. They pass the same checks as those of clients; each is
a transaction of its own.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from pyramid.request import Request
from pyramid.response import Response
from pyramid_retry import is_error_retryable

from netinv_core.http import versions
from netinv_core.http.mount import KEY as MOUNT

# What a subrequest has of the request that it belongs to, whatever the view names.
OF_EVERY_ONE = ("HTTP_HOST", "HTTP_USER_AGENT", "REMOTE_ADDR", "wsgi.url_scheme", MOUNT)


def send(
    request: Request,
    method: str,
    path: str,
    body: bytes = b"",
    *,
    copied: Collection[str],
    headers: Mapping[str, str] | None = None,
) -> Response:
    """The answer to a subrequest with a JSON body.

    One that a concurrent request aborted fails with its exception, so that the whole request is run again, unless it
    was the last attempt.

    :param copied: names of what it has of the WSGI environment of the request, such as credentials
    """
    environ = {name: request.environ[name] for name in (*OF_EVERY_ONE, *copied) if name in request.environ}
    inner = Request.blank(path, environ, method=method, body=body)
    inner.headers["Content-Type"] = inner.headers["Accept"] = versions.JSON
    inner.headers.update(headers or {})
    inner.registry = request.registry
    response = request.invoke_subrequest(inner, use_tweens=True)
    failure: Exception | None = getattr(inner, "exception", None)
    if failure is not None and is_error_retryable(request, failure):
        raise failure
    return response
