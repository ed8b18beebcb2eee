"""Writing the records of changes, and what packages have written along with them, in as few statements as the database allows."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.sql.expression import FromClause

from netinv_core.db.engine import db_now, in_parameter
from netinv_core.models.types import Json

if TYPE_CHECKING:
    from netinv_core.uow import UnitOfWork

ROWS_PER_STATEMENT = 10_000  # records in one statement


@dataclasses.dataclass(frozen=True)
class RelatedInsert:
    """Rows that are written along with the records of changes.

    ``insert(dialect, recorded)`` is the INSERT, made once: it selects from ``recorded``, which has the columns of
    :class:`netinv_core.changelog.models.ObjectChange` but for its documents. ``wrote(context, count)`` is told how many rows that were.
    """

    insert: Callable[[str, FromClause], sa.Insert]
    after_insert: Callable[[UnitOfWork, int], None]


def record(uow: UnitOfWork, table: sa.Table, rows: Sequence[dict[str, Any]], followers: Sequence[RelatedInsert]) -> None:
    """Writes the records, their time by the database's clock, and what follows them."""
    counts = dict.fromkeys(followers, 0)
    for start in range(0, len(rows), ROWS_PER_STATEMENT):
        some = rows[start : start + ROWS_PER_STATEMENT]
        for follower, count in zip(followers, _write(uow, table, some, tuple(followers)), strict=True):
            counts[follower] += count
    for follower, count in counts.items():
        follower.after_insert(uow, count)


def _write(uow: UnitOfWork, table: sa.Table, rows: Sequence[dict[str, Any]], followers: tuple[RelatedInsert, ...]) -> Sequence[int]:
    dialect = uow.registry.dialect
    if dialect == "postgresql":
        found = uow.write(_together(table, followers), {"rows": rows})
        return tuple(found.one()) if followers else ()
    uow.write(sa.insert(table).values(time=db_now(dialect)), rows)
    keys = {"keys": [row["id"] for row in rows]}
    return [uow.write(_following(dialect, table, follower), keys).rowcount for follower in followers]


@functools.cache
def _following(dialect: str, table: sa.Table, follower: RelatedInsert) -> sa.Insert:
    """What a follower writes, for records that are there, by their ``keys``."""
    columns = [column for column in table.c if not isinstance(column.type, Json)]
    return follower.insert(dialect, sa.select(*columns).where(in_parameter(dialect, table.c.id)).subquery("recorded"))


@functools.cache
def _together(table: sa.Table, followers: tuple[RelatedInsert, ...]) -> Any:
    """The one statement for the ``rows`` and all that follows them; it gives how many rows each follower wrote.

    Rows are one parameter, whatever their number, and are not read again: a plan that is made while the table is small does no harm later.
    """
    given = [column for column in table.c if column.name != "time"]
    columns = [sa.column(column.name, column.type) for column in given]
    source = sa.func.jsonb_to_recordset(sa.bindparam("rows", type_=JSONB())).table_valued(*columns, name="given").render_derived(with_types=True)
    rows = sa.select(db_now("postgresql"), *source.c)
    insert = sa.insert(table).from_select(["time", *(column.name for column in given)], rows, include_defaults=False)
    if not followers:
        return insert
    recorded = insert.returning(*(column for column in table.c if not isinstance(column.type, Json))).cte("recorded")
    written = [follower.insert("postgresql", recorded).returning(sa.literal_column("1")).cte(f"follower_{n}") for n, follower in enumerate(followers)]
    return sa.select(*(sa.select(sa.func.count()).select_from(one).scalar_subquery() for one in written))
