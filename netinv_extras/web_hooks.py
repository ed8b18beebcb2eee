"""Hooks of the web interface that this application implements. ``netinv_web`` is imported only when it is installed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from pyramid.request import Request

from netinv_core.endpoint import Endpoint
from netinv_core.fields import Field
from netinv_core.hookspecs import hookimpl
from netinv_core.presentation import MenuEntry, MenuSection
from netinv_core.registry import Registry


@hookimpl
def netinv_web_includes(registry: Registry) -> Iterable[str]:
    """Pages of webhooks, jobs and Git repositories."""
    return ["netinv_extras.web.pages", "netinv_extras.web.object_routes"]


@hookimpl
def netinv_web_menu(registry: Registry) -> Iterable[MenuSection]:
    """The page for GraphQL queries."""
    return [MenuSection("System", [MenuEntry("GraphQL", "/graphql/")], "cog-6-tooth", 900)]


@hookimpl
def netinv_web_panels(registry: Registry, endpoint: Endpoint) -> Iterable[Any]:
    """Panels of webhooks, deliveries, jobs and Git repositories."""
    from netinv_extras.web import object_pages, panels

    return [*panels.panels_of(endpoint), *object_pages.panels_of(endpoint)]


@hookimpl
def netinv_web_tabs(registry: Registry, endpoint: Endpoint) -> Iterable[Any]:
    """The history of an object, and what users and configuration attach to it."""
    from netinv_extras.web import object_pages

    return object_pages.tabs_of(endpoint)


@hookimpl
def netinv_web_actions(registry: Registry, endpoint: Endpoint) -> Iterable[Any]:
    """Adding an image to an object, tags to a selection; saving the filters of a list as a dynamic group."""
    from netinv_extras.web import object_pages

    return object_pages.actions_of(endpoint)


@hookimpl
def netinv_web_background(registry: Registry) -> Any:
    """Runs tasks of pages as jobs."""
    from netinv_extras.jobs.web import background

    return background.BACKGROUND


@hookimpl
def netinv_jobs(registry: Registry) -> Iterable[type]:
    """The job that runs tasks of pages, where there are pages."""
    if not hasattr(registry.hooks, "netinv_web_background"):
        return []
    from netinv_extras.jobs.web import background

    return [background.RunTask]


@hookimpl
def netinv_web_exports(request: Any, endpoint: Endpoint) -> Iterable[Any]:
    """The export templates of the list's content type."""
    from netinv_extras.templates.web import exports

    return exports.exports_of(request, endpoint)


@hookimpl
def netinv_web_snippets(registry: Registry) -> Iterable[Any]:
    """The GraphQL query for what a page shows."""
    from netinv_extras.graphql.web import snippet as graphql_snippet

    return [graphql_snippet.snippet]


@hookimpl
def netinv_web_undo(request: Request) -> str | None:
    """The page that undoes a request."""
    from netinv_extras.changelog.web import undo

    return undo.path_for(request)


@hookimpl
def netinv_web_controls(registry: Registry) -> Mapping[type[Field] | tuple[str, str], Any]:
    """Controls for custom fields, relationships, content types and filters of dynamic groups."""
    from netinv_extras.web import controls

    return controls.controls()


@hookimpl
def netinv_web_widgets(registry: Registry) -> Iterable[Any]:
    """The latest changes."""
    from netinv_extras.web import home

    return home.WIDGETS


@hookimpl
def netinv_web_attention(request: Any) -> Iterable[Any]:
    """Jobs that wait for approval."""
    from netinv_extras.web import home

    return [home.WAITING_JOBS]
