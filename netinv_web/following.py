"""Page that follows a write: one that the user may open.

Who may add objects need not be allowed to view or change them, and a change may lead an object out of what constraints
let its user view. What was done is said on another page then.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from netinv_core.auth import permissions
from netinv_core.fields import Reference
from netinv_web.menu import may
from netinv_web.objects.tab_links import child_tabs
from netinv_web.paths import object_path, page_path

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.uow import UnitOfWork

HOME = "/"


def page_of_object(uow: UnitOfWork, endpoint: Endpoint, key: Any, otherwise: str) -> str:
    """The path of an object's page; ``otherwise`` for one that the user may not view."""
    return object_path(endpoint, key) if permissions.visible_ids(uow, endpoint, [key]) else otherwise


def form_of_object(uow: UnitOfWork, endpoint: Endpoint, key: Any, otherwise: str) -> str:
    """The path of an object's form; that of its page for users who may not change it, as :func:`page_of_object`."""
    path = page_of_object(uow, endpoint, key, "")
    if not path:
        return otherwise
    return f"{path}edit/" if permissions.permitted_ids(uow, endpoint, "change", [key]) else path


def tab_of_parent(uow: UnitOfWork, endpoint: Endpoint, created: Sequence[Mapping[str, Any]]) -> str:
    """The path of the tab with new objects at the object that all of them belong to, as ports to a device; blank where
    there is none that the user may view.
    """
    field = endpoint.fields.get(endpoint.parent or "")
    if not isinstance(field, Reference) or field.target is None or not may(uow, endpoint, "view"):
        return ""
    keys = {(item[field.name] or {}).get("id") for item in created}
    names = [name for name, incoming in child_tabs(field.target) if incoming.attribute == field.attribute]
    if len(keys) != 1 or None in keys or endpoint.resource.name not in names:
        return ""
    path = page_of_object(uow, field.target, field.target.parse_key(str(keys.pop())), "")
    return f"{path}{endpoint.resource.name}/" if path else ""


def list_or_form(uow: UnitOfWork, endpoint: Endpoint) -> str:
    """The path of a resource's list; for users who may not view it that of the form for a new object, or home."""
    path = page_path(endpoint)
    if may(uow, endpoint, "view"):
        return path
    return f"{path}add/" if may(uow, endpoint, "add") else HOME
