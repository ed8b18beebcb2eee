"""Comparison of the tables that packages declare with those of the database: a table without a migration is found when
the service starts, in place of failing its requests.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection, Engine

from netinv_core import deletion_checks
from netinv_core.db import revisions
from netinv_core.packages import PendingMigrations

if TYPE_CHECKING:
    from netinv_core.app import App
    from netinv_core.db.revisions import Revisions
    from netinv_core.registry import Registry


class NewerTables(LookupError):
    """Tables of a plugin that a newer release of it has migrated."""


class MissingTable(LookupError):
    """A declared table, or a column of it, that a database with all migrations does not have."""


def check(engine: Engine, registry: Registry) -> None:
    """Compares the tables of plugins with those of the database.

    :raises PackageError: for a plugin whose migrations were not all run, that declares others than its migrations make,
        or names a folder of migrations that does not exist
    """
    with engine.connect() as connection:
        check_migrations(connection, registry)
        found = find_missing(connection, registry)
    for package, sentence in found:
        if registry.is_plugin(package):
            with registry.failures.of(package):
                raise MissingTable(sentence)
    for app in registry.apps.values():
        package = registry.packages[app.name]
        if registry.is_plugin(package) and app.migrations and not (folder := revisions.folder(app.migrations)).is_dir():
            with registry.failures.of(package):
                raise MissingTable(
                    f"App(migrations={app.migrations!r}) names the folder {folder}, which does not exist; "
                    "write the first migration (netinv revision), or leave migrations out"
                )
    registry.failures.check()


def check_migrations(connection: Connection, registry: Registry) -> None:
    """Finds plugins whose migrations were not run, or stopped, or were run by a newer release.

    :raises PackageError: for such a plugin
    """
    apps = revisions.sort_apps(registry)
    found = revisions.compare(connection, apps)
    plugins = [(app, registry.packages[app.name]) for app in apps if registry.is_plugin(registry.packages[app.name])]
    for app, package in plugins:
        if unknown := found.unknown_of[revisions.label(app)]:
            with registry.failures.of(package):
                raise NewerTables(f"{revisions.newer(app, unknown)}, or run `netinv migrate --remove {app.name}`")
    for package, missing in _to_migrate(registry, apps, found).items():
        with registry.failures.of(package):
            raise PendingMigrations(f"the database lacks its migrations {', '.join(missing)}; run `netinv migrate`")
    registry.failures.check()


def plugins_to_migrate(connection: Connection, registry: Registry) -> dict[str, list[str]]:
    """The last migrations that the database lacks, by plugin; none while it lacks those of built-in applications, with
    which all are to be run.
    """
    apps = revisions.sort_apps(registry)
    return _to_migrate(registry, apps, revisions.compare(connection, apps))


def _to_migrate(registry: Registry, apps: Sequence[App], found: Revisions) -> dict[str, list[str]]:
    lacking = {registry.packages[app.name]: sorted(found.missing_of[revisions.label(app)]) for app in apps}
    pending = {package: missing for package, missing in lacking.items() if missing}
    return pending if all(map(registry.is_plugin, pending)) else {}


def find_missing(connection: Connection, registry: Registry) -> list[tuple[str, str]]:
    """The packages with a sentence for each of their tables that is not in the database as declared; none for packages
    whose migrations have not all been run. One statement, unless a table is missing.
    """
    present: dict[str, set[str]] = {}
    for table, column in connection.exec_driver_sql(registry.driver.columns):
        present.setdefault(table, set()).add(column)
    lacking = [
        (package, label, table)
        for package, label, table in _declared_tables(registry)
        if not present.get(table.name, set()).issuperset(table.c.keys())
    ]
    waiting = {package for package in {item[0] for item in lacking} if _has_pending(connection, registry, package)}
    return [
        (package, _sentence(label, table, present.get(table.name)))
        for package, label, table in lacking
        if package not in waiting
    ]


def _declared_tables(registry: Registry) -> Iterator[tuple[str, str, Any]]:
    """The package, the label and the table of each resource, of each list of objects or content types, and of each
    retention and cascade of plugins.
    """
    for endpoint in registry.stored():
        yield endpoint.package, endpoint.label, endpoint.table
        for field in endpoint.fields.values():
            table = getattr(field, "table", None)
            if isinstance(table, sa.Table):
                yield (
                    endpoint.givers.get(("field", field.name), endpoint.package),
                    f"{endpoint.label}.{field.name}",
                    table,
                )
    yield from deletion_checks.tables(registry)


def _has_pending(connection: Connection, registry: Registry, package: str) -> bool:
    """True when the database lacks migrations of a package."""
    apps = [app for app in registry.apps.values() if registry.packages[app.name] == package and app.migrations]
    return bool(
        revisions.missing_heads(connection, {revisions.version_table(a): revisions.branch(a).heads for a in apps})
    )


def _sentence(label: str, table: Any, present: set[str] | None) -> str:
    absent = f"table {table.name}"
    if present is not None:
        columns = sorted(set(table.c.keys()) - present)
        absent = f"column{'s' * (len(columns) > 1)} {', '.join(columns)} in the table {table.name}"
    return f"the database has no {absent}, which {label} declares; write a migration (netinv revision), then run it"
