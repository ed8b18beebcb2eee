"""Restores a backup (:mod:`netinv_core.backups.archive`) to a database of any kind, and its files.

All rows are written in one transaction: a restore that fails leaves the rows as they were. Files are written before the
commit, so every file that a row names exists.
"""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection, Engine
from sqlalchemy.schema import AddConstraint, DropConstraint

from netinv_admin import migrate
from netinv_core.auth import stored_secrets
from netinv_core.auth.models import User
from netinv_core.backups import archive
from netinv_core.backups.archive import ArchiveError, BackupReader, Manifest
from netinv_core.backups.writing import left_out
from netinv_core.db import revisions
from netinv_core.db.engine import WRITING
from netinv_core.driver import driver_of
from netinv_core.models.base import Base, table_of
from netinv_core.storage import files

if TYPE_CHECKING:
    from netinv_core.registry import Registry

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
    with contextlib.closing(_examine(path, registry, options)) as reader:
        manifest = reader.manifest
        check_target(engine, registry, options)
        older = older_packages(manifest, registry)
        if older:
            _check_empty(engine, older)
        root = Path(registry.settings["media_root"])
        with _dropping_tables_on_failure(engine) if older else contextlib.nullcontext():
            migrate.apply(engine, registry, to=manifest.revisions if older else None)
            tables = _tables_for(engine, registry, manifest)
            with _writing(engine, tables) as connection:
                driver_of(connection).clear(connection, tables)
                for table in tables:
                    note(table.name)
                    _load(connection, table, reader, manifest)
                _set_sequences(connection, tables)
                for name in manifest.files:
                    files.write(root, name, reader.file(name))
        if options.replace:
            _remove_other_files(root, manifest)
    if older:
        migrate.upgrade(engine, registry)
    elif revisions.revisions(engine, registry).applied.keys() - manifest.revisions.keys():
        migrate.seed(engine, registry)  # packages that the backup does not know
    return manifest


@contextlib.contextmanager
def _dropping_tables_on_failure(engine: Engine) -> Iterator[None]:
    """Context manager that drops the tables of a database again if the block fails."""
    try:
        yield
    except BaseException:
        created = sa.MetaData()
        created.reflect(engine)
        created.drop_all(engine)
        raise


def _tables_for(engine: Engine, registry: Registry, manifest: Manifest) -> list[sa.Table]:
    """The tables of the database, with the columns of the backup; those that backups leave out are emptied.

    :raises ArchiveError: for other columns, when the database has the revisions of the backup
    """
    if not older_packages(manifest, registry):
        return list(Base.metadata.sorted_tables)
    tables = archive.stored_tables(engine, registry)
    for table in tables:
        _check_columns(table, manifest)
    return tables


def _check_columns(table: sa.Table, manifest: Manifest) -> None:
    """Compares the columns of a table with those of the backup.

    :raises ArchiveError: when they differ
    """
    entry = manifest.tables.get(table.name)
    if entry is not None and set(entry["columns"]) != {column.name for column in table.c}:
        raise ArchiveError(f"the backup has other columns of {table.name} than the installed packages")


def _check_empty(engine: Engine, older: Sequence[str]) -> None:
    """Checks that there is no table: those of an older release are created first, and migrated with their rows.

    :raises ArchiveError: for a database with tables
    """
    if sa.inspect(engine).get_table_names():
        name = engine.url.render_as_string()
        raise ArchiveError(
            f"the backup is older than the installed packages ({', '.join(older)}), so it is restored to a database "
            f"without tables, and migrated; {name} has tables: name another one in netinv.database_url"
        )


def examine(path: Path, registry: Registry, options: Options) -> Manifest:
    """Checks that a backup is whole and fits this installation, and returns its manifest.

    :raises ArchiveError: when it is damaged or does not fit
    """
    with contextlib.closing(_examine(path, registry, options)) as reader:
        return reader.manifest


def _examine(path: Path, registry: Registry, options: Options) -> BackupReader:
    reader = BackupReader(path)
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
    branches = {revisions.label(app): revisions.branch(app) for app in revisions.sort_apps(registry)}
    heads, known = ({name: getattr(found, part) for name, found in branches.items()} for part in ("heads", "known"))
    for package, found in manifest.revisions.items():
        if package not in heads and found:
            raise ArchiveError(
                f"the backup has tables of {package}, which is not installed; it was made with {releases}"
            )
        if package in heads and set(found) - known[package]:
            raise ArchiveError(
                f"the backup has revision {', '.join(found)} of {package}, and the installed packages "
                f"{', '.join(heads[package])}; restore it with the packages that made it ({releases}), or newer ones"
            )
    if not older_packages(manifest, registry):
        for table in archive.tables():
            _check_columns(table, manifest)
    for name in manifest.files:
        if not files.is_name(name):
            raise ArchiveError(f"{name!r} is not the name of a stored file")
    own = stored_secrets.fingerprint(registry.settings["secret"])
    if manifest.secret == archive.UNKNOWN_SECRET and not options.any_secret:
        raise ArchiveError(
            "the backup was made while netinv.secret decrypted nothing of what was stored: set the secret that was "
            "used before, and restore with --any-secret"
        )
    if manifest.secret != own and not options.any_secret:
        raise ArchiveError(
            "the backup was made with another netinv.secret: set that one, or restore with --any-secret "
            "and run `netinv secret rotate` afterwards"
        )


def older_packages(manifest: Manifest, registry: Registry) -> list[str]:
    """The packages of which the backup has an older revision than the installed one."""
    heads = {revisions.label(app): set(revisions.branch(app).heads) for app in revisions.sort_apps(registry)}
    return [name for name, found in sorted(manifest.revisions.items()) if name in heads and heads[name] != set(found)]


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
    if next(files.list_files(Path(root)), None) is not None:
        raise ArchiveError(f"the folder {root} has files; --replace removes those that the backup does not have")


@contextlib.contextmanager
def _writing(engine: Engine, tables: Sequence[sa.Table]) -> Iterator[Connection]:
    """Context manager of a transaction in which rows may be written in any order; foreign keys hold at its end.

    :raises ArchiveError: when a row refers to a missing one
    """
    driver = driver_of(engine)
    with engine.connect().execution_options(**{WRITING: True}) as connection:
        try:
            driver.suspend_foreign_keys(connection)
            keys = _drop_foreign_keys(connection, tables) if driver.foreign_keys_at_once else []
            yield connection
            for key in keys:
                connection.execute(AddConstraint(key))
            if not driver.foreign_keys_at_once:
                _check_foreign_keys(connection, tables)
            connection.commit()
        finally:
            connection.rollback()
            connection.invalidate()  # the next user of the pool gets a connection that checks foreign keys


def _foreign_keys(connection: Connection, tables: Sequence[sa.Table]) -> list[sa.ForeignKeyConstraint]:
    """The foreign keys of the tables as they are in the database."""
    reflected = sa.MetaData()
    reflected.reflect(connection, only=[table.name for table in tables])
    return [key for table in reflected.tables.values() for key in table.foreign_key_constraints]


def _drop_foreign_keys(connection: Connection, tables: Sequence[sa.Table]) -> list[Any]:
    """Drops the foreign keys, and returns them as they were; PostgreSQL checks all rows when they are added again."""
    keys = _foreign_keys(connection, tables)
    for key in keys:
        connection.execute(DropConstraint(key))
    return keys


def _check_foreign_keys(connection: Connection, tables: Sequence[sa.Table]) -> None:
    """Looks for a row that refers to a missing one.

    :raises ArchiveError: when there is one
    """
    for constraint in _foreign_keys(connection, tables):
        for element in constraint.elements:
            target = element.column.table.alias()
            column, referred = element.parent, target.c[element.column.name]
            exists = sa.exists().where(referred == column)
            broken = sa.select(column).where(column.is_not(None), ~exists).limit(1)
            if connection.execute(broken).first() is not None:
                raise ArchiveError(
                    f"a row of {constraint.table.name} refers to one of {element.column.table.name} that is missing"
                )


def _load(connection: Connection, table: sa.Table, reader: BackupReader, manifest: Manifest) -> None:
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


def _set_sequences(connection: Connection, tables: Sequence[sa.Table]) -> None:
    """Sets the sequences of PostgreSQL behind the highest numbers; the other databases take them from the rows."""
    if not driver_of(connection).has_sequences:
        return
    for table in tables:
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
    for name, _ in list(files.list_files(root)):
        if name not in manifest.files:
            (root / name).unlink(missing_ok=True)
