"""Routes of the pages of history, undo, notes and job buttons."""

from __future__ import annotations

from typing import Any

from netinv_core.http.traversal import root_of
from netinv_extras.changelog.web import history, undo
from netinv_extras.notes.web import page as notes
from netinv_extras.templates.web import links


def includeme(config: Any) -> None:
    """Adds the pages."""
    apps = config.registry.netinv.apps
    root = root_of(apps["extras"])
    add = config.add_netinv_page
    changes = {"factory": root, "traverse": "/object-changes"}
    add(history.PATH, history.show, history.TEMPLATE, permission="view", **changes)
    change = {"factory": root, "traverse": "/object-changes/{id}"}
    add(f"{history.PATH}{{id}}/", history.redirect, permission="view", **change)
    add(undo.PATH, undo.undo, permission="view", methods=["POST"], **changes)
    button = {"factory": root, "traverse": "/job-buttons/{id}"}
    both = ["GET", "POST"]
    add("/extras/job-buttons/{id}/run/", links.run_button, permission="view", methods=both, **button)
    for app in apps.values():
        path = f"{app.path.removeprefix('/api')}{{model}}/{{id}}/notes/"
        options = {"factory": root_of(app), "traverse": "/{model}/{id}"}
        add(path, notes.show, permission="view", methods=both, **options)
