"""The pages ``/dcim/cables/move/`` and ``/dcim/cables/insert-panel/``: other cables in the place of the chosen ones.

Lists, port tables and the workbench post the cables; the page has them in its address. Each choice is a step by GET,
tried in a dry run. A last POST replaces the cables in one transaction, with one undo.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from pyramid.request import Request
from pyramid.response import Response

from netinv_core.errors import Denied
from netinv_dcim.web.connect.answers import answer
from netinv_dcim.web.connect.sides import last_of, texts_of
from netinv_dcim.web.recabling import cables, plans
from netinv_dcim.web.recabling.cables import OldCable
from netinv_dcim.web.recabling.plans import END, TO, WAY, WAYS, Recabling
from netinv_web import notices
from netinv_web.bulk.editing import empty_selection_page
from netinv_web.bulk.selection import APPLY, ROW, Selection, members_of, selected, step_of
from netinv_web.forms.controls import Members
from netinv_web.forms.deletion import trial
from netinv_web.lists.list_query import BACK
from netinv_web.menu import may
from netinv_web.pages import local_path, see_other
from netinv_web.paths import object_path, page_path

if TYPE_CHECKING:
    from netinv_core.uow import UnitOfWork

MAX_CABLES = 100
LISTED = "/dcim/cables/"


@dataclasses.dataclass(frozen=True)
class RecablingOperation:
    """A way to replace cables: its page, ``plan(uow, cables, members)``, and its words."""

    path: str
    title: str
    plan: Callable[[UnitOfWork, Sequence[OldCable], Members], Recabling]
    verb: str
    end_label: str
    done: str


MOVE = RecablingOperation(
    f"{LISTED}move/", "Move cables", plans.plan_moves, "move", "End that moves", "{} moved to {}."
)
INSERT = RecablingOperation(
    f"{LISTED}insert-panel/",
    "Insert a panel",
    plans.plan_insertions,
    "replace",
    "The front faces",
    "{} now lead{s} through {}.",
)


def _view(operation: RecablingOperation) -> Callable[[Request], Response]:
    """Returns the view of an operation."""

    def view(request: Request) -> Response:
        uow, endpoint = request.uow, request.context.endpoint
        posted = members_of(request)
        members: Members = {**uow.query, **posted}
        selection = selected(request, endpoint, posted, "delete")
        selection = dataclasses.replace(selection, maximum=min(selection.maximum, MAX_CABLES), limited_by="")
        if not may(uow, endpoint, "add"):
            raise Denied(missing=(endpoint.label, "add"))
        if not selection.keys or selection.too_many:
            return empty_selection_page(request, endpoint, selection, operation.verb)
        if request.method == "POST" and step_of(posted) != APPLY:
            return see_other(_address(operation, selection, members))
        found = cables.read(uow, endpoint, selection.keys)
        form = operation.plan(uow, found, members)
        if request.method == "POST":
            return _apply(request, operation, selection, form, members)
        if form.applicable:
            with trial(request) as other:
                cables.try_out(other, endpoint, form.replacements)
        return _show(request, operation, selection, form, members)

    return view


def address(path: str, keys: Sequence[Any], **values: str) -> str:
    """The address of a page with these cables."""
    further = [(name, value) for name, value in values.items() if value]
    return f"{path}?{urlencode([*((ROW, str(key)) for key in keys), *further])}"


def _address(operation: RecablingOperation, selection: Selection, members: Members) -> str:
    """The page with a selection that was posted."""
    values = {END: last_of(members, END), BACK: _back(selection, members)}
    return address(operation.path, selection.keys, **values)


def _back(selection: Selection, members: Members) -> str:
    """Path of the page where the cables were chosen: the workbench with its sides, or a list; empty for one cable."""
    sides = [(name, text) for name in ("left", "right", "left_kind", "right_kind") for text in texts_of(members, name)]
    if sides:
        return f"/dcim/cabling/?{urlencode(sides)}"
    return local_path(last_of(members, BACK)) if last_of(members, BACK) else selection.back


def _apply(
    request: Request, operation: RecablingOperation, selection: Selection, form: Recabling, members: Members
) -> Response:
    """Replaces the cables, and leads back; what is refused leaves all as it was."""
    uow, endpoint = request.uow, request.context.endpoint
    created = cables.replace(uow, endpoint, form.replacements) if form.applicable else []
    if not created or form.side.host is None:
        request.tm.doom()
        return _show(request, operation, selection, form, members, refused=True)
    count = len(form.replacements)
    which = "1 cable" if count == 1 else f"{count} cables"
    text = operation.done.format(which, form.side.host.name, s="s" if count == 1 else "")
    following = _back(selection, members) or (
        object_path(endpoint, created[0]["id"]) if count == 1 else page_path(endpoint)
    )
    notice = notices.Notice(text, undo=str(uow.request_id))
    return notices.add(request, see_other(following), notice)


def _show(
    request: Request,
    operation: RecablingOperation,
    selection: Selection,
    form: Recabling,
    members: Members,
    *,
    refused: bool = False,
) -> Response:
    back = _back(selection, members)
    values: dict[str, Any] = {
        "operation": operation,
        "endpoint": request.context.endpoint,
        "selection": selection,
        "form": form,
        "side": form.side,
        "names": {"to": TO, "end": END, "way": WAY, "back": BACK},
        "ways": WAYS,
        "hidden": [*((ROW, str(key)) for key in selection.keys), *([(BACK, back)] if back else [])],
        "back": back or _cable_path(form) or LISTED,
    }
    refused = refused or bool(form.side.errors and not form.side.matches)
    return answer(request, "recabling", "connect.js", values, refused=refused)


def _cable_path(form: Recabling) -> str:
    """The page of the only cable."""
    return form.near[0][0].path if len(form.near) == 1 and not form.staying else ""


def includeme(config: Any) -> None:
    """Adds the pages."""
    for operation in (MOVE, INSERT):
        config.add_netinv_page(
            operation.path, _view(operation), permission="delete", methods=["GET", "POST"], resource="dcim/cables"
        )
