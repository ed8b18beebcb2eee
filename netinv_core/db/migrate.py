"""Bringing a database to what the installed packages expect: one Alembic branch a package, then the seed rows.

Each branch stands alone, with a version table of its own, and a package's tables carry its name as prefix
(``dcim_site``, ``dcim_alembic_version``): packages install, migrate and leave without touching the others. Branches are
applied in the order in which their tables refer to each other.
"""

from __future__ import annotations

import graphlib
import importlib.util
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import alembic.command
import alembic.config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy.engine import Connection, Engine

from netinv_core.app import App
from netinv_core.auth.identity import ANONYMOUS
from netinv_core.content_types import load
from netinv_core.db.engine import WRITING, session_factory
from netinv_core.models.base import Base
from netinv_core.registry import Registry
from netinv_core.uow import UnitOfWork
from netinv_core.write import trees
from netinv_core.write.slugs import slugify

CORE = "netinv_core:migrations"


def _label(app: App) -> str:
    """The name of an application's branch, which is also its tables' prefix."""
    return "core" if app.migrations == CORE else app.name


def _folder(place: str) -> Path:
    """The ``versions`` folder of ``package:folder``."""
    package, _, folder = place.partition(":")
    spec = importlib.util.find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        raise LookupError(f"the package {package} of the migrations {place} is not installed")
    return Path(next(iter(spec.submodule_search_locations))) / folder / "versions"


def _referred(app: App) -> set[str]:
    """The branches that hold the tables an application's own refer to."""
    own = f"{_label(app)}_"
    keys = [key for name, table in Base.metadata.tables.items() if name.startswith(own) for key in table.foreign_keys]
    return {"core", *[key.target_fullname.partition("_")[0] for key in keys]} - {_label(app)}


def _ordered(registry: Registry) -> list[App]:
    """The applications that have migrations, each after those its tables refer to."""
    apps = {_label(app): app for app in registry.apps.values() if app.migrations}
    order = graphlib.TopologicalSorter({label: _referred(app) & set(apps) for label, app in sorted(apps.items())})
    return [apps[label] for label in order.static_order()]


def _configuration(app: App, connection: Connection | None = None) -> alembic.config.Config:
    """Alembic's configuration for one application."""
    config = alembic.config.Config()
    config.set_main_option("script_location", str(_folder(CORE).parent))
    config.set_main_option("path_separator", "newline")
    config.set_main_option("version_locations", str(_folder(app.migrations or CORE)))
    config.attributes |= {"connection": connection, "prefix": f"{_label(app)}_", "version_table": _version_table(app)}
    return config


def _version_table(app: App) -> str:
    return f"{_label(app)}_alembic_version"


def upgrade(engine: Engine, registry: Registry) -> None:
    """Applies every revision that is missing, then seeds; repeating it changes nothing."""
    apply(engine, registry)
    seed(engine, registry)


def apply(engine: Engine, registry: Registry) -> None:
    """Applies every revision that is missing."""
    for app in _ordered(registry):
        with _changing_tables(engine) as connection:
            alembic.command.upgrade(_configuration(app, connection), "head")


@contextmanager
def _changing_tables(engine: Engine) -> Iterator[Connection]:
    """A connection whose transaction is committed at the end.

    SQLite changes a table by making it anew, with the rows, and dropping the old one, which would take along what refers to it: the
    references are therefore checked at the end, all of them, and not on the way.
    """
    with engine.connect().execution_options(**{WRITING: True}) as connection:
        plain = connection.connection.cursor() if engine.dialect.name == "sqlite" else None
        if plain is not None:
            plain.execute("PRAGMA foreign_keys=OFF")  # means nothing within a transaction
        try:
            yield connection
            if plain is not None and (broken := connection.exec_driver_sql("PRAGMA foreign_key_check").first()) is not None:
                raise LookupError(f"a row of {broken[0]} refers to one of {broken[2]} that is not there; nothing was changed")
            connection.commit()
        finally:
            connection.rollback()
            if plain is not None:
                plain.execute("PRAGMA foreign_keys=ON")


def remove(engine: Engine, registry: Registry, app: App) -> None:
    """Takes back every revision of an application, its tables with them; its package can then be uninstalled.

    :raises LookupError: when it has no branch of its own, or the tables of other applications refer to its own
    """
    if not app.migrations or app.migrations == CORE:
        raise LookupError(f"the application {app.name} has no migrations of its own")
    users = [other.name for other in _ordered(registry) if _label(app) in _referred(other)]
    if users:
        raise LookupError(f"the tables of {', '.join(users)} refer to those of {app.name}")
    with _changing_tables(engine) as connection:
        alembic.command.downgrade(_configuration(app, connection), "base")


def seed(engine: Engine, registry: Registry) -> None:
    """Lets every package write the rows a fresh database starts with, and mends what earlier releases stored otherwise."""
    with session_factory(engine)() as session:
        uow = UnitOfWork(registry, session, ANONYMOUS, writing=True)
        load(uow)
        registry.hooks.netinv_seed(uow=uow)
        for endpoint in filter(trees.is_tree, registry.endpoints.values()):
            trees.rebuild(uow, endpoint)
        session.commit()


def pending(engine: Engine, registry: Registry) -> list[str]:
    """The revisions that the database has not reached, one a package."""
    found: list[str] = []
    with engine.connect() as connection:
        for app in _ordered(registry):
            reached = MigrationContext.configure(connection, opts={"version_table": _version_table(app)}).get_current_heads()
            heads = ScriptDirectory.from_config(_configuration(app)).get_heads()
            found += [head for head in heads if head not in reached]
    return found


def revision(engine: Engine, registry: Registry, app: App, message: str) -> Path:
    """Writes a revision with what an application's models have and the (migrated) database lacks; its path."""
    if not app.migrations:
        raise LookupError(f"the application {app.name} names no migrations folder")
    folder = _folder(app.migrations)
    number = 1 + len(list(folder.glob("[0-9]*.py")))
    with engine.connect() as connection:
        config = _configuration(app, connection)
        made = alembic.command.revision(config, message, autogenerate=True, rev_id=f"{_label(app)}_{number:04}")
    script = made[0] if isinstance(made, list) else made
    if script is None:
        raise LookupError("nothing to write")
    path = Path(script.path).rename(folder / f"{number:04}_{slugify(message, '_')}.py")
    lines = path.read_text().splitlines()
    path.write_text("\n".join(line for line in lines if not line.startswith("    # ### ")) + "\n")
    return path
