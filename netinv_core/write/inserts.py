"""INSERT statements with every column of a table, which are kept."""

from __future__ import annotations

import functools

import sqlalchemy as sa

from netinv_core.db.row_select import ManyRows, RowSelect


@functools.cache
def insert_of_one(table: sa.Table) -> RowSelect:
    """INSERT of a row with all columns, in a CTE."""
    row = {column.name: sa.bindparam(column.name, type_=column.type) for column in table.c}
    inserted = sa.insert(table).values(row).returning(table.c.id).cte("inserted")
    return RowSelect(sa.select(inserted.c.id))


@functools.cache
def insert_of_many(table: sa.Table) -> ManyRows:
    """INSERT of rows with all columns."""
    return ManyRows(sa.insert(table).values({c.name: sa.bindparam(c.name, type_=c.type) for c in table.c}))
