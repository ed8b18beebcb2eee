"""Bringing a database to what the installed packages expect: one Alembic branch a package, then the seed rows.

A package's tables carry its name as prefix (``dcim_site``), so that packages install, migrate and leave independently.
Branches know nothing of each other: their order is that of the foreign keys. (Alembic's ``depends_on`` would fold the rows
of lower branches into those of upper ones, and removing an upper package would lose them.)
"""

from __future__ import annotations

import graphlib
import importlib.util
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import alembic.command
import alembic.config
from alembic.runtime.environment import EnvironmentContext
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy.engine import Connection, Engine

from netinv_core.app import App
from netinv_core.auth.identity import ANONYMOUS
from netinv_core.content_types import load
from netinv_core.context import Context
from netinv_core.database import WRITING, session_factory
from netinv_core.model import Base
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
    """Applies every revision that is missing, branch by branch."""
    for label in graphlib.TopologicalSorter(foundations(registry)).static_order():
        _run(engine, registry, lambda script, reached, label=label: script._upgrade_revs(f"{label}@head", reached))


def remove(engine: Engine, registry: Registry, app: App) -> None:
    """Takes back every revision of an application, its tables with them: before its package is uninstalled.

    :raises LookupError: when it has no branch, or the tables of other applications refer to its own
    """
    label, below = _label(app), foundations(registry)
    if label not in below:
        raise LookupError(f"the application {app.name} has no migrations")
    users = sorted(name for name, needed in below.items() if label in needed)
    if users:
        raise LookupError(f"the tables of {', '.join(users)} refer to those of {app.name}")
    _run(engine, registry, lambda script, reached: script._downgrade_revs(f"{label}@base", reached))


def _run(engine: Engine, registry: Registry, steps: Callable[[ScriptDirectory, tuple[str, ...]], Any]) -> None:
    """Runs the steps that a function gives for the revisions reached."""
    with engine.connect().execution_options(**{WRITING: True}) as connection:
        config = configuration(registry, connection)
        script = ScriptDirectory.from_config(config)
        with EnvironmentContext(config, script, fn=lambda reached, _: steps(script, _known(script, reached))):
            script.run_env()
        connection.commit()


def _known(script: ScriptDirectory, names: Iterable[str]) -> tuple[str, ...]:
    """Those of the revisions that installed packages brought; a package that was removed leaves its own in the database."""
    every = {item.revision for item in script.walk_revisions()}
    return tuple(name for name in names if name in every)


def _label(app: App) -> str:
    """The label of an application's branch, which is also its tables' prefix."""
    return "core" if app.migrations == CORE else app.name


def foundations(registry: Registry) -> dict[str, set[str]]:
    """Each branch with those whose tables its own refer to."""
    found: dict[str, set[str]] = {_label(app): {"core"} for app in registry.apps.values() if app.migrations}

    def branch(table: str) -> str | None:
        return max((label for label in found if table.startswith(f"{label}_")), key=len, default=None)

    for table in Base.metadata.tables.values():
        label = branch(table.name)
        if label is not None:
            found[label].update(there for key in table.foreign_keys if (there := branch(key.target_fullname)) is not None)
    return {label: needed - {label} for label, needed in found.items()}


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
    waiting = [*_known(script, reached)]
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
