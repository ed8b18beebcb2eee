"""The paths that are no resource: the roots, status, installed plugins."""

from __future__ import annotations

import dataclasses
import importlib.metadata
import platform
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from pyramid.request import Request
from pyramid.response import Response
from pyramid.security import NO_PERMISSION_REQUIRED

from netinv_core.errors import Unavailable
from netinv_core.http import standard_parameters, versions
from netinv_core.http.actions import schema_of, taking_documented_members
from netinv_core.http.methods import allow_header
from netinv_core.http.security_policy import API_ACCESS
from netinv_core.http.serialization import dumps
from netinv_core.http.time_limits import parts_in_time
from netinv_core.packages import CORE

if TYPE_CHECKING:
    from netinv_core.app import App

DESCRIPTION = (
    "This is the root of the REST API.\n\n"
    "API endpoints are arranged by app and model name; e.g. `/api/dcim/locations/`."
)


@dataclasses.dataclass
class RootView:
    """A view of a path that is no resource, with its title and description for OPTIONS; see :func:`root`."""

    view: Callable[[Request], Any]
    title: str
    description: str = ""
    methods: Sequence[str] = ("GET",)
    read_only: bool = False

    def __post_init__(self) -> None:
        self.__doc__ = self.view.__doc__

    def options(self, request: Request) -> dict[str, Any]:
        """The answer to OPTIONS."""
        formats = {"renders": [versions.JSON, versions.HTML], "parses": [versions.JSON]}
        return {"name": self.title, "description": self.description, **formats}


def root(
    title: str, description: str = "", methods: Sequence[str] = ("GET",), *, read_only: bool = False
) -> Callable[[Callable[[Request], Any]], RootView]:
    """Decorator that makes a :class:`RootView` of a view: for every active account, with the ``methods``.

    ``read_only`` is for a view that writes nothing, whatever its method.
    """
    return lambda view: RootView(view, title, description, methods, read_only)


def add_root_view(config: Any, path: str, view: RootView) -> None:
    """Adds the route of a view, and the answer to OPTIONS.

    Of the standard parameters it takes those that it documents; ``limit`` and ``offset``, which clients of version 1
    send with every request, are ignored.
    """
    name = f"root {path}"
    common = {"route_name": name, "permission": API_ACCESS, "allow": allow_header(view.methods), "renderer": "orjson"}
    config.add_route(name, path)
    schema = schema_of(view)
    documented = taking_documented_members(view.view, schema)
    taking = standard_parameters.with_parameters(documented, schema.query, standard_parameters.SENT_WITH_WRITES)
    config.add_view(taking, read_only=view.read_only, **common)
    config.add_view(view.options, request_method="OPTIONS", **common)


@root("API Root", DESCRIPTION)
def api_root(request: Request) -> Any:
    """The applications, by name."""
    uow = request.uow
    shown = (app for app in uow.registry.apps.values() if not app.plugin and (app.resources or app.extra_views))
    names = {app.name for app in shown} | {"plugins", "status"}
    names.update(*[app.root_views for app in uow.registry.apps.values()])
    return {name: f"{uow.base}/api/{name}/" for name in sorted(names)}


def app_root(app: App) -> RootView:
    """The view of an application's root: its resources, by name."""

    @root(app.title, f"{app.title} API root view")
    def view(request: Request) -> Any:
        """The resources of the application, by name."""
        names = [*[resource.name for resource in app.resources], *app.extra_views]
        return {name: f"{request.uow.base}{app.path}{name}/" for name in sorted(names)}

    return view


@root("Status", "The service's version, its packages and what they run on.")
def status(request: Request) -> Any:
    """Versions of the service, its packages and what they run on; packages that could not be started."""
    registry = request.uow.registry
    body: dict[str, Any] = {
        "netinv-version": importlib.metadata.version("netinv-core"),
        **versions.REFERENCE,
        "python-version": platform.python_version(),
        "database": registry.dialect,
        "installed-apps": {name: _version(app) for name, app in registry.apps.items() if not app.plugin},
        "plugins": {name: _version(app) for name, app in registry.apps.items() if app.plugin},
        "broken-packages": {item.name: item.reason for item in registry.broken},
    }
    for entries in parts_in_time(request, "netinv_status", _status_entries):
        body = {**entries, **body}
    return body


def _status_entries(result: Any) -> dict[str, Any]:
    """The entries of a package, which JSON can hold."""
    entries = dict(result)
    dumps(entries)
    return entries


def _version(app: App) -> str:
    return importlib.metadata.version(app.distribution) if app.distribution else app.version


@root("Plugins", "Plugins API root view")
def plugins_root(request: Request) -> Any:
    """The plugins, by name, and the list of what is installed."""
    uow = request.uow
    urls = {"installed-plugins": f"{uow.base}/api/plugins/installed-plugins/"}
    return urls | {name: f"{uow.base}{app.path}" for name, app in sorted(uow.registry.apps.items()) if app.plugin}


@root("Installed Plugins", "API view for listing all installed plugins")
def installed_plugins(request: Request) -> Any:
    """Every plugin with its version and author; those that could not be started with the reason."""
    registry = request.uow.registry
    plugins: list[dict[str, Any]] = [
        {
            "name": app.title,
            "package": app.distribution or app.name,
            "author": app.author,
            "description": app.description,
            "version": _version(app),
            "status": "active",
        }
        for app in registry.apps.values()
        if app.plugin
    ]
    broken = [
        {"name": item.name, "package": item.distribution, "status": "broken", "reason": item.reason}
        for item in registry.broken
    ]
    return plugins + broken


def unavailable(request: Request) -> Response:
    """The view of a package that could not be started. ``/api/status/`` gives the reason to accounts.

    :raises Unavailable: always
    """
    raise Unavailable("This package could not be started; /api/status/ tells why.")


def includeme(config: Any) -> None:
    """Adds the routes.

    :raises PackageError: for a package whose view is none, or whose path another one has
    """
    registry = config.registry.netinv
    views: dict[str, tuple[str, Any]] = {
        "/api/": (CORE, api_root),
        "/api/status/": (CORE, status),
        "/api/plugins/": (CORE, plugins_root),
        "/api/plugins/installed-plugins/": (CORE, installed_plugins),
    }
    for app in registry.apps.values():
        package = registry.packages[app.name]
        for path, view in [*[(app.path, app_root(app))] * app.rooted, *app.views.items()]:
            with registry.failures.of(package):
                if path in views:
                    raise registry.conflict(views[path][0], package, f"the path {path}")
                views[path] = package, view
    for path, (package, view) in views.items():
        with registry.failures.of(package):
            if not isinstance(view, RootView):
                raise TypeError(f"the view of {path} is a {type(view).__name__} instead of a RootView (decorator root)")
            add_root_view(config, path, view)
    registry.failures.check()
    for item in (item for item in registry.broken if item.name not in registry.apps):
        for path in (f"/api/{item.name}/*rest", f"/api/plugins/{item.name}/*rest"):
            config.add_route(f"broken {path}", path)
            config.add_view(unavailable, route_name=f"broken {path}", permission=NO_PERMISSION_REQUIRED)
