"""Web interface: pages for people, derived from the same declarations as the REST API."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from pyramid.request import Request

from netinv_core.app import App
from netinv_core.auth.models import User
from netinv_core.hookspecs import hookimpl
from netinv_core.presentation import MenuEntry, MenuSection
from netinv_core.tasks.retention import Retention
from netinv_web import documentation, home, hookspecs, settings
from netinv_web.auth import sessions
from netinv_web.extensions import Attention, Snippet
from netinv_web.lists.list_defaults import list_default_resource
from netinv_web.lists.saved_views import saved_view_resource
from netinv_web.objects import snippets

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.registry import Registry
    from netinv_core.resource import Rule

app = App(
    "web",
    "Web interface",
    resources=[saved_view_resource, list_default_resource],
    migrations="netinv_web:migrations",
    includes=["netinv_web.configuration"],
    hooks=hookspecs,
    settings=settings.known,
    distribution="netinv-web",
    menu=[MenuSection("Customization", ["saved-views", "list-defaults"], "adjustments-horizontal", 719)],
)


@hookimpl
def netinv_app() -> App:
    """Returns the application."""
    return app


@hookimpl
def netinv_rules(registry: Registry, endpoint: Endpoint) -> Iterable[Rule]:
    """Rule of accounts: a new password, and deactivation, end their sessions."""
    return [sessions.end_with_credentials] if endpoint.model is User else []


@hookimpl
def netinv_retention(registry: Registry) -> Iterable[Retention]:
    """Sessions that are over."""
    return [sessions.retention]


@hookimpl
def netinv_web_attention(request: Request) -> Iterable[Attention]:
    """Packages that do not start, and pending migrations."""
    return home.attention_of_service(request)


@hookimpl
def netinv_web_menu(registry: Registry) -> Iterable[MenuSection]:
    """Returns the sections of the interface itself."""
    entries = [
        MenuEntry("System", "/system/", superuser=True),
        MenuEntry("Installed plugins", "/plugins/installed-plugins/"),
        MenuEntry("API", "/api/"),
        MenuEntry("API documentation", "/api/docs/"),
        *([MenuEntry("Documentation", documentation.PATH)] if documentation.is_built() else []),
    ]
    return [MenuSection("System", entries, "cog-6-tooth", 900)]


@hookimpl
def netinv_web_tabs(registry: Registry, endpoint: Endpoint) -> Iterable[Any]:
    """The tab of accounts that explains their access to an object."""
    from netinv_web.auth import user_access

    return [user_access.TAB] if endpoint.model is User else []


@hookimpl
def netinv_web_controls(registry: Registry) -> Mapping[Any, Any]:
    """The controls of permissions."""
    from netinv_web.account import permission_form

    return permission_form.controls(registry)


@hookimpl
def netinv_web_snippets(registry: Registry) -> Iterable[Snippet]:
    """Forms of *as code* with the REST API."""
    return snippets.SNIPPETS
