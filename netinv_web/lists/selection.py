"""The selection of rows in a list: the actions that its bar offers.

The bar is the form ``selection``. It posts the ids of the selected rows as ``pk``, or ``_all`` for all objects that
match the filters in the query of the form's address, to the pages ``<list>/edit/``, ``<list>/grid/`` and
``<list>/delete/``, or to an action of a package whose scope is ``selection``.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING
from urllib.parse import urlencode

from pyramid.interfaces import IRoutesMapper
from pyramid.request import Request

from netinv_web.bulk.renaming import has_names
from netinv_web.extensions import ActionLink, actions_of
from netinv_web.lists.list_query import BACK, ListQuery
from netinv_web.menu import may
from netinv_web.paths import page_path

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint

SELECTION, LIST, QUERY = "selection", "list", "query"
BULK_PAGES = (
    ("Edit", "edit", "change"),
    ("Grid", "grid", "change"),
    ("Rename", "rename", "change"),
    ("Delete", "delete", "delete"),
)


def selection_actions(
    request: Request, endpoint: Endpoint, query: ListQuery, back: str = "", *, scoped: bool = True
) -> list[ActionLink]:
    """The actions that the user may run on selected objects, those of packages last. Each posts the selection.

    :param back: where the actions lead back to, instead of the list
    :param scoped: false where no filters have the same objects: then not all that match can be selected
    """
    uow, path = request.uow, page_path(endpoint)
    filters = query.only_filters().text if scoped else ""
    if back:
        filters = "&".join(filter(None, [filters, urlencode({BACK: back})]))
    base = endpoint.app.path.removeprefix("/api")
    mapper = request.registry.getUtility(IRoutesMapper)
    actions = [
        ActionLink(name, title, _with_query(f"{path}{name}/", filters), "POST")
        for title, name, action in BULK_PAGES
        if action in endpoint.resource.writes
        and (name != "rename" or has_names(endpoint))
        and may(uow, endpoint, action)
        and mapper.get_route(f"page {base}{{model}}/{name}/") is not None
    ]
    own = actions_of(request, endpoint, SELECTION)
    return [*actions, *(dataclasses.replace(link, path=_with_query(link.path, filters)) for link in own)]


def _with_query(path: str, query: str) -> str:
    if not query:
        return path
    return f"{path}&{query}" if "?" in path else f"{path}?{query}"
