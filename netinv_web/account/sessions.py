"""The sessions of the user: where one is signed in, and how to end that."""

from __future__ import annotations

import uuid

from pyramid.request import Request
from pyramid.response import Response

from netinv_web import notices
from netinv_web.account import forms
from netinv_web.auth import sessions
from netinv_web.markup import time_markup
from netinv_web.pages import form_of, form_text, page, see_other

TEMPLATE = "netinv_web:templates/account/sessions.jinja2"
PATH = "/user/sessions/"
# Words in the User-Agent header by which browsers and systems are known. The order matters: Edge names Chrome too.
BROWSERS = (
    ("Edg/", "Edge"),
    ("OPR/", "Opera"),
    ("Firefox/", "Firefox"),
    ("Chrome/", "Chrome"),
    ("Safari/", "Safari"),
    ("curl/", "curl"),
)
SYSTEMS = (
    ("Android", "Android"),
    ("iPhone", "iPhone"),
    ("iPad", "iPad"),
    ("Windows", "Windows"),
    ("Mac OS", "macOS"),
    ("Linux", "Linux"),
)


def show(request: Request) -> Response:
    """The list of sessions. POST ends one (``end``), all others (``others``) or all (``all``)."""
    if request.method == "POST":
        return _end(request)
    current = sessions.current(request)
    rows = [
        {
            "id": row.id,
            "current": current is not None and row.id == current.id,
            "client": client_name(row.user_agent),
            "user_agent": row.user_agent,
            "address": row.address,
            "begun": time_markup(row.created),
            "last_used": time_markup(row.last_used),
        }
        for row in sessions.sessions_of(request.uow, request.uow.identity.user_id)
    ]
    return page(request, TEMPLATE, {"rows": rows, "account_tabs": forms.TABS})


def _end(request: Request) -> Response:
    uow, user_id = request.uow, request.uow.identity.user_id
    current = sessions.current(request)
    own = current.id if current is not None else None
    if "all" in form_of(request):
        sessions.end(uow, user_id)
        return _signed_out(request)
    if "others" in form_of(request):
        sessions.end(uow, user_id, keep=own)
        return notices.add(request, see_other(PATH), notices.Notice("All other sessions were ended."))
    try:
        session_id = uuid.UUID(form_text(request, "end"))
    except ValueError:
        notice = notices.Notice("There is no such session.", "danger")
        return notices.add(request, see_other(PATH), notice)
    sessions.end(uow, user_id, session_id)
    if session_id == own:
        return _signed_out(request)
    return notices.add(request, see_other(PATH), notices.Notice("The session was ended."))


def _signed_out(request: Request) -> Response:
    response = see_other("/login/")
    sessions.delete_cookie(request, response)
    response.headers["Clear-Site-Data"] = '"cache"'
    return response


def client_name(user_agent: str) -> str:
    """The browser and system that a User-Agent header names, in words: ``Firefox on Linux``."""
    browser = next((name for mark, name in BROWSERS if mark in user_agent), "")
    system = next((name for mark, name in SYSTEMS if mark in user_agent), "")
    return " on ".join(filter(None, (browser, system))) or user_agent[:40] or "Unknown client"
