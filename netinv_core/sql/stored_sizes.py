"""Sizes of texts and documents without a limit in the rows of a page, known to the database before it sends the rows.

A page of a thousand objects with texts of megabytes would be in memory before its answer is counted. So the statement
that reads more than :data:`FEW` rows selects none where their long values are larger together than an answer may be.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from netinv_core import answer_size
from netinv_core.db.expressions import in_parameter, stored_bytes
from netinv_core.models.types import Json, LongText

if TYPE_CHECKING:
    from netinv_core.registry import Registry
    from netinv_core.uow import UnitOfWork

FEW = 8  # rows that are read whatever their size
_MAX_BYTES = "max_bytes"


def long_columns(table: Any, columns: Sequence[Any]) -> list[Any]:
    """The columns of a table, among those of a SELECT, whose values have no limit."""
    found = [column.element for column in columns]
    return [
        column
        for column in found
        if getattr(column, "table", None) is table and isinstance(column.type, LongText | Json)
    ]


def fit(registry: Registry, long: Sequence[Any], key: Any) -> Any:
    """The condition that long values of the rows with the ``keys`` fit in an answer together; true of no row, else."""
    return _size(registry, long, key).scalar_subquery() <= sa.bindparam(_MAX_BYTES, type_=sa.BigInteger)


def most(registry: Registry) -> dict[str, int]:
    """The value of the parameter of :func:`fit`; none where answers have any size."""
    limit = registry.settings["max_answer_size"]
    return {_MAX_BYTES: limit} if limit else {}


def check(uow: UnitOfWork, long: Sequence[Any], key: Any, keys: Sequence[Any]) -> None:
    """Tells rows that do not fit from rows that are not there.

    :raises AnswerTooLarge: when the long values are larger than an answer may be
    """
    size = uow.execute(_size(uow.registry, long, key), {"keys": list(keys)}).scalar()
    answer_size.check(uow.registry, 0, int(size or 0))


def _size(registry: Registry, long: Sequence[Any], key: Any) -> sa.Select[Any]:
    """SELECT of the bytes of the long values of the rows with the ``keys``."""
    alias = key.table.alias("sizes")
    sizes = [sa.func.coalesce(stored_bytes(alias.c[column.name]), 0) for column in long]
    total = sa.func.coalesce(sa.func.sum(sum(sizes[1:], sizes[0])), 0)
    return sa.select(total).where(in_parameter(alias.c[key.name]))
