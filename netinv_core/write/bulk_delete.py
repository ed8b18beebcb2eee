"""Bulk DELETE: the rows of a table with one of many values in a column, by statements that are kept."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from netinv_core.db.expressions import in_parameter
from netinv_core.registry_cache import cached_in_registry

if TYPE_CHECKING:
    from netinv_core.registry import Registry
    from netinv_core.uow import UnitOfWork

OfType = tuple[str, str]  # a column, and the content type that it has to have


def bulk_delete(uow: UnitOfWork, table: Any, column: str, keys: Sequence[Any], of_type: OfType | None = None) -> int:
    """Deletes the rows that have one of the ``keys`` in a column; returns their number.

    :raises sqlalchemy.exc.IntegrityError: when a row violates a constraint
    """
    return int(uow.execute(_delete(uow.registry, table, column, of_type), {"keys": list(keys)}).rowcount)


@cached_in_registry
def _delete(registry: Registry, table: Any, column: str, of_type: OfType | None) -> sa.Delete:
    """DELETE by ``keys``."""
    statement = sa.delete(table).where(in_parameter(table.c[column]))
    return statement if of_type is None else statement.where(table.c[of_type[0]] == of_type[1])
