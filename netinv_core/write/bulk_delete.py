"""Bulk DELETE: the rows of a table with one of many values in a column, by statements that are kept."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from netinv_core.db.engine import in_parameter
from netinv_core.db.row_select import RowSelect
from netinv_core.registry_cache import cached_in_registry

if TYPE_CHECKING:
    from netinv_core.registry import Registry
    from netinv_core.uow import UnitOfWork

OfType = tuple[str, str]  # a column, and the content type that it has to have


def bulk_delete(uow: UnitOfWork, table: Any, column: str, keys: Sequence[Any], of_type: OfType | None = None) -> int:
    """Deletes the rows that have one of the ``keys`` in a column; returns their number.

    :raises sqlalchemy.exc.IntegrityError: when a row violates a constraint
    """
    statement = _delete(uow.registry, table, column, of_type)
    values = {"keys": list(keys)}
    if isinstance(statement, RowSelect):
        uow.expire_all()
        ((count,),) = uow.write_rows(statement, values)
    else:
        count = uow.write(statement, values).rowcount
    return int(count)


@cached_in_registry
def _delete(registry: Registry, table: Any, column: str, of_type: OfType | None) -> RowSelect | sa.Delete:
    """DELETE by ``keys``; on PostgreSQL in a CTE, as a statement that is kept."""
    statement = sa.delete(table).where(in_parameter(registry.dialect, table.c[column]))
    if of_type is not None:
        statement = statement.where(table.c[of_type[0]] == of_type[1])
    if registry.dialect != "postgresql":
        return statement
    deleted = statement.returning(table.c[column]).cte("deleted")
    return RowSelect(sa.select(sa.func.count().label("count")).select_from(deleted))
