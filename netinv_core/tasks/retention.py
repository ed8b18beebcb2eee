"""Deletion of rows that are too old, in chunks.

Each chunk is a transaction of its own, with a pause after it, so writers never wait for long; on SQLite, where a
transaction locks the database, they get their turn between two chunks.
"""

from __future__ import annotations

import dataclasses
import datetime
import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection, Engine

from netinv_core.db.expressions import in_parameter
from netinv_core.driver import driver_of
from netinv_core.models.base import Base, now
from netinv_core.models.columns import CASCADE, SET_NULL, column_info

if TYPE_CHECKING:
    from netinv_core.registry import Registry

SELECTED = 50_000  # keys of rows selected at once: on large tables that takes longer than deleting a chunk
CHUNK = 500  # rows deleted in one transaction
PAUSE = 0.02  # seconds after each transaction


@dataclasses.dataclass(frozen=True)
class Retention:
    """Rows of ``table`` that are deleted when ``old(settings, now)`` holds; ``None`` keeps all.

    ``prepare`` is called before the first is deleted, with a condition of rows that are old. Rows that refer to deleted
    ones are deleted or changed first, as their foreign keys say.
    """

    table: sa.Table
    old: Callable[[Mapping[str, Any], datetime.datetime], sa.ColumnElement[bool] | None]
    prepare: Callable[[Engine, Any], Any] | None = None


def older_than(
    setting: str, column: Any, *conditions: Any, unit: str = "days"
) -> Callable[[Mapping[str, Any], datetime.datetime], sa.ColumnElement[bool] | None]:
    """The condition of rows that are older than a setting says, in ``unit``; 0 keeps all."""

    def old(settings: Mapping[str, Any], at: datetime.datetime) -> sa.ColumnElement[bool] | None:
        limit = settings[setting]
        return sa.and_(column < at - datetime.timedelta(**{unit: limit}), *conditions) if limit else None

    return old


def count_old(connection: Connection, registry: Registry, retention: Retention) -> int:
    """The number of rows that would be deleted."""
    condition = retention.old(registry.settings, now())
    if condition is None:
        return 0
    return int(
        connection.execute(sa.select(sa.func.count()).select_from(retention.table).where(condition)).scalar_one()
    )


def delete_old(
    engine: Engine, registry: Registry, retention: Retention, goes_on: Callable[[], bool] = lambda: True
) -> int:
    """Deletes the rows that are too old, until ``goes_on`` is false. Returns their number."""
    condition = retention.old(registry.settings, now())
    if condition is None:
        return 0
    if retention.prepare is not None:
        retention.prepare(engine, condition)
    (key,) = retention.table.primary_key.columns
    selected = sa.select(key).where(condition).limit(SELECTED)
    count, keys = 0, [None] * SELECTED
    while len(keys) == SELECTED and goes_on():
        with engine.connect() as connection:
            keys = sorted(connection.execute(selected).scalars())
        for start in range(0, len(keys), CHUNK):
            if start:
                time.sleep(PAUSE)
                if not goes_on():
                    return count
            count += _delete(engine, key, keys[start : start + CHUNK])
    return count


def _delete(engine: Engine, key: Any, keys: Sequence[Any]) -> int:
    """Deletes rows by their keys, after those that refer to them."""
    for column in _referring_columns(key):
        what = column_info(column).foreign_key
        if what is not None and what.on_delete == CASCADE:
            _delete_referring(engine, column, keys)
        elif what is not None and what.on_delete == SET_NULL:
            with _writing(engine) as connection:
                clause = in_parameter(column)
                connection.execute(sa.update(column.table).where(clause).values({column: None}), {"keys": keys})
    with _writing(engine) as connection:
        clause = in_parameter(key)
        return int(connection.execute(sa.delete(key.table).where(clause), {"keys": keys}).rowcount)


def _referring_columns(key: Any) -> list[Any]:
    """The columns of other tables with a foreign key to this one, that the database does not maintain itself."""
    return [
        element.parent
        for table in Base.metadata.sorted_tables
        for element in table.foreign_keys
        if element.column is key and element.ondelete is None
    ]


def _delete_referring(engine: Engine, column: Any, keys: Sequence[Any]) -> None:
    """Deletes the rows that refer to some, in chunks."""
    (own_key,) = column.table.primary_key.columns
    clause = in_parameter(column)
    selected = sa.select(own_key).where(clause).limit(CHUNK)
    while True:
        with engine.connect() as connection:
            referring = list(connection.execute(selected, {"keys": keys}).scalars())
        if not referring:
            return
        _delete(engine, own_key, referring)


def _writing(engine: Engine) -> Any:
    """Context manager of a connection in a short transaction."""
    return engine.execution_options(**driver_of(engine).connection_options(writing=True)).begin()
