"""The order of changes: each gets a number after its commit, the next one, so that no number appears below one that was there before.

A number taken at the time of writing would not do: a transaction that takes one early and commits late puts it where readers have
already been. So whoever reads the changes in their order first numbers what was committed since, one at a time.
"""

from __future__ import annotations

import dataclasses
import datetime
import logging

import sqlalchemy as sa
from sqlalchemy.engine import Connection, Engine

from netinv_core.changelog.models import ChangeNumbering, ObjectChange
from netinv_core.db.engine import WRITING, lock_rows
from netinv_core.models.base import now, table_of
from netinv_core.registry import Registry

log = logging.getLogger(__name__)
BATCH_SIZE = 5000  # changes numbered in one transaction: those who wait for their turn do not wait long

_change, _numbering = table_of(ObjectChange), table_of(ChangeNumbering)
_unnumbered = _change.c.number.is_(None)
_state = sa.select(_numbering.c.given, _numbering.c.pruned, sa.exists().where(_unnumbered).label("waiting"))
# Of two changes of one object the later has the later time: see ObjectChange.
_next = sa.select(_change.c.id).where(_unnumbered).order_by(_change.c.time, _change.c.request_id, _change.c.position).limit(BATCH_SIZE)
_number = sa.update(_change).where(_change.c.id == sa.bindparam("key")).values(number=sa.bindparam("next"))


@dataclasses.dataclass(frozen=True)
class Numbers:
    """The last number ``given``, the highest one of a change that is deleted, and whether committed changes wait for theirs."""

    given: int
    pruned: int
    waiting: bool


def numbers(connection: Connection) -> Numbers:
    """How far the numbers are: one cheap statement."""
    given, pruned, waiting = connection.execute(_state).one()
    return Numbers(given, pruned, bool(waiting))


def number_some(engine: Engine) -> int:
    """Numbers committed changes, up to :data:`BATCH_SIZE`, in a transaction of its own; gives how many."""
    with engine.execution_options(**{WRITING: True}).begin() as connection:
        given = connection.execute(lock_rows(sa.select(_numbering.c.given))).scalar_one()
        keys = connection.execute(_next).scalars().all()
        if keys:
            connection.execute(_number, [{"key": key, "next": given + place} for place, key in enumerate(keys, 1)])
            connection.execute(sa.update(_numbering).values(given=given + len(keys)))
    return len(keys)


def number_changes(engine: Engine, registry: Registry) -> int:
    """Numbers every committed change that has no number yet; gives how many."""
    found = 0
    while True:
        with engine.connect() as connection:
            if not numbers(connection).waiting:
                return found
        found += number_some(engine)


def prune_changes(engine: Engine, registry: Registry) -> int:
    """Deletes change records older than ``netinv.changelog_retention`` days (0 keeps all); gives how many.

    What is about to go is said first, in a transaction of its own: who reads changes and then looks, knows whether some were missed.
    """
    days = registry.settings.get("changelog_retention") or 0
    if not days:
        return 0
    number_changes(engine, registry)
    old = _change.c.time < now() - datetime.timedelta(days=days)
    with engine.execution_options(**{WRITING: True}).begin() as connection:
        before = connection.execute(lock_rows(sa.select(_numbering.c.pruned))).scalar_one()
        last = connection.execute(sa.select(sa.func.max(_change.c.number)).where(old)).scalar() or 0
        connection.execute(sa.update(_numbering).values(pruned=max(before, last)))
    with engine.execution_options(**{WRITING: True}).begin() as connection:
        found = connection.execute(sa.delete(_change).where(old, _change.c.number <= last))
    log.info("%d change records older than %d days deleted", found.rowcount, days)
    return found.rowcount
