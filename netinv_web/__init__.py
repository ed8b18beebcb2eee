"""Web interface: pages for people, derived from the same declarations as the REST API."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from netinv_core.app import App
from netinv_core.auth.models import User
from netinv_core.hookspecs import hookimpl
from netinv_core.presentation import MenuSection
from netinv_core.tasks.retention import Retention
from netinv_web import hookspecs, settings
from netinv_web.auth import sessions
from netinv_web.lists.list_defaults import list_default_resource
from netinv_web.lists.saved_views import saved_view_resource

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
    web=[
        "netinv_web.auth.sign_in",
        "netinv_web.home",
        "netinv_web.search",
        "netinv_web.browsable",
        "netinv_web.forms.pattern_preview",
        "netinv_web.account.pages",
        "netinv_web.system",
        "netinv_web.documentation",
        "netinv_web.auth.user_access",
        "netinv_web.account.permission_form",
        "netinv_web.objects.snippets",
    ],
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
