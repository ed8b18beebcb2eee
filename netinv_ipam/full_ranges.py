"""Runs without a gap at the beginning of a prefix, which a process remembers, so that it need not read them again.

A remembered run was read once. Whatever left it since has a change record, which says where: these places are looked at
again, so the free space found is the same as without the memory. Change records only add places, and every place is
looked up in the index before it is given away.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import netaddr
import sqlalchemy as sa

from netinv_core.caches import CacheCounts
from netinv_core.changelog.models import CREATE, ChangeNumbering, ObjectChange
from netinv_core.models.base import table_of
from netinv_core.registry_cache import cached_in_registry

if TYPE_CHECKING:
    from netinv_core.registry import Registry
    from netinv_core.uow import UnitOfWork

Range = tuple[int, int]
MOST_CHANGES = 5000  # change records read to bring a run up to date
MOST_LEFT, MOST_RUNS = 500, 1000

_change, _numbering = table_of(ObjectChange), table_of(ChangeNumbering)
_given = sa.select(_numbering.c.given)


@dataclasses.dataclass(frozen=True)
class Run:
    """A run of taken addresses up to before ``end``, when ``number`` was the last number of a change record.

    ``left`` holds the ranges that were left since, in order, without those that were found taken again.
    """

    end: int
    number: int
    left: tuple[Range, ...] = ()


class Runs:
    """The runs that a process remembers, by address space and beginning."""

    def __init__(self) -> None:
        self._runs: dict[Any, Run] = {}
        self._counts = CacheCounts("full ranges", self._runs.__len__)

    def get(self, key: Any) -> Run | None:
        """Returns a run."""
        run = self._runs.get(key)
        self._counts.hits += run is not None
        self._counts.misses += run is None
        return run

    def set(self, key: Any, run: Run) -> None:
        """Remembers a run in place of the one before."""
        self._runs.pop(key, None)
        self._runs[key] = run
        while len(self._runs) > MOST_RUNS:
            self._runs.pop(next(iter(self._runs)), None)

    def forget(self, key: Any) -> None:
        """Forgets a run."""
        self._runs.pop(key, None)


@cached_in_registry
def runs_of(registry: Registry) -> Runs:
    """The runs of this process."""
    return Runs()


def last_number(uow: UnitOfWork) -> int:
    """Returns the last number of a change record; to be read before the run that is remembered with it."""
    return int(uow.execute(_given).scalar_one())


def brought_up_to_date(uow: UnitOfWork, run: Run, lowest: int, version: int, label: str, name: str) -> Run | None:
    """Returns the run from ``lowest`` on with what was left since; ``None`` when too much happened. One statement.

    :param label: the model whose change records are read
    :param name: the member of their representations with the address or the network
    """
    rows = uow.execute(_since(), {"number": run.number, "label": label}).all()
    given, pruned, *_ = rows[0]
    if pruned > run.number:  # records that are not kept any more may tell of what left it
        return None
    found = list(run.left)
    for _, _, before, after in rows:
        if before is None or (after is not None and _place(before, name) == _place(after, name)):
            continue
        network = netaddr.IPNetwork(before[name])
        low, high = (network.value, network.value) if name == "address" else (network.first, network.last)
        if network.version == version and low < run.end and high >= lowest:
            found.append((max(low, lowest), high))
    if len(rows) > MOST_CHANGES or len(left := merged(found)) > MOST_LEFT:
        return None
    return Run(run.end, given, tuple(left))


def _place(representation: dict[str, Any], name: str) -> tuple[Any, Any]:
    """Where an object is: its address or network, and its VRF."""
    return representation[name], (representation["vrf"] or {}).get("id")


def _since() -> Any:
    """SELECT of the last number and the highest one of a deleted record, and of what the objects of a model were before
    they were changed or deleted. It returns at least one row.

    The last number is read in the snapshot of the records, so those without a number yet are read again next time.
    """
    parts = [
        sa.select(_change.c.id, _change.c.action, _change.c.changed_object_type)
        .where(condition)
        .order_by(_change.c.number)
        .limit(sa.literal_column(str(MOST_CHANGES + 1)))
        .subquery()
        for condition in (_change.c.number > sa.bindparam("number"), _change.c.number.is_(None))
    ]
    newer = sa.union_all(*(sa.select(part) for part in parts)).subquery()
    is_mine = sa.and_(newer.c.changed_object_type == sa.bindparam("label"), newer.c.action != CREATE)
    records = newer.outerjoin(_change, sa.and_(_change.c.id == newer.c.id, is_mine))
    joined = _numbering.outerjoin(records, sa.true())
    return sa.select(_numbering.c.given, _numbering.c.pruned, _change.c.before, _change.c.after).select_from(joined)


def merged(ranges: Iterable[Range]) -> list[Range]:
    """The ranges in order, those that overlap or touch as one."""
    found: list[Range] = []
    for low, high in sorted(ranges):
        if found and low <= found[-1][1] + 1:
            found[-1] = found[-1][0], max(found[-1][1], high)
        else:
            found.append((low, high))
    return found
