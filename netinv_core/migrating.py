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
    """The branches that hold the tables an application's own refer to."""
    branches = set()
    for resource in app.resources:
        for key in resource.model.__table__.foreign_keys:
            prefix = key.target_fullname.partition("_")[0]
            branches.add(prefix)
    label = "core" if app.migrations == CORE else app.name
    return sorted(f"{branch}_0001" for branch in branches | {"core"} if branch != label)
