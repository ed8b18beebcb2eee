"""The tab of an account that tells what its user may do with an object, and by which permission."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
from pyramid.request import Request

from netinv_core.auth import permissions
from netinv_core.auth.models import ObjectPermission, User
from netinv_core.errors import Denied, NotFound
from netinv_core.hookspecs import hookimpl
from netinv_core.labels import title_of
from netinv_core.models.base import table_of
from netinv_core.read import listing
from netinv_outgoing.urls import path_of
from netinv_web.auth import access
from netinv_web.extensions import Tab
from netinv_web.pages import query_text
from netinv_web.paths import object_path

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.uow import UnitOfWork

ACTIONS = ("view", "add", "change", "delete")
NO_OBJECT = "There is no such object, or you may not view it. Paste the address of its page."
HIDDEN_GROUP = "a group that you may not view"
_users: Any = table_of(User)
_permissions = table_of(ObjectPermission)


def content(request: Request, endpoint: Endpoint, account: Mapping[str, Any]) -> dict[str, Any]:
    """The values of the tab's template: the form, and the answer for the object that the query names."""
    address = query_text(request, "object")
    values: dict[str, Any] = {"address": address, "error": "", "answer": None, "username": account["username"]}
    if address:
        try:
            values["answer"] = _answer(request, account, address)
        except (Denied, NotFound):
            values["error"] = NO_OBJECT
    return values


def _answer(request: Request, account: Mapping[str, Any], address: str) -> dict[str, Any]:
    uow = request.uow
    endpoint, key = object_of(uow, address)
    shown = listing.detail(uow, endpoint, key, shape="nested")
    is_account = _users.c.id == account["id"]
    flags = uow.execute(sa.select(_users.c.is_active, _users.c.is_superuser).where(is_account)).one()
    grants = access.grants_of(uow, account["id"], endpoint, key)
    rows = [
        {
            "path": f"/users/permissions/{grant.id}/",
            "name": grant.name,
            "actions": ", ".join(grant.actions),
            "via": ", ".join(HIDDEN_GROUP if via is None else via or "assigned directly" for via in grant.via),
            "constraints": json.dumps(grant.constraints, ensure_ascii=False) if grant.constraints else "",
            "applies": grant.applies,
            "error": grant.error,
        }
        for grant in grants
    ]
    names = dict.fromkeys([*ACTIONS, *(action for grant in grants for action in grant.actions)])
    allowed = {name: [grant.name for grant in grants if grant.applies and name in grant.actions] for name in names}
    return {
        "title": f"{title_of(endpoint)} {shown.get('display', '')}",
        "path": object_path(endpoint, key),
        "active": flags.is_active,
        "superuser": flags.is_superuser,
        "exempt": permissions.exempt(endpoint),
        "actions": list(allowed.items()),
        "grants": rows,
        "partial": bool(permissions.visible(uow, uow.registry["users.objectpermission"], _permissions)),
    }


def object_of(uow: UnitOfWork, address: str) -> tuple[Endpoint, Any]:
    """The resource and the id that the address of a page, or of an object in the API, names.

    :raises NotFound: for another address
    """
    path = path_of(address.strip()).removeprefix(path_of(uow.base))
    steps = [step for step in path.removeprefix("/api").split("/") if step]
    for name, app in uow.registry.apps.items():
        base = [step for step in app.path.removeprefix("/api").split("/") if step]
        if len(steps) >= len(base) + 2 and steps[: len(base)] == base:
            endpoint = uow.registry.by_path.get((name, steps[len(base)]))
            key = endpoint.parse_key(steps[len(base) + 1]) if endpoint is not None else None
            if endpoint is not None and key is not None:
                return endpoint, key
    raise NotFound()


TAB = Tab(
    "access",
    "Access",
    content,
    template="netinv_web:templates/user_access.jinja2",
    permission=("users.objectpermission", "view"),
)


@hookimpl
def netinv_web_tabs(endpoint: Endpoint) -> Sequence[Tab]:
    """The tab of accounts that explains their access to an object."""
    return [TAB] if endpoint.model is User else []
