"""Locks for rules that depend on other rows, where a UNIQUE constraint or the lock of one row does not suffice.

Two transactions that each look for a conflicting row, find none and then insert, would both succeed. :func:`lock_for`
makes the second one wait until the first has ended. What it reads afterwards includes the rows of the first, as
transactions run at READ COMMITTED.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
from sqlalchemy.orm import Mapped, mapped_column

from netinv_core.db.expressions import in_parameter
from netinv_core.models.base import Base, table_of

if TYPE_CHECKING:
    from netinv_core.uow import UnitOfWork

STRIPES = 1024  # rows of the lock table


class LockStripe(Base):
    """Row that is locked for all rules and values with one hash; it has no content."""

    __tablename__ = "core_lock_stripe"

    id: Mapped[int] = mapped_column(sa.Integer, primary_key=True, autoincrement=False)


def lock_for(uow: UnitOfWork, rule: str, values: Iterable[Any], *, shared: bool = False) -> None:
    """Locks the ``values`` of a ``rule`` until the transaction ends: one statement, none for values locked already.

    Transactions that lock the same value wait for each other, unless both locks are ``shared``. Rows are locked in
    order of their ids, to avoid deadlocks. Values are distinguished by ``repr``: strings, numbers, ids, bytes, and
    tuples of them. Values with the same hash share a row, so that unrelated writes may occasionally wait.

    The rule must read its rows after the lock. SQLite needs no lock: BEGIN IMMEDIATE serializes its writers.
    """
    if uow.registry.driver.locks_database:
        return
    held: set[int] = uow.row_cache.setdefault(lock_for, set())
    stripes = sorted({zlib.crc32(f"{rule} {value!r}".encode()) % STRIPES for value in values} - held)
    if not stripes:
        return
    table = table_of(LockStripe)
    statement = sa.select(table.c.id).where(in_parameter(table.c.id)).order_by(table.c.id)
    for dialect in ("mysql", "mariadb"):  # a table scan would wait for locks on other rows
        statement = statement.with_hint(table, "FORCE INDEX (PRIMARY)", dialect)
    uow.execute(statement.with_for_update(read=shared), {"keys": stripes})
    if not shared:
        held.update(stripes)
