"""Registry: every application's resources, bound to one database and to each other.

It is ``config.registry.netinv`` and complete after :meth:`Registry.freeze`; nothing of it is global.
"""

from __future__ import annotations

import functools
import importlib
import logging
from collections.abc import Callable, Iterable, Iterator, Mapping
from types import ModuleType
from typing import TYPE_CHECKING, Any

import pluggy
import sqlalchemy as sa

from netinv_core import declaration_checks, hookspecs
from netinv_core.app import DISABLED, App, feature_of
from netinv_core.caches import CacheCounts
from netinv_core.confidential import refuse_confidential
from netinv_core.db.availability import is_away, is_busy
from netinv_core.driver import driver_of
from netinv_core.endpoint import Endpoint
from netinv_core.errors import RequestError
from netinv_core.models.base import Base
from netinv_core.models.columns import ForeignKeyInfo, column_info
from netinv_core.package_faults import Faults
from netinv_core.packages import (
    FailedPackage,
    GatheredFailures,
    PackageError,
    app_of,
    as_exception,
    errors_of,
    implementations,
    is_plugin,
    note_registrations,
)
from netinv_core.records import ContentType as ContentType
from netinv_core.settings import OWN, defaults

if TYPE_CHECKING:
    from netinv_core.resource import Resource
    from netinv_core.uow import UnitOfWork


log = logging.getLogger(__name__)


class Registry:
    """The applications and endpoints of a service, its settings and its hooks.

    ``settings`` has a value for every setting of the core and of the applications: one that is not given, as in tests
    and tools, has its default.
    """

    def __init__(
        self, dialect: str, settings: Mapping[str, Any] | None = None, broken: Iterable[FailedPackage] = ()
    ) -> None:
        self.driver = driver_of(dialect)
        self.dialect = self.driver.dialect
        self.settings = defaults(OWN) | dict(settings or {})
        self.services: dict[str, Any] = {}  # of packages, by path
        self.apps: dict[str, App] = {}
        self.packages: dict[str, str] = {}  # name of the package by that of its application
        self.pages: dict[str, list[ModuleType]] = {}  # modules of pages by package
        self.broken = list(broken)
        self.failures = GatheredFailures()  # those that are found while endpoints are completed
        self.faults = Faults()  # those of plugins while the service runs
        self.disabled = frozenset(self.settings[DISABLED])  # full names of features
        self.endpoints: dict[str, Endpoint] = {}
        # Those of disabled features, which are not served. Their rows are still deleted with those they refer to.
        self.unserved: dict[str, Endpoint] = {}
        self.by_path: dict[tuple[str, str], Endpoint] = {}
        self.by_table: dict[Any, Endpoint] = {}
        self.manager = pluggy.PluginManager("netinv")
        self.manager.add_hookspecs(hookspecs)
        self._built_in: set[str] = set()  # names of packages whose application is no plugin
        self._packages_of_plugins: dict[str | None, str] = {}  # names of packages by those that pluggy has
        self._hook_callers: dict[str, list[tuple[str, pluggy.HookCaller]]] = {}
        self.content_types: dict[str, ContentType] = {}
        # Actions of permissions: those of the views of packages, and of :attr:`Resource.actions`.
        self.permitted_actions: set[str] = {"view", "add", "change", "delete"}
        self.derived: dict[Any, Any] = {}  # see netinv_core.registry_cache
        self._cached: tuple[int | None, dict[Any, Any]] = (None, {})
        self.configuration_counts = CacheCounts("configuration", lambda: len(self._cached[1]))
        self.derived_counts = CacheCounts("registry", lambda: len(self.derived))

    def cached(self, version: int) -> dict[Any, Any]:
        """The process's cache for a version of the configuration. The cache of another version is dropped.

        A unit of work that began with an earlier version keeps its dictionary, so it cannot write stale values into a
        later one.
        """
        cached = self._cached
        if cached[0] != version:
            cached = self._cached = (version, {})
        return cached[1]

    @property
    def hooks(self) -> Any:
        """Calls every package's implementation of a hook."""
        return self.manager.hook

    def add_hookspecs(self, app: App) -> None:
        """Adds the hook specifications of an application; before the packages that implement them."""
        if app.hooks is not None:
            self.manager.add_hookspecs(app.hooks)

    def add(self, name: str, module: Any) -> None:
        """Adds the hooks of a package, and its application when it has one.

        :raises PackageError: when the hooks are not as they are specified, or two packages claim one application, path,
            label or model
        """
        with errors_of(name):
            whole = app_of(module)
            if not is_plugin(module):
                self._built_in.add(name)
            for plugin_name, plugin in implementations(name, module, self.disabled):
                self.manager.register(plugin, plugin_name)
                self._packages_of_plugins[plugin_name] = name
        if whole is None:
            return
        app = whole.without(self.disabled)
        if app.name in self.apps:
            raise self.conflict(self.packages[app.name], name, f"the application {app.name!r}")
        self.apps[app.name] = app
        self.packages[app.name] = name
        self.settings = defaults(app.settings) | self.settings
        with errors_of(name):
            self._add_endpoints(app, whole)

    def add_pages(self) -> None:
        """Imports the modules of pages of every application (:attr:`Feature.web`), and adds their hooks. A service with
        pages does so once; workers and commands go without these modules.

        :raises PackageError: when a package fails
        """
        apps = {package: self.apps[name] for name, package in self.packages.items()}
        for name, hooks in self.manager.list_name_plugin():
            # Anew, so that hooks are still called in the order in which packages were added.
            self.manager.unregister(name=name)
            self.manager.register(hooks, name)
            if name in apps:
                with self.failures.of(name), note_registrations(name):
                    self.pages[name] = list(map(importlib.import_module, apps[name].web))
                    for module in reversed(self.pages[name]):
                        if not self.manager.is_registered(module):  # that of a plugin of one file is
                            self.manager.register(module, module.__name__)
                            self._packages_of_plugins[module.__name__] = name
        self._hook_callers.clear()
        self.failures.check()

    def _add_endpoints(self, app: App, whole: App) -> None:
        """Adds the endpoints of an application; those of its disabled features, too, which the ``whole`` one has.

        :raises ValueError: when two resources claim one path, one label or one model
        """
        for resource in app.resources:
            self.permitted_actions.update(resource.actions)
            endpoint = self._endpoint(app, resource)
            if (app.name, resource.name) in self.by_path:
                raise ValueError(f"two resources claim the path {endpoint.path!r}")
            self.by_path[app.name, resource.name] = endpoint
            if resource.of is None:
                self._add_label(endpoint, self.endpoints)
        modules = whole.modules().items()
        left_out = [feature_of(module) for full_name, module in modules if full_name in self.disabled]
        for resource in (resource for feature in left_out for resource in feature.resources if resource.of is None):
            self._add_label(self._endpoint(app, resource), self.unserved)

    def _endpoint(self, app: App, resource: Resource) -> Endpoint:
        """The endpoint of a resource.

        :raises DeclarationError: for a mistake in a plugin's model
        """
        if app.plugin:
            declaration_checks.check(app, resource)
        resource.freeze()
        return Endpoint(self, app, resource)

    def _add_label(self, endpoint: Endpoint, endpoints: dict[str, Endpoint]) -> None:
        """Adds an endpoint to those that are served, or to those that are not.

        :raises PackageError: when another one has its label or its model
        """
        package = self.packages[endpoint.app.name]
        if (other := self.endpoints.get(endpoint.label) or self.unserved.get(endpoint.label)) is not None:
            raise self.conflict(self.packages[other.app.name], package, f"the label {endpoint.label!r}")
        if (other := self.by_table.get(endpoint.table)) is not None:
            claimed = f"the model of {other.label} (a further list of it is declared with of=)"
            raise self.conflict(self.packages[other.app.name], package, claimed)
        endpoints[endpoint.label] = endpoint
        self.by_table[endpoint.table] = endpoint

    def conflict(self, first: str, second: str, claimed: str) -> PackageError:
        """The failure of one of two packages that claim the same. The first one keeps it, unless only the second one is
        built in.
        """
        loser, winner = (second, first) if second not in self._built_in or first in self._built_in else (first, second)
        error = PackageError(loser)
        error.__cause__ = ValueError(f"it claims {claimed}, which the package {winner} has")
        return error

    def package_of(self, plugin_name: str) -> str:
        """The package of a module by the name that pluggy has for it."""
        return self._packages_of_plugins[plugin_name]

    def is_plugin(self, package: str) -> bool:
        """True for a package that is no built-in application."""
        return package not in self._built_in

    def freeze(self) -> Registry:
        """Completes every endpoint. All packages have to be added before.

        :raises PackageError: when a package fails
        """
        every = [*self.by_path.values(), *self.unserved.values()]
        steps = (
            Endpoint.build,
            Endpoint.link_reverse_relations,
            Endpoint.apply_hooks,
            Endpoint.order_fields,
            Endpoint.describe,
            Endpoint.build_filters,
            refuse_confidential,
        )
        for step in steps:
            for endpoint in every if step is not Endpoint.link_reverse_relations else self.endpoints.values():
                with self.failures.of(endpoint.package):
                    step(endpoint)
            self.failures.check()
        return self

    def call_each(self, hook: str, **arguments: Any) -> Iterator[tuple[str, Any]]:
        """Calls a hook package by package, in the order in which pluggy calls them; yields the package with its result.

        The result of a generator is a list.

        :raises PackageError: when a package fails
        """
        for package, caller in self.callers(hook):
            with errors_of(package):
                results = [list(result) if isinstance(result, Iterator) else result for result in caller(**arguments)]
            for result in results:
                yield package, result

    def parts(self, hook: str, read: Callable[[Any], Any], **arguments: Any) -> Iterator[Any]:
        """Calls a hook while the service runs; yields what ``read`` makes of each result. The part of a plugin that
        fails is left out, and the log has its traceback.

        :raises Exception: of a built-in application, of a database that is away, and answers to the request
        """
        for package, caller in self.callers(hook):
            try:
                found = [read(result) for result in caller(**arguments)]
            except RequestError:
                raise
            except BaseException as error:
                failure = error if isinstance(error, Exception) else as_exception(error)
                self.leave_out(package, failure, hook, arguments.get("uow"))
            else:
                yield from found

    def leave_out(self, package: str, error: BaseException, what: str, uow: UnitOfWork | None) -> None:
        """Counts and logs the failure of a part of a plugin, which is left out.

        :raises BaseException: the error, of a built-in application, and of a database that is away, busy or written to
        """
        if not self.is_plugin(package):
            raise error
        if isinstance(error, sa.exc.SQLAlchemyError):
            if uow is None or is_away(error) or is_busy(error) or uow.writing:
                raise error
            uow.release()  # a failed statement ends the transaction of PostgreSQL
        self.faults.note(self, package, error)
        log.error("%s of the package %s failed; its part is left out", what, package, exc_info=error)

    def results(self, hook: str, read: Callable[[Any], Any], **arguments: Any) -> Iterator[Any]:
        """Calls a hook while the service runs; yields what ``read`` makes of each result.

        :raises PackageError: when ``read`` fails at what a plugin returns
        """
        for package, caller in self.callers(hook):
            for result in caller(**arguments):
                try:
                    yield read(result)
                except (TypeError, ValueError, AttributeError) as error:
                    if not self.is_plugin(package):
                        raise
                    raise PackageError(package) from error

    def callers(self, hook: str) -> list[tuple[str, pluggy.HookCaller]]:
        """The callers of a hook that call one package each, with the packages."""
        if hook not in self._hook_callers:
            plugins = dict(self.manager.list_name_plugin())
            packages = self._packages_of_plugins
            implemented = reversed(getattr(self.hooks, hook).get_hookimpls())
            names = dict.fromkeys(packages[item.plugin_name] for item in implemented)
            self._hook_callers[hook] = [
                (
                    name,
                    self.manager.subset_hook_caller(
                        hook, [plugin for other, plugin in plugins.items() if packages[other] != name]
                    ),
                )
                for name in names
            ]
        return self._hook_callers[hook]

    def __getitem__(self, label: str) -> Endpoint:
        return self.endpoints.get(label) or self.unserved[label]

    def get(self, label: str) -> Endpoint | None:
        """The endpoint of a label; ``None`` when its package is not installed, or its feature disabled."""
        return self.endpoints.get(label)

    def stored(self) -> list[Endpoint]:
        """The endpoints of all models with rows, those of disabled features included."""
        return [*self.endpoints.values(), *self.unserved.values()]

    @functools.cached_property
    def configuration_tables(self) -> frozenset[Any]:
        """The tables of the resources with ``configuration=True``, and those of their lists that no others have."""
        endpoints = [endpoint for endpoint in self.stored() if endpoint.resource.configuration]
        others = [endpoint for endpoint in self.stored() if not endpoint.resource.configuration]
        return frozenset({endpoint.table for endpoint in endpoints} | _lists_of(endpoints) - _lists_of(others))

    def target(self, link: ForeignKeyInfo | None) -> Endpoint | None:
        """The endpoint of a foreign key's target; ``None`` when its package is not installed."""
        if link is None:
            return None
        if isinstance(link.target, str):
            return self.endpoints.get(link.target)
        return self.by_table.get(link.target.__table__)

    def served_columns(self, endpoint: Endpoint) -> list[tuple[str, Any]]:
        """The columns of an endpoint by name; without references to disabled features, unless it belongs to one."""
        columns = list(endpoint.table.c.items())
        if endpoint.label in self.unserved:
            return columns
        targets = {name: self.target(column_info(column).foreign_key) for name, column in columns}
        unserved = {name for name, target in targets.items() if target is not None and target.label in self.unserved}
        return [(name, column) for name, column in columns if name not in unserved]

    def content_type(self, label: Any) -> ContentType | None:
        """The content type of a label; ``None`` for an unknown one."""
        return self.content_types.get(label) if isinstance(label, str) else None

    def of_model(self, model: type[Base]) -> Endpoint:
        """The endpoint of a model class."""
        return self.by_table[model.__table__]


def _lists_of(endpoints: Iterable[Endpoint]) -> set[Any]:
    """The association tables of the fields of endpoints."""
    tables = {getattr(field, "table", None) for endpoint in endpoints for field in endpoint.fields.values()}
    return tables - {None}
