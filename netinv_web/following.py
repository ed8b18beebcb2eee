"""Page that follows a write: one that the user may open.

Who may add objects need not be allowed to view or change them, and a change may lead an object out of what constraints
let its user view. What was done is said on another page then.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from netinv_core.auth import permissions
from netinv_web.menu import may
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


def list_or_form(uow: UnitOfWork, endpoint: Endpoint) -> str:
    """The path of a resource's list; for users who may not view it that of the form for a new object, or home."""
    path = page_path(endpoint)
    if may(uow, endpoint, "view"):
        return path
    return f"{path}add/" if may(uow, endpoint, "add") else HOME
