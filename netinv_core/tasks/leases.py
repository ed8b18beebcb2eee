"""Leases: rows of a table that workers claim for a limited time.

A row is claimed in a transaction of its own, which is over before the work begins. A worker that dies loses its claims
when their leases end, and another worker takes the rows up. Tables of such rows have the columns ``claimed_by`` (the id
of the claim) and ``claimed_until`` (the end of the lease).
"""

from __future__ import annotations

import contextlib
import datetime
import uuid
from collections.abc import Iterator, Mapping
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection, Engine

from netinv_core.driver import driver_of
from netinv_core.models.base import now

RELEASED: Mapping[str, Any] = {"claimed_by": None, "claimed_until": None}


class Leases:
    """The leases on the rows of one table; ``key`` is its primary key."""

    def __init__(self, engine: Engine, table: sa.Table, key: str = "id") -> None:
        self._engine, self._driver = engine, driver_of(engine)
        self.table, self.key = table, table.c[key]

    @contextlib.contextmanager
    def transaction(self, *, writing: bool = True) -> Iterator[Connection]:
        """A connection in a transaction, committed at the end."""
        with (
            self._engine.connect().execution_options(**self._driver.connection_options(writing=writing)) as connection,
            connection.begin(),
        ):
            yield connection

    def claim(
        self, connection: Connection, selected: sa.Select[Any], lease: datetime.timedelta, **values: Any
    ) -> list[tuple[Any, uuid.UUID]]:
        """Claims the rows whose keys are selected, without waiting for those that other workers lock (``SKIP LOCKED``).

        ``values`` are written with the claims. Returns the keys, each with the id of its claim.
        """
        keys = list(connection.execute(selected.with_for_update(skip_locked=True)).scalars())
        claims = [(key, uuid.uuid4()) for key in keys]
        if claims:
            claiming = sa.update(self.table).where(self.key == sa.bindparam("of_key"))
            claiming = claiming.values(**values, claimed_by=sa.bindparam("claim"), claimed_until=now() + lease)
            connection.execute(claiming, [{"of_key": key, "claim": claim} for key, claim in claims])
        return claims

    def held(self, key: Any, claim: uuid.UUID) -> sa.ColumnElement[bool]:
        """The condition that a row is claimed by this claim."""
        return sa.and_(self.key == key, self.table.c.claimed_by == claim)

    def renew(self, key: Any, claim: uuid.UUID, lease: datetime.timedelta) -> bool:
        """Extends a lease to ``lease`` from now. Returns False when the claim was lost."""
        with self.transaction() as connection:
            statement = sa.update(self.table).where(self.held(key, claim)).values(claimed_until=now() + lease)
            return bool(connection.execute(statement).rowcount)


def free(table: Any, at: Any) -> sa.ColumnElement[bool]:
    """The condition that a row is not claimed at a time, or that its lease had ended."""
    return sa.or_(table.c.claimed_until.is_(None), table.c.claimed_until < at)
