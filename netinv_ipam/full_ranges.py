"""Runs without a gap at the beginning of a prefix, which a process remembers, so that it need not read them again.

A remembered run was read once. Whatever left it since has a change record, which says where: these places are looked at
again, so the free space found is the same as without the memory. Change records only add places, and every place is
looked up in the index before it is given away.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import netaddr
import sqlalchemy as sa

from netinv_core.caches import BoundedCache, lru_cache
from netinv_core.changelog.models import DELETE, UPDATE, ChangeNumbering, ObjectChange
from netinv_core.changelog.states import before_and_after, stored_states
from netinv_core.models.base import table_of
from netinv_core.registry_cache import cached_in_registry
from netinv_ipam import taken_space
from netinv_ipam.taken_space import Range, Space, SpaceTaker, TakenRow, batch_from

if TYPE_CHECKING:
    from netinv_core.registry import Registry
    from netinv_core.uow import UnitOfWork

MAX_CHANGES = 5000  # change records read to bring a run up to date
MAX_LEFT, MAX_RUNS = 500, 1000
MAX_PLACES = 10_000  # of change records, remembered: those without a number are read again each time

_change, _numbering = table_of(ObjectChange), table_of(ChangeNumbering)
_given = sa.select(_numbering.c.given)


@dataclasses.dataclass(frozen=True)
class FullRun:
    """A run of taken addresses up to before ``end``, when ``number`` was the last number of a change record.

    ``left`` holds the ranges that were left since, in order, without those that were found taken again.
    """

    end: int
    number: int
    left: tuple[Range, ...] = ()


@dataclasses.dataclass(frozen=True, slots=True)
class LeftPlace:
    """The range that an object left with a change; empty, with ``high`` below ``low``, when it left none."""

    version: int
    low: int
    high: int


_NO_PLACE = LeftPlace(0, 0, -1)


@dataclasses.dataclass(frozen=True)
class Memory:
    """The ``runs`` that a process remembers, by address space and beginning, and the ``places`` that change records
    tell of, by their ids.
    """

    runs: BoundedCache[FullRun]
    places: BoundedCache[LeftPlace]


@cached_in_registry
def memory_of(registry: Registry) -> Memory:
    """The memory of this process."""
    return Memory(BoundedCache("full ranges", MAX_RUNS), BoundedCache("left places", MAX_PLACES))


def last_number(uow: UnitOfWork) -> int:
    """Returns the last number of a change record; to be read before the run that is remembered with it."""
    return int(uow.execute(_given).scalar() or 0)


def brought_up_to_date(
    uow: UnitOfWork, run: FullRun, lowest: int, space: Space
) -> tuple[FullRun | None, Sequence[TakenRow]]:
    """Returns the run from ``lowest`` on with what was left since, and the first batch of what is taken behind it; the
    run is ``None`` when too much happened. One statement.
    """
    what = space.what
    values = {"number": run.number, "label": what.label, "size": taken_space.PIECE, **space.values_from(run.end)}
    rows = uow.execute(_changed_and_taken(what, space.scope), values).tuples().all()
    behind = sorted((low, length) for *_, low, length in rows if low is not None)
    changes = [row for row in rows if row[0] is not None]
    if not changes:  # the row of the numbering is gone
        return None, []
    given, pruned, *_ = changes[0]
    if pruned > run.number or len(changes) > MAX_CHANGES:  # deleted records may tell of what left it
        return None, []
    places, found = memory_of(uow.registry).places, list(run.left)
    for _, _, key, *stored, _, _ in changes:
        if key is not None:
            place = places.get_or_make(key, functools.partial(_left_place, what, *stored))
            if place.version == space.version and place.low < run.end and place.high >= lowest:
                found.append((max(place.low, lowest), place.high))
    if len(left_ranges := merge_ranges(found)) > MAX_LEFT:
        return None, []
    return FullRun(run.end, given, tuple(left_ranges)), behind


@lru_cache("SQL statements", 64)
def _changed_and_taken(what: SpaceTaker, scope: str) -> Any:
    """SELECT of the last number and the highest one of a deleted record, with the objects that were changed or deleted
    since; and of a batch of what is taken.

    The last number is read in the snapshot of the records, so those without a number yet are read again next time. At
    least one row has numbers.
    """
    changes = _select_changed()
    nothing = sa.null()
    numbers = sa.select(
        _numbering.c.given, _numbering.c.pruned, *changes.c, nothing.label("low"), nothing.label("length")
    ).select_from(_numbering.outerjoin(changes, sa.true()))
    behind = batch_from(what, scope).subquery()
    taken = sa.select(nothing, nothing, *(nothing for _ in changes.c), behind.c.low, behind.c.length)
    return sa.union_all(numbers, taken)


def _left_place(what: SpaceTaker, *stored: Any) -> LeftPlace:
    """The place that an object left, by the stored states of a change record."""
    before, after = before_and_after(*stored)
    if before is None or (after is not None and _place(before, what.name) == _place(after, what.name)):
        return _NO_PLACE
    network = netaddr.IPNetwork(before[what.name])
    low, high = (network.value, network.value) if what.name == "address" else (network.first, network.last)
    return LeftPlace(network.version, low, high)


def _place(representation: Mapping[str, Any], name: str) -> tuple[Any, Any]:
    """The place of an object: its address or network, and its VRF."""
    return representation[name], (representation["vrf"] or {}).get("id")


def _select_changed() -> Any:
    """Subquery of the changes of the objects of a model without a number or with a later one: the ids of the records
    and their stored states.
    """
    # The actions are literals: so is the condition of the partial index. With one action a part, the index leads to the
    # later numbers; with both, PostgreSQL may read all changes of the model from it.
    actions: list[sa.ColumnElement[str]] = [sa.literal_column(f"'{action}'") for action in (UPDATE, DELETE)]
    parts = [
        sa.select(_change.c.id, *stored_states())
        .where(_change.c.changed_object_type == sa.bindparam("label"), _change.c.action == action, is_newer)
        .limit(sa.literal_column(str(MAX_CHANGES + 1)))
        .subquery()
        for is_newer in (_change.c.number > sa.bindparam("number"), _change.c.number.is_(None))
        for action in actions
    ]
    return sa.union_all(*(sa.select(part) for part in parts)).subquery()


def merge_ranges(ranges: Iterable[Range]) -> list[Range]:
    """The ranges in order, those that overlap or touch as one."""
    found: list[Range] = []
    for low, high in sorted(ranges):
        if found and low <= found[-1][1] + 1:
            found[-1] = found[-1][0], max(found[-1][1], high)
        else:
            found.append((low, high))
    return found
