"""Routes of the pages that every resource has: list, object, tabs, forms."""

from __future__ import annotations

from typing import Any

from netinv_core.http.traversal import root_of
from netinv_web.bulk import bulk_run, grid
from netinv_web.bulk import editing as bulk
from netinv_web.bulk import renaming as bulk_rename
from netinv_web.exchange import import_run, importing
from netinv_web.forms import choices, deletion, writing
from netinv_web.lists import column_choice, view_pages
from netinv_web.lists import listing as lists
from netinv_web.objects import details, tabs


def includeme(config: Any) -> None:
    """Adds the pages of every application's resources."""
    for app in config.registry.netinv.apps.values():
        if not app.resources:
            continue
        base = app.path.removeprefix("/api")
        root = root_of(app)
        on_list = {"factory": root, "traverse": "/{model}"}
        on_object = {"factory": root, "traverse": "/{model}/{id}"}
        add = config.add_netinv_page
        both = ["GET", "POST"]
        own: dict[str, Any] = {"methods": ["POST"], "personal": True}
        add(f"{base}{{model}}/", lists.show, lists.TEMPLATE, permission="view", **on_list)
        add(f"{base}{{model}}/_view/", view_pages.post, permission="view", **own, **on_list)
        add(f"{base}{{model}}/_choices/", choices.show, permission="view", **on_list)
        add(f"{base}{{model}}/_columns/", column_choice.keep, permission="view", **own, **on_list)
        add(f"{base}{{model}}/add/", writing.add, permission="add", methods=both, **on_list)
        add(f"{base}{{model}}/edit/", bulk.edit, permission="change", methods=both, **on_list)
        add(f"{base}{{model}}/grid/", grid.show, permission="change", methods=both, **on_list)
        add(f"{base}{{model}}/rename/", bulk_rename.rename, permission="change", methods=both, **on_list)
        add(f"{base}{{model}}/delete/", bulk.delete_objects, permission="delete", methods=both, **on_list)
        add(f"{base}{{model}}/import/", importing.show, permission="view", methods=both, **on_list)
        add(f"{base}{{model}}/bulk/{{run}}/", bulk_run.show, permission="view", methods=both, **on_list)
        add(f"{base}{{model}}/import/{{run}}/", import_run.show, permission="view", methods=both, **on_list)
        add(f"{base}{{model}}/{{id}}/", details.show, details.TEMPLATE, permission="view", **on_object)
        add(f"{base}{{model}}/{{id}}/edit/", writing.edit, permission="change", methods=both, **on_object)
        add(f"{base}{{model}}/{{id}}/delete/", deletion.delete_object, permission="delete", methods=both, **on_object)
        add(f"{base}{{model}}/{{id}}/{{tab}}/", tabs.show, permission="view", **on_object)
