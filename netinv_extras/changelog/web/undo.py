"""Undo by a button: of one change, or of all changes of a request, through the same rules as writes."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
from pyramid.request import Request
from pyramid.response import Response

from netinv_core.auth import permissions
from netinv_core.changelog.models import CREATE, DELETE, UPDATE, ObjectChange
from netinv_core.errors import Conflict, Invalid, NotFound
from netinv_core.hookspecs import hookimpl
from netinv_core.labels import label_of_name
from netinv_core.models.base import table_of
from netinv_extras.changelog.web import undo_run
from netinv_extras.changelog.web.changes import CHANGE, PERMISSION_TO_UNDO
from netinv_extras.changelog.web.undo_preview import consequences_of, scope_of
from netinv_undo.reverting import RevertedObject, revert
from netinv_web import notices
from netinv_web.following import list_or_form, page_of_object
from netinv_web.menu import may
from netinv_web.pages import form_of, form_text, local_path, page, see_other
from netinv_web.paths import object_path

if TYPE_CHECKING:
    from netinv_core.uow import UnitOfWork

PATH = "/extras/undo/"
PREVIEW = "netinv_extras:changelog/web/templates/undo_preview.jinja2"
REFUSED = "netinv_extras:changelog/web/templates/undo_refused.jinja2"
STEP, ASK, APPLY = "_step", "ask", "apply"  # member of the form, and its values
DONE = {CREATE: "restored", UPDATE: "set back", DELETE: "deleted"}
_change = table_of(ObjectChange)


def path_for(request: Request, request_id: str | None = None) -> str | None:
    """The path to which a button posts the id of a request to undo it; ``None`` for users without the change log or
    without the permissions to undo the request ``request_id``, and in a change request, whose changes are not in it.
    """
    uow = request.uow
    if uow.aside or not may(uow, uow.registry[CHANGE], "view"):
        return None
    return PATH if request_id is None or may_undo(uow, _changed_by(uow, request_id)) else None


def _changed_by(uow: UnitOfWork, request_id: str) -> list[Any]:
    """The pairs of content type and action of the changes of a request."""
    pairs = sa.select(_change.c.changed_object_type, _change.c.action).distinct()
    return list(uow.execute(pairs.where(_change.c.request_id == uuid.UUID(request_id))))


def may_undo(uow: UnitOfWork, changed: Iterable[Sequence[str]]) -> bool:
    """True when the user may undo each of the changes, given by content type and action, as far as the permissions of
    models say.
    """
    needed = {(uow.registry.get(label), PERMISSION_TO_UNDO[action]) for label, action in changed}
    return all(
        endpoint is not None and action in endpoint.resource.writes and may(uow, endpoint, action)
        for endpoint, action in needed
    )


def undo(request: Request) -> Response:
    """Undoes the change or the request that the form names, and leads back; 409 with the reasons where it cannot be.

    An undo of many changes, and one that deletes, is first answered with what goes along, and asks. The worker runs an
    undo of more than ``netinv.undo_background_changes``.
    """
    uow, form = request.uow, form_of(request)
    following, step = local_path(str(form.get("next", "/"))), form.get(STEP)
    of_request = "request" in form
    change_id = _change_of_request(uow, request) if of_request else _posted_id(request, "change")
    scope = scope_of(uow, change_id, whole_request=of_request)
    large = scope.count > uow.registry.settings["undo_background_changes"]
    try:
        if step != APPLY and (step == ASK or large or scope.asks):
            consequences = consequences_of(uow, change_id, whole_request=of_request) if not large else None
            named = [(name, str(form[name])) for name in ("request", "change", "next") if name in form]
            shown = {"scope": scope, "consequences": consequences, "named": named, "back": following}
            return page(request, PREVIEW, shown)
        run = undo_run.start(uow, change_id, whole_request=of_request) if large else None
        if run is not None:
            return see_other(f"{PATH}{run}/")
        reverted = revert(uow, change_id, whole_request=of_request)
    except (Conflict, Invalid) as error:
        return page(request, REFUSED, {"refusals": undo_run.refusals(error), "back": following}, 409)
    notice = notices.Notice(_text(reverted), undo=str(uow.request_id))
    return notices.add(request, see_other(_next_page(uow, reverted, following)), notice)


def _posted_id(request: Request, name: str) -> uuid.UUID:
    """The id in a member of the form.

    :raises NotFound: for text that is no id
    """
    try:
        return uuid.UUID(form_text(request, name))
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


def _text(reverted: Sequence[RevertedObject]) -> str:
    """The sentence about what was done, with what could not be restored."""
    if len(reverted) == 1:
        item = reverted[0]
        text = f"{item.name_in_context} was {DONE[item.action]}."
    else:
        text = f"The changes of {len(reverted)} objects were undone."
    missing = sorted({name for item in reverted for name in item.not_restored})
    return f"{text} Not restored: {', '.join(map(label_of_name, missing))}." if missing else text


def _next_page(uow: UnitOfWork, reverted: Sequence[RevertedObject], path: str) -> str:
    """The path to go on to: the page of the one object that came back, and no page of an object that is gone."""
    if len(reverted) == 1 and reverted[0].action == CREATE:
        return page_of_object(uow, reverted[0].endpoint, reverted[0].key, path)
    for item in reverted:
        if item.action == DELETE and path.startswith(object_path(item.endpoint, item.key)):
            return list_or_form(uow, item.endpoint)
    return path


@hookimpl
def netinv_web_undo(request: Request, request_id: str) -> str | None:
    """The page that undoes a request."""
    return path_for(request, request_id)
