"""Bulk pages: edit and delete of many objects, with a preview before the one transaction that applies them.

A selection comes from the list (:mod:`netinv_web.bulk.selection`). Each step posts to the page's own address.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pyramid.request import Request
from pyramid.response import Response

from netinv_core.errors import Conflict, Invalid, RequestError
from netinv_core.labels import title_of
from netinv_core.write import delete, save
from netinv_core.write.deleted_along import count_deleted_along
from netinv_core.write.dry_run import dry_run
from netinv_web import notices
from netinv_web.bulk import bulk_run
from netinv_web.bulk.form import BulkForm
from netinv_web.bulk.preview import BulkPreview, names_of, preview_updates
from netinv_web.bulk.selection import APPLY, FIELDS, PREVIEW, Members, Selection, carried, members_of, selected, step_of
from netinv_web.forms.deletion import MAX_NAMES, DeletionConsequences, consequences_in, refusal, trial
from netinv_web.forms.form import readable
from netinv_web.pages import page, see_other
from netinv_web.paths import object_path, page_path

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.uow import UnitOfWork

EDIT = "netinv_web:templates/bulk_edit.jinja2"
CHANGES = "netinv_web:templates/bulk_changes.jinja2"
DELETE = "netinv_web:templates/bulk_delete.jinja2"
NOTHING = "netinv_web:templates/bulk_nothing.jinja2"
CONFLICT, INVALID = 409, 422  # HTTP statuses
MAX_TO_DELETE = 100  # objects that the page of a deletion names


def edit(request: Request) -> Response:
    """The form for many objects, the preview of its changes, and their application."""
    endpoint, uow = request.context.endpoint, request.uow
    members = members_of(request)
    selection = selected(request, endpoint, members, "change")
    if not selection.keys or selection.too_many:
        return empty_selection_page(request, endpoint, selection, "edit")
    names = [name for text in uow.query.get(FIELDS, ()) for name in text.split(",")]
    form, step = BulkForm(uow, endpoint, members, names), step_of(members)
    if step not in (PREVIEW, APPLY):
        return _show_form(request, endpoint, selection, form)
    try:
        bodies = form.bodies(selection.keys)
    except Invalid:
        return _show_form(request, endpoint, selection, form, INVALID)
    if (done := carried_out(request, endpoint, selection, step, bodies, "changed")) is not None:
        return done
    preview = preview_updates(uow, endpoint, bodies, form.unrecorded)
    return show_changes(request, endpoint, selection, preview, members, "Edit")


def carried_out(
    request: Request,
    endpoint: Endpoint,
    selection: Selection,
    step: str,
    bodies: Mapping[Any, dict[str, Any]],
    verb: str,
    count: int | None = None,
) -> Response | None:
    """Applies changes that were agreed to, by id, or asks the worker for it where they are many; ``None`` for another
    step, and where they are refused: the preview has the reasons.
    """
    if step != APPLY or selection.changed:
        return None
    items = [{**body, "id": str(key)} for key, body in bodies.items()]
    if (path := bulk_run.start(request.uow, endpoint, bulk_run.UPDATE, items)) is not None:
        return see_other(path)
    if apply_updates(request.uow, endpoint, bodies) is not None:
        return None
    return redirect_with_notice(request, endpoint, selection, verb, count)


def apply_updates(uow: UnitOfWork, endpoint: Endpoint, bodies: Mapping[Any, dict[str, Any]]) -> RequestError | None:
    """Updates objects, all or none; returns the error that refuses them."""
    try:
        with uow.savepoint():
            items = [{**body, "id": str(key)} for key, body in bodies.items()]
            save.update(uow, endpoint, items, partial=True, listed=True)
    except RequestError as error:
        return error
    return None


def redirect_with_notice(
    request: Request, endpoint: Endpoint, selection: Selection, verb: str, count: int | None = None
) -> Response:
    """Leads back to the list, with a notice that can undo everything."""
    count = len(selection.keys) if count is None else count
    title = f"{count:,} {endpoint.plural} were" if count > 1 else f"{title_of(endpoint)} was"
    notice = notices.Notice(f"{title} {verb}.", undo=str(request.uow.request_id))
    return notices.add(request, see_other(selection.list_url), notice)


def empty_selection_page(request: Request, endpoint: Endpoint, selection: Selection, verb: str) -> Response:
    """The page for a selection of no objects, or of too many."""
    values = {"endpoint": endpoint, "list_path": page_path(endpoint), "selection": selection, "verb": verb}
    return page(request, NOTHING, values, INVALID if request.method == "POST" else 200)


def _show_form(
    request: Request, endpoint: Endpoint, selection: Selection, form: BulkForm, status: int = 200
) -> Response:
    form.complete(request.uow)
    values = {"endpoint": endpoint, "list_path": page_path(endpoint), "selection": selection, "form": form}
    return page(request, EDIT, values | named_objects(request.uow, endpoint, selection), status)


def named_objects(uow: UnitOfWork, endpoint: Endpoint, selection: Selection) -> dict[str, Any]:
    """The names and paths of the first selected objects."""
    named = names_of(uow, endpoint, selection.keys[:MAX_NAMES])
    return {"named": [(named.get(key, str(key)), object_path(endpoint, key)) for key in selection.keys[:MAX_NAMES]]}


def show_changes(
    request: Request, endpoint: Endpoint, selection: Selection, preview: BulkPreview, members: Members, verb: str
) -> Response:
    """The preview of changes, with the form that applies them, or leads back to change what was entered."""
    request.tm.doom()
    values = {
        "endpoint": endpoint,
        "list_path": page_path(endpoint),
        "selection": selection,
        "preview": preview,
        "hidden": [*selection.hidden, *carried(members)],
        "verb": verb,
    }
    status = 200 if preview.applicable or not preview.faulty else INVALID
    return page(request, CHANGES, values, status)


def delete_objects(request: Request) -> Response:
    """The preview of a deletion: what goes along, what protects; and the deletion itself."""
    endpoint, members = request.context.endpoint, members_of(request)
    return delete_selection(request, endpoint, selected(request, endpoint, members, "delete"), members)


def delete_selection(request: Request, endpoint: Endpoint, selection: Selection, members: Members) -> Response:
    """The preview of the deletion of a selection, or the deletion."""
    uow = request.uow
    if not selection.keys or selection.too_many:
        return empty_selection_page(request, endpoint, selection, "delete")
    bodies = [{"id": str(key)} for key in selection.keys]
    if step_of(members) == APPLY and not selection.changed:
        along = count_deleted_along(uow, endpoint, selection.keys).total()
        if (path := bulk_run.start(uow, endpoint, bulk_run.DELETE, bodies, along)) is not None:
            return see_other(path)
        try:
            with uow.savepoint():
                delete.delete(uow, endpoint, bodies)
            return redirect_with_notice(request, endpoint, selection, "deleted")
        except (Conflict, Invalid):
            pass  # the preview has the reason
    consequences = _deletion_consequences(request, endpoint, selection)
    named = names_of(uow, endpoint, selection.keys[:MAX_TO_DELETE])
    values = {
        "endpoint": endpoint,
        "list_path": page_path(endpoint),
        "selection": selection,
        "consequences": consequences,
        "named": [(name, object_path(endpoint, key)) for key, name in named.items()],
        "hidden": selection.hidden,
    }
    return page(request, DELETE, values, INVALID if consequences.error and request.method == "POST" else 200)


def _deletion_consequences(request: Request, endpoint: Endpoint, selection: Selection) -> DeletionConsequences:
    """The consequences of a deletion, for a page that deletes nothing."""
    if request.method == "POST":
        request.tm.doom()
        return _consequences(request.uow, endpoint, selection)
    with trial(request) as uow:
        return _consequences(uow, endpoint, selection)


def _consequences(uow: UnitOfWork, endpoint: Endpoint, selection: Selection) -> DeletionConsequences:
    """Deletes the objects in a dry run, and returns what that leads to."""
    try:
        with dry_run(uow) as preview:
            delete.delete(uow, endpoint, [{"id": str(key)} for key in selection.keys])
    except (Conflict, Invalid) as error:
        return refusal(uow, error)
    except RequestError as error:
        return DeletionConsequences(error=readable(error.body))
    return consequences_in(uow, endpoint, selection.keys, preview)
