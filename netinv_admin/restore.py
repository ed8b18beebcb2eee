"""Restores a backup (:mod:`netinv_admin.archive`) to a database of any kind, and its files.

All rows are written in one transaction: a restore that fails leaves the rows as they were. Files are written before the
commit, so every file that a row names exists.
"""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection, Engine
from sqlalchemy.schema import AddConstraint, DropConstraint

from netinv_admin import archive
from netinv_admin.archive import ArchiveError, Manifest, Reader
from netinv_admin.backup import left_out
from netinv_core.auth import stored_secrets
from netinv_core.auth.models import User
from netinv_core.db import migrate, revisions
from netinv_core.db.engine import WRITING
from netinv_core.models.base import Base, table_of
from netinv_core.storage import files
from netinv_core.types import Registry

ROWS_AT_ONCE, BYTES_AT_ONCE = 500, 4 * 2**20  # inserted by one statement


@dataclasses.dataclass(frozen=True)
class Options:
    """``replace`` what the target holds; accept a backup of another secret (``any_secret``)."""

    replace: bool = False
    any_secret: bool = False


def restore(
    path: Path, engine: Engine, registry: Registry, options: Options, note: Callable[[str], Any] = lambda name: None
) -> Manifest:
    """Restores a backup, and returns its manifest.

    :param note: called with the name of each table
    :raises ArchiveError: when it is damaged or does not fit; nothing is changed then
    """
    with contextlib.closing(_examined(path, registry, options)) as reader:
        manifest = reader.manifest
        check_target(engine, registry, options)
        migrate.apply(engine, registry)
        root = Path(registry.settings["media_root"])
        with _writing(engine) as connection:
            _clear(connection)
            for table in archive.tables():
                note(table.name)
                _load(connection, table, reader, manifest)
            _set_sequences(connection)
            for name in manifest.files:
                files.write(root, name, reader.file(name))
        if options.replace:
            _remove_other_files(root, manifest)
    if revisions.revisions(engine, registry).applied.keys() - manifest.revisions.keys():
        migrate.seed(engine, registry)  # packages that the backup does not know
    return manifest


def examine(path: Path, registry: Registry, options: Options) -> Manifest:
    """Checks that a backup is whole and fits this installation, and returns its manifest.

    :raises ArchiveError: when it is damaged or does not fit
    """
    with contextlib.closing(_examined(path, registry, options)) as reader:
        return reader.manifest


def _examined(path: Path, registry: Registry, options: Options) -> Reader:
    reader = Reader(path)
    try:
        check_fit(reader.manifest, registry, options)
        reader.verify()
    except BaseException:
        reader.close()
        raise
    return reader


def check_fit(manifest: Manifest, registry: Registry, options: Options) -> None:
    """Compares revisions, tables and secret of a backup with those of this installation.

    :raises ArchiveError: when they differ
    """
    releases = ", ".join(f"{name} {version}" for name, version in sorted(manifest.packages.items()))
    heads = {table.removesuffix("_alembic_version"): list(ids) for table, ids in revisions.heads(registry).items()}
    for package, found in manifest.revisions.items():
        if package not in heads and found:
            raise ArchiveError(
                f"the backup has tables of {package}, which is not installed; it was made with {releases}"
            )
        if package in heads and sorted(heads[package]) != sorted(found):
            raise ArchiveError(
                f"the backup has revision {', '.join(found) or 'none'} of {package}, and the installed packages "
                f"{', '.join(heads[package])}; restore it with the packages that made it ({releases}), then upgrade"
            )
    for table in archive.tables():
        entry = manifest.tables.get(table.name)
        if entry is not None and set(entry["columns"]) != {column.name for column in table.c}:
            raise ArchiveError(f"the backup has other columns of {table.name} than the installed packages")
    for name in manifest.files:
        if not files.is_name(name):
            raise ArchiveError(f"{name!r} is not the name of a stored file")
    own = stored_secrets.fingerprint(registry.settings["secret"])
    if manifest.secret != own and not options.any_secret:
        raise ArchiveError(
            "the backup was made with another netinv.secret: set that one, or restore with --any-secret "
            "and run `netinv secret rotate` afterwards"
        )


def check_target(engine: Engine, registry: Registry, options: Options) -> None:
    """Checks that nothing is lost: a target with accounts, changes or files must be replaced on purpose.

    :raises ArchiveError: for a target that is newer than the installed packages, or holds something
    """
    unknown = revisions.revisions(engine, registry).unknown
    if unknown:
        raise ArchiveError(f"the database has revisions that the installed packages do not have: {', '.join(unknown)}")
    others = left_out(engine, registry)
    if options.replace and others:
        raise ArchiveError(f"the database has tables of no installed package: {', '.join(others)}")
    if options.replace:
        return
    users = table_of(User)
    if sa.inspect(engine).has_table(users.name):
        with engine.connect() as connection:
            if connection.execute(sa.select(users.c.id).limit(1)).first() is not None:
                raise ArchiveError(f"the database {engine.url.render_as_string()} is not empty; --replace empties it")
    root = registry.settings["media_root"]
    if next(files.stored(Path(root)), None) is not None:
        raise ArchiveError(f"the folder {root} has files; --replace removes those that the backup does not have")


@contextlib.contextmanager
def _writing(engine: Engine) -> Iterator[Connection]:
    """Context manager of a transaction in which rows may be written in any order; foreign keys hold at its end.

    :raises ArchiveError: when a row refers to a missing one
    """
    dialect = engine.dialect.name
    with engine.connect().execution_options(**{WRITING: True}) as connection:
        try:
            if dialect == "sqlite":
                connection.connection.cursor().execute("PRAGMA foreign_keys=OFF")  # no effect within a transaction
            elif dialect != "postgresql":
                connection.exec_driver_sql("SET foreign_key_checks = 0")
            keys = _drop_foreign_keys(connection) if dialect == "postgresql" else []
            yield connection
            for key in keys:
                connection.execute(AddConstraint(key))
            if dialect != "postgresql":
                _check_foreign_keys(connection)
            connection.commit()
        finally:
            connection.rollback()
            connection.invalidate()  # the next user of the pool gets a connection that checks foreign keys


def _foreign_keys(connection: Connection) -> Iterator[tuple[sa.Table, sa.ForeignKeyConstraint]]:
    """The foreign keys of the tables, those to installed packages, as they are in the database."""
    existing = set(sa.inspect(connection).get_table_names())
    for table in Base.metadata.sorted_tables:
        if table.name in existing:
            for constraint in table.foreign_key_constraints:
                yield table, constraint


def _drop_foreign_keys(connection: Connection) -> list[Any]:
    """Drops the foreign keys, and returns them as they were; PostgreSQL checks all rows when they are added again."""
    reflected = sa.MetaData()
    reflected.reflect(connection, only=[table.name for table in Base.metadata.sorted_tables])
    keys = [key for table in reflected.tables.values() for key in table.foreign_key_constraints]
    for key in keys:
        connection.execute(DropConstraint(key))
    return keys


def _check_foreign_keys(connection: Connection) -> None:
    """Looks for a row that refers to a missing one.

    :raises ArchiveError: when there is one
    """
    for table, constraint in _foreign_keys(connection):
        for element in constraint.elements:
            target = element.column.table.alias()
            column, referred = element.parent, target.c[element.column.name]
            exists = sa.exists().where(referred == column)
            broken = sa.select(column).where(column.is_not(None), ~exists).limit(1)
            if connection.execute(broken).first() is not None:
                raise ArchiveError(
                    f"a row of {table.name} refers to one of {element.column.table.name} that is missing"
                )


def _clear(connection: Connection) -> None:
    """Deletes all rows."""
    tables = list(Base.metadata.sorted_tables)
    if connection.dialect.name == "postgresql":
        names = ", ".join(connection.dialect.identifier_preparer.format_table(table) for table in tables)
        connection.exec_driver_sql(f"TRUNCATE {names}")
        return
    for table in reversed(tables):
        connection.execute(sa.delete(table))


def _load(connection: Connection, table: sa.Table, reader: Reader, manifest: Manifest) -> None:
    """Inserts the rows of a table.

    :raises ArchiveError: when their number differs from the manifest's
    """
    entry = manifest.tables.get(table.name)
    if entry is None:
        return
    decoders = archive.decoders([table.c[name] for name in entry["columns"]])
    rows: list[dict[str, Any]] = []
    size = count = 0
    for line in reader.lines(table.name):
        rows.append(archive.decode(line, decoders))
        size += len(line)
        count += 1
        if len(rows) == ROWS_AT_ONCE or size >= BYTES_AT_ONCE:
            _insert(connection, table, rows)
            rows, size = [], 0
    _insert(connection, table, rows)
    if count != entry["rows"]:
        raise ArchiveError(f"the backup has {count} rows of {table.name} in place of {entry['rows']}")


def _insert(connection: Connection, table: sa.Table, rows: Sequence[dict[str, Any]]) -> None:
    if rows:
        connection.execute(sa.insert(table).inline(), rows)


def _set_sequences(connection: Connection) -> None:
    """Sets the sequences of PostgreSQL behind the highest numbers; the other databases take them from the rows."""
    if connection.dialect.name != "postgresql":
        return
    for table in Base.metadata.sorted_tables:
        for column in table.primary_key.columns:
            if isinstance(column.type, sa.Integer):
                sequence = sa.func.pg_get_serial_sequence(table.name, column.name)
                name = connection.execute(sa.select(sequence)).scalar()
                if name is not None:
                    highest = sa.select(sa.func.max(column)).scalar_subquery()
                    value = sa.func.coalesce(highest, 1)
                    connection.execute(sa.select(sa.func.setval(name, value, highest.is_not(None))))


def _remove_other_files(root: Path, manifest: Manifest) -> None:
    """Removes the files that the backup does not have."""
    for name, _ in list(files.stored(root)):
        if name not in manifest.files:
            (root / name).unlink(missing_ok=True)
