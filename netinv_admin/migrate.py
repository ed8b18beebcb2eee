"""Migrations: one Alembic branch for each installed package, then the initial rows.

Each branch is independent, with a version table of its own, and the tables of a package have its name as prefix
(``dcim_site``, ``dcim_alembic_version``). Packages are installed, migrated and removed without effect on others.
Branches are applied in the order in which their tables refer to each other.
"""

from __future__ import annotations

import argparse
import contextlib
import time
import traceback
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import alembic.autogenerate
import alembic.command
import alembic.config
import alembic.runtime.migration
import alembic.script
import sqlalchemy as sa
from sqlalchemy.engine import Connection, Engine

from netinv_admin.table_guard import keep_to_own_tables
from netinv_core.auth.account import ANONYMOUS
from netinv_core.content_types import load
from netinv_core.db import availability, revisions, text_indexes
from netinv_core.db.engine import WRITING, session_factory
from netinv_core.driver import driver_of
from netinv_core.driver.sessions import commit
from netinv_core.migrations import journal as journals
from netinv_core.models.base import Base
from netinv_core.uow import UnitOfWork
from netinv_core.write import slugs, trees
from netinv_core.write.slugs import slugify

if TYPE_CHECKING:
    from netinv_core.app import App
    from netinv_core.registry import Registry

LOCK_INTERVAL = 0.5  # seconds between two tries to take the lock of migrations
Failures = dict[str, BaseException]  # by package
Applied = Callable[[str], None]  # is called with each revision when it was applied


class PluginsStopped(Exception):
    """Plugins whose migrations or initial rows failed, by package, once all others are migrated."""

    def __init__(self, failures: Failures) -> None:
        super().__init__(f"the migration of {', '.join(failures)} stopped")
        self.failures = failures


def _configuration(
    app: App, connection: Connection | None = None, applied: Applied = lambda revision: None, *, journal: bool = False
) -> alembic.config.Config:
    """Returns Alembic's configuration for one application."""
    config = alembic.config.Config()
    config.set_main_option("script_location", str(revisions.folder(revisions.CORE).parent))
    config.set_main_option("path_separator", "newline")
    config.set_main_option("version_locations", str(revisions.folder(app.migrations or revisions.CORE)))
    config.attributes |= {
        "connection": connection,
        "applied": applied,
        "notes": [],
        "journal": journals.Journal(connection, revisions.label(app)) if journal and connection is not None else None,
        "prefix": f"{revisions.label(app)}_",
        "version_table": revisions.version_table(app),
    }
    return config


def upgrade(
    engine: Engine,
    registry: Registry,
    applied: Applied = lambda revision: None,
    registry_without: Callable[[Collection[str]], Registry] | None = None,
) -> None:
    """Applies the missing revisions, inserts the initial rows and builds the text indexes; idempotent.

    A run that was broken off is completed by the next one. Of several runs at once each waits for the one before.

    :param registry_without: makes the registry without packages whose migrations failed, for the rows of the others
    :raises PluginsStopped: for plugins that failed, once the others are migrated
    """
    failures: Failures = {}
    with _one_at_a_time(engine):
        apply(engine, registry, applied, failures=failures)
        if failures and registry_without is not None:
            registry = registry_without(failures)
        seed(engine, registry, failures)
        text_indexes.build(engine, registry)
    if failures:
        raise PluginsStopped(failures)


@contextmanager
def _one_at_a_time(engine: Engine) -> Iterator[None]:
    """Context manager that waits until no other process migrates the database, where one could while another does."""
    lock = driver_of(engine).migration_lock
    if not lock:
        yield
        return
    connection = engine.connect()
    connection.detach()  # it is closed at the end, which releases the lock
    try:
        # Each try is a transaction: an open one would hold up CREATE INDEX CONCURRENTLY of the other process.
        while not connection.exec_driver_sql(lock).scalar():
            connection.rollback()
            time.sleep(LOCK_INTERVAL)
        yield
    finally:
        with contextlib.suppress(sa.exc.SQLAlchemyError):
            connection.close()


def plan_revisions(engine: Engine, registry: Registry) -> list[tuple[str, str]]:
    """The revisions that are to be applied, each with its first line, in the order in which they are."""
    found: list[tuple[str, str]] = []
    missing = revisions.revisions(engine, registry)
    for app in revisions.sort_apps(registry):
        if missing.unknown_of[revisions.label(app)]:
            continue
        script = alembic.script.ScriptDirectory.from_config(_configuration(app))
        applied = missing.applied[revisions.label(app)] or "base"
        steps = script.iterate_revisions(tuple(script.get_heads()), applied)
        found += reversed([(step.revision, step.doc.splitlines()[0] if step.doc else "") for step in steps])
    return found


def apply(
    engine: Engine,
    registry: Registry,
    applied: Applied = lambda revision: None,
    *,
    to: Mapping[str, Sequence[str]] | None = None,
    failures: Failures | None = None,
) -> None:
    """Applies the missing revisions, and drops the journal of statements once all are applied.

    :param to: the last revisions to apply, by label of the branch; of a branch that it lacks, none
    :param failures: is given those of plugins; without it, the first one ends the migration
    """
    journal = driver_of(engine).commits_table_changes
    stopped: set[str] = set()  # labels of branches
    for app in revisions.sort_apps(registry):
        gathered = _keep_failure(registry, registry.packages[app.name], failures)
        with gathered, _name_migration(app), _skip_stopped(app, stopped):
            _check_known(engine, app)
            with _changing_tables(engine) as connection:
                keep_to_own_tables(connection, registry, app)
                config = _configuration(app, connection, applied, journal=journal)
                for target in ["head"] if to is None else to.get(revisions.label(app), ()):
                    alembic.command.upgrade(config, target)
    if journal and not failures:
        with _changing_tables(engine) as connection:
            journals.drop(connection)


def _check_known(engine: Engine, app: App) -> None:
    """Checks that the package has the revisions of its tables, on a connection of its own: Alembic begins transactions.

    :raises LookupError: for tables that another release has migrated
    """
    with engine.connect() as connection:
        unknown = revisions.compare(connection, [app]).unknown_of[revisions.label(app)]
    if unknown:
        raise LookupError(revisions.newer(app, unknown))


@contextmanager
def _keep_failure(registry: Registry, package: str, failures: Failures | None) -> Iterator[None]:
    """Context manager that keeps the exception of a plugin in ``failures``, where they are gathered."""
    try:
        yield
    except (Exception, SystemExit) as error:
        is_away = isinstance(error, sa.exc.SQLAlchemyError) and availability.is_away(error)
        if failures is None or is_away or not registry.is_plugin(package):
            raise
        failures[package] = error


@contextmanager
def _skip_stopped(app: App, stopped: set[str]) -> Iterator[None]:
    """Context manager of the migrations of an application, which are not run after those stopped that it refers to.

    :raises LookupError: for such an application
    """
    try:
        if before := sorted(revisions.referred_branches(app) & stopped):
            raise LookupError(f"its tables refer to those of {', '.join(before)}, which stopped")
        yield
    except BaseException:
        stopped.add(revisions.label(app))
        raise


@contextmanager
def _name_migration(app: App) -> Iterator[None]:
    """Context manager that notes in exceptions whose migration stopped, with the file and the line."""
    try:
        yield
    except (Exception, SystemExit) as error:
        versions = str(revisions.folder(app.migrations or revisions.CORE))
        frames = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename.startswith(versions)]
        place = f" ({Path(frames[-1].filename).name}, line {frames[-1].lineno})" if frames else ""
        error.add_note(f"the migration of the application {app.name} stopped{place}")
        raise


@contextmanager
def _changing_tables(engine: Engine) -> Iterator[Connection]:
    """Context manager of a connection for DDL, committed at the end.

    On SQLite a table is changed by copying it and dropping the original, which would cascade to rows that refer to it.
    Foreign keys are therefore not enforced during the change, and all are checked at the end. The change is one
    transaction there, too: Alembic would commit each revision, and another process could go on with the next.
    """
    with engine.connect().execution_options(**{WRITING: True}) as connection:
        cursor = connection.connection.cursor() if driver_of(engine).copies_tables else None
        if cursor is not None:
            cursor.execute("PRAGMA foreign_keys=OFF")  # has no effect within a transaction
            connection.begin()
        try:
            yield connection
            if cursor is not None:
                _check_foreign_keys(connection)
            connection.commit()
        finally:
            if not connection.invalidated:  # as by Ctrl-C, which closes it
                connection.rollback()
            if cursor is not None and not connection.invalidated:
                cursor.execute("PRAGMA foreign_keys=ON")


def _check_foreign_keys(connection: Connection) -> None:
    """Checks all foreign keys of a SQLite database.

    :raises LookupError: for a row that refers to a missing one
    """
    broken = connection.exec_driver_sql("PRAGMA foreign_key_check").first()
    if broken is not None:
        message = f"a row of {broken[0]} refers to one of {broken[2]} that is not there; nothing was changed"
        raise LookupError(message)


def remove(engine: Engine, registry: Registry, app: App) -> list[str]:
    """Drops the tables of an application; its package can then be uninstalled. Returns the names of the tables.

    All revisions are downgraded. Tables that are left then are dropped, too: of migrations that leave theirs, that were
    broken off on a database that keeps their first statements, or that a newer release of the package has.

    :raises LookupError: when it has no branch, or tables of other applications refer to its tables
    """
    if not app.migrations or app.migrations == revisions.CORE:
        raise LookupError(f"the application {app.name} has no migrations of its own")
    users = [
        other.name
        for other in revisions.sort_apps(registry)
        if revisions.label(app) in revisions.referred_branches(other)
    ]
    if users:
        raise LookupError(f"the tables of {', '.join(users)} refer to those of {app.name}")
    journal = driver_of(engine).commits_table_changes
    with _one_at_a_time(engine), _name_migration(app):
        with engine.connect() as connection:  # Alembic takes one without a transaction: it commits between revisions
            tables = _tables_of(connection, app)
            is_broken_off = journal and journals.is_broken_off(connection, revisions.label(app))
            is_newer = bool(revisions.compare(connection, [app]).unknown_of[revisions.label(app)])
        with _changing_tables(engine) as connection:
            keep_to_own_tables(connection, registry, app)
            if not (is_broken_off or is_newer):
                alembic.command.downgrade(_configuration(app, connection, journal=journal), "base")
            left, names = sa.MetaData(), _tables_of(connection, app)
            left.reflect(connection, only=names)  # with the tables that they refer to
            left.drop_all(connection, [left.tables[name] for name in names], checkfirst=False)
            if journal:
                journals.forget(connection, revisions.label(app))
    return tables


def _tables_of(connection: Connection, app: App) -> list[str]:
    """The tables of the database with the prefix of an application, without those of an application whose longer name
    begins with it, as the tables with applied revisions tell.
    """
    names, own = sa.inspect(connection).get_table_names(), f"{revisions.label(app)}_"
    versions = [name.removesuffix(revisions.VERSIONS) for name in names if name.endswith(revisions.VERSIONS)]
    others = tuple(f"{label}_" for label in versions if label.startswith(own))
    return sorted(name for name in names if name.startswith(own) and not (others and name.startswith(others)))


def seed(engine: Engine, registry: Registry, failures: Failures | None = None) -> None:
    """Inserts the initial rows of all packages (hook ``netinv_seed``), and updates values of earlier releases.

    :param failures: is given those of plugins, whose rows are rolled back; without it, the first one ends the seeding
    """
    with session_factory(engine)() as session:
        uow = UnitOfWork(registry, session, ANONYMOUS, writing=True)
        load(uow)
        for package, caller in registry.callers("netinv_seed"):
            if failures is None or package not in failures:
                with _keep_failure(registry, package, failures), uow.savepoint():
                    caller(uow=uow)
        # Tables of a package whose migrations were not run are not there.
        tables = set(sa.inspect(session.connection()).get_table_names())
        for endpoint in registry.stored():
            if endpoint.table.name in tables and endpoint.package not in (failures or ()):
                if trees.is_tree(endpoint):
                    trees.rebuild(uow, endpoint)
                slugs.mend(uow, endpoint)
        commit(session)


def differences(engine: Engine, app: App) -> list[Any]:
    """The differences between an application's models and its tables, as Alembic's operations."""
    prefix = f"{revisions.label(app)}_"

    def is_of_app(item: Any, name: str | None, kind: str, reflected: bool, other: Any) -> bool:
        table = name if kind == "table" else item.table.name
        is_text_index = kind == "index" and (name or "").startswith(text_indexes.PREFIX)
        return (table or "").startswith(prefix) and table != revisions.version_table(app) and not is_text_index

    with engine.connect() as connection:
        options = {"include_object": is_of_app}
        context = alembic.runtime.migration.MigrationContext.configure(connection, opts=options)
        return list(alembic.autogenerate.compare_metadata(context, Base.metadata))


def revision(engine: Engine, registry: Registry, app: App, message: str) -> tuple[Path, list[str]]:
    """Writes a revision with the differences between an application's models and the migrated database.

    :returns: the path of the file, and what is to be known of columns whose values in stored rows nothing tells
    :raises LookupError: for an application that names no migrations, or without differences
    """
    if not app.migrations:
        raise LookupError(f"the application {app.name} names no migrations: App(migrations=…)")
    if not differences(engine, app):
        raise LookupError(f"the tables of {app.name} are as its models declare them; nothing was written")
    folder = revisions.folder(app.migrations)
    for package in (folder.parent, folder):
        package.mkdir(exist_ok=True)
        (package / "__init__.py").touch()
    number = 1 + len(list(folder.glob("[0-9]*.py")))
    with engine.connect() as connection:
        config = _configuration(app, connection)
        config.cmd_opts = argparse.Namespace(quiet=True)  # the file has another name in the end
        scripts = alembic.command.revision(
            config, message, autogenerate=True, rev_id=f"{revisions.label(app)}_{number:04}"
        )
    (script,) = scripts if isinstance(scripts, list) else [scripts]
    assert script is not None
    path = Path(script.path).rename(folder / f"{number:04}_{slugify(message, '_')}.py")
    lines = path.read_text().splitlines()
    path.write_text("\n".join(line for line in lines if not line.startswith("    # ### ")) + "\n")
    return path, config.attributes["notes"]
