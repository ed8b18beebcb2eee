"""Positions of PostgreSQL's write-ahead log after the last write of each account, for reads from replicas.

A transaction of an account is followed by one more statement, before its answer is sent: it stores the position of the
log on the primary (:func:`record_after_commit`). The statement that authenticates a read returns it; a replica is read
only once it has replayed the log up to there (:mod:`netinv_core.db.replicas`).

The table is UNLOGGED on PostgreSQL: storing waits for no disk and is not replicated. A crash of the primary empties it.
So the row :data:`COMMON` has the position from which positions are recorded; every read needs at least that one, and
without it all are read from the primary.
"""

from __future__ import annotations

import functools
import logging
import threading
import uuid
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql
from sqlalchemy.engine import Connection
from sqlalchemy.orm import Mapped, mapped_column

from netinv_core.caches import lru_cache
from netinv_core.driver import sessions
from netinv_core.models.base import TRANSIENT, Base, table_of

if TYPE_CHECKING:
    from netinv_core.uow import UnitOfWork

log = logging.getLogger(__name__)
COMMON = uuid.UUID(int=0)
unrecorded = threading.Event()  # set when a position could not be stored: the common one is to be moved
_providing = threading.Lock()


class ReadPosition(Base):
    """The position, in bytes, after the last write of an account; of every account for :data:`COMMON`."""

    __tablename__ = "core_read_position"
    __table_args__ = {"info": {TRANSIENT: True}}

    account_id: Mapped[uuid.UUID] = mapped_column(sa.Uuid, primary_key=True)
    position: Mapped[int] = mapped_column(sa.BigInteger)


_table = table_of(ReadPosition)


def _bytes(position: Any) -> Any:
    """SQL expression: a position of the log as the number of bytes before it."""
    return sa.cast(sa.func.pg_wal_lsn_diff(position, sa.literal_column("'0/0'")), sa.BigInteger)


CURRENT = _bytes(sa.func.pg_current_wal_insert_lsn())
REPLAYED = _bytes(sa.func.pg_last_wal_replay_lsn())
_new = postgresql.insert(_table)
_record = _new.values(account_id=sa.bindparam("account"), position=CURRENT).on_conflict_do_update(
    index_elements=[_table.c.account_id],
    set_={"position": sa.func.greatest(_table.c.position, _new.excluded.position)},
)


def record_after_commit(uow: UnitOfWork, account: uuid.UUID) -> None:
    """Stores the position of an account once the transaction of a unit of work is committed. Call it where reads go to
    replicas.
    """
    uow.after_commit(functools.partial(_store, uow.connection, account), name=(record_after_commit, account))


def _store(connection: Connection, account: uuid.UUID) -> None:
    """Stores the position, in a transaction of its own on the connection whose transaction was committed."""
    try:
        connection.execute(_record, {"account": account})
        sessions.commit_connection(connection)
    except sa.exc.SQLAlchemyError as error:
        log.warning("the position of a write was not stored; reads wait until replicas have it: %s", error)
        unrecorded.set()


def provide_common(connection: Connection, *, exists: bool) -> None:
    """Sets the common position to the present one if none ``exists``, or if the position of a write was not stored.

    Deletes positions of another cluster, such as those of a restored dump.
    """
    with _providing:
        if exists and not unrecorded.is_set():
            return
        unrecorded.clear()
        try:
            connection.execute(sa.delete(_table).where(_table.c.position > CURRENT))
            connection.execute(_record, {"account": COMMON})
            connection.commit()
        except sa.exc.SQLAlchemyError:
            unrecorded.set()
            raise


has_common = sa.exists().where(_table.c.account_id == COMMON)


@lru_cache("SQL statements", 2000)
def with_positions(statement: Any, account_id: Any) -> Any:
    """A SELECT of accounts with the columns ``own_position`` and ``common_position`` (:func:`needed_position`)."""
    own, common = (
        sa.select(_table.c.position).where(_table.c.account_id == key).scalar_subquery().label(name)
        for key, name in ((account_id, "own_position"), (sa.literal(COMMON), "common_position"))
    )
    return statement.add_columns(own, common)


def needed_position(row: Any) -> int | None:
    """The position that a replica must have replayed for reads of the account of a row; ``None``: none is enough."""
    if row is None or row.common_position is None:
        return None
    return max(row.own_position or 0, row.common_position)
