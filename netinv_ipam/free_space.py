"""Free space of a prefix: the gaps between the taken addresses or prefixes.

These are read in order, a batch at a time. The search stops as soon as it has enough: neither the address space nor all
taken objects are ever listed.
"""

from __future__ import annotations

import dataclasses
import itertools
import uuid
from collections.abc import Iterator, Sequence
from typing import Any

import netaddr
import sqlalchemy as sa

from netinv_core.uow import UnitOfWork
from netinv_extras.statuses import Status
from netinv_ipam import networks
from netinv_ipam.addresses import IPAddress
from netinv_ipam.full_ranges import Range, Run, brought_up_to_date, last_number, runs_of
from netinv_ipam.networks import BITS, address_text, packed
from netinv_ipam.prefixes import Prefix

Row = dict[str, Any]
Block = tuple[int, int]  # lowest address, prefix length
CONTAINER = "container"
PIECE, LARGEST_PIECE = 100, 10_000


@dataclasses.dataclass(frozen=True, eq=False)
class _Taken:
    """Objects that take space: the rows of a model, from the column ``low`` to the column ``high``.

    ``name`` is the member of their representations with the address or the network.
    """

    label: str
    name: str
    low: Any
    high: Any


ADDRESSES = _Taken("ipam.ipaddress", "address", IPAddress.__table__.c.host, IPAddress.__table__.c.host)
NETWORKS = _Taken("ipam.prefix", "prefix", Prefix.__table__.c.network, Prefix.__table__.c.broadcast)


def _bounds(row: Row) -> Range:
    """The lowest and the highest address of a prefix."""
    return int.from_bytes(row["network"], "big"), int.from_bytes(row["broadcast"], "big")


def usable(row: Row) -> Range:
    """The lowest and the highest address of a prefix that hosts may have.

    The first and last address of an IPv4 network are reserved (RFC 1122), unless it is a pool, a point-to-point link
    (RFC 3021) or a single host.
    """
    lowest, highest = _bounds(row)
    whole = row["ip_version"] == 6 or row["is_pool"] or row["prefix_length"] >= 31
    return (lowest, highest) if whole else (lowest + 1, highest - 1)


def _neighbours(uow: UnitOfWork, row: Row, table: Any) -> Any:
    """Condition for the objects in the address space of the prefix: its VRF, or every VRF for a global container."""
    if row["vrf_id"] is not None:
        return table.c.vrf_id == row["vrf_id"]
    return sa.true() if _is_container(uow, row) else table.c.vrf_id.is_(None)


def _is_container(uow: UnitOfWork, row: Row) -> bool:
    return row["status_id"] in uow.cached_config("container statuses", _container_statuses)


def _container_statuses(uow: UnitOfWork) -> frozenset[uuid.UUID]:
    """The ids of the statuses that make a prefix a container."""
    status = Status.__table__
    return frozenset(uow.execute(sa.select(status.c.id).where(status.c.slug == CONTAINER)).scalars())


def _walk(uow: UnitOfWork, row: Row, what: _Taken, start: int) -> Iterator[Range]:
    """The taken ranges of a prefix from an address on, in order.

    One SELECT for each batch of rows; batches grow from ``PIECE`` to ``LARGEST_PIECE`` rows. Rows inside a range that
    was already returned are skipped. A batch of addresses without a gap is a run: :func:`_after_run` finds its end.
    """
    version, low, position = row["ip_version"], what.low, start
    statement = sa.select(low, what.high.label("end")).distinct().where(_inside(uow, row, what))
    statement = statement.order_by(low, what.high.desc())
    if what is NETWORKS and start > _bounds(row)[0]:
        position = _after_network(uow, row, start)
        yield start, position - 1
    size = PIECE
    while position < 1 << BITS[version]:
        batch_start = position
        rows = uow.execute(statement.where(low >= packed(position, version)).limit(size)).all()
        for lowest, highest in rows:
            first, end = int.from_bytes(lowest, "big"), int.from_bytes(highest, "big")
            if end >= position:
                yield max(first, position), end
                position = end + 1
        if len(rows) < size:
            return
        if what is ADDRESSES and position == batch_start + size:
            run_start, position = position, _after_run(uow, statement, position, size, version)
            yield run_start, position - 1
        size = min(size * 4, LARGEST_PIECE)


def _inside(uow: UnitOfWork, row: Row, what: _Taken) -> Any:
    """Condition for what takes space of a prefix."""
    table = what.low.table
    conditions = [table.c.ip_version == row["ip_version"], what.low <= row["broadcast"], _neighbours(uow, row, table)]
    if what is NETWORKS:
        conditions.append(table.c.prefix_length > row["prefix_length"])
    return sa.and_(*conditions)


def _after_network(uow: UnitOfWork, row: Row, position: int) -> int:
    """The first address from ``position`` on that is not within a network that begins before it."""
    version = row["ip_version"]
    here = netaddr.IPNetwork((position, BITS[version]), version)
    around = sa.and_(_inside(uow, row, NETWORKS), networks.containing(NETWORKS.low.table, here))
    last = uow.execute(sa.select(NETWORKS.high).where(around).order_by(NETWORKS.high.desc()).limit(1)).scalar()
    return position if last is None else int.from_bytes(last, "big") + 1


def _after_run(uow: UnitOfWork, addresses: Any, position: int, step: int, version: int) -> int:
    """The first free address from ``position`` on, after a run of taken addresses.

    Galloping search: the step doubles while the run goes on, then halves. Each step is a SELECT with OFFSET: if all
    addresses are taken, the n-th taken address from ``position`` on is ``position + n - 1``.
    """
    growing = True
    while step and position < 1 << BITS[version]:
        low = addresses.selected_columns[0]
        last_of_step = addresses.where(low >= packed(position, version)).offset(step - 1).limit(1)
        taken = uow.execute(last_of_step).first()
        if taken is not None and int.from_bytes(taken[0], "big") == position + step - 1:
            position += step
        else:
            growing = False
        step = step * 2 if growing else step // 2
    return position


def gaps(bounds: Range, taken: Iterator[Range]) -> Iterator[Range]:
    """The ranges within the bounds that are not taken, in order; ``taken`` must be in order."""
    position, highest = bounds
    for start, end in taken:
        if start > highest:
            break
        if start > position:
            yield position, start - 1
        position = max(position, end + 1)
    if position <= highest:
        yield position, highest


def _free(uow: UnitOfWork, row: Row, bounds: Range, what: _Taken) -> Iterator[Range]:
    """The free ranges within the bounds in order.

    A long run of taken addresses at the beginning, once read, is not read again: :mod:`netinv_ipam.full_ranges`.
    """
    lowest, highest = bounds
    if uow.change_set.pending:  # which others may never see
        yield from gaps(bounds, _walk(uow, row, what, lowest))
        return
    runs, version = runs_of(uow.registry), row["ip_version"]
    key = what.label, version, row["vrf_id"] or _is_container(uow, row), bounds
    run = runs.get(key)
    if run is not None:
        run = brought_up_to_date(uow, run, lowest, version, what.label, what.name)
    if run is None:
        runs.forget(key)
        taken, run = _begun(uow, row, what, lowest)
    else:
        runs.set(key, run)
        for low, high in run.left:
            if high >= run.end - 1:  # free space goes on behind the run
                run = dataclasses.replace(run, end=low)
                break
            free = gaps((low, high), _walk(uow, row, what, low))
            first_gap = next(free, None)
            if first_gap is None:
                run = dataclasses.replace(run, left=tuple(item for item in run.left if item[0] != low))
                runs.set(key, run)
            else:
                yield first_gap
                yield from free
        taken = _walk(uow, row, what, run.end)
    for gap in gaps((run.end if run else lowest, highest), taken):
        if run is not None and gap[0] >= run.end:
            runs.set(key, Run(gap[0], run.number, tuple(item for item in run.left if item[0] < gap[0])))
            run = None
        yield gap
    if run is not None:
        runs.set(key, Run(highest + 1, run.number, run.left))


def _begun(uow: UnitOfWork, row: Row, what: _Taken, lowest: int) -> tuple[Iterator[Range], Run | None]:
    """The taken ranges of a prefix, and when many without a gap begin it, an empty run to be extended to their end."""
    taken, seen, position = _walk(uow, row, what, lowest), list[Range](), lowest
    for start, end in taken:
        seen.append((start, end))
        if start > position:
            break
        position = max(position, end + 1)
        if len(seen) >= PIECE:
            number = last_number(uow)  # before all that is read from now on
            return _walk(uow, row, what, lowest), Run(lowest, number)
    return itertools.chain(seen, taken), None


def free_addresses(uow: UnitOfWork, row: Row) -> Iterator[str]:
    """The free addresses of a prefix in order, written with its prefix length: ``10.0.0.5/24``."""
    for start, end in _free(uow, row, usable(row), ADDRESSES):
        for number in range(start, end + 1):
            yield f"{address_text(packed(number, row['ip_version']))}/{row['prefix_length']}"


def blocks(start: int, end: int, version: int) -> Iterator[Block]:
    """The fewest networks that cover exactly the range from ``start`` to ``end``, in order (RFC 4632)."""
    while start <= end:
        aligned = (start & -start).bit_length() - 1 if start else BITS[version]
        size = min(aligned, (end - start + 1).bit_length() - 1)
        yield start, BITS[version] - size
        start += 1 << size


def free_blocks(uow: UnitOfWork, row: Row) -> Iterator[Block]:
    """The free networks of a prefix in order, each as large as possible."""
    for start, end in _free(uow, row, _bounds(row), NETWORKS):
        yield from blocks(start, end, row["ip_version"])


def cut(free: Iterator[Block], lengths: Sequence[int], version: int) -> list[Block] | None:
    """Networks of the given prefix lengths, each from the first free block that is large enough (first fit).

    Returns ``None`` when one does not fit. Blocks are taken from ``free`` only as far as needed.
    """
    remaining: list[Block] = []
    networks_cut: list[Block] = []
    for length in lengths:
        index = next((i for i, (_, block_length) in enumerate(remaining) if 0 <= block_length <= length), None)
        while index is None:
            block = next(free, None)
            if block is None:
                return None
            remaining.append(block)
            index = len(remaining) - 1 if block[1] <= length else None
        start, block_length = remaining[index]
        end = start + (1 << (BITS[version] - block_length)) - 1
        networks_cut.append((start, length))
        remaining[index : index + 1] = blocks(start + (1 << (BITS[version] - length)), end, version)
    return networks_cut


def network_text(block: Block, version: int) -> str:
    """A block as text: ``10.0.0.0/24``."""
    return f"{address_text(packed(block[0], version))}/{block[1]}"
