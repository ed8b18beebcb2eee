"""The API tokens of the user: list, add, delete. The key of a new token is shown once, on the answer to the form."""

from __future__ import annotations

import datetime
import re
from typing import TYPE_CHECKING, Any

from pyramid.request import Request
from pyramid.response import Response

from netinv_core.auth import permissions
from netinv_core.errors import Denied, Invalid
from netinv_core.read import listing
from netinv_core.read.listing import Slice
from netinv_core.write import delete, save
from netinv_web import notices
from netinv_web.account import forms
from netinv_web.forms.controls import Control
from netinv_web.markup import text_markup
from netinv_web.menu import may
from netinv_web.pages import page, see_other

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.uow import UnitOfWork

LIST = "netinv_web:templates/account/tokens.jinja2"
NEW_KEY = "netinv_web:templates/account/token_key.jinja2"
DELETE = "netinv_web:templates/account/token_delete.jinja2"
PATH = "/user/api-tokens/"
LABEL = "users.token"
LIMITS = {"allowed_networks": "from", "actions": "actions", "object_types": "object types"}
MAX_TOKENS = 500  # rows of the page
EXPIRY_PRESETS = (
    ("", "Never"),
    ("1", "In one day"),
    ("7", "In a week"),
    ("30", "In 30 days"),
    ("90", "In 90 days"),
    ("365", "In a year"),
)
HELP = {
    "allowed_networks": "The token is refused from other addresses. Without any it is accepted from everywhere.",
    "actions": "Of what you may do, the token does these only. Without any it does all.",
    "object_types": "Of what you may access, the token has these only. Without any it has all.",
}
NO_PERMISSION = "You may not create API tokens: that takes the permission “add” for the object type users.token."
RESERVED = "Tokens are created by {} alone on this service (netinv.token_writers)."


def show(request: Request) -> Response:
    """The list of the user's tokens, without their keys."""
    uow = request.uow
    endpoint = uow.registry[LABEL]
    rows: list[dict[str, Any]] = []
    if may(uow, endpoint, "view"):
        results = listing.list_page(uow, endpoint, (), Slice(MAX_TOKENS, 0)).results
        rows = [_row(item, uow.now) for item in results]
    values = {"rows": rows, "refusal": refusal(uow, endpoint), "account_tabs": forms.TABS}
    return page(request, LIST, values | {"may_delete": may(uow, endpoint, "delete")})


def _row(token: dict[str, Any], at: datetime.datetime) -> dict[str, Any]:
    return {
        "id": token["id"],
        "name": str(token["id"])[:8],
        "description": token["description"],
        "write_enabled": token["write_enabled"],
        "created": text_markup(token["created"]),
        "expires": text_markup(token["expires"]) if token["expires"] else "Never",
        "expired": token["expires"] is not None and token["expires"] <= at,
        "last_used": text_markup(token["last_used"]) if token["last_used"] else "Never",
        "limits": [(title, ", ".join(token[name])) for name, title in LIMITS.items() if token[name]],
    }


def refusal(uow: UnitOfWork, endpoint: Endpoint) -> str:
    """The reason why the user may create no tokens; blank if the user may."""
    try:
        permissions.check(uow, endpoint, "add")
    except Denied:
        writers = uow.registry.settings["token_writers"]
        if writers == "permitted" or (writers == "superusers" and uow.identity.superuser):
            return NO_PERMISSION
        return RESERVED.format("superusers" if writers == "superusers" else "commands")
    return ""


def add(request: Request) -> Response:
    """The form for a new token."""
    uow = request.uow
    endpoint = uow.registry[LABEL]
    controls = _controls(endpoint)
    permissions.check(uow, endpoint, "add")
    if request.method == "GET":
        return _form(request, controls)
    texts = forms.texts_of(request, controls)
    try:
        expires = _expiry(texts, uow.now)
        body = {
            "description": texts["description"],
            "write_enabled": texts["write_enabled"] == "true",
            "expires": expires.isoformat() if expires is not None else None,
            **{name: re.split(r"[\s,]+", texts[name].strip()) if texts[name].strip() else [] for name in LIMITS},
        }
        token = save.create(uow, endpoint, [body], single=True)[0]
    except Invalid as error:
        return _form(request, controls, forms.add_errors(controls, error.body), 422)
    response = page(request, NEW_KEY, {"token": token, "base": uow.base, "account_tabs": forms.TABS})
    response.headers["Cache-Control"] = "no-store"
    return response


def _form(request: Request, controls: list[Control], errors: list[str] | None = None, status: int = 200) -> Response:
    options: dict[str, Any] = {"button": "Create token", "cancel": PATH, "errors": errors or []}
    return forms.form_page(request, "New API token", controls, status=status, **options)


def _controls(endpoint: Endpoint) -> list[Control]:
    return [
        Control(
            "description",
            "Description",
            help="What uses the token, such as the name of a script.",
            attributes={"maxlength": 200},
        ),
        Control(
            "write_enabled",
            "May write",
            "checkbox",
            help="Without it the token only reads. It never may more than you.",
        ),
        Control(
            "expires_in", "Expires", "select", choices=EXPIRY_PRESETS[1:], help="Without a choice it never expires."
        ),
        Control("expires", "Or on the day", "date", help="The token is valid until the end of this day (UTC)."),
        *_limit_controls(endpoint),
    ]


def _limit_controls(endpoint: Endpoint) -> list[Control]:
    """Controls of the lists that limit a token, each a text with its items."""
    titles = {"allowed_networks": "Allowed networks", "actions": "Actions", "object_types": "Object types"}
    examples = {
        "allowed_networks": "192.0.2.0/24, 2001:db8::/64",
        "actions": "view, add, change, delete",
        "object_types": "dcim.device, ipam.ipaddress",
    }
    return [
        Control(name, title, help=f"Such as {examples[name]}. {HELP[name]}", field=endpoint.fields[name])
        for name, title in titles.items()
    ]


def _expiry(texts: dict[str, str], at: datetime.datetime) -> datetime.datetime | None:
    """The time at which the token expires, from the preset or the date.

    :raises Invalid: for another preset, something that is no date, or a day of the past
    """
    if texts["expires"]:
        try:
            day = datetime.date.fromisoformat(texts["expires"])
        except ValueError:
            raise Invalid.field("expires", "Enter a date such as 2030-12-31.") from None
        expires = datetime.datetime.combine(day, datetime.time(23, 59, 59), datetime.UTC)
        if day < at.date():
            raise Invalid.field("expires", "This day is over.")
        return expires
    if texts["expires_in"] not in dict(EXPIRY_PRESETS):
        raise Invalid.field("expires_in", "Select one of the choices.")
    return at + datetime.timedelta(days=int(texts["expires_in"])) if texts["expires_in"] else None


def delete_token(request: Request) -> Response:
    """Asks whether to delete a token, and deletes it."""
    uow = request.uow
    endpoint = uow.registry[LABEL]
    key = endpoint.parse_key(request.matchdict["id"])
    permissions.check(uow, endpoint, "delete")
    token = listing.detail(uow, endpoint, key)
    if request.method == "GET":
        return page(request, DELETE, {"token": _row(token, uow.now), "account_tabs": forms.TABS})
    delete.delete(uow, endpoint, [{"id": key}], single=True)
    return notices.add(request, see_other(PATH), notices.Notice("The token was deleted. It is no longer accepted."))
