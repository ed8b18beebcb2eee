"""Exception views: the responses to errors."""

from __future__ import annotations

import logging
from typing import Any

import sqlalchemy as sa
from pyramid.exceptions import URLDecodeError
from pyramid.httpexceptions import HTTPException, HTTPForbidden
from pyramid.interfaces import IRoutesMapper
from pyramid.request import Request
from pyramid.response import Response
from pyramid_retry import IRetryableError, is_error_retryable, mark_error_retryable
from pyramid_tm import maybe_tag_retryable

from netinv_core.auth.audit import audit
from netinv_core.db import availability
from netinv_core.db.engine import is_timeout
from netinv_core.errors import CONCURRENT_CHANGE, Conflict, Denied, NotFound, RequestError, Unavailable
from netinv_core.http.methods import UNSAFE_METHODS
from netinv_core.http.problems import error_response, log_unexpected, unexpected_response

log = logging.getLogger(__name__)
RETRY_AFTER = "5"  # seconds
RETRY_CONFLICT_AFTER = "1"  # seconds


def request_error_response(error: RequestError, request: Request) -> Response:
    """The response to a request error.

    A violated constraint of the database makes the request run again: its rules then see the concurrent change, and
    name field and item in their errors.
    """
    if availability.is_violation(error):
        mark_error_retryable(error)
    if isinstance(error, Denied) and not request.uow.identity.anonymous:
        audit("access.denied", method=request.method, path=request.path, reason=error.body["detail"])
    return error_response(error, request.environ)


def forbidden(error: HTTPForbidden, request: Request) -> Response:
    """A permission that the security policy denied, answered with the error that the policy gives as the reason."""
    return request_error_response(getattr(error.result, "error", None) or Denied(), request)


def not_found(error: Exception, request: Request) -> Response:
    """404, or a redirect (302) that keeps the query where only the closing slash is missing."""
    path = request.path
    if not path.endswith("/") and exists(request.registry, f"{path}/"):
        query = f"?{request.query_string}" if request.query_string else ""
        response = RelativeRedirect(status=302, content_type="text/html")
        response.headers["Location"] = f"{path}/{query}"
        return response
    return request_error_response(NotFound(), request)


class RelativeRedirect(Response):  # type: ignore[misc]
    """A redirect with a path as its Location. WebOb would make it absolute, with a host that a proxy may have
    changed.
    """

    def _abs_headerlist(self, environ: Any) -> Any:
        return list(self.headerlist)


def exists(registry: Any, path: str) -> bool:
    """True for the path of a view, in a registry of Pyramid."""
    request = Request.blank(path, environ={"REQUEST_METHOD": "GET"})
    request.registry = registry
    info = registry.queryUtility(IRoutesMapper)(request)
    if info["route"] is None:
        return False
    match = info["match"]
    factory = info["route"].factory
    if factory is None or "model" not in match:
        return True
    try:
        factory(request)[match["model"]]
    except KeyError:
        return False
    return True


def conflict(error: sa.exc.IntegrityError, request: Request) -> Response:
    """A constraint of the database, violated because of a concurrent change: the request is run again."""
    mark_error_retryable(error)
    if not is_error_retryable(request, error):
        log.warning("integrity error answered 409: %s", error.orig)
    return request_error_response(concurrent_change(), request)


def concurrent_change() -> Conflict:
    """The error of a request that met other changes at each attempt. It may be sent again."""
    return Conflict(CONCURRENT_CHANGE, {"Retry-After": RETRY_CONFLICT_AFTER})


def undecodable(error: URLDecodeError, request: Request) -> Response:
    """404 for a path that is not UTF-8."""
    return request_error_response(NotFound(), request)


def unexpected_error_response(error: Exception, request: Request) -> Response:
    """500 for an unexpected error, whose traceback is logged; 503 where a plugin is at fault, which is named.

    A request that failed because of a concurrent change is run again; 409 after the last attempt.
    """
    if request.method in UNSAFE_METHODS:  # others have no transaction manager
        maybe_tag_retryable(request, (type(error), error, error.__traceback__))
    if availability.is_busy(error):
        mark_error_retryable(error)
    if is_error_retryable(request, error):
        log.info("%s %s met another change and is tried again: %s", request.method, request.path, error)
    elif IRetryableError.providedBy(error):
        log.warning("%s %s met other changes each time: %s", request.method, request.path, error)
        return request_error_response(concurrent_change(), request)
    else:
        return log_unexpected(
            error, request.environ, request.registry.netinv, f"{request.method} {request.path} failed"
        )
    return unexpected_response(request.environ)


def unavailable(error: sa.exc.SQLAlchemyError, request: Request) -> Response:
    """503 for a database that is unreachable or too slow, with one line in the log. Other database errors are
    unexpected.
    """
    route = request.uow.read_route
    if route is not None and route.may_repeat(error):
        mark_error_retryable(error)
        log.info("%s %s is read from the primary: %s", request.method, request.path, availability.reason(error))
        return request_error_response(Unavailable("The database cannot be reached at the moment."), request)
    if availability.is_away(error):
        detail = "The database cannot be reached at the moment. Try again later."
    elif is_timeout(error):
        detail = "The database cancelled what took longer than netinv.statement_timeout; nothing was changed."
    else:
        return unexpected_error_response(error, request)
    log.error("%s %s answered 503: %s", request.method, request.path, availability.reason(error))
    return request_error_response(Unavailable(detail, {"Retry-After": RETRY_AFTER}), request)


def includeme(config: Any) -> None:
    """Adds the exception views."""
    config.add_exception_view(unavailable, context=sa.exc.SQLAlchemyError)
    config.add_exception_view(request_error_response, context=RequestError)
    config.add_exception_view(conflict, context=sa.exc.IntegrityError)
    config.add_exception_view(undecodable, context=URLDecodeError)
    config.add_exception_view(unexpected_error_response, context=Exception)
    config.add_exception_view(lambda error, request: error, context=HTTPException)
    config.add_forbidden_view(forbidden)
    config.add_notfound_view(not_found)
