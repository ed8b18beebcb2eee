"""Sign-in and sign-out of browsers.

The password is verified as for the API (:mod:`netinv_signin.passwords`): throttled, in the same time for unknown
names. What a form held when its session was over is kept in the sign-in page, and sent again after it.
"""

from __future__ import annotations

import uuid
from typing import Any
from urllib.parse import urlencode

from pyramid.request import Request
from pyramid.response import Response
from pyramid.security import NO_PERMISSION_REQUIRED

from netinv_core.auth import identity
from netinv_core.auth.audit import audit_after_commit
from netinv_core.auth.providers import ExternalUser, providers_of
from netinv_core.errors import Denied, RequestError
from netinv_signin import passwords
from netinv_web.auth import external, replay, sessions
from netinv_web.pages import form_text, local_path, page, query_text, see_other

TEMPLATE = "netinv_web:templates/sign_in.jinja2"
SIGNED_OUT = "netinv_web:templates/signed_out.jinja2"
MAX_PASSWORD = 4096  # characters


def show(request: Request) -> Response:
    """The sign-in page."""
    following = local_path(query_text(request, "next", "/"))
    if sessions.from_cookie(request) is not None:
        return see_other(following)
    if "next" in request.uow.query:  # not after a sign-out, which leads to this page without it
        for provider in providers_of(request.registry.netinv).values():
            user = provider.from_request(request) if provider.from_request is not None else None
            if user is not None:
                return _signed_in_externally(request, user, following)
    return sign_in_form(request, following)


def _signed_in_externally(request: Request, user: ExternalUser, following: str) -> Response:
    try:
        return external.sign_in(request, user, following, {})
    except Denied as error:
        return sign_in_form(request, following, str(error.body["detail"]), 403)


def _with_next(path: str, following: str) -> str:
    """The path of a provider with the page to return to, in place of any that it has."""
    return f"{path.partition('?')[0]}?{urlencode({'next': following})}"


def keep_form(request: Request, form: replay.KeptForm) -> Response:
    """The sign-in page in answer to a form that was posted without session (403); it keeps the form."""
    return sign_in_form(request, form.path, status=403, kept=form)


def sign_in_form(request: Request, following: str, error: str = "", status: int = 200, **values: Any) -> Response:
    registry = request.registry.netinv
    found = providers_of(registry).values()
    defaults = {
        "following": following,
        "error": error,
        "providers": [(item.title, _with_next(item.path, following)) for item in found if item.path],
        "passwords": registry.settings["password_sign_in"] or any(item.check_password for item in found),
        "username": "",
        "kept": None,
    }
    return page(request, TEMPLATE, defaults | values, status)


def sign_in(request: Request) -> Response:
    """Signs a user in, and leads to the page that was asked for."""
    if not sessions.is_same_origin(request):
        return sign_in_form(request, "/", sessions.CROSS_SITE, 403)
    following = local_path(_text(request, "next") or "/")
    kept = replay.from_sign_in(request)
    username, password = _text(request, "username"), _text(request, "password")[:MAX_PASSWORD]
    try:
        user_id = passwords.sign_in(request.uow, username, password, request.remote_addr or "")
    except RequestError as error:
        response = sign_in_form(
            request, following, str(error.body["detail"]), error.status, username=username, kept=kept
        )
        response.headers.update(error.headers)
        return response
    return signed_in(request, user_id, following, kept)


def _text(request: Request, name: str) -> str:
    """The text of a field of the form; empty without it, and for a file."""
    return form_text(request, name)


def signed_in(
    request: Request, user_id: uuid.UUID, following: str = "/", kept: replay.KeptForm | None = None
) -> Response:
    """Begins the session of a user whose password is right; the answer to the form. A ``kept`` form is sent again."""
    request.uow.identity = identity.by_id(request.uow, user_id)
    audit_after_commit(request.uow, "session.started", user=request.uow.identity.username)
    response = see_other(following) if kept is None else replay.send_again(request, kept)
    sessions.set_cookie(request, response, sessions.begin(request, user_id))
    return response


def sign_out(request: Request) -> Response:
    """Ends the session, then that at its identity provider, if this offers it."""
    session = sessions.current(request)
    url = ""
    if session is not None:
        sessions.end(request.uow, request.uow.identity.user_id, session.id)
        audit_after_commit(request.uow, "session.ended")
        url = external.sign_out_url(request, session)
    # A page, because the policy of pages lets no form lead to another site.
    response = page(request, SIGNED_OUT, {"url": url}) if url else see_other("/login/")
    sessions.delete_cookie(request, response)
    response.headers["Clear-Site-Data"] = '"cache"'
    return response


def includeme(config: Any) -> None:
    """Adds the pages."""
    config.add_route("sign in", "/login/")
    config.add_view(show, route_name="sign in", request_method=("GET", "HEAD"), permission=NO_PERMISSION_REQUIRED)
    config.add_view(sign_in, route_name="sign in", request_method="POST", permission=NO_PERMISSION_REQUIRED)
    config.add_netinv_page("/logout/", sign_out, methods=["POST"], personal=True)
