"""Tabs of an object: lists of what belongs to it, and the tabs of packages."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from pyramid.request import Request
from pyramid.response import Response

from netinv_core.errors import NotFound
from netinv_core.http.views import key_of
from netinv_web.cells import list_parameter
from netinv_web.extensions import ListTab, Tab, copy_for_plugin, render_safely
from netinv_web.lists import listing as lists
from netinv_web.lists.column_choice import may_set_default
from netinv_web.lists.empty import sentence_of
from netinv_web.lists.selection import selection_actions
from netinv_web.menu import may
from netinv_web.objects import details, slugs, tab_links
from netinv_web.pages import page
from netinv_web.paths import page_path

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint, IncomingForeignKey

LIST_TEMPLATE = "netinv_web:templates/tab_list.jinja2"
TEMPLATE = "netinv_web:templates/tab.jinja2"


def show(request: Request) -> Response:
    """A tab: a list of objects that belong to this one, or the contents of a package.

    :raises NotFound: for a tab that the object does not have, or the user may not open
    """
    return show_tab(request, request.matchdict["tab"])


def show_tab(request: Request, name: str) -> Response:
    """The tab with a name, for a package whose tab has a route of its own.

    :raises NotFound: for a tab that the object does not have, or the user may not open
    """
    endpoint = request.context.endpoint
    if (redirect := slugs.redirect(request, f"{name}/")) is not None:
        return redirect
    representation, cells = details.read_object(request, endpoint, key_of(request))
    values = details.object_values(request, endpoint, representation, name, cells)
    if name not in {tab.name for tab in values["tabs"]} - {""}:
        raise NotFound()
    children = dict(tab_links.child_tabs(endpoint))
    if name in children:
        return page(request, LIST_TEMPLATE, values | _list(request, children[name], representation["id"]))
    tab: Tab | ListTab = next(tab for tab in tab_links.own_tabs(endpoint) if tab.name == name)
    if isinstance(tab, ListTab):
        representation = copy_for_plugin(request, tab, representation)
        child = endpoint.registry[tab.label_for(representation)]
        within, filters = tab.within(request, representation), tab.filters(representation)
        known = tab_links.reference_in(child, filters)
        listed = _list_values(request, child, within, tab.preset(representation), filters, known)
        if not filters and (path := tab.api_path(representation)):
            listed["api_path"] = dataclasses.replace(lists.api_query(child, listed["query"]), path=path).url
        return page(request, LIST_TEMPLATE, values | listed)
    return page(request, TEMPLATE, values | {"content": render_safely(request, tab, endpoint, representation)})


def _list(request: Request, incoming: IncomingForeignKey, key: Any) -> dict[str, Any]:
    """The values of a list that is limited to the objects of one parent."""
    child, parent = incoming.child, incoming.attribute.removesuffix("_id")
    filters = {list_parameter(incoming): str(key)}
    within = [child.table.c[incoming.attribute] == key]
    return _list_values(request, child, within, {parent: key}, filters, parent)


def _list_values(
    request: Request,
    child: Endpoint,
    within: Sequence[Any],
    preset: Mapping[str, Any] | None,
    filters: Mapping[str, str],
    parent: str = "",
) -> dict[str, Any]:
    """The values of a list that is limited by conditions.

    :param preset: values that the form for a new object begins with; ``None``: nothing is added
    :param filters: parameters by which the list of the API is limited likewise
    :param parent: a column that is left out, because it has the same value in every row
    """
    writes, uow = child.resource.writes, request.uow
    given = urlencode({name: value for name, value in (preset or {}).items() if value is not None})
    may_add = preset is not None and "add" in writes and may(uow, child, "add")
    values = lists.results(request, child, within, left_out=(parent,), tab=True)
    query = values["query"]
    back = request.path + (f"?{query.text}" if query.pairs else "")
    scope = [(name, [value]) for name, value in filters.items()]
    limited = query.with_filters([*scope, *query.filters])
    whole = lists.api_query(child, limited)
    return values | {
        "child": child,
        "described": "" if values["rows"] else sentence_of(child),
        "back": back,
        "selection": selection_actions(request, child, limited, back, scoped=bool(scope)),
        "may_set_default": may_set_default(request),
        "add_child": f"{page_path(child)}add/?{given}" if may_add else "",
        "scope": scope,
        "api_path": whole.url if scope else "",
    }
