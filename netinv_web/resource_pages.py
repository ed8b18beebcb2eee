"""Routes of the pages that every resource has: list, object, tabs, forms."""

from __future__ import annotations

from typing import Any

from pyramid.request import Request
from pyramid.response import Response

from netinv_core.errors import NotFound
from netinv_core.http.traversal import root_of
from netinv_web.bulk import bulk_run, grid
from netinv_web.bulk import editing as bulk
from netinv_web.bulk import renaming as bulk_rename
from netinv_web.exchange import import_run, importing
from netinv_web.forms import choices, deletion, writing
from netinv_web.lists import column_choice, view_pages
from netinv_web.lists import listing as lists
from netinv_web.objects import details, tabs
from netinv_web.pages import View


def includeme(config: Any) -> None:
    """Adds the pages of every application's resources."""
    add, both = config.add_netinv_page, ["GET", "POST"]

    def add_form(action: str, path: str, view: View, context: dict[str, Any]) -> None:
        add(path, _where_offered(action, view), permission=action, methods=both, **context)

    for app in config.registry.netinv.apps.values():
        if not app.resources:
            continue
        base = app.path.removeprefix("/api")
        root = root_of(app)
        on_list = {"factory": root, "traverse": "/{model}"}
        on_object = {"factory": root, "traverse": "/{model}/{id}"}
        own: dict[str, Any] = {"methods": ["POST"], "personal": True}
        add(f"{base}{{model}}/", lists.show, lists.TEMPLATE, permission="view", **on_list)
        add(f"{base}{{model}}/_view/", view_pages.post, permission="view", **own, **on_list)
        add(f"{base}{{model}}/_choices/", choices.show, permission="view", **on_list)
        add(f"{base}{{model}}/_columns/", column_choice.keep, permission="view", **own, **on_list)
        add_form("add", f"{base}{{model}}/add/", writing.add, on_list)
        add_form("change", f"{base}{{model}}/edit/", bulk.edit, on_list)
        add_form("change", f"{base}{{model}}/grid/", grid.show, on_list)
        add_form("change", f"{base}{{model}}/rename/", bulk_rename.rename, on_list)
        add_form("delete", f"{base}{{model}}/delete/", bulk.delete_objects, on_list)
        add(f"{base}{{model}}/import/", importing.show, permission="view", methods=both, **on_list)
        add(f"{base}{{model}}/bulk/{{run}}/", bulk_run.show, permission="view", methods=both, **on_list)
        add(f"{base}{{model}}/import/{{run}}/", import_run.show, permission="view", methods=both, **on_list)
        add(f"{base}{{model}}/{{id}}/", details.show, details.TEMPLATE, permission="view", **on_object)
        add_form("change", f"{base}{{model}}/{{id}}/edit/", writing.edit, on_object)
        add_form("delete", f"{base}{{model}}/{{id}}/delete/", deletion.delete_object, on_object)
        add(f"{base}{{model}}/{{id}}/{{tab}}/", tabs.show, permission="view", **on_object)


def _where_offered(action: str, view: View) -> View:
    """View decorator of a form that writes.

    :raises NotFound: for a resource without this action (:attr:`netinv_core.resource.Resource.writes`), as the API
        answers 405
    """

    def offered(request: Request) -> Response:
        if action not in request.context.endpoint.resource.writes:
            raise NotFound()
        return view(request)

    return offered
