"""Panels and tabs on the pages of all objects: history, and what users and configuration attach to them."""

from __future__ import annotations

from netinv_core.endpoint import Endpoint
from netinv_extras.changelog.web import history
from netinv_extras.changelog.web.changes import CHANGE
from netinv_extras.config_contexts.web import tab as config_context_tab
from netinv_extras.dynamic_groups.web import filters as group_filters
from netinv_extras.dynamic_groups.web import tab as groups_tab
from netinv_extras.notes.web import page as notes
from netinv_extras.tags import Tags
from netinv_extras.templates.web import links
from netinv_extras.web import attachments
from netinv_web.bulk.selection import FIELDS
from netinv_web.extensions import Action, ListTab, Panel, Tab
from netinv_web.lists.selection import SELECTION
from netinv_web.paths import page_path


def panels_of(endpoint: Endpoint) -> list[Panel]:
    """The panels on the page of a resource's objects."""
    if endpoint.label == CHANGE:
        return [Panel("changes", "Changes", history.panel, side="main", template=history.PANEL_TEMPLATE, position=100)]
    return [*links.panels_of(endpoint), *config_context_tab.panels_of(endpoint), *attachments.panels_of(endpoint)]


def actions_of(endpoint: Endpoint) -> list[Action]:
    """The actions on a resource's objects and lists."""
    return [*attachments.actions_of(endpoint), *_tagging(endpoint), *group_filters.actions_of(endpoint)]


def _tagging(endpoint: Endpoint) -> list[Action]:
    """The short form that adds tags to selected objects."""
    if not isinstance(endpoint.writable.get("tags"), Tags) or "change" not in endpoint.resource.writes:
        return []
    return [
        Action(
            "tags", "Tags", lambda owner, item: f"{page_path(owner)}edit/?{FIELDS}=tags", SELECTION, "POST", "change"
        )
    ]


def tabs_of(endpoint: Endpoint) -> list[Tab | ListTab]:
    """The tabs of a resource's objects."""
    return [
        *config_context_tab.tabs_of(endpoint),
        *notes.tabs_of(endpoint),
        *groups_tab.tabs_of(endpoint),
        *history.tabs_of(endpoint),
    ]
