"""Steps of migrations that add UNIQUE constraints: rows that stand in the way are named before a table is touched."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa
from alembic import op

from netinv_core.models.types import Chars

SHOWN = 20


@dataclasses.dataclass(frozen=True)
class UniqueCopy:
    """The column ``name`` of a table: a copy of ``of`` where ``without`` is null, unique together with the columns
    ``beside``.

    See :func:`netinv_core.models.columns.unique_copy`; ``length`` is in characters.
    """

    table: str
    name: str
    of: str
    without: str
    length: int
    beside: Sequence[str] = ()


def add_unique_copies(*copies: UniqueCopy) -> None:
    """Adds columns with their constraints, once the rows of all their tables were checked: not every database takes
    back what is changed here.

    :raises LookupError: naming rows that are alike
    """
    for copy in copies:
        refuse_duplicates(copy.table, [*copy.beside, copy.of], without=copy.without)
    for copy in copies:
        with op.batch_alter_table(copy.table, schema=None) as batch_op:
            batch_op.add_column(sa.Column(copy.name, Chars(copy.length), nullable=True))
        rows = sa.table(copy.table, sa.column(copy.name), sa.column(copy.of), sa.column(copy.without))
        op.execute(
            sa.update(rows)
            .where(rows.c[copy.without].is_(None), rows.c[copy.of] != "")
            .values({copy.name: rows.c[copy.of]})
        )
        with op.batch_alter_table(copy.table, schema=None) as batch_op:
            batch_op.create_unique_constraint(constraint(copy.table, copy.name, copy.beside), [*copy.beside, copy.name])


def drop_unique_copy(table: str, name: str, beside: Sequence[str] = ()) -> None:
    """Takes back :func:`add_unique_copies` for one table."""
    with op.batch_alter_table(table, schema=None) as batch_op:
        batch_op.drop_constraint(constraint(table, name, beside), type_="unique")
        batch_op.drop_column(name)


def constraint(table: str, name: str, beside: Sequence[str]) -> str:
    """The constraint's name, as the models' naming convention has it."""
    return op.f(f"uq_{table}_{'_'.join([*beside, name])}")


def refuse_duplicates(table: str, columns: Sequence[str], *, without: str) -> None:
    """Checks that no two rows without the reference ``without`` are alike in ``columns``; blank and null values are not
    compared.

    :raises LookupError: naming rows that are
    """
    keys: list[Any] = [sa.column(name) for name in columns]
    rows = sa.table(table, sa.column(without), *keys)
    alike = (
        sa.select(*keys)
        .where(rows.c[without].is_(None), keys[-1] != "", *[key.is_not(None) for key in keys])
        .select_from(rows)
    )
    alike = alike.group_by(*keys).having(sa.func.count() > 1).limit(SHOWN)
    found = op.get_bind().execute(alike).all()
    if found:
        listed = "; ".join(
            ", ".join(f"{name}={value}" for name, value in zip(columns, values, strict=True)) for values in found
        )
        words = (
            f"rows of {table} without {without} are to be unique by {', '.join(columns)}, and some are not: {listed}"
        )
        raise LookupError(f"{words}. Rename or delete all but one of each, then migrate again; nothing was changed")
