"""History pages: the changes of one object, those of all objects, and one change."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pyramid.request import Request
from pyramid.response import Response

from netinv_core.changelog.models import ACTIONS
from netinv_core.errors import Invalid, NotFound, error_text
from netinv_core.hookspecs import hookimpl
from netinv_core.http.errors import RelativeRedirect
from netinv_core.http.serialization import dumps
from netinv_core.http.views import key_of
from netinv_core.read import listing
from netinv_core.read.listing import Parameters, Slice
from netinv_core.read.past_states import has_history
from netinv_extras.changelog.web import changes, undo
from netinv_extras.changelog.web.changes import CHANGE
from netinv_web.extensions import Tab
from netinv_web.lists.list_query import query_of
from netinv_web.lists.listing import Pages
from netinv_web.paths import object_path

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint

PATH = "/extras/changelog/"
TITLE = "Change log"
TEMPLATE = "netinv_extras:changelog/web/templates/changelog.jinja2"
TAB_TEMPLATE = "netinv_extras:changelog/web/templates/changelog_tab.jinja2"
PANEL_TEMPLATE = "netinv_extras:changelog/web/templates/change_panel.jinja2"
PAGE_SIZE = 50  # changes, each with the representations before and after


@hookimpl
def netinv_web_tabs(endpoint: Endpoint) -> list[Tab]:
    """The tab with the history of an object, for resources whose changes are recorded."""
    if not has_history(endpoint):
        return []
    return [Tab("changelog", TITLE, tab, template=TAB_TEMPLATE, permission=(CHANGE, "view"), position=900)]


def tab(request: Request, endpoint: Endpoint, representation: Mapping[str, Any]) -> dict[str, Any]:
    """The changes of one object, newest first."""
    named = [("changed_object_type", [endpoint.label]), ("changed_object_id", [str(representation["id"])])]
    return _page(request, named) | {"of_object": True}


def show(request: Request) -> dict[str, Any]:
    """The changes of all objects, newest first, limited by filters of the change log."""
    query = query_of(request)
    values: dict[str, Any] = {"error": ""}
    try:
        values |= _page(request, query.filters)
    except Invalid as invalid:
        values |= _page(request, [("id", [])], empty=True) | {"error": error_text(invalid.body)}
    chosen = {name: filter_values[-1] for name, filter_values in query.filters}
    return values | {"of_object": False, "chosen": chosen, "actions": ACTIONS.items}


def _page(request: Request, parameters: Parameters, *, empty: bool = False) -> dict[str, Any]:
    """The values of the template for a page of changes."""
    uow, query = request.uow, query_of(request)
    number = _page_number(query.values("page"))
    count = 0
    keys: list[Any] = []
    if not empty:
        count, keys = listing.ids(uow, uow.registry[CHANGE], parameters, Slice(PAGE_SIZE, (number - 1) * PAGE_SIZE))
    return {
        "groups": changes.group_changes(uow, changes.load(uow, keys)),
        "pages": Pages(number, PAGE_SIZE, count),
        "query": query,
        "undo_path": undo.PATH,
        "here": request.path,
    }


def _page_number(texts: list[str]) -> int:
    text = texts[-1] if texts else "1"
    return max(1, int(text)) if text.isascii() and text.isdecimal() and len(text) < 8 else 1


def redirect(request: Request) -> Response:
    """Leads from Nautobot's address of a change to its page."""
    response = RelativeRedirect(status=302)
    response.headers["Location"] = object_path(request.context.endpoint, key_of(request))
    return response


def panel(request: Request, endpoint: Endpoint, representation: Mapping[str, Any]) -> dict[str, Any]:
    """A change on its own page: the differences, the representations before and after, and the buttons that undo it."""
    uow, key = request.uow, representation["id"]
    loaded = changes.load(uow, [key], visible=representation["changed_object"] is not None)
    if not loaded:
        raise NotFound()
    (group,) = changes.group_changes(uow, loaded)
    return {
        "change": loaded[0],
        "group": group,
        "before": _pretty(loaded[0].before),
        "after": _pretty(loaded[0].after),
        "undo_path": undo.PATH,
        "here": request.path,
        "log_path": PATH,
    }


def _pretty(representation: Any) -> str:
    if representation is None:
        return ""
    return json.dumps(json.loads(dumps(representation)), indent=2, ensure_ascii=False)
