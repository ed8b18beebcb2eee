"""Tab with the notes about an object, and the form that adds one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
from pyramid.request import Request
from pyramid.response import Response

from netinv_core.auth import permissions
from netinv_core.errors import Invalid, NotFound, error_text
from netinv_core.hookspecs import hookimpl
from netinv_core.http.traversal import root_of
from netinv_core.http.views import key_of
from netinv_core.models.base import table_of
from netinv_core.read import listing
from netinv_core.read.listing import Slice
from netinv_core.write import save
from netinv_extras.notes import Note, takes_notes
from netinv_web.extensions import Tab
from netinv_web.markup import time_markup
from netinv_web.menu import may
from netinv_web.objects import markdown, tabs
from netinv_web.pages import form_text, see_other
from netinv_web.paths import object_path

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint

LABEL, NAME, TEMPLATE = "extras.note", "notes", "netinv_extras:notes/web/templates/notes.jinja2"
MAX_NOTES = 200  # notes of a page, the newest ones
ERROR = "netinv.note_error"  # of the request's environment: why a posted note was not saved
_note = table_of(Note)


@hookimpl
def netinv_web_tabs(endpoint: Endpoint) -> list[Tab]:
    """The tab, for resources whose objects have notes."""
    if not takes_notes(endpoint):
        return []

    def count(request: Request, representation: Mapping[str, Any]) -> int | None:
        return _count(request, endpoint, representation["id"])

    return [Tab(NAME, "Notes", tab, template=TEMPLATE, permission=(LABEL, "view"), count=count, position=800)]


def _count(request: Request, endpoint: Endpoint, key: Any) -> int | None:
    """The number of notes about an object; one statement. ``None`` for none."""
    limits = permissions.visible(request.uow, request.uow.registry[LABEL], _note)
    about = [_note.c.assigned_object_id == key, _note.c.assigned_object_type == endpoint.label]
    statement = sa.select(sa.func.count()).select_from(_note).where(*about, *limits)
    return request.uow.execute(statement).scalar() or None


def tab(request: Request, endpoint: Endpoint, representation: Mapping[str, Any]) -> dict[str, Any]:
    """The notes, newest first, and the form."""
    uow, key = request.uow, representation["id"]
    notes = uow.registry[LABEL]
    named = [("assigned_object_type", [endpoint.label]), ("assigned_object_id", [str(key)]), ("ordering", ["-created"])]
    page = listing.list_page(uow, notes, named, Slice(MAX_NOTES, 0))
    may_delete = may(uow, notes, "delete")
    return {
        "notes": [
            {
                "author": item["user_name"],
                "time": time_markup(item["last_updated"]),
                "text": markdown.render(request, item["note"]),
                "delete": f"{object_path(notes, item['id'])}delete/" if may_delete else "",
            }
            for item in page.results
        ],
        "may_add": may(uow, notes, "add"),
        "error": request.environ.get(ERROR, ""),
        "entered": form_text(request, "note") if ERROR in request.environ else "",
        "path": f"{object_path(endpoint, key)}notes/",
    }


def show(request: Request) -> Response:
    """The tab; a POST adds a note and leads back to it, or shows the error beside what was entered."""
    if request.method != "POST":
        return tabs.show_tab(request, NAME)
    uow, endpoint, key = request.uow, request.context.endpoint, key_of(request)
    if not takes_notes(endpoint):
        raise NotFound()
    listing.detail(uow, endpoint, key, shape="nested")
    body = {"note": form_text(request, "note"), "assigned_object_type": endpoint.label}
    try:
        save.create(uow, uow.registry[LABEL], [body | {"assigned_object_id": str(key)}], single=True)
    except Invalid as invalid:
        request.environ[ERROR] = error_text(invalid.body)
        response = tabs.show_tab(request, NAME)
        response.status_int = 422
        return response
    return see_other(f"{object_path(endpoint, key)}notes/")


def includeme(config: Any) -> None:
    """Adds the page, for the resources of every application."""
    for app in config.registry.netinv.apps.values():
        path = f"{app.path.removeprefix('/api')}{{model}}/{{id}}/notes/"
        options = {"factory": root_of(app), "traverse": "/{model}/{id}"}
        config.add_netinv_page(path, show, permission="view", methods=["GET", "POST"], **options)
