"""Locks for rules that read other rows to decide, where neither a UNIQUE constraint nor the lock of one row can say the same.

Two transactions that each look for a conflicting row, find none and then write, both succeed. :func:`lock_for` makes the second one
wait until the first has ended; what it reads afterwards includes what the first one wrote (transactions run at READ COMMITTED).
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
from sqlalchemy.orm import Mapped, mapped_column

from netinv_core.db.engine import in_parameter
from netinv_core.models.base import Base, table_of

if TYPE_CHECKING:
    from netinv_core.uow import UnitOfWork

STRIPES = 1024


class LockStripe(Base):
    """A row that stands for all rules and values with one hash: it is locked, never read or written."""

    __tablename__ = "core_lock_stripe"

    id: Mapped[int] = mapped_column(sa.Integer, primary_key=True, autoincrement=False)


def lock_for(uow: UnitOfWork, rule: str, values: Iterable[Any], *, shared: bool = False) -> None:
    """Locks the ``values`` of a ``rule`` until the transaction ends: one statement, in one order, none for what is locked already.

    Whoever locks one of the same values waits, unless both locks are ``shared``. ``repr`` tells values apart: strings, numbers, ids,
    bytes, and tuples of them. Values with the same hash share a row, so that two unrelated writes wait for each other now and then.
    What the rule decides by has to be read after the lock. SQLite needs no lock: its writers take turns from BEGIN IMMEDIATE on.
    """
    if uow.registry.dialect == "sqlite":
        return
    held: set[int] = uow.row_cache.setdefault(lock_for, set())
    stripes = sorted({zlib.crc32(f"{rule} {value!r}".encode()) % STRIPES for value in values} - held)
    if not stripes:
        return
    table = table_of(LockStripe)
    statement = sa.select(table.c.id).where(in_parameter(uow.registry.dialect, table.c.id)).order_by(table.c.id)
    for dialect in ("mysql", "mariadb"):  # a scan of the whole table would wait for the locks of others
        statement = statement.with_hint(table, "FORCE INDEX (PRIMARY)", dialect)
    uow.execute(statement.with_for_update(read=shared), {"keys": stripes})
    if not shared:
        held.update(stripes)
