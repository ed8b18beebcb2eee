"""Bulk UPDATE: values of many rows of one table in few statements."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from netinv_core.caches import lru_cache

if TYPE_CHECKING:
    from netinv_core.uow import UnitOfWork

_KEY = "of_id"


def bulk_update(uow: UnitOfWork, table: Any, values_by_id: Mapping[Any, Mapping[str, Any]]) -> None:
    """Writes columns of rows by id (``{id: {column: value}}``): one UPDATE for each set of columns, executemany for
    several rows.

    :raises sqlalchemy.exc.IntegrityError: when a value violates a constraint
    """
    groups: dict[tuple[str, ...], list[dict[str, Any]]] = {}
    for key, values in values_by_id.items():
        groups.setdefault(tuple(sorted(values)), []).append({_KEY: key, **values})
    for names, parameters in groups.items():
        uow.execute(_update(table, names), parameters)


@lru_cache("bulk updates", 1000)
def _update(table: Any, names: tuple[str, ...]) -> sa.Update:
    """UPDATE of columns of rows by their ids."""
    values = {name: sa.bindparam(name, type_=table.c[name].type) for name in names}
    return sa.update(table).where(table.c.id == sa.bindparam(_KEY, type_=table.c.id.type)).values(values)
