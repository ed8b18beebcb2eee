"""Free space of a prefix: the gaps between the taken addresses or prefixes.

These are read in order, a batch at a time. The search stops as soon as it has enough: neither the address space nor all
taken objects are ever listed.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from netinv_ipam import taken_space
from netinv_ipam.full_ranges import FullRun, brought_up_to_date, last_number, memory_of
from netinv_ipam.networks import BITS, address_text, packed
from netinv_ipam.taken_space import ADDRESSES, NETWORKS, Range, Row, Space, space_of, walk

if TYPE_CHECKING:
    from netinv_core.uow import UnitOfWork

Block = tuple[int, int]  # lowest address, prefix length


def usable(space: Space) -> Range:
    """The lowest and the highest address of a prefix that hosts may have.

    The first and last address of an IPv4 network are reserved (RFC 1122), unless it is a pool, a point-to-point link
    (RFC 3021) or a single host.
    """
    lowest, highest = space.bounds
    row = space.row
    whole = row["ip_version"] == 6 or row["is_pool"] or row["prefix_length"] >= 31
    return (lowest, highest) if whole else (lowest + 1, highest - 1)


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


def _free(uow: UnitOfWork, space: Space, bounds: Range) -> Iterator[Range]:
    """The free ranges within the bounds in order.

    A long run of taken addresses at the beginning, once read, is not read again: :mod:`netinv_ipam.full_ranges`.
    """
    lowest, highest = bounds
    if uow.change_set.pending:  # which others may never see
        yield from gaps(bounds, walk(uow, space, lowest))
        return
    runs, batch = memory_of(uow.registry).runs, None
    key = space.what.label, space.version, space.row["vrf_id"] or space.scope, bounds
    run = runs.get(key)
    if run is not None:
        run, batch = brought_up_to_date(uow, run, lowest, space)
    if run is None:
        runs.forget(key)
        taken, run = _begin_runs(uow, space, lowest)
    else:
        runs.set(key, run)
        for low, high in run.left:
            if high >= run.end - 1:  # free space goes on behind the run
                run, batch = dataclasses.replace(run, end=low), None
                break
            free = gaps((low, high), walk(uow, space, low))
            first_gap = next(free, None)
            if first_gap is None:
                run = dataclasses.replace(run, left=tuple(item for item in run.left if item[0] != low))
                runs.set(key, run)
            else:
                yield first_gap
                yield from free
        taken = walk(uow, space, run.end, batch)
    for gap in gaps((run.end if run else lowest, highest), taken):
        if run is not None and gap[0] >= run.end:
            runs.set(key, FullRun(gap[0], run.number, tuple(item for item in run.left if item[0] < gap[0])))
            run = None
        yield gap
    if run is not None:
        runs.set(key, FullRun(highest + 1, run.number, run.left))


def _begin_runs(uow: UnitOfWork, space: Space, lowest: int) -> tuple[Iterator[Range], FullRun | None]:
    """The taken ranges of a prefix, and when many without a gap begin it, an empty run to be extended to their end."""
    taken, seen, position = walk(uow, space, lowest), list[Range](), lowest
    for start, end in taken:
        seen.append((start, end))
        if start > position:
            break
        position = max(position, end + 1)
        if len(seen) >= taken_space.PIECE:
            number = last_number(uow)  # before all that is read from now on
            return walk(uow, space, lowest), FullRun(lowest, number)
    return itertools.chain(seen, taken), None


def free_addresses(uow: UnitOfWork, row: Row) -> Iterator[str]:
    """The free addresses of a prefix in order, written with its prefix length: ``10.0.0.5/24``."""
    space = space_of(uow, row, ADDRESSES)
    for start, end in _free(uow, space, usable(space)):
        for number in range(start, end + 1):
            yield f"{address_text(packed(number, row['ip_version']))}/{row['prefix_length']}"


def free_addresses_in(uow: UnitOfWork, row: Row, bounds: Range) -> Iterator[str]:
    """The free addresses of a prefix from one address to another, as :func:`free_addresses`."""
    space = space_of(uow, row, ADDRESSES)
    lowest, highest = usable(space)
    within = max(lowest, bounds[0]), min(highest, bounds[1])
    for start, end in gaps(within, walk(uow, space, within[0])):
        for number in range(start, end + 1):
            yield f"{address_text(packed(number, row['ip_version']))}/{row['prefix_length']}"


def last_free_address(uow: UnitOfWork, row: Row) -> str | None:
    """The last free address of a prefix; ``None`` if none is, or many taken ones are behind it."""
    space = space_of(uow, row, ADDRESSES)
    number = taken_space.last_gap(uow, space, usable(space))
    return None if number is None else f"{address_text(packed(number, space.version))}/{row['prefix_length']}"


def blocks(start: int, end: int, version: int) -> Iterator[Block]:
    """The fewest networks that cover exactly the range from ``start`` to ``end``, in order (RFC 4632)."""
    while start <= end:
        aligned = (start & -start).bit_length() - 1 if start else BITS[version]
        size = min(aligned, (end - start + 1).bit_length() - 1)
        yield start, BITS[version] - size
        start += 1 << size


def free_blocks(uow: UnitOfWork, row: Row) -> Iterator[Block]:
    """The free networks of a prefix in order, each as large as possible."""
    space = space_of(uow, row, NETWORKS)
    for start, end in _free(uow, space, space.bounds):
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


def free_blocks_in(uow: UnitOfWork, row: Row, bounds: Range) -> Iterator[Block]:
    """The free networks of a prefix from one address to another, in order, each as large as possible."""
    space = space_of(uow, row, NETWORKS)
    for start, end in gaps(bounds, walk(uow, space, bounds[0])):
        yield from blocks(start, end, row["ip_version"])


def network_text(block: Block, version: int) -> str:
    """A block as text: ``10.0.0.0/24``."""
    return f"{address_text(packed(block[0], version))}/{block[1]}"
