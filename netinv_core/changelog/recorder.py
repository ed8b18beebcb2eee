"""INSERT of change records and of the related rows of packages."""

from __future__ import annotations

import dataclasses
import functools
import inspect
import uuid
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
from sqlalchemy.sql.expression import FromClause

from netinv_core.caches import lru_cache
from netinv_core.db.related_inserts import InsertWithRelated, RecordRows

if TYPE_CHECKING:
    from netinv_core.uow import UnitOfWork

_POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
ROWS_PER_STATEMENT = 10_000  # records in one statement, or rows of one related INSERT


@dataclasses.dataclass(frozen=True)
class RelatedInsert:
    """An INSERT … SELECT of rows that belong to change records.

    ``insert(recorded)`` builds it, once: ``recorded`` has the columns of
    :class:`netinv_core.changelog.models.ObjectChange` except documents. ``after_insert(uow, count)`` is called
    with the number of rows. ``rows_per_record`` is the most rows of one record: a statement has fewer records then, so
    that none meets the statement timeout. ``parameters(records)`` returns the values of parameters of the INSERT,
    for the ids of the records of one statement.
    """

    insert: Callable[[FromClause], sa.Insert] | Callable[[str, FromClause], sa.Insert]
    after_insert: Callable[[UnitOfWork, int], None]
    rows_per_record: int = dataclasses.field(default=1, compare=False)
    parameters: Callable[[Sequence[uuid.UUID]], Mapping[str, Any]] = dataclasses.field(
        default=lambda records: {}, compare=False
    )


def record(uow: UnitOfWork, table: sa.Table, rows: Sequence[dict[str, Any]], related: Sequence[RelatedInsert]) -> None:
    """Inserts the records, with the time of the database's clock, and the related rows."""
    counts = dict.fromkeys(related, 0)
    statement = _statement(uow.registry.dialect, table, tuple(related))
    size = max(ROWS_PER_STATEMENT // max((item.rows_per_record for item in related), default=1), 1)
    for start in range(0, len(rows), size):
        some = rows[start : start + size]
        keys = [row["id"] for row in some]
        values = RecordRows(some, [item.parameters(keys) for item in related])
        for item, count in zip(related, uow.execute(statement, values), strict=True):
            counts[item] += count
    for item, count in counts.items():
        item.after_insert(uow, count)


@lru_cache("SQL statements", 5000)
def _statement(dialect: str, table: sa.Table, related: tuple[RelatedInsert, ...]) -> InsertWithRelated:
    return InsertWithRelated(table, [_without_dialect(item.insert, dialect) for item in related])


def _without_dialect(insert: Callable[..., sa.Insert], dialect: str) -> Callable[[FromClause], sa.Insert]:
    """The function of the records only; packages may take the name of the dialect first, as before 0.2."""
    required = [item for item in inspect.signature(insert).parameters.values() if item.kind in _POSITIONAL]
    return functools.partial(insert, dialect) if len(required) > 1 else insert
