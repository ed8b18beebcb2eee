"""Space of a prefix that is taken: the ranges of the addresses or prefixes within it, in order.

They are read from the index by place, a batch at a time. The end of a long run of addresses is found by jumps.
"""

from __future__ import annotations

import dataclasses
import uuid
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import netaddr
import sqlalchemy as sa

from netinv_core.caches import lru_cache
from netinv_extras.statuses import Status
from netinv_ipam import networks
from netinv_ipam.addresses import IPAddress
from netinv_ipam.networks import BITS, packed
from netinv_ipam.prefixes import Prefix

if TYPE_CHECKING:
    from netinv_core.uow import UnitOfWork

Row = dict[str, Any]
Range = tuple[int, int]
TakenRow = Sequence[Any]  # the lowest address, packed, and the length of the prefix, None for a single address
CONTAINER = "container"
PIECE, LARGEST_PIECE = 100, 10_000
LONGEST_TAIL = 1000  # taken addresses before the last free one
GLOBAL, IN_VRF, EVERYWHERE = "global", "in a VRF", "everywhere"


@dataclasses.dataclass(frozen=True, eq=False)
class SpaceTaker:
    """Objects that take space: the rows of a model. ``low`` is the column of their lowest address.

    ``name`` is the member of their representations with the address or the network.
    """

    label: str
    name: str
    low: Any


ADDRESSES = SpaceTaker("ipam.ipaddress", "address", IPAddress.__table__.c.host)
NETWORKS = SpaceTaker("ipam.prefix", "prefix", Prefix.__table__.c.network)


@dataclasses.dataclass(frozen=True)
class Space:
    """Address space of a prefix, and the objects that take it: those of its VRF, or of every VRF for a global
    container.
    """

    what: SpaceTaker
    row: Row
    scope: str

    @property
    def version(self) -> int:
        """The IP version."""
        return int(self.row["ip_version"])

    @property
    def bounds(self) -> Range:
        """The lowest and the highest address."""
        return int.from_bytes(self.row["network"], "big"), int.from_bytes(self.row["broadcast"], "big")

    @property
    def values(self) -> dict[str, Any]:
        """The parameters of the condition for what takes the space."""
        values = {"ip_version": self.version, "broadcast": self.row["broadcast"]}
        if self.what is NETWORKS:
            values["prefix_length"] = self.row["prefix_length"]
        return values | ({"vrf_id": self.row["vrf_id"]} if self.scope == IN_VRF else {})

    def values_from(self, start: int) -> dict[str, Any]:
        """The parameters of the SELECTs of what is taken from an address on."""
        return {**self.values, "start": packed(start, self.version)}


def space_of(uow: UnitOfWork, row: Row, what: SpaceTaker) -> Space:
    """The address space of a prefix."""
    is_container = row["vrf_id"] is None and row["status_id"] in container_statuses(uow)
    return Space(what, row, scope_of(row["vrf_id"], is_container=is_container))


def scope_of(vrf: Any, *, is_container: bool) -> str:
    """The scope of the children of a prefix: its VRF; every VRF for a container in the global table."""
    if vrf is not None:
        return IN_VRF
    return EVERYWHERE if is_container else GLOBAL


def shown_scope(prefix: Mapping[str, Any]) -> str:
    """:func:`scope_of` for the representation of a prefix."""
    return scope_of(prefix["vrf"], is_container=prefix["status"]["value"] == CONTAINER)


def children(prefix: Mapping[str, Any], what: SpaceTaker) -> Any:
    """Condition for the children of a prefix, given its representation: what takes space of it."""
    network = networks.parse(str(prefix["prefix"]))
    row = {
        "ip_version": network.version,
        "network": networks.first(network),
        "broadcast": networks.last(network),
        "prefix_length": network.prefixlen,
        "vrf_id": prefix["vrf"] and prefix["vrf"]["id"],
    }
    space = Space(what, row, shown_scope(prefix))
    condition = sa.and_(_inside(what, space.scope), what.low >= sa.bindparam("start"))
    return condition.params(space.values_from(space.bounds[0]))


def child_filters(prefix: Mapping[str, Any], parameter: str, network: str) -> dict[str, str]:
    """The filters of a list for the children of a prefix, given its representation, in one of its networks.

    :param parameter: the filter by a network, such as ``within``
    """
    if shown_scope(prefix) == EVERYWHERE:
        return {parameter: network}
    return {parameter: network, "vrf_id": str(prefix["vrf"]["id"]) if prefix["vrf"] else "null"}


def container_statuses(uow: UnitOfWork) -> frozenset[uuid.UUID]:
    """The ids of the statuses that make a prefix a container."""
    statuses: frozenset[uuid.UUID] = uow.cached_config("containers", _container_statuses)
    return statuses


def _container_statuses(uow: UnitOfWork) -> frozenset[uuid.UUID]:
    status = Status.__table__
    return frozenset(uow.execute(sa.select(status.c.id).where(status.c.slug == CONTAINER)).scalars())


def _inside(what: SpaceTaker, scope: str) -> Any:
    """Condition for what takes space of a prefix."""
    table = what.low.table
    conditions = [table.c.ip_version == sa.bindparam("ip_version"), what.low <= sa.bindparam("broadcast")]
    if scope != EVERYWHERE:
        is_here = table.c.vrf_id == sa.bindparam("vrf_id") if scope == IN_VRF else table.c.vrf_id.is_(None)
        conditions.append(is_here)
    if what is NETWORKS:
        conditions.append(table.c.prefix_length > sa.bindparam("prefix_length"))
    return sa.and_(*conditions)


@lru_cache("SQL statements", 32)
def taken_from(what: SpaceTaker, scope: str) -> sa.Select[Any]:
    """SELECT of what takes space of a prefix from the address ``start`` on, in order: the lowest addresses, and the
    length of the largest prefix that begins there.
    """
    table = what.low.table
    length = sa.func.min(table.c.prefix_length) if what is NETWORKS else sa.null()
    # The order by VRF and version, of which there is one, is that of the index: PostgreSQL would sort all rows.
    order = (*(() if scope == EVERYWHERE else (table.c.vrf_id,)), table.c.ip_version, what.low)
    statement = sa.select(what.low.label("low"), length.label("length")).where(_inside(what, scope))
    return statement.where(what.low >= sa.bindparam("start")).group_by(*order).order_by(*order)


@lru_cache("SQL statements", 32)
def batch_from(what: SpaceTaker, scope: str) -> sa.Select[Any]:
    """SELECT of the first ``size`` of :func:`taken_from`."""
    return taken_from(what, scope).limit(sa.bindparam("size", type_=sa.Integer()))


@lru_cache("SQL statements", 32)
def _one(what: SpaceTaker, scope: str) -> Any:
    """SELECT of one of :func:`taken_from`, after ``passed`` others."""
    return taken_from(what, scope).offset(sa.bindparam("passed", type_=sa.Integer())).limit(1)


def walk(uow: UnitOfWork, space: Space, start: int, batch: Sequence[TakenRow] | None = None) -> Iterator[Range]:
    """The taken ranges of a prefix from an address on, in order.

    One SELECT for each batch of rows; batches grow from ``PIECE`` to ``LARGEST_PIECE`` rows. Rows inside a range that
    was already returned are skipped. A batch of addresses without a gap is a run: :func:`_after_run` finds its end.

    :param batch: the first batch of ``PIECE`` rows, when it is read already
    """
    what, version, position = space.what, space.version, start
    if what is NETWORKS and start > space.bounds[0]:
        position = _after_network(uow, space, start)
        yield start, position - 1
    size = PIECE
    while position < 1 << BITS[version]:
        batch_start = position
        if batch is None:
            values = {**space.values_from(position), "size": size}
            batch = uow.execute(batch_from(what, space.scope), values).tuples().all()
        for low, length in batch:
            first = int.from_bytes(low, "big")
            end = first if length is None else first + (1 << (BITS[version] - length)) - 1
            if end >= position:
                yield max(first, position), end
                position = end + 1
        if len(batch) < size:
            return
        if what is ADDRESSES and position == batch_start + size:
            run_start, position = position, _after_run(uow, space, position, size)
            yield run_start, position - 1
        size, batch = min(size * 4, LARGEST_PIECE), None


def last_gap(uow: UnitOfWork, space: Space, bounds: Range) -> int | None:
    """The highest address within the bounds that is not taken; ``None`` if there is none above the last
    ``LONGEST_TAIL`` that are. Takes one statement.
    """
    table, low = space.what.low.table, space.what.low
    statement = sa.select(low).where(
        _inside(space.what, space.scope), low.between(*[packed(edge, space.version) for edge in bounds])
    )
    order = [column.desc() for column in (table.c.ip_version, low)]
    rows = uow.execute(statement.order_by(*order).limit(LONGEST_TAIL), space.values).scalars().all()
    position = bounds[1]
    for row in rows:
        number = int.from_bytes(row, "big")
        if number < position:
            return position
        position = min(position, number - 1)
    return position if len(rows) < LONGEST_TAIL and position >= bounds[0] else None


def _after_network(uow: UnitOfWork, space: Space, position: int) -> int:
    """The first address from ``position`` on that is not within a network that begins before it."""
    here = netaddr.IPNetwork((position, BITS[space.version]), space.version)
    around = sa.and_(_inside(NETWORKS, space.scope), networks.containing(NETWORKS.low.table, here))
    high = NETWORKS.low.table.c.broadcast
    statement = sa.select(high).where(around).order_by(high.desc()).limit(1)
    last = uow.execute(statement, space.values).scalar()
    return position if last is None else int.from_bytes(last, "big") + 1


def _after_run(uow: UnitOfWork, space: Space, position: int, step: int) -> int:
    """The first free address from ``position`` on, after a run of taken addresses.

    Galloping search: the step doubles while the run goes on, then halves. Each step is a SELECT with OFFSET: if all
    addresses are taken, the n-th taken address from ``position`` on is ``position + n - 1``.
    """
    growing, one = True, _one(space.what, space.scope)
    while step and position < 1 << BITS[space.version]:
        rows = uow.execute(one, {**space.values_from(position), "passed": step - 1}).tuples().all()
        if rows and int.from_bytes(rows[0][0], "big") == position + step - 1:
            position += step
        else:
            growing = False
        step = step * 2 if growing else step // 2
    return position
