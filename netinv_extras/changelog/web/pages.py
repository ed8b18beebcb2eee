"""Pages, panel and widget of the change log."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from netinv_core.hookspecs import hookimpl
from netinv_extras.changelog.resource import object_changes
from netinv_extras.changelog.web import history, recent_changes, undo, undo_run
from netinv_web.extensions import Panel, Widget

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint

PANEL = Panel("changes", "Changes", history.panel, side="main", template=history.PANEL_TEMPLATE, position=100)
WIDGET = Widget(
    "recent-changes",
    "Recently changed",
    recent_changes.content,
    template="netinv_extras:changelog/web/templates/recent_changes.jinja2",
    position=200,
)


@hookimpl
def netinv_web_panels(endpoint: Endpoint) -> Sequence[Panel]:
    """The differences of a change."""
    return [PANEL] if endpoint.model is object_changes.model else []


@hookimpl
def netinv_web_widgets() -> Sequence[Widget]:
    """The latest changes."""
    return [WIDGET]


def includeme(config: Any) -> None:
    """Adds the pages."""
    add, changes = config.add_netinv_page, "extras/object-changes"
    add(history.PATH, history.show, history.TEMPLATE, permission="view", resource=changes)
    add(f"{history.PATH}{{id}}/", history.redirect, permission="view", resource=changes)
    add(undo.PATH, undo.undo, permission="view", methods=["POST"], resource=changes)
    add(f"{undo.PATH}{{run}}/", undo_run.show, permission="view", methods=["GET", "POST"], resource=changes)
