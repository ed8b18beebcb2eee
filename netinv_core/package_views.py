"""Views of packages in the Pyramid configuration, and the attribution of configuration errors to packages.

``Configurator.include`` only queues actions; they are checked and executed by ``Configurator.commit``. An error of the
commit names the queued action by its :class:`ActionInfo`, from which the package is looked up.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from pyramid.config import Configurator
from pyramid.exceptions import ConfigurationConflictError, ConfigurationExecutionError

from netinv_core.packages import CORE, PackageError, errors_of
from netinv_core.types import App, Registry

PackageByAction = dict[Any, str]  # ActionInfo of a queued action → name of the package that queued it
SAMPLE = "00000000-0000-4000-8000-000000000000"  # stands for the placeholders of a route; an id
_PLACEHOLDER = re.compile(r"\{(\w+)(?::((?:[^{}]|\{[^{}]*\})*))?\}|\*\w+$")


def include_packages(config: Configurator) -> PackageByAction:
    """Includes the modules of every application and returns the packages of the actions that they queue.

    :raises PackageError: when an ``includeme`` fails
    """
    registry = config.registry.netinv
    package_by_action: PackageByAction = {}
    config.registry.netinv_package_by_action = package_by_action
    for app in registry.apps.values():
        include_modules(config, registry.packages[app.name], app.includes)
    return package_by_action


def include_modules(config: Configurator, package: str, modules: Iterable[str]) -> None:
    """Includes modules of a package, and notes that it queued their actions.

    :raises PackageError: when an ``includeme`` fails
    """
    queued_before = len(config.action_state.actions)
    with errors_of(package):
        for module in modules:
            config.include(module)
    package_by_action: PackageByAction = getattr(config.registry, "netinv_package_by_action", {})
    for action in config.action_state.actions[queued_before:]:
        package_by_action.setdefault(action["info"], package)


def check_routes(config: Configurator, names: Mapping[str, str]) -> None:
    """Finds routes of plugins that have paths of others, or whose paths others have: the first route that was added and
    matches a path gets its requests.

    :param names: the packages that added routes, by the name of the route
    :raises PackageError: for the plugin of such a route
    """
    registry = config.registry.netinv
    places = [(place, package) for app in registry.apps.values() for place, package in _places(registry, app)]

    def package_of(route: Any) -> str:
        owners = (package for place, package in places if route.pattern.startswith(place))
        return names.get(route.name) or next(owners, CORE)

    routes = [(route, package_of(route)) for route in config.get_routes_mapper().routelist]
    added = [number for number, (_, package) in enumerate(routes) if registry.is_plugin(package)]
    paths = [_paths_of(registry, route) for route, _ in routes] if added else []
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
        for (_, other), path in (*earlier, *later):
            if other != package:
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
def commit_errors_of(package_by_action: PackageByAction, plugins: set[str]) -> Iterator[None]:
    """Attributes errors of a commit within the block to packages. Of conflicting packages the last plugin failed.

    :raises PackageError: for an action of a package that cannot be executed, or conflicts with an earlier one
    """
    try:
        yield
    except ConfigurationExecutionError as error:
        if (package := package_by_action.get(error.info)) is None:
            raise
        raise PackageError(package) from error.evalue
    except ConfigurationConflictError as error:
        conflicting = {info for infos in error._conflicts.values() for info in infos}
        in_conflict = [package for info, package in package_by_action.items() if info in conflicting]
        if not (candidates := [package for package in in_conflict if package in plugins]):
            raise
        raise PackageError(candidates[-1]) from error
