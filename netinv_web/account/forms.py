"""Forms about the account: controls and errors in the frame that all of its pages share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pyramid.request import Request
from pyramid.response import Response

from netinv_core.errors import error_text
from netinv_web.forms.controls import Control
from netinv_web.pages import form_text, page

TABS = (
    ("Profile", "/user/profile/"),
    ("Preferences", "/user/preferences/"),
    ("Password", "/user/password/"),
    ("Sessions", "/user/sessions/"),
    ("API tokens", "/user/api-tokens/"),
)
FORM = "netinv_web:templates/account/form.jinja2"


def texts_of(request: Request, controls: Sequence[Control]) -> dict[str, str]:
    """The texts that a form sent for its controls, which keep them; ``true`` or blank for a checkbox."""
    texts: dict[str, str] = {}
    for control in controls:
        texts[control.name] = form_text(request, control.name)
        control.values = [] if control.kind == "password" else [texts[control.name]]
    return texts


def add_errors(controls: Sequence[Control], errors: Mapping[str, Any]) -> list[str]:
    """Puts messages to their controls; returns those of other names."""
    by_name = {control.name: control for control in controls}
    others: list[str] = []
    for name, messages in errors.items():
        if name in by_name:
            by_name[name].errors = [error_text(messages)]
        else:
            others.append(error_text(messages))
    return others


def form_page(
    request: Request,
    title: str,
    controls: Sequence[Control],
    *,
    button: str = "Save",
    errors: Sequence[str] = (),
    status: int = 200,
    **values: Any,
) -> Response:
    """The page with a form. ``values`` may have an ``introduction``, and a ``cancel`` path."""
    defaults = {"introduction": "", "cancel": ""}
    own = {"title": title, "controls": controls, "button": button, "errors": errors, "account_tabs": TABS}
    return page(request, FORM, {**defaults, **own, **values}, status)
