"""Migrations: one Alembic branch for each installed package, then the initial rows.

Each branch is independent, with a version table of its own, and the tables of a package have its name as prefix
(``dcim_site``, ``dcim_alembic_version``). Packages are installed, migrated and removed without effect on others.
Branches are applied in the order in which their tables refer to each other.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import alembic.command
import alembic.config
import sqlalchemy as sa
from sqlalchemy.engine import Connection, Engine

from netinv_core.auth.account import ANONYMOUS
from netinv_core.content_types import load
from netinv_core.db import revisions, text_indexes
from netinv_core.db.engine import WRITING, session_factory
from netinv_core.types import App, Registry
from netinv_core.uow import UnitOfWork
from netinv_core.write import slugs, trees
from netinv_core.write.slugs import slugify


def _configuration(app: App, connection: Connection | None = None) -> alembic.config.Config:
    """Returns Alembic's configuration for one application."""
    config = alembic.config.Config()
    config.set_main_option("script_location", str(revisions.folder(revisions.CORE).parent))
    config.set_main_option("path_separator", "newline")
    config.set_main_option("version_locations", str(revisions.folder(app.migrations or revisions.CORE)))
    config.attributes |= {
        "connection": connection,
        "prefix": f"{revisions.label(app)}_",
        "version_table": revisions.version_table(app),
    }
    return config


def upgrade(engine: Engine, registry: Registry) -> None:
    """Applies the missing revisions, inserts the initial rows and builds the text indexes; idempotent."""
    apply(engine, registry)
    seed(engine, registry)
    text_indexes.build(engine, registry)


def apply(engine: Engine, registry: Registry) -> None:
    """Applies the missing revisions."""
    for app in revisions.ordered(registry):
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
    if not app.migrations or app.migrations == revisions.CORE:
        raise LookupError(f"the application {app.name} has no migrations of its own")
    users = [other.name for other in revisions.ordered(registry) if revisions.label(app) in revisions.referred(other)]
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
        # Tables of a package whose migrations were not run are not there.
        tables = set(sa.inspect(session.connection()).get_table_names())
        for endpoint in registry.stored():
            if endpoint.table.name in tables:
                if trees.is_tree(endpoint):
                    trees.rebuild(uow, endpoint)
                slugs.mend(uow, endpoint)
        session.commit()


def revision(engine: Engine, registry: Registry, app: App, message: str) -> Path:
    """Writes a revision with the differences between an application's models and the migrated database.

    :returns: the path of the file
    :raises LookupError: without a migrations folder, or without differences
    """
    if not app.migrations:
        raise LookupError(f"the application {app.name} names no migrations folder")
    folder = revisions.folder(app.migrations)
    number = 1 + len(list(folder.glob("[0-9]*.py")))
    with engine.connect() as connection:
        config = _configuration(app, connection)
        scripts = alembic.command.revision(
            config, message, autogenerate=True, rev_id=f"{revisions.label(app)}_{number:04}"
        )
    script = scripts[0] if isinstance(scripts, list) else scripts
    if script is None:
        raise LookupError("nothing to write")
    path = Path(script.path).rename(folder / f"{number:04}_{slugify(message, '_')}.py")
    lines = path.read_text().splitlines()
    path.write_text("\n".join(line for line in lines if not line.startswith("    # ### ")) + "\n")
    return path
