"""The paths that are no resource: the roots, status, installed plugins."""

from __future__ import annotations

import functools
import importlib.metadata
import platform
from collections.abc import Callable
from typing import Any

from pyramid.request import Request
from pyramid.response import Response

from netinv_core.app import App
from netinv_core.errors import NotAllowed, Unavailable
from netinv_core.http import versions
from netinv_core.http import views as services
from netinv_core.http.request_uow import RequestUnitOfWork, begin_request

READ_ONLY = "GET, HEAD, OPTIONS"
DESCRIPTION = "This is the root of the REST API.\n\nAPI endpoints are arranged by app and model name; e.g. `/api/dcim/locations/`."


def root(
    name: str, description: str = "", allow: str = READ_ONLY, *, reads: bool = False
) -> Callable[[Callable[[RequestUnitOfWork, Request], Any]], Callable[[Request], Response]]:
    """Makes a view of a function that gives the body; OPTIONS says what it is. What only ``reads`` writes nothing, whatever its method."""

    def wrap(function: Callable[[RequestUnitOfWork, Request], Any]) -> Callable[[Request], Response]:
        def view(request: Request) -> Response:
            uow = begin_request(request, allow, reads=reads)
            if request.method == "OPTIONS":
                formats = {"renders": [versions.JSON, versions.HTML], "parses": [versions.JSON]}
                return services.answer(uow, request, {"name": name, "description": description, **formats})
            if request.method not in allow.split(", "):
                raise NotAllowed(request.method, allow)
            return services.answer(uow, request, function(uow, request))

        view.methods = [method for method in allow.lower().split(", ") if method not in ("head", "options")]  # type: ignore[attr-defined]
        return functools.update_wrapper(view, function)

    return wrap


@root("API Root", DESCRIPTION)
def api_root(uow: RequestUnitOfWork, request: Request) -> Any:
    """The applications, by name."""
    names = {name for name, app in uow.registry.apps.items() if not app.plugin} | {"plugins", "status"}
    names.update(*[app.root_views for app in uow.registry.apps.values()])
    return {name: f"{uow.base}/api/{name}/" for name in sorted(names)}


def app_root(app: App) -> Callable[[Request], Response]:
    """The view of an application's root: its resources, by name."""

    @root(app.title, f"{app.title} API root view")
    def view(uow: RequestUnitOfWork, request: Request) -> Any:
        """The resources of the application, by name."""
        names = [*[resource.name for resource in app.resources], *app.extra_views]
        return {name: f"{uow.base}{app.path}{name}/" for name in sorted(names)}

    return view


@root("Status", "The service's version, its packages and what they run on.")
def status(uow: RequestUnitOfWork, request: Request) -> Any:
    """Versions of the service, its packages and what they run on; packages that could not be started."""
    registry = uow.registry
    found: dict[str, Any] = {
        "netinv-version": importlib.metadata.version("netinv-core"),
        **versions.REFERENCE,
        "python-version": platform.python_version(),
        "database": registry.dialect,
        "installed-apps": {name: _version(app) for name, app in registry.apps.items() if not app.plugin},
        "plugins": {name: _version(app) for name, app in registry.apps.items() if app.plugin},
        "broken-packages": {item.name: item.reason for item in registry.broken},
    }
    for entries in registry.hooks.netinv_status(uow=uow):
        found.update(entries)
    return found


def _version(app: App) -> str:
    return importlib.metadata.version(app.distribution) if app.distribution else app.version


@root("Plugins", "Plugins API root view")
def plugins_root(uow: RequestUnitOfWork, request: Request) -> Any:
    """The plugins, by name, and the list of what is installed."""
    found = {"installed-plugins": f"{uow.base}/api/plugins/installed-plugins/"}
    return found | {name: f"{uow.base}{app.path}" for name, app in sorted(uow.registry.apps.items()) if app.plugin}


@root("Installed Plugins", "API view for listing all installed plugins")
def installed_plugins(uow: RequestUnitOfWork, request: Request) -> Any:
    """Every plugin with its version and author; those that could not be started with the reason."""
    found: list[dict[str, Any]] = [
        {
            "name": app.title,
            "package": app.distribution or app.name,
            "author": app.author,
            "description": app.description,
            "version": _version(app),
            "status": "active",
        }
        for app in uow.registry.apps.values()
        if app.plugin
    ]
    broken = [{"name": item.name, "package": item.distribution, "status": "broken", "reason": item.reason} for item in uow.registry.broken]
    return found + broken


def unavailable(request: Request) -> Response:
    """The view of a package that could not be started. Whoever has an account finds the reason in ``/api/status/``.

    :raises Unavailable: always
    """
    raise Unavailable("This package could not be started; /api/status/ tells why.")


def includeme(config: Any) -> None:
    """Adds the routes."""
    registry = config.registry.netinv
    views = [
        ("/api/", api_root),
        ("/api/status/", status),
        ("/api/plugins/", plugins_root),
        ("/api/plugins/installed-plugins/", installed_plugins),
    ]
    for app in registry.apps.values():
        views += [(app.path, app_root(app)), *app.views.items()]
    for path, view in views:
        config.add_route(f"root {path}", path)
        config.add_view(view, route_name=f"root {path}")
    for item in registry.broken:
        for path in (f"/api/{item.name}/*rest", f"/api/plugins/{item.name}/*rest"):
            config.add_route(f"broken {path}", path)
            config.add_view(unavailable, route_name=f"broken {path}")
