"""Environment of commands and workers: settings of an ini file, engine, registry, unit of work, queue."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import os
from collections.abc import Callable, Collection, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from huey import Huey
from sqlalchemy.engine import Engine

from netinv_core import allocator, reloading, start_check, worker_tasks
from netinv_core.auth import identity
from netinv_core.auth.account import Identity
from netinv_core.content_types import load
from netinv_core.db import table_check
from netinv_core.db.engine import session_factory
from netinv_core.driver.sessions import commit
from netinv_core.ini_files import app_settings, set_up_logging
from netinv_core.main import engine_for, read_settings, registry_for
from netinv_core.packages import PackageError, Packages, apps_of, discover, quarantine
from netinv_core.settings import before_packages
from netinv_core.tasks import queue as task_queue
from netinv_core.telemetry import log_settings
from netinv_core.uow import UnitOfWork

if TYPE_CHECKING:
    from netinv_core.registry import Registry

VARIABLE = "NETINV_INI"  # environment variable that names the ini file
DEFAULT_INI = "development.ini"


@dataclasses.dataclass
class Environment:
    """A service as configured by an ini file; its parts are created when first needed."""

    ini: str
    discover: Callable[[str], Packages] = discover

    @classmethod
    def from_variable(cls) -> Environment:
        """Returns the environment of the ini file in ``NETINV_INI``, by default ``development.ini``."""
        return cls(os.environ.get(VARIABLE, DEFAULT_INI))

    @functools.cached_property
    def _configuration(self) -> tuple[dict[str, Any], Packages]:
        settings = self.ini_settings
        set_up_logging(self.ini)
        early = before_packages(settings, os.environ)
        log_settings.configure(early)
        return read_settings(settings, self.discover(early.get("netinv.plugins_dir", "")), os.environ)

    @functools.cached_property
    def ini_settings(self) -> dict[str, str]:
        """The settings of the application in the ini file, as they stand there.

        :raises click.ClickException: when there is no such file, or it cannot be read
        """
        return self.read_ini({})

    def read_ini(self, options: Mapping[str, str]) -> dict[str, str]:
        """The settings of the application in the ini file; ``options`` are values for ``%(name)s`` besides its own.

        :raises click.ClickException: when there is no such file, or it cannot be read
        """
        path = self.ini.partition("#")[0]
        if not Path(path).is_file():
            raise click.ClickException(f"there is no {self.ini}; name the ini file with --config or {VARIABLE}")
        try:
            return app_settings(self.ini, options)
        except ValueError as error:
            raise click.ClickException(str(error)) from None

    @property
    def settings(self) -> dict[str, Any]:
        """The typed settings."""
        return self._configuration[0]

    @property
    def packages(self) -> Packages:
        """The installed packages, and those in quarantine."""
        return self._configuration[1]

    @functools.cached_property
    def engine(self) -> Engine:
        """The engine of the database."""
        return engine_for(self.settings)

    @functools.cached_property
    def registry(self) -> Registry:
        """The registry with the resources of all installed packages."""
        return registry_for(self.engine.dialect.name, self.settings, self.packages)

    def registry_without(self, packages: Collection[str]) -> Registry:
        """The registry without some packages, and those in quarantine."""
        broken = {*packages, *(failed.name for failed in self.registry.broken)}
        modules = [item for item in self.packages[0] if item[0] not in broken]
        return registry_for(self.engine.dialect.name, self.settings, (modules, list(self.registry.broken)))

    @functools.cached_property
    def checked_engine(self) -> Engine:
        """The engine, after a check that the installed packages and the secret fit the database. Plugins whose
        migrations were not run are quarantined, and no longer in the registry.

        :raises netinv_core.start_check.UnusableDatabase: when the others do not fit
        """
        self.registry = self._migrated_registry()
        start_check.check(self.engine, self.registry, self.ini)
        return self.engine

    def _migrated_registry(self) -> Registry:
        """The registry, without plugins whose migrations the database lacks."""
        try:
            with self.engine.connect() as connection:
                table_check.check_migrations(connection, self.registry)
        except PackageError as error:
            broken = {failed.name for failed in self.registry.broken}
            modules = [item for item in self.packages[0] if item[0] not in broken]
            packages = quarantine((modules, list(self.registry.broken)), error)
            return registry_for(self.engine.dialect.name, self.settings, packages)
        return self.registry

    @contextlib.contextmanager
    def unit_of_work(self, username: str | None = None) -> Iterator[UnitOfWork]:
        """Context manager of a unit of work, committed at the end; as a user, or as the service itself.

        :raises click.ClickException: for an unknown user
        """
        with session_factory(self.checked_engine)() as session:
            uow = UnitOfWork(self.registry, session, Identity(superuser=True), writing=True)
            load(uow)
            if username is not None:
                try:
                    uow.identity = identity.by_username(uow, username)
                except LookupError as error:
                    raise click.ClickException(str(error)) from None
            yield uow
            commit(session)

    def worker_queue(self) -> Huey:
        """Returns the queue, with its tasks registered.

        :raises click.ClickException: without ``netinv.queue_url``
        """
        url = self.settings["queue_url"]
        if not url:
            raise click.ClickException("the setting netinv.queue_url is empty: there is no queue to work on")
        allocator.limit_retained_memory()
        try:
            huey = task_queue.queue(url)
        except ValueError as error:
            raise click.ClickException(str(error)) from None
        worker_tasks.add_tasks(huey, self.checked_engine, self.registry)
        huey.create_consumer = functools.partial(task_queue.Standalone, huey)
        apps, is_incomplete = apps_of(self.packages[0]), bool(self.packages[1])
        reloading.watch(reloading.Reloadable(self.ini, {}, self.registry.settings, apps, is_incomplete))
        return huey
