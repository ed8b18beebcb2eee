"""Writes a backup of the database and the uploaded files (:mod:`netinv_core.backups.archive`).

The rows of all tables are read in one transaction with a snapshot, with a cursor of the server, so the service goes on
and memory does not grow with the database. The files are copied afterwards: they are never modified.
"""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import os
import tempfile
import zipfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson
import sqlalchemy as sa
from sqlalchemy.engine import Connection, Engine

from netinv_core.auth import stored_secrets
from netinv_core.backups import archive
from netinv_core.backups.archive import ArchiveError, Manifest
from netinv_core.db import revisions
from netinv_core.driver import driver_of
from netinv_core.fields.images import uploads_of
from netinv_core.models.base import Base, now
from netinv_core.storage import files

if TYPE_CHECKING:
    from netinv_core.registry import Registry

ROWS_AT_ONCE = 100  # read from the database
COMPRESSION = 3  # of zlib, 1 to 9: a third of the time of the default for a few percent more


@dataclasses.dataclass
class Backup:
    """Outcome of a backup: rows by table, number of files, the files that rows name but that do not exist, and whether
    ``netinv.secret`` decrypts what is stored.
    """

    rows: dict[str, int]
    files: int
    missing: list[str]
    has_secret: bool


def left_out(engine: Engine, registry: Registry) -> list[str]:
    """Tables of the database that belong to no installed package, so that a backup cannot hold them."""
    known = {*Base.metadata.tables, *revisions.heads(registry)}
    known |= {table.name for table in archive.stored_tables(engine, registry)}
    return sorted(set(sa.inspect(engine).get_table_names()) - known)


def write(path: Path, engine: Engine, registry: Registry, note: Callable[[str], Any] = lambda name: None) -> Backup:
    """Writes a backup to a new file, readable by its owner only; nothing is left of one that fails.

    :param note: called with the name of each table
    :raises ArchiveError: when the file exists, or its folder cannot be written to
    """
    if path.exists():
        raise ArchiveError(f"{path} exists already")
    if not path.parent.is_dir():
        raise ArchiveError(f"there is no folder {path.parent}; make it first, or name another")
    try:
        handle, temporary = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    except OSError as error:
        raise ArchiveError(f"{path} cannot be written: {error.strerror}; name another folder") from None
    try:
        with os.fdopen(handle, "wb") as target:
            with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, compresslevel=COMPRESSION) as members:
                outcome = _write_members(members, engine, registry, note)
            target.flush()
            os.fsync(target.fileno())
        Path(temporary).replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            Path(temporary).unlink()
        raise
    return outcome


def _write_members(members: zipfile.ZipFile, engine: Engine, registry: Registry, note: Callable[[str], Any]) -> Backup:
    found = revisions.revisions(engine, registry)
    manifest = Manifest(
        created=now().isoformat(timespec="seconds"),
        database=engine.dialect.name,
        secret=_fingerprint(engine, registry.settings["secret"]),
        revisions={name: list(revisions) for name, revisions in found.applied.items()},
        packages=archive.releases(),
        tables={},
        files={},
    )
    tables = {str(table.name): table for table in archive.stored_tables(engine, registry)}
    with _snapshot(engine) as connection:
        for name, table in tables.items():
            note(name)
            manifest.tables[name] = _write_table(members, connection, table)
        named = referenced_files(connection, registry, tables)
    root = Path(registry.settings["media_root"])
    for name in [name for name, _ in files.list_files(root) if files.is_name(name)]:
        with contextlib.suppress(FileNotFoundError, IsADirectoryError):  # removed since; reported if a row names it
            content = (root / name).read_bytes()
            members.writestr(f"files/{name}", content)
            manifest.files[name] = {"size": len(content), "sha256": hashlib.sha256(content).hexdigest()}
    members.writestr(archive.MANIFEST, orjson.dumps(dataclasses.asdict(manifest), option=orjson.OPT_INDENT_2))
    rows = {name: item["rows"] for name, item in manifest.tables.items()}
    return Backup(rows, len(manifest.files), sorted(named - manifest.files.keys()), bool(manifest.secret))


def _fingerprint(engine: Engine, secret: str) -> str:
    """The fingerprint of the secret; :data:`~archive.UNKNOWN_SECRET` where it decrypts nothing of what is stored."""
    with engine.connect() as connection:
        is_other = stored_secrets.readability(connection, secret).is_other_secret
    return archive.UNKNOWN_SECRET if is_other else stored_secrets.fingerprint(secret)


@contextlib.contextmanager
def _snapshot(engine: Engine) -> Iterator[Connection]:
    """Context manager of a transaction that sees one state of the database, whatever others commit."""
    with (
        engine.connect().execution_options(**driver_of(engine).snapshot) as connection,
        connection.begin(),
    ):
        yield connection


def _write_table(members: zipfile.ZipFile, connection: Connection, table: sa.Table) -> dict[str, Any]:
    """Writes the rows of a table in the order of their keys. Returns its entry of the manifest."""
    digest, count = hashlib.sha256(), 0
    selected = sa.select(table).order_by(*table.primary_key.columns)
    with members.open(archive.member_of(table.name), "w", force_zip64=True) as member:
        rows = connection.execution_options(yield_per=ROWS_AT_ONCE).execute(selected)
        for row in rows:
            line = archive.encode(list(row))
            digest.update(line)
            member.write(line)
            count += 1
    return {"columns": [str(column.name) for column in table.c], "rows": count, "sha256": digest.hexdigest()}


def referenced_files(connection: Connection, registry: Registry, tables: Mapping[str, sa.Table]) -> set[str]:
    """The names of all files that rows of the tables refer to."""
    names: set[str] = set()
    for endpoint in registry.stored():
        table = tables.get(endpoint.table.name)
        columns = [table.c.get(field.attribute) for field in uploads_of(endpoint).values()] if table is not None else []
        for column in columns:
            if column is None:
                continue
            names.update(connection.execute(sa.select(column).where(column.is_not(None), column != "")).scalars())
    return names
