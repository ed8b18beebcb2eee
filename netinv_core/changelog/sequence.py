"""Numbering of changes in commit order: each gets the next number after its commit, so numbers only appear at the end.

A number assigned at INSERT would not be monotonic for readers: a transaction that commits late would add a number below
those that are already read. Readers therefore number committed changes first, under a row lock.
"""

from __future__ import annotations

import dataclasses
import datetime
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection, Engine

from netinv_core.caches import lru_cache
from netinv_core.changelog.models import ChangeNumbering, ObjectChange
from netinv_core.db.engine import WRITING, lock_rows
from netinv_core.models.base import table_of
from netinv_core.registry_cache import cached_in_registry
from netinv_core.tasks.retention import Retention

if TYPE_CHECKING:
    from netinv_core.registry import Registry

BATCH_SIZE = 5000  # changes numbered in one transaction: bounds the time for which the row is locked
NUMBERED_AFTER = 250  # changes of a process, then the worker is told: readers look at each that has no number

_change, _numbering = table_of(ObjectChange), table_of(ChangeNumbering)
_unnumbered = _change.c.number.is_(None)
_state = sa.select(_numbering.c.given, _numbering.c.pruned, sa.exists().where(_unnumbered).label("waiting"))
# Of two changes of one object the later has the later time: see ObjectChange.
_order = (_change.c.time, _change.c.request_id, _change.c.position)


@dataclasses.dataclass
class _Written:
    """The ``count`` of changes that a process has written since it last told the worker."""

    count: int = 0


@cached_in_registry
def _written_numbers(registry: Registry) -> _Written:
    return _Written()


def are_many(registry: Registry, count: int) -> bool:
    """Counts changes that a process writes; returns true when the worker is to number them now."""
    written = _written_numbers(registry)
    written.count += count
    if written.count < NUMBERED_AFTER:
        return False
    written.count = 0
    return True


@dataclasses.dataclass(frozen=True)
class Numbers:
    """State of the numbering: the ``last`` number that was given, the highest one of a deleted change, and whether
    changes wait for numbers.
    """

    last: int
    pruned: int
    waiting: bool


def numbers(connection: Connection) -> Numbers:
    """Reads the state of the numbering: one cheap statement. Where its row is gone, changes are to be numbered, which
    adds it.
    """
    row = connection.execute(_state).one_or_none()
    if row is None:
        state = state_of_changes(connection.execute)
        return Numbers(state["given"], state["pruned"], waiting=True)
    return Numbers(row.given, row.pruned, bool(row.waiting))


def state_of_changes(execute: Callable[..., Any]) -> dict[str, Any]:
    """The row of the numbering that fits the changes that are there."""
    lowest, highest = execute(sa.select(sa.func.min(_change.c.number), sa.func.max(_change.c.number))).one()
    return {"id": 1, "given": highest or 0, "pruned": (lowest or 1) - 1, "unpacked": highest or 0}


@lru_cache("SQL statements", 2000)
def _number_next(batch_size: int) -> sa.Update:
    """UPDATE that gives the numbers behind ``last`` to so many changes."""
    following = (
        sa.select(_change.c.id, (sa.bindparam("last") + sa.func.row_number().over(order_by=_order)).label("number"))
        .where(_unnumbered)
        .order_by(*_order)
        .limit(sa.literal_column(str(batch_size)))
        .subquery("following")
    )
    return sa.update(_change).where(_change.c.id == following.c.id).values(number=following.c.number)


def number_some(engine: Engine) -> int:
    """Numbers up to :data:`BATCH_SIZE` committed changes in a transaction of its own; returns how many."""
    with engine.execution_options(**{WRITING: True}).begin() as connection:
        last = connection.execute(lock_rows(sa.select(_numbering.c.given))).scalar_one_or_none()
        if last is None:
            state = state_of_changes(connection.execute)
            connection.execute(sa.insert(_numbering), state)
            last = state["given"]
        count = connection.execute(_number_next(BATCH_SIZE), {"last": last}).rowcount
        if count:
            connection.execute(sa.update(_numbering).values(given=last + count))
    return count


def number_changes(engine: Engine, registry: Registry) -> int:
    """Numbers all committed changes without a number; returns how many."""
    count = 0
    while True:
        with engine.connect() as connection:
            if not numbers(connection).waiting:
                return count
        count += number_some(engine)


def _old(settings: Mapping[str, Any], at: datetime.datetime) -> sa.ColumnElement[bool] | None:
    """The condition of numbered change records that are older than ``netinv.changelog_retention`` days."""
    days = settings["changelog_retention"]
    return sa.and_(_change.c.time < at - datetime.timedelta(days=days), _change.c.number.is_not(None)) if days else None


def _store_highest(engine: Engine, condition: sa.ColumnElement[bool]) -> None:
    """Stores the highest number to be deleted before any is deleted, in a transaction of its own. A reader that checks
    it after reading changes knows whether it has missed some.
    """
    while number_some(engine):
        pass
    with engine.execution_options(**{WRITING: True}).begin() as connection:
        before = connection.execute(lock_rows(sa.select(_numbering.c.pruned))).scalar_one()
        # An expression, so that PostgreSQL finds the old changes by their times and not by descending numbers.
        last = connection.execute(sa.select(sa.func.max(_change.c.number + 0)).where(condition)).scalar() or 0
        connection.execute(sa.update(_numbering).values(pruned=max(before, last)))


retention = Retention(_change, _old, _store_highest)
