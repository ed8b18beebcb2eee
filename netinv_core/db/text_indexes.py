"""Trigram indexes (the extension pg_trgm of PostgreSQL), by which texts that contain another are found.

Models name the columns (``text_indexes``). The indexes are no part of the migrations, as an administrator may not be
able to create the extension: they are built after the migrations when it is there, without locking writes.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection, Engine

from netinv_core.db.engine import lower

if TYPE_CHECKING:
    from netinv_core.registry import Registry

log = logging.getLogger(__name__)
EXTENSION = "pg_trgm"
PREFIX = "tx_"
_held = sa.text(
    "SELECT c.relname, i.indisvalid FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid"
    " WHERE c.relname LIKE 'tx/_%' ESCAPE '/' AND pg_table_is_visible(c.oid)"
)

_in_progress = sa.text("SELECT c.relname FROM pg_stat_progress_create_index p JOIN pg_class c ON c.oid = p.index_relid")


def wanted(registry: Registry) -> dict[str, sa.Column[Any]]:
    """Returns the columns with an index, by its name."""
    columns = [
        endpoint.table.c[name]
        for endpoint in registry.endpoints.values()
        if endpoint.resource.of is None
        for name in endpoint.model.text_indexes
    ]
    return {f"{PREFIX}{column.table.name}_{column.name}": column for column in columns}


def missing(connection: Connection, registry: Registry) -> list[str]:
    """Returns the names of the indexes that a PostgreSQL database lacks; other databases have none."""
    if registry.dialect != "postgresql":
        return []
    valid = {name for name, is_valid in connection.execute(_held) if is_valid}
    return sorted(wanted(registry).keys() - valid)


def build(engine: Engine, registry: Registry) -> None:
    """Builds the missing indexes, unless the extension cannot be created or another process is building them."""
    if registry.dialect != "postgresql":
        return
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        if missing(connection, registry) and _has_extension(connection):
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
    for name, column in wanted(registry).items():
        if held.get(name) or name in in_progress:
            continue
        if name in held:  # its building was broken off
            connection.execute(sa.text(f"DROP INDEX CONCURRENTLY {name}"))
        dialect: Any = connection.dialect
        expression = lower("postgresql", sa.column(column.name)).compile(dialect=dialect)
        table = column.table.name
        connection.execute(
            sa.text(f"CREATE INDEX CONCURRENTLY {name} ON {table} USING gin ({expression} gin_trgm_ops)")
        )
        built.add(table)
    for table in sorted(built):  # without statistics of the expressions, the planner does not know which text is rare
        connection.execute(sa.text(f"ANALYZE {table}"))
