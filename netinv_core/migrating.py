"""Bringing a database to what the installed packages expect: one Alembic branch a package, then the seed rows.

A package's tables carry its name as prefix (``dcim_site``), so that packages install, migrate and leave independently.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import alembic.command
import alembic.config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy.engine import Connection, Engine

from netinv_core.app import App
from netinv_core.auth.identity import ANONYMOUS
from netinv_core.content_types import load
from netinv_core.context import Context
from netinv_core.database import WRITING, session_factory
from netinv_core.registry import Registry

CORE = "netinv_core:migrations"


def _folder(place: str) -> Path:
    """The ``versions`` folder of ``package:folder``."""
    package, _, folder = place.partition(":")
    spec = importlib.util.find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        raise LookupError(f"the package {package} of the migrations {place} is not installed")
    return Path(next(iter(spec.submodule_search_locations))) / folder / "versions"


def configuration(registry: Registry, connection: Connection | None = None) -> alembic.config.Config:
    """Alembic's configuration for every installed package."""
    config = alembic.config.Config()
    config.set_main_option("script_location", str(_folder(CORE).parent))
    places = dict.fromkeys([CORE, *[app.migrations for app in registry.apps.values() if app.migrations]])
    config.set_main_option("version_path_separator", "newline")
    config.set_main_option("version_locations", "\n".join(str(_folder(place)) for place in places))
    config.attributes["connection"] = connection
    return config


def upgrade(engine: Engine, registry: Registry) -> None:
    """Applies every revision that is missing, then seeds; repeating it changes nothing."""
    apply(engine, registry)
    seed(engine, registry)


def apply(engine: Engine, registry: Registry) -> None:
    """Applies every revision that is missing."""
    with engine.connect().execution_options(**{WRITING: True}) as connection:
        alembic.command.upgrade(configuration(registry, connection), "heads")
        connection.commit()


def remove(engine: Engine, registry: Registry, app: App) -> None:
    """Takes back every revision of an application, its tables with them: before its package is uninstalled.

    :raises LookupError: when it has no branch of its own, or the tables of other applications refer to its own
    """
    if not app.migrations or app.migrations == CORE:
        raise LookupError(f"the application {app.name} has no migrations of its own")
    users = [other.name for other in registry.apps.values() if other is not app and f"{app.name}_0001" in _needed(registry, other)]
    if users:
        raise LookupError(f"the tables of {', '.join(users)} refer to those of {app.name}")
    with engine.connect().execution_options(**{WRITING: True}) as connection:
        alembic.command.downgrade(configuration(registry, connection), f"{app.name}@base")
        connection.commit()


def seed(engine: Engine, registry: Registry) -> None:
    """Lets every package write the rows a fresh database starts with."""
    with session_factory(engine)() as session:
        context = Context(registry, session, ANONYMOUS, writing=True)
        load(context)
        registry.hooks.netinv_seed(context=context)
        session.commit()


def pending(engine: Engine, registry: Registry) -> list[str]:
    """The heads that the database has not reached."""
    script = ScriptDirectory.from_config(configuration(registry))
    with engine.connect() as connection:
        reached = set(MigrationContext.configure(connection).get_current_heads())
    applied: set[str] = set()
    waiting = [name for name in reached if script.get_revision(name) is not None]
    while waiting:
        found = script.get_revision(waiting.pop())
        if found is not None and found.revision not in applied:
            applied.add(found.revision)
            waiting += [*found._all_down_revisions]
    return sorted(set(script.get_heads()) - applied)


def revision(engine: Engine, registry: Registry, app: App, message: str) -> Path:
    """Writes a revision with what an application's models have and the (migrated) database lacks; its path."""
    if not app.migrations:
        raise LookupError(f"the application {app.name} names no migrations folder")
    folder = _folder(app.migrations)
    label = "core" if app.migrations == CORE else app.name
    with engine.connect() as connection:
        config = configuration(registry, connection)
        config.attributes["prefix"] = f"{label}_"
        first = not any(folder.glob("[0-9]*.py"))
        options: Mapping[str, Any] = {"head": f"{label}@head"}
        if first:
            options = {"head": "base", "branch_label": label, "splice": True, "depends_on": _needed(registry, app)}
        number = 1 + len(list(folder.glob("[0-9]*.py")))
        script = alembic.command.revision(
            config,
            message,
            autogenerate=True,
            version_path=str(folder),
            rev_id=f"{label}_{number:04}",
            **options,
        )
    made = script[0] if isinstance(script, list) else script
    if made is None:
        raise LookupError("nothing to write")
    return Path(made.path).rename(folder / f"{number:04}_{message.lower().replace(' ', '_')}.py")


def _needed(registry: Registry, app: App) -> list[str]:
    """The first revisions of the branches an application's tables refer to, without those that another of them brings along.

    Alembic fails to merge the heads of a revision that depends both on a branch and on what that branch depends on.
    """
    direct = _referred(app)
    implied = {below for other in registry.apps.values() if _label(other) in direct for below in _below(registry, other)}
    return sorted(f"{label}_0001" for label in direct - implied)


def _below(registry: Registry, app: App) -> set[str]:
    """Every branch that an application's own rests on."""
    direct = _referred(app)
    return direct.union(*[_below(registry, other) for other in registry.apps.values() if _label(other) in direct])


def _referred(app: App) -> set[str]:
    """The branches that hold the tables an application's own refer to."""
    keys = [key for resource in app.resources for key in resource.model.__table__.foreign_keys]
    return {"core", *[key.target_fullname.partition("_")[0] for key in keys]} - {_label(app)}


def _label(app: App) -> str:
    """The label of an application's branch, which is also its tables' prefix."""
    return "core" if app.migrations == CORE else app.name
