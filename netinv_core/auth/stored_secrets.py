"""Values that are encrypted in the database with ``netinv.secret``: whether they can be decrypted, and their rotation
to another secret.

The columns are those declared as ``encrypted`` (:class:`netinv_core.models.columns.ColumnInfo`), of any package.
"""

from __future__ import annotations

import dataclasses
import hashlib
import hmac
from collections.abc import Iterator
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection, Engine

from netinv_core import crypto
from netinv_core.db.engine import lock_rows
from netinv_core.driver import driver_of
from netinv_core.models.base import Base
from netinv_core.models.columns import column_info
from netinv_core.models.types import Json

SAMPLE = 50  # values of each column that are tried
CHUNK = 50  # rows of one transaction of a rotation; a stored answer has up to 4 MiB


def encrypted_columns() -> list[Any]:
    """The encrypted columns of all packages that are loaded, by table."""
    return [column for table in Base.metadata.sorted_tables for column in table.c if column_info(column).encrypted]


def fingerprint(secret: str) -> str:
    """A digest that tells whether two secrets are equal, and nothing else of them."""
    return hmac.new(b"netinv secret fingerprint", secret.encode(), hashlib.sha256).hexdigest()[:32]


@dataclasses.dataclass(frozen=True)
class Readability:
    """Counts of the values tried and decrypted; ``columns`` are those with values that cannot be."""

    readable: int
    unreadable: int
    columns: tuple[str, ...]

    @property
    def is_other_secret(self) -> bool:
        """True when there are values, and none can be decrypted."""
        return self.unreadable > 0 and self.readable == 0


def readability(connection: Connection, secret: str) -> Readability:
    """Tries to decrypt some values of each column that exists: a database may lack revisions."""
    counts, columns = [0, 0], []
    found = sa.inspect(connection).get_multi_columns(filter_names=[column.table.name for column in encrypted_columns()])
    present = {(name, item["name"]) for (_, name), items in found.items() for item in items}
    for column in encrypted_columns():
        if (column.table.name, column.name) not in present:
            continue
        values = connection.execute(sa.select(column).where(_is_set(column)).limit(SAMPLE)).scalars()
        results = [_decrypt(secret, value) is not None for value in values if value]
        counts[0] += results.count(True)
        counts[1] += results.count(False)
        if not all(results):
            columns.append(str(column))
    return Readability(counts[0], counts[1], tuple(columns))


def _is_set(column: Any) -> Any:
    """The condition that there is a value; a blank text is none."""
    is_text = not isinstance(column.type, Json | sa.LargeBinary)
    return column != "" if is_text else column.is_not(None)


def _decrypt(secret: str, value: Any) -> str | bytes | None:
    """The value of a column, decrypted; ``None`` if it was encrypted with another secret."""
    try:
        if isinstance(value, str):
            return crypto.decrypt(secret, value)
        return crypto.decrypt_bytes(secret, bytes(value)) if isinstance(value, bytes | memoryview) else None
    except ValueError:
        return None


@dataclasses.dataclass
class Rotated:
    """Outcome of a rotation for one column: values encrypted anew, those that had the new secret already, and those
    that neither secret decrypts.
    """

    column: str
    changed: int = 0
    unchanged: int = 0
    unreadable: int = 0


def rotate(engine: Engine, old: str, new: str, *, discard: bool = False) -> Iterator[Rotated]:
    """Encrypts all values with another secret, in transactions of :data:`CHUNK` rows. Yields the outcome by column.

    It can be interrupted and repeated: values that have the new secret stay as they are.

    :param discard: clear values that neither secret decrypts
    """
    for column in encrypted_columns():
        outcome, last = Rotated(str(column)), None
        while True:
            with (
                engine.connect().execution_options(**driver_of(engine).connection_options(writing=True)) as connection,
                connection.begin(),
            ):
                last = _rotate_chunk(connection, column, last, (old, new), outcome, discard=discard)
            if last is None:
                break
        yield outcome


def _rotate_chunk(
    connection: Connection, column: Any, last: Any, secrets: tuple[str, str], outcome: Rotated, *, discard: bool
) -> Any:
    """Encrypts the values of the next rows. Returns the key of the last one; ``None`` at the end of the table."""
    old, new = secrets
    (key,) = column.table.primary_key.columns
    selected = sa.select(key, column).where(_is_set(column)).order_by(key).limit(CHUNK)
    rows = connection.execute(lock_rows(selected if last is None else selected.where(key > last))).all()
    update = sa.update(column.table).where(key == sa.bindparam("of_key"))
    for row_key, value in rows:
        if not value:
            continue
        if _decrypt(new, value) is not None:
            outcome.unchanged += 1
            continue
        text = _decrypt(old, value)
        if text is not None:
            outcome.changed += 1
        else:
            outcome.unreadable += 1
            if not discard:
                continue
        connection.execute(update.values({column: _encrypt(new, text, column)}), {"of_key": row_key})
    return rows[-1][0] if len(rows) == CHUNK else None


def _encrypt(secret: str, text: str | bytes | None, column: Any) -> Any:
    """A value for the column; without a text the one that stands for none."""
    if text is None:
        return None if column.nullable else {} if isinstance(column.type, Json) else ""
    return crypto.encrypt(secret, text) if isinstance(text, str) else crypto.encrypt_bytes(secret, text)
