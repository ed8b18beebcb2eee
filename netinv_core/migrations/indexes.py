"""Indexes of large tables, for migrations: PostgreSQL builds and drops them without locking writes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import sqlalchemy as sa
from alembic import op

from netinv_core.driver import driver_of


@contextmanager
def _concurrently() -> Iterator[dict[str, Any]]:
    """Context manager of the options of an operation; on PostgreSQL the transaction is committed before."""
    context = op.get_context()
    if not driver_of(context.dialect.name).builds_indexes_beside_writes:
        yield {}
        return
    with context.autocommit_block():
        yield {"postgresql_concurrently": True}


def create_index(name: str, table: str, columns: Sequence[str], where: str | None = None) -> None:
    """Creates an index. One that PostgreSQL left behind when its building was broken off is built anew.

    :param where: condition of the rows in the index, in SQL; MariaDB and MySQL have all rows in it
    """
    partial: dict[str, Any] = (
        {} if where is None else {"postgresql_where": sa.text(where), "sqlite_where": sa.text(where)}
    )
    with _concurrently() as options:
        if options:
            op.drop_index(op.f(name), table, if_exists=True, **options)
        op.create_index(op.f(name), table, columns, **options, **partial)


def drop_index(name: str, table: str) -> None:
    """Drops an index."""
    with _concurrently() as options:
        op.drop_index(op.f(name), table, **({**options, "if_exists": True} if options else {}))
