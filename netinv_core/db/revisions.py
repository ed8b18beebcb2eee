"""Revisions of the installed packages, and those that a database has.

A package's revisions are read from the text of its migrations. Alembic, with which :mod:`netinv_admin.migrate`
applies them, takes 10 MiB of memory and 0.1 s of a service's start.
"""

from __future__ import annotations

import ast
import dataclasses
import graphlib
import importlib.util
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection, Engine

from netinv_core.models.base import Base

if TYPE_CHECKING:
    from netinv_core.app import App
    from netinv_core.registry import Registry

CORE = "netinv_core:migrations"
SHOWN = 5  # revisions in a message
VERSIONS = "_alembic_version"  # the end of the names of tables with applied revisions
_PLACE = re.compile(r"\w+(\.\w+)*:\w+(/\w+)*")
# An assignment of a module, whose value may be a tuple over several lines.
_ASSIGNMENT = re.compile(
    r"^(revision|down_revision)\b[^=\n]*=\s*(\([^)]*\)|\[[^\]]*\]|None|\"[^\"\n]*\"|'[^'\n]*')", re.MULTILINE
)


def label(app: App) -> str:
    """Returns the name of an application's branch, the prefix of its tables."""
    return "core" if app.migrations == CORE else app.name


def version_table(app: App) -> str:
    """Returns the name of the table with the applied revisions of an application's branch."""
    return label(app) + VERSIONS


def folder(place: str) -> Path:
    """Returns the path of the ``versions`` folder of ``package:folder``.

    :raises LookupError: when the package is not installed, or none
    """
    package, _, name = place.partition(":")
    try:
        spec = importlib.util.find_spec(package)
    except ModuleNotFoundError:  # a package that it is in
        spec = None
    if spec is None:
        raise LookupError(f"the package {package} of the migrations {place} is not installed")
    if not spec.submodule_search_locations:
        raise LookupError(f"{package} of the migrations {place} is a module; expected a package with a folder")
    return Path(next(iter(spec.submodule_search_locations))) / name / "versions"


def referred_branches(app: App) -> set[str]:
    """Returns the branches of the tables that an application's tables refer to, or did (``App.migrates_after``), among
    names of none: what a table is called does not tell how long the name of its application is.
    """
    prefix = f"{label(app)}_"
    tables = [table for table_name, table in Base.metadata.tables.items() if table_name.startswith(prefix)]
    words = [key.target_fullname.split("_") for table in tables for key in table.foreign_keys]
    names = {"_".join(parts[:count]) for parts in words for count in range(1, len(parts))}
    return {"core", *names, *app.migrates_after} - {label(app)}


def sort_apps(registry: Registry) -> list[App]:
    """Returns the applications with migrations in topological order of the references of their tables."""
    apps = {label(app): app for app in registry.apps.values() if app.migrations}
    order = graphlib.TopologicalSorter({name: referred_branches(app) & set(apps) for name, app in sorted(apps.items())})
    return [apps[name] for name in order.static_order()]


@dataclasses.dataclass(frozen=True)
class Branch:
    """Revisions of an installed application: all of its branch, and those that no other one follows."""

    known: frozenset[str]
    heads: tuple[str, ...]


def branch(app: App) -> Branch:
    """Reads the revisions of an application.

    :raises LookupError: for a migration without a revision
    """
    known, followed = set[str](), set[str]()
    for path in sorted(folder(app.migrations or CORE).glob("*.py")):
        if path.name == "__init__.py":
            continue
        revision, before = _read(path)
        known.add(revision)
        followed |= before
    return Branch(frozenset(known), tuple(sorted(known - followed)))


def _read(path: Path) -> tuple[str, set[str]]:
    """The revision of a migration, and those that it follows.

    :raises LookupError: for a migration without a revision
    """
    values = {name: ast.literal_eval(value) for name, value in _ASSIGNMENT.findall(path.read_text("utf-8"))}
    if not isinstance(values.get("revision"), str):
        raise LookupError(f"the migration {path} assigns no revision")
    before = values.get("down_revision") or ()
    return values["revision"], {before} if isinstance(before, str) else set(before)


def check(app: App) -> None:
    """Checks that the migrations of an application can be read, and that each follows one of them.

    :raises LookupError: for the first mistake
    :raises SyntaxError: for a file that is no Python
    """
    place: Any = app.migrations
    if not (isinstance(place, str) and _PLACE.fullmatch(place)):
        raise LookupError("expected 'package:folder'")
    followers: dict[str, tuple[str, set[str]]] = {}
    for path in sorted(folder(place).glob("*.py")):
        try:
            ast.parse(path.read_text("utf-8"), path.name)
        except UnicodeDecodeError as error:
            raise LookupError(f"{path.name} is not UTF-8: {error}") from None
        if path.name != "__init__.py":
            revision, before = _read(path)
            if revision in followers:
                raise LookupError(f"{path.name} has the revision {revision} of another migration")
            followers[revision] = path.name, before
    for name, before in followers.values():
        if unknown := sorted(before - followers.keys()):
            raise LookupError(f"{name} follows the revision {unknown[0]}, which is not there")
    heads = branch(app).heads
    if followers and len(heads) != 1:
        found = ", ".join(heads) or "none: they follow each other in a circle"
        raise LookupError(f"expected one revision that no other follows, found {found}")


@dataclasses.dataclass(frozen=True)
class Revisions:
    """Revisions of the database compared with those of the installed packages.

    By application: ``applied`` are those of the database, ``missing_of`` the heads that it lacks, ``unknown_of`` those
    of the database that the installed packages do not have. An application with unknown ones lacks none: its tables are
    newer.
    """

    applied: dict[str, tuple[str, ...]]
    missing_of: dict[str, list[str]]
    unknown_of: dict[str, list[str]]

    @property
    def missing(self) -> list[str]:
        """The heads that the database lacks."""
        return [revision for found in self.missing_of.values() for revision in found]

    @property
    def unknown(self) -> list[str]:
        """The revisions of the database that the installed packages do not have."""
        return [revision for found in self.unknown_of.values() for revision in found]


def revisions(engine: Engine, registry: Registry) -> Revisions:
    """Compares the revisions of the database with those of the installed packages."""
    with engine.connect() as connection:
        return compare(connection, sort_apps(registry))


def compare(connection: Connection, apps: Sequence[App]) -> Revisions:
    """Compares the revisions of some applications: one statement, and one for the tables."""
    found = Revisions({}, {}, {})
    applied_by_table = _read_applied(connection, map(version_table, apps))
    for app in apps:
        applied, installed, name = applied_by_table.get(version_table(app), ()), branch(app), label(app)
        unknown = [revision for revision in applied if revision not in installed.known]
        lacking = [] if unknown else [head for head in installed.heads if head not in applied]
        found.applied[name], found.missing_of[name], found.unknown_of[name] = tuple(applied), lacking, unknown
    return found


def newer(app: App, unknown: Sequence[str]) -> str:
    """A sentence about the tables of an application that another release of its package made, with the remedy."""
    return (
        f"the tables of {app.name} are newer than the installed package, which does not have their migrations "
        f"{', '.join(unknown[:SHOWN])}; install the release that made them"
    )


def pending_heads(engine: Engine, registry: Registry) -> list[str]:
    """Returns the head revisions that the database lacks, one for each package."""
    return revisions(engine, registry).missing


def heads(registry: Registry) -> dict[str, Sequence[str]]:
    """Returns the head revisions of the installed packages, by the table that holds the applied ones."""
    return {version_table(app): branch(app).heads for app in sort_apps(registry)}


def missing_heads(connection: Connection, heads: Mapping[str, Sequence[str]]) -> list[str]:
    """Returns those of the ``heads`` (:func:`heads`) that a database lacks: one statement, and one for the tables."""
    applied = {revision for found in _read_applied(connection, heads).values() for revision in found}
    return [head for found in heads.values() for head in found if head not in applied]


def _read_applied(connection: Connection, tables: Iterable[str]) -> dict[str, list[str]]:
    """The applied revisions by table, of the ``tables`` that the database has."""
    wanted = set(tables)
    present = sorted(wanted.intersection(sa.inspect(connection).get_table_names()))
    selects: list[Any] = [
        sa.select(sa.literal(name), sa.column("version_num", sa.String())).select_from(sa.table(name))
        for name in present
    ]
    applied: dict[str, list[str]] = {name: [] for name in present}
    if selects:
        for name, revision in connection.execute(sa.union_all(*selects)):
            applied[name].append(revision)
    return applied
