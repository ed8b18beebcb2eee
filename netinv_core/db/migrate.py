"""Migrations: one Alembic branch for each installed package, then the initial rows.

Each branch is independent, with a version table of its own, and the tables of a package have its name as prefix
(``dcim_site``, ``dcim_alembic_version``). Packages are installed, migrated and removed without effect on others.
Branches are applied in the order in which their tables refer to each other.
"""

from __future__ import annotations

import dataclasses
import graphlib
import importlib.util
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import alembic.command
import alembic.config
import sqlalchemy as sa
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy.engine import Connection, Engine

from netinv_core.app import App
from netinv_core.auth.identity import ANONYMOUS
from netinv_core.content_types import load
from netinv_core.db import text_indexes
from netinv_core.db.engine import WRITING, session_factory
from netinv_core.models.base import Base
from netinv_core.registry import Registry
from netinv_core.uow import UnitOfWork
from netinv_core.write import trees
from netinv_core.write.slugs import slugify

CORE = "netinv_core:migrations"


def _label(app: App) -> str:
    """Returns the name of an application's branch, the prefix of its tables."""
    return "core" if app.migrations == CORE else app.name


def _folder(place: str) -> Path:
    """Returns the path of the ``versions`` folder of ``package:folder``."""
    package, _, folder = place.partition(":")
    spec = importlib.util.find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        raise LookupError(f"the package {package} of the migrations {place} is not installed")
    return Path(next(iter(spec.submodule_search_locations))) / folder / "versions"


def _referred(app: App) -> set[str]:
    """Returns the branches of the tables that an application's tables refer to."""
    prefix = f"{_label(app)}_"
    tables = [table for name, table in Base.metadata.tables.items() if name.startswith(prefix)]
    keys = [key for table in tables for key in table.foreign_keys]
    return {"core", *[key.target_fullname.partition("_")[0] for key in keys]} - {_label(app)}


def _ordered(registry: Registry) -> list[App]:
    """Returns the applications with migrations in topological order of the references of their tables."""
    apps = {_label(app): app for app in registry.apps.values() if app.migrations}
    order = graphlib.TopologicalSorter({label: _referred(app) & set(apps) for label, app in sorted(apps.items())})
    return [apps[label] for label in order.static_order()]


def _configuration(app: App, connection: Connection | None = None) -> alembic.config.Config:
    """Returns Alembic's configuration for one application."""
    config = alembic.config.Config()
    config.set_main_option("script_location", str(_folder(CORE).parent))
    config.set_main_option("path_separator", "newline")
    config.set_main_option("version_locations", str(_folder(app.migrations or CORE)))
    config.attributes |= {"connection": connection, "prefix": f"{_label(app)}_", "version_table": _version_table(app)}
    return config


def _version_table(app: App) -> str:
    return f"{_label(app)}_alembic_version"


def upgrade(engine: Engine, registry: Registry) -> None:
    """Applies the missing revisions, inserts the initial rows and builds the text indexes; idempotent."""
    apply(engine, registry)
    seed(engine, registry)
    text_indexes.build(engine, registry)


def apply(engine: Engine, registry: Registry) -> None:
    """Applies the missing revisions."""
    for app in _ordered(registry):
        with _changing_tables(engine) as connection:
            alembic.command.upgrade(_configuration(app, connection), "head")


@contextmanager
def _changing_tables(engine: Engine) -> Iterator[Connection]:
    """Context manager of a connection for DDL, committed at the end.

    On SQLite a table is changed by copying it and dropping the original, which would cascade to rows that refer to it.
    Foreign keys are therefore not enforced during the change, and all are checked at the end.
    """
    with engine.connect().execution_options(**{WRITING: True}) as connection:
        cursor = connection.connection.cursor() if engine.dialect.name == "sqlite" else None
        if cursor is not None:
            cursor.execute("PRAGMA foreign_keys=OFF")  # has no effect within a transaction
        try:
            yield connection
            if cursor is not None:
                _check_foreign_keys(connection)
            connection.commit()
        finally:
            connection.rollback()
            if cursor is not None:
                cursor.execute("PRAGMA foreign_keys=ON")


def _check_foreign_keys(connection: Connection) -> None:
    """Checks all foreign keys of a SQLite database.

    :raises LookupError: for a row that refers to a missing one
    """
    broken = connection.exec_driver_sql("PRAGMA foreign_key_check").first()
    if broken is not None:
        message = f"a row of {broken[0]} refers to one of {broken[2]} that is not there; nothing was changed"
        raise LookupError(message)


def remove(engine: Engine, registry: Registry, app: App) -> None:
    """Downgrades all revisions of an application, which drops its tables; its package can then be uninstalled.

    :raises LookupError: when it has no branch, or tables of other applications refer to its tables
    """
    if not app.migrations or app.migrations == CORE:
        raise LookupError(f"the application {app.name} has no migrations of its own")
    users = [other.name for other in _ordered(registry) if _label(app) in _referred(other)]
    if users:
        raise LookupError(f"the tables of {', '.join(users)} refer to those of {app.name}")
    with _changing_tables(engine) as connection:
        alembic.command.downgrade(_configuration(app, connection), "base")


def seed(engine: Engine, registry: Registry) -> None:
    """Inserts the initial rows of all packages (hook ``netinv_seed``), and updates values of earlier releases."""
    with session_factory(engine)() as session:
        uow = UnitOfWork(registry, session, ANONYMOUS, writing=True)
        load(uow)
        registry.hooks.netinv_seed(uow=uow)
        for endpoint in filter(trees.is_tree, registry.endpoints.values()):
            trees.rebuild(uow, endpoint)
        session.commit()


@dataclasses.dataclass(frozen=True)
class Revisions:
    """Revisions of the database compared with those of the installed packages.

    ``applied`` are those of the database by application, ``missing`` the heads that it lacks, ``unknown`` those of the
    database that the installed packages do not have.
    """

    applied: dict[str, tuple[str, ...]]
    missing: list[str]
    unknown: list[str]


def revisions(engine: Engine, registry: Registry) -> Revisions:
    """Compares the revisions of the database with those of the installed packages."""
    found = Revisions({}, [], [])
    with engine.connect() as connection:
        for app in _ordered(registry):
            options = {"version_table": _version_table(app)}
            applied = MigrationContext.configure(connection, opts=options).get_current_heads()
            scripts = ScriptDirectory.from_config(_configuration(app))
            known = {script.revision for script in scripts.walk_revisions()}
            unknown = [revision for revision in applied if revision not in known]
            found.applied[_label(app)] = tuple(applied)
            found.unknown.extend(unknown)
            if not unknown:
                found.missing.extend(head for head in scripts.get_heads() if head not in applied)
    return found


def pending(engine: Engine, registry: Registry) -> list[str]:
    """Returns the head revisions that the database lacks, one for each package."""
    return revisions(engine, registry).missing


def heads(registry: Registry) -> dict[str, Sequence[str]]:
    """Returns the head revisions of the installed packages, by the table that holds the applied ones."""
    return {
        _version_table(app): ScriptDirectory.from_config(_configuration(app)).get_heads() for app in _ordered(registry)
    }


def missing(connection: Connection, heads: Mapping[str, Sequence[str]]) -> list[str]:
    """Returns those of the ``heads`` (:func:`heads`) that a database lacks: one statement, and one for the tables."""
    tables = [table for table in sa.inspect(connection).get_table_names() if table in heads]
    selects: list[Any] = [sa.select(sa.column("version_num")).select_from(sa.table(table)) for table in tables]
    applied = set(connection.execute(sa.union_all(*selects)).scalars()) if selects else set()
    return [head for revisions in heads.values() for head in revisions if head not in applied]


def revision(engine: Engine, registry: Registry, app: App, message: str) -> Path:
    """Writes a revision with the differences between an application's models and the migrated database.

    :returns: the path of the file
    :raises LookupError: without a migrations folder, or without differences
    """
    if not app.migrations:
        raise LookupError(f"the application {app.name} names no migrations folder")
    folder = _folder(app.migrations)
    number = 1 + len(list(folder.glob("[0-9]*.py")))
    with engine.connect() as connection:
        config = _configuration(app, connection)
        scripts = alembic.command.revision(config, message, autogenerate=True, rev_id=f"{_label(app)}_{number:04}")
    script = scripts[0] if isinstance(scripts, list) else scripts
    if script is None:
        raise LookupError("nothing to write")
    path = Path(script.path).rename(folder / f"{number:04}_{slugify(message, '_')}.py")
    lines = path.read_text().splitlines()
    path.write_text("\n".join(line for line in lines if not line.startswith("    # ### ")) + "\n")
    return path
