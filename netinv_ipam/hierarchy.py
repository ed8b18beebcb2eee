"""Direct children of prefixes, those that no other child contains: their numbers.

Networks contain each other or are apart. So in the order of an index, a prefix that begins behind the end of all before
it is a direct child. A window function tells the ends, so the database counts direct children, however many prefixes
are below them. On MariaDB its time grows with the square of the rows: 10 seconds for 20,000. There all rows of a range
are read. The ranges are constants of the statement, because MariaDB reads a whole VRF for each row of a join that
compares networks with other rows.
"""

from __future__ import annotations

import dataclasses
import itertools
import operator
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from netinv_core.auth import permissions
from netinv_core.db.expressions import in_parameter, sortable_bytes
from netinv_ipam.networks import BITS, packed
from netinv_ipam.prefixes import Prefix
from netinv_ipam.taken_space import EVERYWHERE, GLOBAL, IN_VRF, container_statuses

if TYPE_CHECKING:
    from netinv_core.uow import UnitOfWork

SCOPES = (GLOBAL, IN_VRF, EVERYWHERE)
MAX_RANGES = 400  # of one statement: SQLite combines at most 500
Limits = Callable[[Any], Sequence[Any]]  # conditions on an alias of the table of prefixes

_table: Any = Prefix.__table__


def visible_prefixes(uow: UnitOfWork) -> Limits:
    """The conditions for prefixes that the user may view."""
    endpoint = uow.registry.of_model(Prefix)
    return lambda table: permissions.visible(uow, endpoint, table)


def owners_of(uow: UnitOfWork, *conditions: Any) -> Any:
    """SELECT of prefixes as owners of children, with the number of their scope in :data:`SCOPES`."""
    containers = container_statuses(uow)
    scope = sa.case(
        (_table.c.vrf_id.is_not(None), SCOPES.index(IN_VRF)),
        (_table.c.status_id.in_(containers), SCOPES.index(EVERYWHERE)),
        else_=SCOPES.index(GLOBAL),
    )
    columns = [_table.c[name] for name in ("id", "ip_version", "network", "broadcast", "prefix_length", "vrf_id")]
    return sa.select(*columns, scope.label("scope")).where(*conditions)


def by_keys(uow: UnitOfWork, keys: Sequence[Any]) -> Any:
    """:func:`owners_of` the prefixes with these ids."""
    clause = in_parameter(_table.c.id)
    return owners_of(uow, clause.params(keys=list(keys)))


@dataclasses.dataclass(frozen=True)
class Owner:
    """Address space that children are in: that of a prefix, or a whole one, whose ``prefix_length`` is -1."""

    key: Any
    ip_version: int
    low: int
    high: int
    prefix_length: int
    vrf_id: Any
    scope: str

    @classmethod
    def of(cls, row: Any, scope: str) -> Owner:
        """The space of a row with packed addresses."""
        low, high = (int.from_bytes(edge, "big") for edge in (row.network, row.broadcast))
        return cls(row.id, row.ip_version, low, high, row.prefix_length, getattr(row, "vrf_id", None), scope)

    @property
    def place(self) -> tuple[int, str, Any]:
        """IP version, scope and VRF: the ranges of owners with the same ones can be compared."""
        return self.ip_version, self.scope, self.vrf_id if self.scope == IN_VRF else None

    @classmethod
    def whole(cls, version: int, key: Any, vrf_id: Any) -> Owner:
        """The whole address space of a version, in a VRF or in the global table."""
        return cls(key, version, 0, (1 << BITS[version]) - 1, -1, vrf_id, IN_VRF if vrf_id else GLOBAL)


def owners_by_keys(uow: UnitOfWork, keys: Sequence[Any]) -> list[Owner]:
    """The prefixes with these ids as owners: one statement."""
    return [Owner.of(row, SCOPES[row.scope]) for row in uow.execute(by_keys(uow, keys))]


def within(owner: Owner, table: Any, low: int | None, high: int) -> list[Any]:
    """Conditions for the prefixes of a table that begin in a range of the space of an owner, with constants only.

    :param low: ``None`` where another condition says where the range begins
    """
    found = [table.c.ip_version == owner.ip_version, table.c.network <= packed(high, owner.ip_version)]
    if low is not None:
        found.append(table.c.network >= packed(low, owner.ip_version))
    if owner.scope != EVERYWHERE:
        found.append(table.c.vrf_id == owner.vrf_id if owner.scope == IN_VRF else table.c.vrf_id.is_(None))
    return found


def in_order(scope: str, table: Any) -> list[Any]:
    """The columns of the index that serves a scope; those that are constant, as PostgreSQL would sort all rows."""
    order = [table.c.ip_version, table.c.network, table.c.prefix_length]
    return order if scope == EVERYWHERE else [table.c.vrf_id, *order]


def _begins_behind(order: Sequence[Any], **window: Any) -> Any:
    """The condition that a prefix is in none of those before it."""
    before = sa.func.max(sortable_bytes(_table.c.broadcast)).over(order_by=order, rows=(None, -1), **window)
    return sa.func.coalesce(before < sortable_bytes(_table.c.network), sa.true())


def lengths_of(
    uow: UnitOfWork, owners: Iterable[Owner], limits: Limits, *, equal: bool = False
) -> dict[Any, dict[int, int]]:
    """The numbers of direct children of each owner by their prefix length. Takes one statement for 400 owners.

    :param equal: a prefix as large as the owner is a child as well
    """
    if not uow.registry.driver.has_linear_frames:
        return _lengths_of_rows(uow, owners, limits, equal=equal)
    found, lengths = list(owners), dict[Any, dict[int, int]]()
    nothing = sa.select(sa.literal_column("0"), _table.c.prefix_length, sa.literal_column("0")).where(sa.false())
    for start in range(0, max(len(found), 1), MAX_RANGES):  # one without owners: the data do not tell how many
        part = found[start : start + MAX_RANGES]
        selects = [_lengths(number, owner, limits, equal=equal) for number, owner in enumerate(part)]
        for number, length, count in uow.execute(sa.union_all(*selects or [nothing])).tuples():
            lengths.setdefault(part[number].key, {})[length] = count
    return lengths


def _lengths(number: int, owner: Owner, limits: Limits, *, equal: bool) -> Any:
    """SELECT of the numbers of an owner's direct children by prefix length."""
    smaller = _table.c.prefix_length >= owner.prefix_length + (0 if equal else 1)
    child = _begins_behind(in_order(owner.scope, _table)).label("child")
    inside = [*within(owner, _table, owner.low, owner.high), smaller, *limits(_table)]
    rows = sa.select(_table.c.prefix_length, child).where(*inside).subquery()
    statement = sa.select(sa.literal_column(str(number)).label("owner"), rows.c.prefix_length, sa.func.count())
    return statement.where(rows.c.child).group_by(rows.c.prefix_length)


def _lengths_of_rows(
    uow: UnitOfWork, owners: Iterable[Owner], limits: Limits, *, equal: bool
) -> dict[Any, dict[int, int]]:
    """:func:`lengths_of` from all prefixes within the owners, those within several of them read once."""
    places: dict[Any, list[Owner]] = {}
    for owner in sorted(owners, key=lambda owner: (owner.low, owner.prefix_length)):
        places.setdefault(owner.place, []).append(owner)
    ranges = [(place, outer) for place, found in places.items() for outer in _outermost(found)]
    rows: dict[Any, list[tuple[bytes, int]]] = {}
    numbers = {place: number for number, place in enumerate(places)}
    for start in range(0, max(len(ranges), 1), MAX_RANGES):  # one without owners: the data do not tell how many
        selects = [
            sa.select(
                sa.literal_column(str(numbers[place])).label("place"), _table.c.network, _table.c.prefix_length
            ).where(*within(outer, _table, outer.low, outer.high), *limits(_table))
            for place, outer in ranges[start : start + MAX_RANGES]
        ]
        nothing = sa.select(sa.literal_column("0"), _table.c.network, _table.c.prefix_length).where(sa.false())
        for number, network, length in uow.execute(sa.union_all(*selects or [nothing])).tuples():
            rows.setdefault(number, []).append((network, length))
    lengths: dict[Any, dict[int, int]] = {}
    for place, found in places.items():
        _count(found, sorted(rows.get(numbers[place], ())), lengths, equal=equal)
    return lengths


def _outermost(owners: Iterable[Owner]) -> Iterator[Owner]:
    """The owners that no other one contains, given in order."""
    end = -1
    for owner in owners:
        if owner.low > end:
            end = owner.high
            yield owner


def _count(owners: Sequence[Owner], rows: Sequence[tuple[bytes, int]], lengths: Any, *, equal: bool) -> None:
    """Adds the numbers of direct children; owners and rows are in order and of one place."""
    waiting, around = list(reversed(owners)), list[Owner]()
    ends: dict[Any, int] = {}
    for network, length in rows:
        low = int.from_bytes(network, "big")
        while waiting and waiting[-1].low <= low:
            around.append(waiting.pop())
        around = [owner for owner in around if owner.high >= low]
        for owner in around:
            inside = length >= owner.prefix_length if equal else length > owner.prefix_length
            if inside and low > ends.get(owner.key, -1):
                ends[owner.key] = low + (1 << (BITS[owner.ip_version] - length)) - 1
                numbers = lengths.setdefault(owner.key, {})
                numbers[length] = numbers.get(length, 0) + 1


def space_taken(lengths: Mapping[int, int], bits: int) -> int:
    """The number of addresses of children that are apart, given their numbers by prefix length."""
    return sum(count << (bits - length) for length, count in lengths.items())


def top_prefixes(uow: UnitOfWork, vrf_ids: Sequence[Any]) -> list[tuple[Any, Any, int]]:
    """The ids of VRFs and of their prefixes that no other one contains, with their IP versions. Takes one statement."""
    conditions = [in_parameter(_table.c.vrf_id), *visible_prefixes(uow)(_table)]
    values = {"keys": list(vrf_ids)}
    if not uow.registry.driver.has_linear_frames:
        columns = [_table.c[name] for name in ("vrf_id", "ip_version", "network", "prefix_length", "id")]
        return _tops(uow.execute(sa.select(*columns).where(*conditions), values).tuples())
    place, order = [_table.c.vrf_id, _table.c.ip_version], [_table.c.network, _table.c.prefix_length, _table.c.id]
    top = _begins_behind(order, partition_by=place).label("top")
    found = sa.select(_table.c.vrf_id, _table.c.id, _table.c.ip_version, top).where(*conditions).subquery()
    statement = sa.select(found.c.vrf_id, found.c.id, found.c.ip_version).where(found.c.top)
    return list(uow.execute(statement, values).tuples())


def _tops(rows: Iterable[Any]) -> list[tuple[Any, Any, int]]:
    """:func:`top_prefixes` of rows."""
    tops = []
    for (vrf_id, version), found in itertools.groupby(sorted(rows), key=operator.itemgetter(0, 1)):
        end = -1
        for _, _, network, length, key in found:
            low = int.from_bytes(network, "big")
            if low > end:
                end = low + (1 << (BITS[version] - length)) - 1
                tops.append((vrf_id, key, version))
    return tops
