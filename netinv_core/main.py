"""Application factory: the registry from installed packages, and the WSGI application."""

from __future__ import annotations

import contextlib
import gc
import linecache
import logging
import os
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any

import pyramid_tm
import sqlalchemy as sa
from pyramid.config import Configurator
from pyramid.config.actions import action_method
from sqlalchemy.engine import Engine

from netinv_core import (
    allocator,
    content_types,
    hook_results,
    plugin_checks,
    reloading,
    setting_aside,
    setting_variables,
    start_check,
    worker_tasks,
)
from netinv_core import settings as ini_settings
from netinv_core.auth import providers
from netinv_core.auth.account import ANONYMOUS
from netinv_core.db import table_check
from netinv_core.db.availability import start_error
from netinv_core.db.engine import engine_from, session_factory
from netinv_core.db.replicas import replicas_for
from netinv_core.http import list_formats
from netinv_core.http.framing import close_ambiguous_connections
from netinv_core.http.methods import UNSAFE_METHODS
from netinv_core.http.request_class import keep_request_class
from netinv_core.package_faults import errors_of_plugins
from netinv_core.package_views import add_packages, check_tweens, checked_deriver
from netinv_core.packages import FailedPackage, Packages, apps_of, build_without_failing, discover
from netinv_core.registry import Registry
from netinv_core.tasks import queue as task_queue
from netinv_core.telemetry import log_settings
from netinv_core.telemetry.log_context import count_statements
from netinv_core.telemetry.tracing import tracing_of
from netinv_core.uow import UnitOfWork

log = logging.getLogger(__name__)
VIEWS = (
    "actions",
    "errors",
    "root_views",
    "media",
    "health",
    "metrics",
    "query_views",
    "services",
)
COLLECTED_AFTER = 5_000  # new objects; at Python's 700, large requests spend a twentieth of their time in collections


class PlainConfigurator(Configurator):  # type: ignore[misc]
    """Configurator that keeps no introspection, a copy of the configuration for tools, which nothing reads.

    It takes a fourth of a start. ``Configurator(introspection=False)`` keeps it for everything that is included.
    """

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **{**options, "introspection": False})

    def _add_view_deriver(self, deriver: Any, *arguments: Any, **options: Any) -> None:
        """Adds a view deriver, whose results are checked."""
        super().add_view_deriver(checked_deriver(self.maybe_dotted(deriver)), *arguments, **options)

    add_view_deriver = action_method(_add_view_deriver)  # errors name the line of the package


def registry_for(dialect: str, settings: Mapping[str, Any], packages: Packages | None = None) -> Registry:
    """A complete registry of ``packages``, by default of all that are installed. Packages that fail are quarantined.

    :raises ValueError: when two packages claim one path
    """
    packages = packages or discover(settings.get("plugins_dir", ""))
    return build_without_failing(packages, lambda some: _registry(dialect, settings, some), searching=True)


def _registry(dialect: str, settings: Mapping[str, Any], packages: Packages) -> Registry:
    """A complete registry.

    :raises PackageError: when a package fails
    """
    modules, broken = packages
    registry = Registry(dialect, settings, broken)
    for app in apps_of(modules).values():
        registry.add_hookspecs(app)
    for name, module in modules:
        registry.add(name, module)
    hook_results.check(registry, hook_results.OF_SERVICE)
    registry.freeze()
    plugin_checks.check(registry)
    for contributed in (list_formats.formats_of_packages, providers.providers_of, worker_tasks.check_names):
        contributed(registry)  # so that a package that fails is quarantined
    return registry


def read_settings(
    settings: Mapping[str, str],
    packages: Packages | None = None,
    variables: Mapping[str, str] = MappingProxyType({}),
) -> tuple[dict[str, Any], Packages]:
    """The typed settings of an ini file and of environment ``variables``, and the installed packages, of which some
    have settings.

    :raises ValueError: for an unknown name, or an invalid value
    """
    packages = packages or discover(ini_settings.before_packages(settings, variables).get("netinv.plugins_dir", ""))

    def typed(some: Packages) -> tuple[dict[str, Any], Packages]:
        apps, incomplete = apps_of(some[0]), bool(some[1])
        return ini_settings.read(settings, apps, incomplete=incomplete, variables=variables), some

    return build_without_failing(packages, typed)


def engine_for(settings: Mapping[str, Any], *, statement_timeout: float = 0) -> Engine:
    """The engine for the setting ``netinv.database_url``.

    :raises ValueError: for a URL that is not one of a database, and without the driver of the database
    """
    url = settings["database_url"]
    wait = settings["database_timeout"]
    pool = (
        {}
        if url.startswith("sqlite")
        else {"pool_size": settings["database_pool"], "max_overflow": 0, "pool_timeout": wait}
    )
    try:
        return engine_from(url, statement_timeout, wait, **pool)
    except (sa.exc.ArgumentError, ValueError, KeyError) as error:  # a ValueError may quote a part of the password
        reason = (
            str(error)
            if isinstance(error, sa.exc.ArgumentError)
            else "expected: postgresql://…, mysql://… or sqlite:///…"
        )
        raise ValueError(f"{setting_variables.place('database_url')} cannot be used: {reason}") from None
    except ImportError as error:
        raise ValueError(f"{setting_variables.place('database_url')} cannot be used: {error}") from None


def main(global_config: Mapping[str, str] | None = None, **settings: str) -> Any:
    """The WSGI application (``paste.app_factory``).

    :raises SystemExit: with the reason, for settings that cannot be read and a database that cannot be used
    """
    allocator.limit_retained_memory()
    with _collector_paused():
        app = _start(global_config or {}, settings)
        linecache.clearcache()  # sources that Pyramid read for messages about conflicts
        # Objects of the start live forever. Frozen, they are skipped by the garbage collections of large responses.
        gc.freeze()
    gc.set_threshold(COLLECTED_AFTER)
    return app


def _start(global_config: Mapping[str, str], settings: Mapping[str, str]) -> Any:
    """The WSGI application, after the check of its database, with its worker.

    :raises SystemExit: with the reason, for settings that cannot be read and a database that cannot be used
    """
    log_settings.configure(ini_settings.before_packages(settings, os.environ))
    try:
        typed_settings, packages = read_settings(settings, variables=os.environ)
        engine = engine_for(typed_settings, statement_timeout=typed_settings["statement_timeout"])
    except ValueError as error:
        raise SystemExit(f"netinv does not start: {error}") from None
    ini = global_config.get("__file__", "")
    apps = apps_of(packages[0])
    try:
        app = make_app(engine, typed_settings, settings, packages)
        start_check.check(engine, app.registry.netinv, ini)
    except start_check.UnusableDatabase as error:
        raise SystemExit(f"netinv does not start: {error}") from None
    except sa.exc.SQLAlchemyError as error:
        reason = start_error(engine, error, start_check.command(ini))
        if reason is None:
            raise
        raise SystemExit(f"netinv does not start: {reason}") from None
    options = {name: value for name, value in global_config.items() if name not in ("__file__", "here")}
    reloading.watch(reloading.Reloadable(ini, options, app.registry.netinv.settings, apps, bool(packages[1])))
    if typed_settings["queue_url"]:
        worker_tasks.enqueue_startup_tasks(app.registry.netinv)
    if typed_settings["embedded_worker"] and typed_settings["queue_url"]:
        huey = task_queue.queue(typed_settings["queue_url"])
        worker_tasks.add_tasks(huey, engine, app.registry.netinv)
        task_queue.start_embedded(huey)
    return app


@contextlib.contextmanager
def _collector_paused() -> Iterator[None]:
    """Disables the garbage collector. Collections while packages are imported and the application is built find next to
    nothing, 2,800 objects of a million, and take a fifth of the start.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def make_app(
    engine: Engine,
    typed_settings: Mapping[str, Any],
    settings: Mapping[str, Any] | None = None,
    packages: Packages | None = None,
) -> Any:
    """The WSGI application on an engine, with typed settings, of ``packages``, by default of all that are installed."""
    packages = packages or discover(typed_settings.get("plugins_dir", ""))

    def build(some: Packages) -> Any:
        return build_without_failing(
            some, lambda loaded: _wsgi_app(engine, typed_settings, settings or {}, loaded), searching=True
        )

    app = build(packages)
    setting_aside.watch(app, packages, build)
    return app


def _wsgi_app(
    engine: Engine, typed_settings: Mapping[str, Any], settings: Mapping[str, Any], packages: Packages
) -> Any:
    """The WSGI application.

    :raises PackageError: when the views of a package cannot be added, or conflict with those of others
    """
    registry = _registry(engine.dialect.name, typed_settings, packages)
    with errors_of_plugins(registry):
        config = _configuration(engine, registry, settings)
        config.include("netinv_core.http.traversal")
        config.include("netinv_core.http.pipeline")
        config.include("cornice")
        for name in VIEWS:
            config.include(f"netinv_core.http.{name}")
        add_packages(config)
        table_check.check(engine, registry)
        _load_content_types(config)
        check_tweens(config)
        app = config.make_wsgi_app()
    for item in registry.broken:
        _warn(item)
    keep_request_class(app)
    close_ambiguous_connections()
    return app


def _configuration(engine: Engine, registry: Registry, settings: Mapping[str, Any]) -> Configurator:
    """The configuration of Pyramid, with the service's registry, engine and sessions."""
    config = PlainConfigurator(
        settings={
            **settings,
            "tm.manager_hook": pyramid_tm.explicit_manager,
            "tm.annotate_user": False,
            "tm.activate_hook": lambda request: request.method in UNSAFE_METHODS,  # others join no transaction
            "handle_exceptions": False,  # those of Cornice; netinv_core.http.errors has its own
            "tm.commit_veto": "pyramid_tm.default_commit_veto",
        },
    )
    config.registry.netinv = registry
    config.registry.netinv_engine = engine
    config.registry.netinv_replicas = replicas = replicas_for(engine, registry.settings)
    tracing = tracing_of(registry.settings)
    for server in (engine, *([replica.engine for replica in replicas.all] if replicas else [])):
        count_statements(server)
        if tracing:
            tracing.listen(server)
    config.registry.netinv_sessions = session_factory(engine)
    return config


def _load_content_types(config: Configurator) -> None:
    with config.registry.netinv_sessions() as session:
        content_types.load(UnitOfWork(config.registry.netinv, session, ANONYMOUS))


def _warn(item: FailedPackage) -> None:
    log.error("package %s is not served: %s", item.name, item.reason)
