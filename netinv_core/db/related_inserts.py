"""INSERT of records together with rows that other INSERTs derive from them, as change records and their deliveries."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.sql.expression import FromClause

from netinv_core.db.expressions import db_now, in_parameter
from netinv_core.driver.combined import Combined, Run
from netinv_core.models.types import Binary, Json

RECORDS_PER_TIME = 100  # that share a time on PostgreSQL
_DOCUMENTS = (Json, Binary)
Related = Callable[[FromClause], sa.Insert]  # INSERT … SELECT from the records


class RecordRows(NamedTuple):
    """Values of :class:`InsertWithRelated`: the columns of records, and the parameters of each related INSERT, with
    names that no other one has.
    """

    records: Sequence[dict[str, Any]]
    parameters: Sequence[Mapping[str, Any]]


class InsertWithRelated(Combined):
    """INSERT of records, each with the time of the database's clock, and of the related rows; kept by its caller.

    It runs for :class:`RecordRows`. The result is the number of rows of each related INSERT. Records have the columns
    ``id``, ``time``, ``position`` and ``states``.
    """

    is_insert = True

    def __init__(self, table: sa.Table, related: Sequence[Related]) -> None:
        self._table, self._related = table, tuple(related)
        self._by_columns: dict[tuple[str, ...], sa.Select[Any]] = {}

    @property
    def _told(self) -> list[Any]:
        """The columns that related INSERTs may read."""
        return [column for column in self._table.c if not isinstance(column.type, _DOCUMENTS)]

    def in_steps(self, run: Run, values: RecordRows) -> Sequence[int]:
        insert = sa.insert(self._table).values(time=db_now())
        run(insert, values.records)
        keys = [row["id"] for row in values.records]
        following = zip(self._following, values.parameters, strict=True)
        return [run(statement, {"keys": keys, **parameters}).rowcount for statement, parameters in following]

    @functools.cached_property
    def _following(self) -> list[sa.Insert]:
        """The related INSERTs for records that are inserted already, by their ``keys``."""
        is_recorded = in_parameter(self._table.c.id)
        recorded = sa.select(*self._told).where(is_recorded).subquery("recorded")
        return [item(recorded) for item in self._related]

    def at_once(self, run: Run, values: RecordRows) -> Sequence[int]:
        rows = [{**row, "states": f"\\x{row['states'].hex()}"} for row in values.records]  # JSON has no bytes
        names = tuple(rows[0])
        if names not in self._by_columns:
            self._by_columns[names] = self._together(names)
        given = {name: value for parameters in values.parameters for name, value in parameters.items()}
        counts: Sequence[int] = run(self._by_columns[names], {"rows": rows, **given}).tuples().first()
        return counts[1:]

    def _together(self, names: tuple[str, ...]) -> sa.Select[Any]:
        """One statement with CTEs for the records and all related rows; it returns the number of each. ``names`` are
        the columns of the records.

        The records are one JSON parameter and are not read from the table, so the query plan does not depend on its
        size.

        The clock is read once. A hundred records share a time, so B-trees store it once for all of them, and the next
        hundred has a later microsecond, so that a page of a long list by time sorts a hundred records by their
        positions.
        """
        inserted = [self._table.c[name] for name in names]
        columns = [sa.column(column.name, column.type) for column in inserted]
        source = (
            sa.func.jsonb_to_recordset(sa.bindparam("rows", type_=JSONB()))
            .table_valued(*columns, name="given")
            .render_derived(with_types=True)
        )
        began = sa.select(db_now()).scalar_subquery()
        later = source.c.position / sa.literal_column(str(RECORDS_PER_TIME)) * sa.text("interval '1 microsecond'")
        rows = sa.select(began + later, *source.c)
        columns_in_order = ["time", *(column.name for column in inserted)]
        insert = sa.insert(self._table).from_select(columns_in_order, rows, include_defaults=False)
        recorded = insert.returning(*(self._told if self._related else [self._table.c.id])).cte("recorded")
        written = [
            item(recorded).returning(sa.literal_column("1")).cte(f"related_{n}") for n, item in enumerate(self._related)
        ]
        counts = [sa.select(sa.func.count()).select_from(one).scalar_subquery() for one in (recorded, *written)]
        return sa.select(*(count.label(f"count_{n}") for n, count in enumerate(counts)))
