"""The form for preferences: theme, density, rows of a page, keyboard shortcuts."""

from __future__ import annotations

from pyramid.request import Request
from pyramid.response import Response

from netinv_web import frame, notices, preferences
from netinv_web.account import forms
from netinv_web.forms.controls import Control
from netinv_web.lists.listing import PAGE_SIZES
from netinv_web.pages import see_other

WORDS = {
    "system": "As the system",
    "light": "Light",
    "dark": "Dark",
    "comfortable": "Comfortable",
    "compact": "Compact",
}
PATH = "/user/preferences/"


def show(request: Request) -> Response:
    """The form for preferences, which are kept for the account."""
    controls = _controls(frame.of(request).preferences)
    if request.method == "GET":
        return forms.form_page(request, "Preferences", controls)
    texts = forms.texts_of(request, controls)
    for control in controls:
        if control.kind == "select" and texts[control.name] not in dict(control.choices):
            control.errors = [
                f"{texts[control.name]} is not one of the choices." if texts[control.name] else "Select one."
            ]
    if any(control.errors for control in controls):
        return forms.form_page(request, "Preferences", controls, status=422)
    chosen = {
        "theme": texts["theme"],
        "density": texts["density"],
        "per_page": int(texts["per_page"]),
        "shortcuts": texts["shortcuts"] == "true",
    }
    preferences.store(request, chosen)
    return notices.add(request, see_other(PATH), notices.Notice("Your preferences were saved."))


def _controls(current: preferences.Preferences) -> list[Control]:
    """The controls, with the preferences of the user."""
    sizes = sorted({*PAGE_SIZES, current.per_page})
    return [
        Control(
            "theme",
            "Theme",
            "select",
            required=True,
            values=[current.theme],
            choices=[(name, WORDS[name]) for name in preferences.THEMES],
        ),
        Control(
            "density",
            "Rows of tables",
            "select",
            required=True,
            values=[current.density],
            choices=[(name, WORDS[name]) for name in preferences.DENSITIES],
        ),
        Control(
            "per_page",
            "Rows of a page",
            "select",
            required=True,
            values=[str(current.per_page)],
            choices=[(str(size), str(size)) for size in sizes],
        ),
        Control(
            "shortcuts",
            "Keyboard shortcuts",
            "checkbox",
            help="Single keys such as / for the search, outside of inputs.",
            values=["true" if current.shortcuts else "false"],
        ),
    ]
