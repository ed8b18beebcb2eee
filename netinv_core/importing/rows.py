"""Rows of a dump in a temporary SQLite database, which SQLite keeps in a file: memory does not grow with the dump."""

from __future__ import annotations

import collections
import sqlite3
from collections.abc import Iterator, Mapping, MutableMapping
from typing import Any

import orjson

from netinv_core.storage.files import Upload

Fields = Mapping[str, Any]

ROWS_AT_ONCE = 1000
CACHED_ROWS = 2000
PRAGMAS = ("journal_mode = OFF", "synchronous = OFF", "cache_size = -16384", "temp_store = FILE")


class RowStore:
    """A temporary database. SQLite deletes its file with the last reference to it."""

    def __init__(self) -> None:
        self.connection = sqlite3.connect("", isolation_level=None)
        for pragma in PRAGMAS:
            self.connection.execute(f"PRAGMA {pragma}")
        self.connection.execute("BEGIN")
        self._tables = 0

    def new_rows(self) -> FieldRows:
        """Returns an empty mapping of keys to fields."""
        self._tables += 1
        return FieldRows(self.connection, f"rows_{self._tables}")


class FieldRows(MutableMapping[Any, Fields]):
    """Fields by key (an integer or text), in the order of their insertion; a table of the store.

    Fields are stored as JSON, with decimals and times as text; those with a file stay in memory. What is changed in
    them is lost unless they are set again. The rows that were used last are cached. During an iteration rows may be set
    and deleted; rows ahead may still be seen as they were.
    """

    def __init__(self, connection: sqlite3.Connection, table: str) -> None:
        self._connection, self._table = connection, table
        self._cache: collections.OrderedDict[Any, Fields] = collections.OrderedDict()
        self._with_files: dict[Any, Fields] = {}
        connection.execute(f"CREATE TABLE {table} (position INTEGER PRIMARY KEY, key UNIQUE, fields BLOB)")
        self._length = 0

    def __len__(self) -> int:
        return self._length

    def __iter__(self) -> Iterator[Any]:
        return (key for key, _ in self._pages("key, NULL"))

    def __contains__(self, key: object) -> bool:
        if key in self._cache:
            return True
        return self._connection.execute(f"SELECT 1 FROM {self._table} WHERE key IS ?", (key,)).fetchone() is not None

    def __getitem__(self, key: Any) -> Fields:
        if (cached := self._cache.get(key)) is not None:
            self._cache.move_to_end(key)
            return cached
        row = self._connection.execute(f"SELECT fields FROM {self._table} WHERE key IS ?", (key,)).fetchone()
        if row is None:
            raise KeyError(key)
        return self._cached(key, self._fields(key, row[0]))

    def __setitem__(self, key: Any, fields: Fields) -> None:
        has_file = any(isinstance(value, Upload) for value in fields.values())
        content = None if has_file else orjson.dumps(fields, default=str)
        if has_file:
            self._with_files[key] = fields
        else:
            self._with_files.pop(key, None)
        self._length += key not in self
        self._connection.execute(
            f"INSERT INTO {self._table} (key, fields) VALUES (?, ?)"
            " ON CONFLICT (key) DO UPDATE SET fields = excluded.fields",
            (key, content),
        )
        self._cached(key, fields)

    def __delitem__(self, key: Any) -> None:
        if self._connection.execute(f"DELETE FROM {self._table} WHERE key IS ?", (key,)).rowcount == 0:
            raise KeyError(key)
        self._cache.pop(key, None)
        self._with_files.pop(key, None)
        self._length -= 1

    def items(self) -> Any:
        """Iterates over keys and fields, read in pages."""
        return ((key, self._fields(key, content)) for key, content in self._pages("key, fields"))

    def values(self) -> Any:
        """Iterates over the fields, read in pages."""
        return (fields for _, fields in self.items())

    def drop(self) -> None:
        """Deletes the table; the mapping is not usable any more."""
        self._connection.execute(f"DROP TABLE {self._table}")
        self._cache.clear()
        self._with_files.clear()

    def _fields(self, key: Any, content: bytes | None) -> Fields:
        return self._with_files[key] if content is None else dict(orjson.loads(content))

    def _pages(self, columns: str) -> Iterator[tuple[Any, Any]]:
        position = 0
        statement = f"SELECT position, {columns} FROM {self._table} WHERE position > ? ORDER BY position LIMIT ?"
        while page := self._connection.execute(statement, (position, ROWS_AT_ONCE)).fetchall():
            yield from (row[1:] for row in page)
            position = page[-1][0]

    def _cached(self, key: Any, fields: Fields) -> Fields:
        self._cache[key] = fields
        self._cache.move_to_end(key)
        if len(self._cache) > CACHED_ROWS:
            self._cache.popitem(last=False)
        return fields
