"""Errors as pages, for requests of browsers: 403, 404 and 500 with the next step, and the way to the sign-in."""

from __future__ import annotations

import contextlib
import dataclasses
import logging
from collections.abc import Callable
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

import sqlalchemy as sa
from markupsafe import Markup
from pyramid.httpexceptions import HTTPForbidden
from pyramid.request import Request
from pyramid.response import Response

from netinv_core.errors import Denied, NotFound, RequestError, error_text
from netinv_core.http import errors, versions
from netinv_core.http.mount import url_of
from netinv_core.http.request_uow import negotiation_of
from netinv_core.registry_cache import cached_in_registry
from netinv_core.telemetry.log_context import id_of
from netinv_web import browsable, explanations
from netinv_web.auth import replay, sign_in
from netinv_web.auth.sessions import CrossSiteRequest, current
from netinv_web.explanations import Explanation
from netinv_web.pages import page, see_other

if TYPE_CHECKING:
    from netinv_core.registry import Registry

log = logging.getLogger(__name__)
TEMPLATE = "netinv_web:templates/error.jinja2"
SIGN_IN = "/login/"
TITLES = {
    400: "This request cannot be understood",
    403: "You may not see this",
    404: "There is nothing here",
    405: "This page cannot do that",
    409: "Something else stands against it",
    413: "That is too large",
    429: "Too many attempts",
    500: "Something went wrong",
    503: "The service is not available",
}


class BrowserPredicate:
    """View predicate ``for_browser``: true for a request of a page, false for a request of the API."""

    def __init__(self, value: bool, config: Any) -> None:
        self._value = value

    def text(self) -> str:
        """The predicate for Pyramid's reports."""
        return f"for_browser = {self._value}"

    phash = text

    def __call__(self, context: Any, request: Request) -> bool:
        return is_page(request) is self._value


def is_page(request: Request) -> bool:
    """True for a path outside of the API, the media files, the monitoring, and what applications serve to programs."""
    return not request.path.startswith(_program_paths(request.registry.netinv))


@cached_in_registry
def _program_paths(registry: Registry) -> tuple[str, ...]:
    """The beginnings of paths whose answers are for programs."""
    paths = [path for app in registry.apps.values() for path in app.program_paths]
    return ("/api/", "/media/", "/metrics", "/health", *paths)


def accepts_html(request: Request) -> bool:
    """True for a request of a browser: it says that it accepts HTML."""
    return "text/html" in request.headers.get("Accept", "")


def sign_in_path(request: Request) -> str:
    """The path of the sign-in page that leads back to this page."""
    path = request.path_qs if request.method in ("GET", "HEAD") else request.path
    return f"{SIGN_IN}?{urlencode({'next': path})}"


def request_error_page(error: RequestError, request: Request) -> Response:
    """A request error as a page. Without a session, a refusal leads to the sign-in."""
    if isinstance(error, Denied) and request.uow.identity.anonymous and not isinstance(error, CrossSiteRequest):
        form = replay.kept_form(request)
        if form is not None:
            return sign_in.keep_form(request, form)
        return see_other(sign_in_path(request))
    response = errors.request_error_response(error, request)
    if not accepts_html(request):
        return response
    explanation = _explanation(request, error)
    shown = _page(request, error.status, explanation or error_text(error.body))
    shown.headers.update(error.headers)
    return shown


def _explanation(request: Request, error: RequestError) -> Explanation | None:
    """The explanation of a refusal on its page; ``None`` where its message says all."""
    if isinstance(error, NotFound):
        return explanations.of_deletion(request)
    return explanations.of_permission(request.registry.netinv, error) if isinstance(error, Denied) else None


def forbidden(error: HTTPForbidden, request: Request) -> Response:
    """A permission that the security policy denied."""
    return request_error_page(getattr(error.result, "error", None) or Denied(), request)


def not_found(error: Exception, request: Request) -> Response:
    """404, or a redirect where only the closing slash is missing."""
    response = errors.not_found(error, request)
    if response.status_int != 404 or not accepts_html(request):
        return response
    with contextlib.suppress(Denied):  # no view with a permission has authenticated the request
        request.uow.identity = request.identity
    return _page(request, 404, "The address is wrong, or what it named was deleted.")


def unexpected_error_page(error: Exception, request: Request) -> Response:
    """500, or 503 where a plugin failed, with an id that is in the log; other answers as in the API
    (:mod:`netinv_core.http.errors`).
    """
    of_database = isinstance(error, sa.exc.SQLAlchemyError)
    handler: Callable[[Any, Request], Response] = (
        errors.unavailable if of_database else errors.unexpected_error_response
    )
    response = handler(error, request)
    if not accepts_html(request):
        return response
    detail = (
        f"The failure was logged with the id {id_of(request.environ)}."
        if response.status_int == 500
        else response.json["detail"]
    )
    has_failed = response.status_int == 503 and "Retry-After" not in response.headers  # a plugin, not the database
    title = _title(500 if has_failed else response.status_int)
    return _bare_page(response.status_int, detail, title)


def _page(request: Request, status: int, detail: str | Explanation) -> Response:
    request.netinv_banners = getattr(request.registry, "netinv_banners", None)  # no view deriver has set them
    shown = detail if isinstance(detail, Explanation) else Explanation(_title(status), detail)
    values = {"status": status, **dataclasses.asdict(shown)}
    try:
        return page(request, TEMPLATE, values, status)
    except Exception:  # the page needs the database for its frame
        log.exception("the page of an error failed on %s", request.path)
        return _bare_page(status, shown.detail, shown.title)


def _title(status: int) -> str:
    return TITLES.get(status, "That did not work")


def _bare_page(status: int, detail: str, title: str) -> Response:
    """A page without the frame, which needs no database."""
    text = Markup(
        '<!DOCTYPE html><html lang="en"><meta charset="utf-8"><title>{0} · netinv</title>'
        '<main><h1>{0}</h1><p>{1}</p><p><a href="{2}">To the home page</a></p></main></html>'
    )
    return Response(text.format(title, detail, url_of("/")), status=status, content_type="text/html", charset="utf-8")


def denied_in_api(error: Denied, request: Request) -> Response:
    """A refusal in the API: a browser without a session is led to the sign-in, every other client gets 403 as JSON."""
    negotiated = negotiation_of(request).media_type == versions.HTML or accepts_html(request)
    anonymous = request.uow.identity.anonymous and "Authorization" not in request.headers
    if negotiated and anonymous and request.method in ("GET", "HEAD"):
        return see_other(sign_in_path(request))
    return refused_in_api(error, request)


def refused_in_api(error: RequestError, request: Request) -> Response:
    """A request error in the API: a signed-in browser gets the page that shows answers, other clients JSON."""
    response = errors.request_error_response(error, request)
    if negotiation_of(request).media_type == versions.HTML and current(request) is not None:
        response.body, headers = browsable.render_answer(request, response.json, response.status_int)
        response.headers.update(headers)
    return response


def forbidden_in_api(error: HTTPForbidden, request: Request) -> Response:
    """A permission of the API that the security policy denied."""
    return denied_in_api(getattr(error.result, "error", None) or Denied(), request)


def includeme(config: Any) -> None:
    """Adds the exception views of pages; those of the API stay."""
    config.add_view_predicate("for_browser", BrowserPredicate)
    config.add_exception_view(request_error_page, context=RequestError, for_browser=True)
    config.add_exception_view(unexpected_error_page, context=Exception, for_browser=True)
    config.add_exception_view(unexpected_error_page, context=sa.exc.SQLAlchemyError, for_browser=True)
    config.add_forbidden_view(forbidden, for_browser=True)
    config.add_notfound_view(not_found, for_browser=True)
    config.add_exception_view(refused_in_api, context=RequestError, for_browser=False)
    config.add_exception_view(denied_in_api, context=Denied, for_browser=False)
    config.add_forbidden_view(forbidden_in_api, for_browser=False)
