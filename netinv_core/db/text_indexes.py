"""Trigram indexes (the extension pg_trgm of PostgreSQL), by which texts that contain another are found.

Models name the columns (``text_indexes``). The indexes are no part of the migrations, as an administrator may not be
able to create the extension: they are built after the migrations when it is there, without locking writes.
"""

from __future__ import annotations

import dataclasses
import logging
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection, Engine

from netinv_core.db.expressions import lower

if TYPE_CHECKING:
    from netinv_core.registry import Registry

log = logging.getLogger(__name__)
EXTENSION = "pg_trgm"
PREFIX = "tx_"
STATISTICS_OF_EXPRESSIONS = (14,)  # first release of PostgreSQL
_held = sa.text(
    "SELECT c.relname, i.indisvalid FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid"
    " WHERE c.relname LIKE 'tx/_%' ESCAPE '/' AND pg_table_is_visible(c.oid)"
)

_in_progress = sa.text("SELECT c.relname FROM pg_stat_progress_create_index p JOIN pg_class c ON c.oid = p.index_relid")


@dataclasses.dataclass(frozen=True)
class TextIndex:
    """Index of a column: of all rows, or of those with a value of the column ``given``."""

    column: sa.Column[Any]
    given: str | None


def declared_indexes(registry: Registry) -> dict[str, TextIndex]:
    """Returns the indexes by their names."""
    indexes = [
        TextIndex(endpoint.table.c[name], endpoint.model.text_indexed_with)
        for endpoint in registry.stored()
        if endpoint.resource.of is None
        for name in endpoint.model.text_indexes
    ]
    return {f"{PREFIX}{index.column.table.name}_{index.column.name}": index for index in indexes}


def missing_indexes(connection: Connection, registry: Registry) -> list[str]:
    """Returns the names of the indexes that a PostgreSQL database lacks; other databases have none."""
    if not registry.driver.has_text_indexes:
        return []
    valid = {name for name, is_valid in connection.execute(_held) if is_valid}
    return sorted(declared_indexes(registry).keys() - valid)


def build(engine: Engine, registry: Registry) -> None:
    """Builds the missing indexes, unless the extension cannot be created or another process is building them."""
    if not registry.driver.has_text_indexes:
        return
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        if missing_indexes(connection, registry) and _has_extension(connection):
            _build(connection, registry)


def _has_extension(connection: Connection) -> bool:
    """Creates the extension when it is missing; False when the user may not, or the server does not have it."""
    try:
        connection.execute(sa.text(f"CREATE EXTENSION IF NOT EXISTS {EXTENSION}"))
    except sa.exc.DBAPIError as error:
        log.warning("the extension %s cannot be created, searches read whole tables: %s", EXTENSION, error.orig)
        return False
    return True


def _build(connection: Connection, registry: Registry) -> None:
    built = set()
    held = {str(name): bool(is_valid) for name, is_valid in connection.execute(_held)}
    in_progress = set(connection.execute(_in_progress).scalars())
    for name, index in declared_indexes(registry).items():
        if held.get(name) or name in in_progress:
            continue
        if name in held:  # its building was broken off
            connection.execute(sa.text(f"DROP INDEX CONCURRENTLY {name}"))
        table = index.column.table.name
        for command in _commands(connection.dialect, name, index):
            connection.execute(sa.text(command))
        built.add(table)
    for table in sorted(built):  # without statistics of the expressions, the planner does not know which text is rare
        connection.execute(sa.text(f"ANALYZE {table}"))


def _commands(dialect: Any, name: str, index: TextIndex) -> Iterator[str]:
    """SQL that creates an index, and the statistics that a partial one does not have."""
    expression = lower(sa.column(index.column.name)).compile(dialect=dialect)
    table, condition = index.column.table.name, f" WHERE {index.given} IS NOT NULL" if index.given else ""
    yield f"CREATE INDEX CONCURRENTLY {name} ON {table} USING gin ({expression} gin_trgm_ops){condition}"
    if index.given and dialect.server_version_info >= STATISTICS_OF_EXPRESSIONS:
        yield f"CREATE STATISTICS IF NOT EXISTS {name}_statistics ON ({expression}) FROM {table}"
