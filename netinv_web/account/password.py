"""The form for a new password. It needs the present one, and ends all other sessions of the account.

The present password is verified like a sign-in (:mod:`netinv_signin.passwords`): throttled, in transactions of its
own. The page therefore reads only, and the change is made in a unit of work of its own.
"""

from __future__ import annotations

from typing import Any

from pyramid.request import Request
from pyramid.response import Response

from netinv_core.driver.sessions import commit
from netinv_core.errors import Denied, Invalid, TooManyRequests, error_text
from netinv_core.uow import UnitOfWork
from netinv_core.write import save
from netinv_signin import passwords
from netinv_web import notices
from netinv_web.account import forms
from netinv_web.auth import sessions
from netinv_web.forms.controls import Control
from netinv_web.pages import see_other

TITLE = "Password"
MAX_PASSWORD = 4096  # characters
INTRODUCTION = "A new password ends all other sessions of your account. API tokens stay valid."


def show(request: Request) -> Response:
    """The form, and the change.

    :raises Denied: for a token that may only read
    """
    controls = [
        _password("current", "Current password", "current-password"),
        _password("password", "New password", "new-password"),
        _password("repeated", "New password again", "new-password"),
    ]
    options: dict[str, Any] = {"button": "Change password", "introduction": INTRODUCTION}
    if request.method == "GET":
        return forms.form_page(request, TITLE, controls, **options)
    if not request.uow.identity.can_write:  # a token that only reads
        raise Denied()
    texts = {name: text[:MAX_PASSWORD] for name, text in forms.texts_of(request, controls).items()}
    if texts["password"] != texts["repeated"]:
        controls[2].errors = ["The two new passwords differ."]
        return forms.form_page(request, TITLE, controls, status=422, **options)
    try:
        passwords.sign_in(request.uow, request.uow.identity.username, texts["current"], request.remote_addr or "")
        key = _change(request, texts["password"])
    except Denied:
        controls[0].errors = ["This is not your password."]
    except TooManyRequests as error:
        response = forms.form_page(
            request, TITLE, controls, errors=[error_text(error.body)], status=error.status, **options
        )
        response.headers.update(error.headers)
        return response
    except Invalid as error:
        errors = forms.add_errors(controls, error.body)
        return forms.form_page(request, TITLE, controls, errors=errors, status=422, **options)
    else:
        response = see_other("/user/password/")
        if key:
            sessions.set_cookie(request, response, key)
        return notices.add(request, response, notices.Notice("Your password was changed, and other sessions ended."))
    return forms.form_page(request, TITLE, controls, status=422, **options)


def _password(name: str, label: str, autocomplete: str) -> Control:
    return Control(name, label, "password", required=True, attributes={"autocomplete": autocomplete})


def _change(request: Request, password: str) -> str:
    """Changes the password, which ends all sessions, and begins another one for this browser; returns its key.

    Blank where the request was not authenticated by a session.

    :raises Invalid: for a password that accounts may not have
    """
    registry, identity = request.registry.netinv, request.uow.identity
    with request.registry.netinv_sessions() as session:
        uow = UnitOfWork(registry, session, identity, request.uow.base, writing=True).as_system()
        body = {"id": identity.user_id, "password": password}
        save.update(uow, registry["users.user"], [body], partial=True, single=True)
        in_session = sessions.current(request) is not None
        key = sessions.begin(request, identity.user_id, uow) if in_session else ""
        commit(session)
    return key
