"""INSERT of change records and of the related rows of packages, in as few statements as the database allows."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.sql.expression import FromClause

from netinv_core.db.engine import db_now, in_parameter
from netinv_core.db.row_select import RowSelect
from netinv_core.models.types import Binary, Json

if TYPE_CHECKING:
    from netinv_core.uow import UnitOfWork

ROWS_PER_STATEMENT = 10_000  # records in one statement, or rows of one related INSERT
RECORDS_PER_TIME = 100  # that share a time on PostgreSQL
_DOCUMENTS = (Json, Binary)


@dataclasses.dataclass(frozen=True)
class RelatedInsert:
    """An INSERT … SELECT of rows that belong to change records.

    ``insert(dialect, recorded)`` builds it, once: ``recorded`` has the columns of
    :class:`netinv_core.changelog.models.ObjectChange` except documents. ``after_insert(uow, count)`` is called
    with the number of rows. ``rows_per_record`` is the most rows of one record: a statement has fewer records then, so
    that none meets the statement timeout.
    """

    insert: Callable[[str, FromClause], sa.Insert]
    after_insert: Callable[[UnitOfWork, int], None]
    rows_per_record: int = dataclasses.field(default=1, compare=False)


def record(uow: UnitOfWork, table: sa.Table, rows: Sequence[dict[str, Any]], related: Sequence[RelatedInsert]) -> None:
    """Inserts the records, with the time of the database's clock, and the related rows."""
    counts = dict.fromkeys(related, 0)
    size = max(ROWS_PER_STATEMENT // max((item.rows_per_record for item in related), default=1), 1)
    for start in range(0, len(rows), size):
        some = rows[start : start + size]
        for item, count in zip(related, _write(uow, table, some, tuple(related)), strict=True):
            counts[item] += count
    for item, count in counts.items():
        item.after_insert(uow, count)


def _write(
    uow: UnitOfWork, table: sa.Table, rows: Sequence[dict[str, Any]], related: tuple[RelatedInsert, ...]
) -> Sequence[int]:
    dialect = uow.registry.dialect
    if dialect == "postgresql":
        given = [{**row, "states": f"\\x{row['states'].hex()}"} for row in rows]  # a JSON document has no bytes
        (counts,) = uow.write_rows(_together(table, related, tuple(rows[0])), {"rows": given})
        return counts[1:]
    uow.write(sa.insert(table).values(time=db_now(dialect)), rows)
    keys = {"keys": [row["id"] for row in rows]}
    return [uow.write(_following(dialect, table, item), keys).rowcount for item in related]


@functools.cache
def _following(dialect: str, table: sa.Table, item: RelatedInsert) -> sa.Insert:
    """The related INSERT for records that are inserted already, by their ``keys``."""
    columns = [column for column in table.c if not isinstance(column.type, _DOCUMENTS)]
    return item.insert(dialect, sa.select(*columns).where(in_parameter(dialect, table.c.id)).subquery("recorded"))


@functools.cache
def _together(table: sa.Table, related: tuple[RelatedInsert, ...], names: tuple[str, ...]) -> RowSelect:
    """One statement with CTEs for the records (PostgreSQL) and all related rows; it returns the number of each.
    ``names`` are the columns of the records.

    The records are one JSON parameter and are not read from the table, so the query plan does not depend on its size.

    The clock is read once. A hundred records share a time, so B-trees store it once for all of them, and the next
    hundred has a later microsecond, so that a page of a long list by time sorts a hundred records by their positions.
    """
    inserted = [table.c[name] for name in names]
    columns = [sa.column(column.name, column.type) for column in inserted]
    source = (
        sa.func.jsonb_to_recordset(sa.bindparam("rows", type_=JSONB()))
        .table_valued(*columns, name="given")
        .render_derived(with_types=True)
    )
    began = sa.select(db_now("postgresql")).scalar_subquery()
    later = source.c.position / sa.literal_column(str(RECORDS_PER_TIME)) * sa.text("interval '1 microsecond'")
    rows = sa.select(began + later, *source.c)
    insert = sa.insert(table).from_select(["time", *(column.name for column in inserted)], rows, include_defaults=False)
    returned = [column for column in table.c if not isinstance(column.type, _DOCUMENTS)] if related else [table.c.id]
    recorded = insert.returning(*returned).cte("recorded")
    written = [
        item.insert("postgresql", recorded).returning(sa.literal_column("1")).cte(f"related_{n}")
        for n, item in enumerate(related)
    ]
    counts = [sa.select(sa.func.count()).select_from(one).scalar_subquery() for one in (recorded, *written)]
    return RowSelect(sa.select(*(count.label(f"count_{n}") for n, count in enumerate(counts))))
