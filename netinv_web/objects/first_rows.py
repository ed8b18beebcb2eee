"""Panels with the first rows of lists that the page of an object begins with (``ListTab.first``)."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pyramid.request import Request

from netinv_core.read import listing
from netinv_core.read.listing import Slice
from netinv_web.extensions import ListTab, Panel, copy_for_plugin
from netinv_web.lists.columns import columns_of
from netinv_web.lists.list_query import ListQuery
from netinv_web.lists.rows import rows_of, without_uniform_columns
from netinv_web.lists.sorting import Sorting, name_label_of
from netinv_web.menu import may
from netinv_web.objects import tab_links
from netinv_web.paths import object_path

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint

TEMPLATE = "netinv_web:templates/first_rows.jinja2"
NAME = "first-{}"  # name of the panel of a tab
MAX = 10  # rows that are shown


def panels_of(endpoint: Endpoint) -> list[Panel]:
    """The panels of a resource's objects, by the position of the tabs."""
    tabs = [tab for tab in tab_links.own_tabs(endpoint) if isinstance(tab, ListTab) and tab.first]
    return [_panel(tab) for tab in tabs]


def _panel(tab: ListTab) -> Panel:
    def content(request: Request, endpoint: Endpoint, item: Mapping[str, Any]) -> dict[str, Any] | None:
        """The first rows and the number of all; two statements, and one to count more rows."""
        uow = request.uow
        child = endpoint.registry[tab.label_for(copy_for_plugin(request, tab, item))]
        conditions = tab_links.within(request, tab, item) if may(uow, child, "view") else None
        if conditions is None:
            return None
        count, keys = listing.ids(uow, child, [], Slice(MAX, 0), within=conditions)
        if not keys:
            return None
        known = tab_links.reference_in(child, tab.filters(copy_for_plugin(request, tab, item)))
        columns = [dataclasses.replace(column, ordering="") for column in columns_of(uow, child, tab.first)]
        columns, rows = without_uniform_columns(columns, rows_of(uow, child, columns, keys, [known]))
        path = f"{object_path(endpoint, item['id'])}{tab.name}/"
        sorting = Sorting(ListQuery(path, ()), name_label=name_label_of(child))
        return {"columns": columns, "rows": rows, "count": count, "listed": child, "path": path, "sorting": sorting}

    return Panel(NAME.format(tab.name), tab.title, content, "main", lazy=True, template=TEMPLATE, position=tab.position)
