"""The profile of the user: names and e-mail address, and what the user may do."""

from __future__ import annotations

from typing import Any

from pyramid.request import Request
from pyramid.response import Response

from netinv_core.auth import permissions
from netinv_core.errors import Invalid
from netinv_core.labels import plural_of
from netinv_core.sql.plans import plan_of
from netinv_core.write import save
from netinv_web import notices
from netinv_web.account import forms
from netinv_web.forms.control_values import fill
from netinv_web.forms.controls import control_of
from netinv_web.pages import page, see_other

TEMPLATE = "netinv_web:templates/account/profile.jinja2"
OWN_FIELDS = ("first_name", "last_name", "email")  # that users change themselves


def show(request: Request) -> Response:
    """The profile; its form changes the fields that need no permission on accounts."""
    uow = request.uow
    endpoint = uow.registry["users.user"]
    plan = plan_of(endpoint)
    (account,) = plan.represent(uow, [uow.identity.user_id])
    controls = [
        control for name in OWN_FIELDS if (control := control_of(uow, endpoint, endpoint.writable[name])) is not None
    ]
    for control in controls:
        control.kind = "text"
        fill(control, account[control.name])
    errors: list[str] = []
    if request.method == "POST":
        body = {**forms.texts_of(request, controls), "id": uow.identity.user_id}
        try:
            save.update(uow.as_system(), endpoint, [body], partial=True, single=True)
        except Invalid as error:
            errors = forms.add_errors(controls, error.body)
        else:
            return notices.add(request, see_other("/user/profile/"), notices.Notice("Your profile was changed."))
    values = {"account": account, "controls": controls, "errors": errors, "account_tabs": forms.TABS}
    status = 422 if errors or any(control.errors for control in controls) else 200
    return page(request, TEMPLATE, {**values, "groups": _group_names(account), "rights": _rights(request)}, status)


def _group_names(account: dict[str, Any]) -> list[str]:
    return [str(group.get("name") or group.get("display")) for group in account["groups"] if isinstance(group, dict)]


def _rights(request: Request) -> list[tuple[str, list[str], bool]]:
    """For each resource that the user may do something with: its title, the actions, and True if limited to some
    objects.
    """
    uow = request.uow
    rights: list[tuple[str, list[str], bool]] = []
    if uow.identity.superuser:
        return rights
    for label, endpoint in uow.registry.endpoints.items():
        actions = [action for name, action in uow.identity.permissions if name == label]
        limited = any(all(grants) for key, grants in uow.identity.permissions.items() if key[0] == label)
        if not actions and permissions.exempt(endpoint):
            actions = ["view"]
        if actions:
            rights.append((plural_of(endpoint), sorted(actions), limited))
    return sorted(rights)
