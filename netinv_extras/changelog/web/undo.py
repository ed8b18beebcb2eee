"""Undo by a button: of one change, or of all changes of a request, through the same rules as writes."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa
from pyramid.request import Request
from pyramid.response import Response

from netinv_core.auth import permissions
from netinv_core.changelog.models import CREATE, DELETE, UPDATE, ObjectChange
from netinv_core.errors import Conflict, Invalid, NotFound, RequestError, error_text
from netinv_core.labels import label_of_name
from netinv_core.models.base import table_of
from netinv_core.types import UnitOfWork
from netinv_extras.changelog.web.changes import CHANGE
from netinv_undo.refusals import WHOLE
from netinv_undo.reverting import RevertedObject, revert
from netinv_web import notices
from netinv_web.menu import may
from netinv_web.pages import form_of, local_path, page, see_other
from netinv_web.paths import object_path, page_path

PATH = "/extras/undo/"
REFUSED = "netinv_extras:changelog/web/templates/undo_refused.jinja2"
DONE = {CREATE: "restored", UPDATE: "set back", DELETE: "deleted"}
_change = table_of(ObjectChange)


def path_for(request: Request) -> str | None:
    """The path to which a button posts the id of a request to undo it; ``None`` for users without the change log."""
    return PATH if may(request.uow, request.uow.registry[CHANGE], "view") else None


def undo(request: Request) -> Response:
    """Undoes the change or the request that the form names, and leads back; 409 with the reasons where it cannot be."""
    uow, following = request.uow, local_path(str(form_of(request).get("next", "/")))
    of_request = "request" in form_of(request)
    try:
        change_id = _change_of_request(uow, request) if of_request else _posted_id(request, "change")
        reverted = revert(uow, change_id, whole_request=of_request)
    except (Conflict, Invalid) as error:
        return page(request, REFUSED, {"refusals": _refusals(error), "back": following}, 409)
    notice = notices.Notice(_text(reverted), undo=str(uow.request_id))
    return notices.add(request, see_other(_following(reverted, following)), notice)


def _posted_id(request: Request, name: str) -> uuid.UUID:
    """The id in a member of the form.

    :raises NotFound: for text that is no id
    """
    try:
        return uuid.UUID(str(form_of(request).get(name, "")))
    except ValueError:
        raise NotFound() from None


def _change_of_request(uow: UnitOfWork, request: Request) -> uuid.UUID:
    """A change of the request that the form names.

    :raises NotFound: when the request changed nothing that the user may view
    """
    limits = permissions.visible(uow, uow.registry[CHANGE], _change)
    of_request = _change.c.request_id == _posted_id(request, "request")
    key = uow.execute(sa.select(_change.c.id).where(of_request, *limits).limit(1)).scalar()
    if not isinstance(key, uuid.UUID):
        raise NotFound()
    return key


def _refusals(error: RequestError) -> list[tuple[str, list[str]]]:
    """The reasons of a refusal by the name of the object; those without an object come under a blank name."""
    body: Any = error.body if isinstance(error.body, dict) else {"detail": error_text(error.body)}
    if "objects" not in body:
        return [("", [error_text(body)])]
    return [(item.get("object_repr", ""), [_reason(reason) for reason in item["reasons"]]) for item in body["objects"]]


def _reason(reason: dict[str, Any]) -> str:
    message = str(reason["message"])
    return message if reason["field"] == WHOLE else f"{label_of_name(reason['field'])}: {message}"


def _text(reverted: Sequence[RevertedObject]) -> str:
    """The sentence about what was done, with what could not be restored."""
    if len(reverted) == 1:
        item = reverted[0]
        text = f"{item.name} was {DONE[item.action]}."
    else:
        text = f"The changes of {len(reverted)} objects were undone."
    missing = sorted({name for item in reverted for name in item.not_restored})
    return f"{text} Not restored: {', '.join(map(label_of_name, missing))}." if missing else text


def _following(reverted: Sequence[RevertedObject], path: str) -> str:
    """The path to go on to: the page of the one object that came back, and no page of an object that is gone."""
    if len(reverted) == 1 and reverted[0].action == CREATE:
        return object_path(reverted[0].endpoint, reverted[0].key)
    for item in reverted:
        if item.action == DELETE and path.startswith(object_path(item.endpoint, item.key)):
            return page_path(item.endpoint)
    return path
