"""Writes a backup of the database and the uploaded files (:mod:`netinv_admin.archive`).

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
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import orjson
import sqlalchemy as sa
from sqlalchemy.engine import Connection, Engine

from netinv_admin import archive
from netinv_admin.archive import ArchiveError, Manifest
from netinv_core.auth import stored_secrets
from netinv_core.db import revisions
from netinv_core.fields.images import uploads_of
from netinv_core.models.base import Base, now
from netinv_core.storage import files
from netinv_core.types import Registry

ROWS_AT_ONCE = 100  # read from the database
COMPRESSION = 3  # of zlib, 1 to 9: a third of the time of the default for a few percent more


@dataclasses.dataclass
class Backup:
    """Outcome of a backup: rows by table, number of files, and the files that rows name but that do not exist."""

    rows: dict[str, int]
    files: int
    missing: list[str]


def left_out(engine: Engine, registry: Registry) -> list[str]:
    """Tables of the database that belong to no installed package, so that a backup cannot hold them."""
    known = set(Base.metadata.tables) | set(revisions.heads(registry))
    return sorted(set(sa.inspect(engine).get_table_names()) - known)


def write(path: Path, engine: Engine, registry: Registry, note: Callable[[str], Any] = lambda name: None) -> Backup:
    """Writes a backup to a new file, readable by its owner only; nothing is left of one that fails.

    :param note: called with the name of each table
    :raises ArchiveError: when the file exists
    """
    if path.exists():
        raise ArchiveError(f"{path} exists already")
    handle, temporary = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
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
        secret=stored_secrets.fingerprint(registry.settings["secret"]),
        revisions={name: list(revisions) for name, revisions in found.applied.items()},
        packages=archive.releases(),
        tables={},
        files={},
    )
    with _snapshot(engine) as connection:
        for table in archive.tables():
            note(table.name)
            manifest.tables[str(table.name)] = _write_table(members, connection, table)
        named = referenced(connection, registry)
    root = Path(registry.settings["media_root"])
    for name in [name for name, _ in files.stored(root) if files.is_name(name)]:
        with contextlib.suppress(FileNotFoundError, IsADirectoryError):  # removed since; reported if a row names it
            content = (root / name).read_bytes()
            members.writestr(f"files/{name}", content)
            manifest.files[name] = {"size": len(content), "sha256": hashlib.sha256(content).hexdigest()}
    members.writestr(archive.MANIFEST, orjson.dumps(dataclasses.asdict(manifest), option=orjson.OPT_INDENT_2))
    rows = {name: item["rows"] for name, item in manifest.tables.items()}
    return Backup(rows, len(manifest.files), sorted(named - manifest.files.keys()))


@contextlib.contextmanager
def _snapshot(engine: Engine) -> Iterator[Connection]:
    """Context manager of a transaction that sees one state of the database, whatever others commit."""
    level = {} if engine.dialect.name == "sqlite" else {"isolation_level": "REPEATABLE READ"}
    with engine.connect().execution_options(**level) as connection, connection.begin():
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


def referenced(connection: Connection, registry: Registry) -> set[str]:
    """The names of all files that rows refer to."""
    names: set[str] = set()
    for endpoint in registry.stored():
        for field in uploads_of(endpoint).values():
            column = endpoint.table.c[field.attribute]
            names.update(connection.execute(sa.select(column).where(column.is_not(None), column != "")).scalars())
    return names
