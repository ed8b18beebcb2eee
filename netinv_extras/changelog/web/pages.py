"""Pages, panel and widget of the change log."""

from __future__ import annotations

from typing import Any

from netinv_extras.changelog.web import history, recent_changes, undo, undo_run
from netinv_web.extensions import Panel, Widget

PANEL = Panel("changes", "Changes", history.panel, side="main", template=history.PANEL_TEMPLATE, position=100)
WIDGET = Widget(
    "recent-changes",
    "Recently changed",
    recent_changes.content,
    template="netinv_extras:changelog/web/templates/recent_changes.jinja2",
    position=200,
)


def includeme(config: Any) -> None:
    """Adds the pages."""
    add, changes = config.add_netinv_page, "extras/object-changes"
    add(history.PATH, history.show, history.TEMPLATE, permission="view", resource=changes)
    add(f"{history.PATH}{{id}}/", history.redirect, permission="view", resource=changes)
    add(undo.PATH, undo.undo, permission="view", methods=["POST"], resource=changes)
    add(f"{undo.PATH}{{run}}/", undo_run.show, permission="view", methods=["GET", "POST"], resource=changes)
