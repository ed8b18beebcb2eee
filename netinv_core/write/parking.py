"""Parking: rows that exchange unique values leave their former values first, for a moment within the transaction.

Databases check UNIQUE constraints row by row, so that a value cannot be written while another row of the batch still
has it. Each row whose former value another one gets is *parked* first: a column of the unique set becomes null, or has
a value that nothing else has. Batches without such rows take no further statements.
"""

from __future__ import annotations

import itertools
import uuid
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from netinv_core.caches import lru_cache
from netinv_core.write.bulk_delete import bulk_delete
from netinv_core.write.bulk_update import bulk_update

if TYPE_CHECKING:
    from netinv_core.uow import UnitOfWork
    from netinv_core.write.draft import Draft

_RANDOM_LENGTH = 8  # from this length of a text on, random digits of it are taken for unique
_PRIVATE_USE = range(0xE000, 0xF8FF)  # characters without meaning, for shorter texts
Names = tuple[str, ...]


def park(uow: UnitOfWork, table: Any, drafts: Sequence[Draft]) -> list[Draft]:
    """Parks the rows whose former unique values other drafts get; returns the drafts that remain to be written.

    Those whose unique set has foreign keys only, which can be neither null nor made up, are written here: their rows
    are deleted and inserted. At most one UPDATE for each set of columns, one DELETE and one INSERT.
    """
    if len(drafts) < 2:
        return list(drafts)
    numbers = itertools.count(1)
    parked: dict[Any, dict[str, Any]] = {}
    replaced: dict[Any, Draft] = {}
    for names in _unique_sets(table):
        leaving = _leaving_drafts(names, drafts)
        column = _column(table, names) if leaving else None
        for draft in leaving:
            if column is None:
                replaced[draft.id] = draft
            elif column.name not in parked.setdefault(draft.id, {}):
                parked[draft.id][column.name] = _unused_value(column, next(numbers))
                draft.values.setdefault(column.name, draft.before[column.name])
    if parked:
        bulk_update(uow, table, parked)
    if replaced:
        bulk_delete(uow, table, "id", list(replaced))
        uow.execute(sa.insert(table), [{**draft.before, **draft.values} for draft in replaced.values()])
    return [draft for draft in drafts if draft.id not in replaced]


@lru_cache("columns of tables", 2000)
def _unique_sets(table: sa.Table) -> list[Names]:
    """The columns of each UNIQUE constraint of a table."""
    constraints = [c for c in table.constraints if isinstance(c, sa.UniqueConstraint)]
    return sorted(tuple(constraint.columns.keys()) for constraint in constraints)


def _leaving_drafts(names: Names, drafts: Sequence[Draft]) -> list[Draft]:
    """The drafts whose former values in these columns another draft gets."""
    changing = [draft for draft in drafts if not draft.values.keys().isdisjoint(names)]
    if len(changing) < 2:
        return []
    taken = {tuple(draft[name] for name in names) for draft in changing}
    return [draft for draft in changing if tuple(draft.before[name] for name in names) in taken]


@lru_cache("columns of tables", 2000)
def _column(table: sa.Table, names: Names) -> Any:
    """The column of a unique set to park a row by; ``None`` if there is none."""
    columns = [table.c[name] for name in names]
    free = [column for column in columns if not column.foreign_keys]
    suited = [column for column in free if isinstance(column.type, sa.Integer | sa.Uuid) or _is_text(column)]
    return next((column for column in columns if column.nullable), suited[0] if suited else None)


def _is_text(column: Any) -> bool:
    return bool(column.type.python_type is str)


def _unused_value(column: Any, number: int) -> Any:
    """Null, or a value that no row has; no other row of the batch has this ``number``."""
    if column.nullable:
        return None
    if isinstance(column.type, sa.Uuid):
        return uuid.uuid4()
    if isinstance(column.type, sa.Integer):
        return -number
    length = column.type.length or 255
    if length < _RANDOM_LENGTH:
        return chr(_PRIVATE_USE[number % len(_PRIVATE_USE)])
    return uuid.uuid4().hex[:length]
