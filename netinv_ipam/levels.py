"""Levels of the tree of prefixes: the first direct children of prefixes, in order.

Where an index serves the comparison of networks with those of another row, the database jumps from a child to the next
one behind its end, by a recursive SELECT: it reads no other prefix. MariaDB would read a whole VRF for each jump. It
goes through all prefixes of a range once instead, and tells those that begin behind the end of all before them.
"""

from __future__ import annotations

import dataclasses
import operator
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from netinv_core.db.engine import inlined_int
from netinv_ipam.hierarchy import Limits, Owner, in_order, within
from netinv_ipam.networks import BITS
from netinv_ipam.prefixes import Prefix
from netinv_ipam.taken_space import GLOBAL, IN_VRF

if TYPE_CHECKING:
    from netinv_core.uow import UnitOfWork

FIRST_BATCH, GROWTH = 500, 8  # rows of each owner

_table: Any = Prefix.__table__


@dataclasses.dataclass
class FirstChildren:
    """First direct children of an owner, in order: the ids of those ``shown`` to the user, all of one network; the
    ranges ``taken``, by prefixes that the user may not view as well; which of those shown are ``parents`` themselves.
    """

    owner: Owner
    shown: list[Any] = dataclasses.field(default_factory=list)
    ends: list[int] = dataclasses.field(default_factory=list)  # the last address of each one shown
    taken: list[tuple[int, int]] = dataclasses.field(default_factory=list)
    parents: set[Any] = dataclasses.field(default_factory=set)
    is_done: bool = False
    start: int = 0
    _last: list[tuple[Any, Any, tuple[int, int]]] = dataclasses.field(default_factory=list)  # shown, of one network

    def add(self, rows: Sequence[Any], most: int, batch: int | None = None) -> None:
        """Takes the next rows, all there are or a batch of at most so many: id, VRF, network, prefix length, whether
        the user may view it, and whether it is known to be a parent.
        """
        is_end = batch is None or len(rows) < batch
        rows = sorted(rows, key=operator.itemgetter(2, 3, 0))
        if not is_end:  # the next batch begins with the last network, of which there may be more
            rows, last = [row for row in rows if row[2] != rows[-1][2]], rows[-1][2]
            self.start = int.from_bytes(last, "big")
        for row in rows:
            if self._add(*row, most=most):
                return
        self.is_done = is_end
        if self._last and self.taken and {key for key, *_ in self._last} <= self.parents:
            self.start = max(self.start, min(self.ends[-1], self.taken[-1][1]) + 1)  # nothing new is before
        self.is_done |= self.start > self.owner.high

    def _add(self, key: Any, vrf_id: Any, network: bytes, length: int, visible: Any, parent: Any, *, most: int) -> bool:
        """Takes a row; true if there are enough."""
        low = int.from_bytes(network, "big")
        high = low + (1 << (BITS[self.owner.ip_version] - length)) - 1
        is_new = not self.ends or low > self.ends[-1]
        if max(len(self.shown), len(self.taken)) >= most and (is_new or low > self.taken[-1][1]):
            self.is_done = True
            return True
        if not self.taken or low > self.taken[-1][1]:
            self.taken.append((low, high))
        if not visible:
            return False
        if is_new or (low, high) == self._last[0][2]:
            self._last = [*([] if is_new else self._last), (key, vrf_id, (low, high))]
            self.shown.append(key)
            self.ends.append(high)
            self.parents |= {key} if parent else set()
        else:
            self.parents |= {item for item, place, _ in self._last if place == vrf_id}
        return False


def first_children(uow: UnitOfWork, owners: Iterable[Owner], limits: Limits, most: int) -> dict[Any, FirstChildren]:
    """The first direct children of at most 400 owners, ``most`` of each and those of the same network.

    One statement; on MariaDB another one for eight times as many rows, where the first children have more than 500.
    """
    found = [FirstChildren(owner, start=owner.low) for owner in owners]
    jumps = uow.registry.driver.compares_ranges_of_rows
    batch = None if jumps else FIRST_BATCH
    while unread := [item for item in found if not item.is_done]:
        selects = []
        for number, item in enumerate(unread):
            selects += _jumps(number, item, limits, most) if batch is None else [_batch(number, item, limits, batch)]
        rows: dict[int, list[Any]] = {}
        for number, *row in uow.execute(sa.union_all(*selects)).tuples():
            rows.setdefault(number, []).append(row)
        for number, item in enumerate(unread):
            item.add(rows.get(number, ()), most, batch)
        batch = batch and batch * GROWTH
    return {item.owner.key: item for item in found}


def _jumps(number: int, found: FirstChildren, limits: Limits, most: int) -> list[Any]:
    """SELECTs of all rows of a level: the first ones that the user may view, and the first ones that it may not."""
    owner = found.owner
    key: Any = sa.literal_column(str(number)).label("owner")
    every = seen = _chain(owner, f"taken_{number}", most)
    shown, first, hidden = (_table.alias() for _ in range(3))
    selects = []
    if limits(_table):
        seen = _chain(owner, f"seen_{number}", most, limits)
        columns = [hidden.c[name] for name in ("id", "vrf_id", "network", "prefix_length")]
        unseen = sa.select(key, *columns, sa.false().label("visible"), sa.false().label("parent"))
        visible = sa.and_(sa.true(), *limits(hidden))
        selects.append(unseen.join_from(every, hidden, hidden.c.id == every.c.id).where(sa.not_(visible)))
    columns = [shown.c[name] for name in ("id", "vrf_id", "network", "prefix_length")]
    # Without constants: by a constant VRF, PostgreSQL would compare all prefixes of the VRF with each of these while it
    # has no statistics of the table.
    same = [shown.c[name] == first.c[name] for name in ("ip_version", "network", "prefix_length")]
    if owner.scope == IN_VRF:
        same.append(shown.c.vrf_id == first.c.vrf_id)
    elif owner.scope == GLOBAL:
        same.append(sa.case((shown.c.vrf_id.is_(None), 1), else_=0) == sa.literal_column("1"))
    rows = sa.select(key, *columns, sa.true().label("visible"), _is_parent(owner, shown, limits).label("parent"))
    both = seen.join(first, first.c.id == seen.c.id).join(shown, sa.and_(*same))
    selects.append(rows.select_from(both).where(*limits(shown)))
    return selects


def _chain(owner: Owner, name: str, most: int, limits: Limits = lambda table: ()) -> Any:
    """Recursive CTE of the ids of the first direct children, one of each network."""

    def first(table: Any, *conditions: Any, low: int | None = None) -> Any:
        inside = [*within(owner, table, low, owner.high), table.c.prefix_length > owner.prefix_length, *limits(table)]
        found = sa.select(table.c.id).where(*inside, *conditions).order_by(*in_order(owner.scope, table))
        return found.limit(inlined_int("one", 1))

    last, following = _table.alias(), _table.alias()
    start = first(_table, low=owner.low).scalar_subquery().label("id")
    chain = sa.select(start, sa.literal_column("1").label("number")).cte(name, recursive=True)
    behind = first(following, following.c.network > last.c.broadcast).correlate(last).scalar_subquery()
    step = sa.select(behind, chain.c.number + sa.literal_column("1")).join_from(chain, last, last.c.id == chain.c.id)
    return chain.union_all(step.where(chain.c.number < inlined_int("most", most)))


def _is_parent(owner: Owner, table: Any, limits: Limits) -> Any:
    """The condition that the user may view a prefix within one of a table, in its VRF."""
    inner = _table.alias()
    inside = [
        inner.c.ip_version == owner.ip_version,
        inner.c.network >= table.c.network,
        inner.c.network <= table.c.broadcast,
        inner.c.prefix_length > table.c.prefix_length,
        *limits(inner),
    ]
    in_vrf = sa.exists().where(inner.c.vrf_id == table.c.vrf_id, *inside)
    in_no_vrf = sa.exists().where(inner.c.vrf_id.is_(None), *inside)
    return sa.case((table.c.vrf_id.is_(None), in_no_vrf), else_=in_vrf)


def _batch(number: int, found: FirstChildren, limits: Limits, size: int) -> Any:
    """SELECT of the next rows within an owner, in the order of the index."""
    owner = found.owner
    visible = sa.and_(sa.true(), *limits(_table)).label("visible")
    columns = [_table.c[name] for name in ("id", "vrf_id", "network", "prefix_length")]
    key: Any = sa.literal_column(str(number)).label("owner")
    parent = sa.false().label("parent")
    inside = [*within(owner, _table, found.start, owner.high), _table.c.prefix_length > owner.prefix_length]
    statement = sa.select(key, *columns, visible, parent).where(*inside)
    return statement.order_by(*in_order(owner.scope, _table)).limit(size).subquery().select()
