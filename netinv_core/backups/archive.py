"""Format of a backup: a ZIP file with the rows of each table, the uploaded files, and a manifest.

``database/<table>.jsonl`` has one JSON array for each row, in the order of the manifest's columns: ids, times and
decimals are text, bytes are base64. ``files/<name>`` are the uploaded files. ``manifest.json`` is written last; it has
the revisions of all packages, a fingerprint of ``netinv.secret``, and the size and SHA-256 digest of every member.
Encrypted values stay encrypted, and the secret is not part of the archive.
"""

from __future__ import annotations

import base64
import dataclasses
import datetime
import decimal
import hashlib
import importlib.metadata
import uuid
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson
import sqlalchemy as sa
from sqlalchemy.engine import Engine

from netinv_core.db import revisions
from netinv_core.db.revisions import Revisions
from netinv_core.models.base import TRANSIENT, Base

if TYPE_CHECKING:
    from netinv_core.registry import Registry

FORMAT = 1
MANIFEST = "manifest.json"
BLOCK = 2**20  # bytes read at a time
DAMAGED = (zipfile.BadZipFile, zlib.error, EOFError, OSError, NotImplementedError, RuntimeError)  # raised by zipfile
_DECODERS: Mapping[type, Callable[[Any], Any]] = {
    uuid.UUID: uuid.UUID,
    datetime.datetime: datetime.datetime.fromisoformat,
    datetime.date: datetime.date.fromisoformat,
    decimal.Decimal: decimal.Decimal,
    bytes: base64.b64decode,
}


class ArchiveError(Exception):
    """A backup that cannot be made, read, or restored here, with the reason."""


@dataclasses.dataclass(frozen=True)
class Manifest:
    """Contents of a backup. ``tables`` gives ``columns``, ``rows`` and ``sha256`` by name, ``files`` ``size`` and
    ``sha256``; ``revisions`` the head revisions by package, ``packages`` the releases by distribution. ``secret`` is a
    fingerprint, or :data:`UNKNOWN_SECRET` where ``netinv.secret`` decrypted nothing of what was stored.
    """

    created: str
    database: str
    secret: str
    revisions: dict[str, list[str]]
    packages: dict[str, str]
    tables: dict[str, dict[str, Any]]
    files: dict[str, dict[str, Any]]
    format: int = FORMAT


UNKNOWN_SECRET = ""


def tables() -> list[sa.Table]:
    """The tables of all installed packages whose rows a backup holds, referenced ones first."""
    return [table for table in Base.metadata.sorted_tables if not table.info.get(TRANSIENT)]


def stored_tables(engine: Engine, registry: Registry) -> list[sa.Table]:
    """The same tables as the database has them: it may lack revisions of the installed packages.

    A column has the type that its model declares. One that no model has any more has the type that SQLAlchemy
    reflects. Generated columns are left out: no row is written with them.
    """
    found = revisions.revisions(engine, registry)
    if not found.missing and not found.unknown:
        return tables()
    names = _stored_names(engine, found)
    reflected = sa.MetaData()
    reflected.reflect(engine, only=names, resolve_fks=False)
    return [_as_declared(reflected.tables[name]) for name in names]


def _as_declared(reflected: sa.Table) -> sa.Table:
    """A reflected table, with the types of the columns that the installed packages declare."""
    declared = Base.metadata.tables.get(reflected.name, reflected).c
    columns = [column for column in reflected.c if column.computed is None]
    return sa.Table(
        reflected.name,
        sa.MetaData(),
        *(
            sa.Column(column.name, declared.get(column.name, column).type, primary_key=column.primary_key)
            for column in columns
        ),
    )


def _stored_names(engine: Engine, found: Revisions) -> list[str]:
    """The names of the tables of installed packages in the database, without transient ones."""
    transient = {name for name, table in Base.metadata.tables.items() if table.info.get(TRANSIENT)}
    versions = {f"{label}_alembic_version" for label in found.applied}
    prefixes = tuple(f"{label}_" for label in found.applied)
    names = set(sa.inspect(engine).get_table_names()) - transient - versions
    return sorted(name for name in names if name in Base.metadata.tables or name.startswith(prefixes))


def releases() -> dict[str, str]:
    """The releases of the installed packages, by distribution."""
    entries = importlib.metadata.entry_points(group="netinv")
    return {entry.dist.name: entry.dist.version for entry in entries if entry.dist is not None}


def member_of(table: str) -> str:
    """The name of the member with the rows of a table."""
    return f"database/{table}.jsonl"


def encode(row: Sequence[Any]) -> bytes:
    """A row as a line."""
    return orjson.dumps(row, default=_plain, option=orjson.OPT_APPEND_NEWLINE)


def _plain(value: Any) -> Any:
    """A value that JSON has no form for.

    :raises TypeError: for a kind of value that :data:`_DECODERS` does not read back
    """
    if isinstance(value, bytes | memoryview):
        return base64.b64encode(bytes(value)).decode()
    if isinstance(value, decimal.Decimal):
        return str(value)
    raise TypeError(f"a backup cannot hold {type(value).__name__}")


def decoders(columns: Sequence[sa.Column[Any]]) -> list[tuple[str, Callable[[Any], Any] | None]]:
    """The names of columns, with the functions that convert their values in a line; ``None`` for values as they are."""
    return [(column.name, _DECODERS.get(_python_type(column))) for column in columns]


def _python_type(column: sa.Column[Any]) -> type:
    """The type of a column's values in Python."""
    type_: Any = column.type
    try:
        found: type = type_.python_type
    except NotImplementedError:  # a TypeDecorator whose values are those of the type below
        found = type_.impl_instance.python_type
    return found


def decode(line: bytes, decoders: Sequence[tuple[str, Callable[[Any], Any] | None]]) -> dict[str, Any]:
    """A line as the values of a row by column."""
    return {
        name: value if read is None or value is None else read(value)
        for (name, read), value in zip(decoders, orjson.loads(line), strict=True)
    }


class BackupReader:
    """A backup that is read.

    :raises ArchiveError: when it is not a backup, is damaged, or has a format that this release does not know
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        try:
            self._zip = zipfile.ZipFile(path)
            content = orjson.loads(self._zip.read(MANIFEST))
            if content["format"] == FORMAT:
                self.manifest = Manifest(**content)
        except (*DAMAGED, KeyError, ValueError, TypeError) as error:
            raise ArchiveError(f"{path} is not a backup, or is damaged: {error}") from None
        if content["format"] != FORMAT:
            raise ArchiveError(f"{path} has the format {content['format']}; this release reads format {FORMAT}")

    def verify(self) -> None:
        """Compares every member with its digest.

        :raises ArchiveError: for one that is missing or damaged
        """
        members = {member_of(name): item["sha256"] for name, item in self.manifest.tables.items()}
        members |= {f"files/{name}": item["sha256"] for name, item in self.manifest.files.items()}
        for name, expected in members.items():
            digest = hashlib.sha256()
            for block in self._blocks(name):
                digest.update(block)
            if digest.hexdigest() != expected:
                raise ArchiveError(f"{self._path} is damaged: the digest of {name} differs")

    def lines(self, table: str) -> Iterator[bytes]:
        """The lines of a table."""
        with self._zip.open(member_of(table)) as member:
            yield from member

    def file(self, name: str) -> bytes:
        """The content of an uploaded file."""
        return self._zip.read(f"files/{name}")

    def close(self) -> None:
        """Closes the file."""
        self._zip.close()

    def _blocks(self, name: str) -> Iterator[bytes]:
        try:
            with self._zip.open(name) as member:
                while block := member.read(BLOCK):
                    yield block
        except (*DAMAGED, KeyError) as error:
            raise ArchiveError(f"{self._path} is damaged: {name}: {error}") from None
