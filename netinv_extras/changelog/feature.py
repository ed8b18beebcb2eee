"""Feature ``changelog``: the change log as a resource, its feed, history of objects, and undo."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from pyramid.request import Request

from netinv_core.app import Feature
from netinv_core.hookspecs import hookimpl
from netinv_core.presentation import MenuEntry, MenuSection
from netinv_extras.changelog.resource import object_changes

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.registry import Registry

feature = Feature(
    "changelog",
    "Change log",
    [object_changes],
    includes=[
        "netinv_extras.changelog.feed",
        "netinv_extras.changelog.history",
        "netinv_extras.changelog.revert",
    ],
    settings={"feed_waiters": (int, 2), "undo_background_changes": (int, 500)},
    menu=[
        MenuSection(
            "Operations",
            [MenuEntry("Change log", "/extras/changelog/", "extras.objectchange")],
            icon="queue-list",
            position=700,
        )
    ],
)


@hookimpl
def netinv_web_includes(registry: Registry) -> Iterable[str]:
    """The pages of the change log, and the one that undoes a request."""
    return ["netinv_extras.changelog.web.pages"]


@hookimpl
def netinv_web_panels(registry: Registry, endpoint: Endpoint) -> Iterable[Any]:
    """The differences of a change."""
    from netinv_extras.changelog.web import pages

    return [pages.PANEL] if endpoint.model is object_changes.model else []


@hookimpl
def netinv_web_tabs(registry: Registry, endpoint: Endpoint) -> Iterable[Any]:
    """The history of an object."""
    from netinv_extras.changelog.web import history

    return history.tabs_of(endpoint)


@hookimpl
def netinv_web_undo(request: Request, request_id: str) -> str | None:
    """The page that undoes a request."""
    from netinv_extras.changelog.web import undo

    return undo.path_for(request, request_id)


@hookimpl
def netinv_web_widgets(registry: Registry) -> Iterable[Any]:
    """The latest changes."""
    from netinv_extras.changelog.web import pages

    return [pages.WIDGET]
