"""Views of packages in the Pyramid configuration, and the attribution of configuration errors to packages.

``Configurator.include`` only queues actions; they are checked and executed by ``Configurator.commit``. An error of the
commit names the queued action by its :class:`ActionInfo`, from which the package is looked up.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import webob
from pyramid.config import Configurator
from pyramid.exceptions import ConfigurationConflictError, ConfigurationExecutionError
from pyramid.interfaces import (
    IDefaultCSRFOptions,
    IDefaultPermission,
    IRequestFactory,
    IResponse,
    IResponseFactory,
    IRootFactory,
    ITweens,
)

from netinv_core import described_views
from netinv_core.declaration_checks import DeclarationError
from netinv_core.package_faults import package_at_fault, plugin_of_module
from netinv_core.packages import CORE, PackageError, errors_of, note_registrations
from netinv_core.wrong_results import wrong_result

if TYPE_CHECKING:
    from netinv_core.app import App
    from netinv_core.registry import Registry

PackageByAction = dict[Any, str]  # ActionInfo of a queued action → name of the package that queued it
# Discriminators of actions, of which there is one each, and which the core leaves to Pyramid.
OF_THE_SERVICE = {
    IDefaultCSRFOptions: "defaults of CSRF checks",
    IDefaultPermission: "default permission",
    IRequestFactory: "factory of requests",
    IResponseFactory: "factory of responses",
    IRootFactory: "root factory",
}
# The first parts of discriminators, of which there is one for each class of results or contexts.
OF_CLASSES = {IResponse: "answer of views that return", "traverser": "traverser of", "resource url adapter": "URLs of"}
SAMPLE = "00000000-0000-4000-8000-000000000000"  # stands for the placeholders of a route; an id
_PLACEHOLDER = re.compile(r"\{(\w+)(?::((?:[^{}]|\{[^{}]*\})*))?\}|\*\w+$")


def add_packages(config: Configurator) -> None:
    """Adds the views of every application, and executes the actions that they queue.

    :raises PackageError: when an ``includeme`` fails, or an action of a package cannot be executed, replaces what is of
        the whole service, or conflicts with one of another package
    """
    registry = config.registry.netinv
    package_by_action: PackageByAction = {}
    config.registry.netinv_package_by_action = package_by_action
    for app in registry.apps.values():
        with errors_of(registry.packages[app.name]):
            described_views.check_roots(registry, app)
        include_modules(config, registry.packages[app.name], app.includes)
    config.include("netinv_core.http.cornice_services")
    routes: dict[str, str] = {}
    for action in config.action_state.actions:
        package, discriminator = package_by_action.get(action["info"], CORE), action["discriminator"]
        if registry.is_plugin(package) and (replaced := _replaced_part(registry, package, discriminator)):
            with registry.failures.of(package):
                raise DeclarationError(f"it replaces the {replaced} of the whole service")
        if isinstance(discriminator, tuple) and discriminator[0] == "route":
            routes[discriminator[1]] = package
    registry.failures.check()
    with commit_errors_of(registry, package_by_action):
        config.commit()
    check_routes(config, routes)


def _replaced_part(registry: Registry, package: str, discriminator: Any) -> str | None:
    """The part of the service that an action of a plugin replaces; ``None`` for one about the plugin's own views."""
    if discriminator in OF_THE_SERVICE:
        return OF_THE_SERVICE[discriminator]
    if not isinstance(discriminator, tuple) or discriminator[0] not in OF_CLASSES:
        return None
    kind, subject = discriminator
    if subject is not None and plugin_of_module(registry, subject.__module__) == package:
        return None
    return f"{OF_CLASSES[kind]} {getattr(subject, '__name__', 'everything')}"


def include_modules(config: Configurator, package: str, modules: Iterable[str]) -> None:
    """Includes modules of a package, and notes that it queued their actions.

    :raises PackageError: when an ``includeme`` fails
    """
    queued_before = len(config.action_state.actions)
    with errors_of(package), note_registrations(package), described_views.check_views(config, package):
        for module in modules:
            config.include(_import_module(module) if isinstance(module, str) else module)
    package_by_action: PackageByAction = getattr(config.registry, "netinv_package_by_action", {})
    for action in config.action_state.actions[queued_before:]:
        package_by_action.setdefault(action["info"], package)


def _import_module(name: str) -> Any:
    """The module with a name, for which Pyramid would take a resource of that name which its package imports; the name
    of one that Pyramid cannot import either.
    """
    with contextlib.suppress(ModuleNotFoundError):
        importlib.import_module(name)
    return sys.modules.get(name, name)


def checked_deriver(deriver: Callable[..., Any]) -> Callable[..., Any]:
    """A view deriver whose results are checked when views are added, in place of failing their requests."""

    @functools.wraps(deriver)
    def derive(view: Any, info: Any) -> Any:
        derived = deriver(view, info)
        if not callable(derived):
            raise wrong_result(deriver, derived, "a view")
        return derived

    return derive


def check_tweens(config: Configurator) -> None:
    """Has the application check what the factories of its tweens make, when it is put together, and what the tweens of
    plugins return.
    """
    tweens, registry = config.registry.getUtility(ITweens), config.registry.netinv

    def put_together(handler: Any, pyramid_registry: Any) -> Any:
        for _, factory in reversed(tweens.explicit or tweens.implicit()):
            handler = factory(handler, pyramid_registry)
            if not callable(handler):
                raise wrong_result(factory, handler, "a tween")
            if plugin_of_module(registry, getattr(factory, "__module__", "")) is not None:
                handler = _checked_tween(factory, handler)
        return handler

    config.registry.registerUtility(put_together, ITweens)


def _checked_tween(factory: Callable[..., Any], tween: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """A tween that fails as the one of its factory when that returns no response."""

    def checked(request: Any) -> Any:
        response = tween(request)
        if not isinstance(response, webob.Response):
            raise wrong_result(factory, response, "a response")
        return response

    return checked


def check_routes(config: Configurator, names: Mapping[str, str]) -> None:
    """Finds routes of plugins that have paths of others, or whose paths others have: the first route that was added and
    matches a path gets its requests.

    Conflicts with what is built in come first, so that a plugin at fault for one claims nothing from other plugins.

    :param names: the packages that added routes, by the name of the route
    :raises PackageError: for the plugin of such a route
    """
    registry = config.registry.netinv
    places = [(place, package) for app in registry.apps.values() for place, package in _places(registry, app)]

    def package_of(route: Any) -> str:
        owners = (package for place, package in places if route.pattern.startswith(place))
        package = names.get(route.name, CORE)
        return next(owners, CORE) if package == CORE else package

    routes = [(route, package_of(route)) for route in config.get_routes_mapper().routelist]
    added = [number for number, (_, package) in enumerate(routes) if registry.is_plugin(package)]
    paths = [_paths_of(registry, route) for route, _ in routes] if added else []
    conflicts: list[tuple[str, str, str]] = []
    for number in added:
        route, package = routes[number]
        literal = re.split(r"[{*]", route.pattern, maxsplit=1)[0]
        earlier = [
            (routes[n], path)
            for n in range(number)
            for path in paths[number][:1]
            if routes[n][0].match(path) is not None
        ]
        later = [
            (routes[n], path)
            for n in range(number + 1, len(routes))
            for path in paths[n]
            if path.startswith(literal) and route.match(path) is not None
        ]
        conflicts += [(other, package, path) for (_, other), path in (*earlier, *later) if other != package]
    for with_plugins in (False, True):
        for other, package, path in conflicts:
            if registry.is_plugin(other) == with_plugins:
                with registry.failures.of(package):
                    raise registry.conflict(other, package, f"the path {path}")
        registry.failures.check()


def _places(registry: Registry, app: App) -> Iterator[tuple[str, str]]:
    """The beginnings of the paths of an application, in the API and of pages, with its package."""
    package = registry.packages[app.name]
    if app.rooted:
        yield from ((app.path, package), (app.path.removeprefix("/api"), package))


def _paths_of(registry: Registry, route: Any) -> list[str]:
    """Paths that a route matches: one for each resource that its placeholder ``model`` may be, one without it."""
    models = {""}
    for app in registry.apps.values():
        if f"{app.path.removeprefix('/api')}{{model" in route.pattern:
            models = {resource.name for resource in app.resources}

    def path(model: str) -> str:
        def sample(found: re.Match[str]) -> str:
            return model if found[1] == "model" else SAMPLE if found[1] else ""

        return _PLACEHOLDER.sub(sample, route.pattern)

    return [found for found in map(path, sorted(models)) if route.match(found) is not None]


@contextlib.contextmanager
def commit_errors_of(registry: Registry, package_by_action: PackageByAction) -> Iterator[None]:
    """Attributes errors of a commit within the block to packages. Of conflicting packages the last plugin failed.

    :raises PackageError: for an action of a package that cannot be executed, or conflicts with an earlier one
    """
    try:
        yield
    except ConfigurationExecutionError as error:
        package = package_at_fault(registry, error.evalue) or package_by_action.get(error.info)
        if package is None:
            raise
        raise PackageError(package) from error.evalue
    except ConfigurationConflictError as error:
        conflicting = {info for infos in error._conflicts.values() for info in infos}
        in_conflict = [package for info, package in package_by_action.items() if info in conflicting]
        if not (candidates := [package for package in in_conflict if registry.is_plugin(package)]):
            raise
        raise PackageError(candidates[-1]) from error
