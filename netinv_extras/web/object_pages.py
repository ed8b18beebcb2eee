"""Panels and tabs on the pages of all objects: history, and what users and configuration attach to them."""

from __future__ import annotations

from netinv_core.endpoint import Endpoint
from netinv_extras.web import attachments, config_context_tab, groups_tab, history, links, notes
from netinv_extras.web.changes import CHANGE
from netinv_web.extensions import Action, Panel, Tab


def panels_of(endpoint: Endpoint) -> list[Panel]:
    """The panels on the page of a resource's objects."""
    if endpoint.label == CHANGE:
        return [Panel("changes", "Changes", history.panel, side="main", template=history.PANEL_TEMPLATE, position=100)]
    return [*links.panels_of(endpoint), *attachments.panels_of(endpoint)]


def actions_of(endpoint: Endpoint) -> list[Action]:
    """The actions on a resource's objects."""
    return attachments.actions_of(endpoint)


def tabs_of(endpoint: Endpoint) -> list[Tab]:
    """The tabs of a resource's objects."""
    return [
        *config_context_tab.tabs_of(endpoint),
        *notes.tabs_of(endpoint),
        *groups_tab.tabs_of(endpoint),
        *history.tabs_of(endpoint),
    ]
