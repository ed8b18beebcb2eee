"""Plan that splits a prefix into networks of one length, which become its children."""

from __future__ import annotations

import collections
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import netaddr
import sqlalchemy as sa

from netinv_core.errors import Invalid, named_errors
from netinv_core.models.base import table_of
from netinv_core.write import save
from netinv_ipam.networks import BITS, parse, within
from netinv_ipam.prefixes import USUAL_STATUS, Prefix
from netinv_ipam.reshaping import (
    INHERITED,
    Item,
    Line,
    PrefixContents,
    ReshapingPlan,
    contents_of,
    name_items,
    same_vrf,
    with_noun,
)
from netinv_ipam.taken_space import CONTAINER

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.uow import UnitOfWork

MAX_BITS = 8  # 256 networks


def lengths(item: Item) -> Sequence[int]:
    """The lengths that a prefix can be split into."""
    network = parse(str(item["prefix"]))
    return range(network.prefixlen + 1, min(network.prefixlen + MAX_BITS, BITS[network.version]) + 1)


def workable(uow: UnitOfWork, endpoint: Endpoint, item: Item) -> Sequence[int]:
    """The lengths of which not all parts exist: one statement."""
    network, table = parse(str(item["prefix"])), table_of(Prefix)
    if not lengths(item):
        return []
    inside = sa.and_(same_vrf(table, item), within(table, network), table.c.prefix_length.in_(lengths(item)))
    parts = sa.select(table.c.prefix_length, table.c.network).where(inside).distinct().limit(2 << MAX_BITS)
    numbers = collections.Counter(length for length, _ in uow.execute(parts).tuples())
    return [length for length in lengths(item) if numbers[length] < 1 << (length - network.prefixlen)]


def plan(uow: UnitOfWork, endpoint: Endpoint, item: Item, length: int) -> ReshapingPlan:
    """The plan, with what falls where: two statements."""
    network = parse(str(item["prefix"]))
    contents = contents_of(uow, endpoint, item, network)
    existing = {found.network: found for found in contents.prefixes if found.network.prefixlen == length}
    parts = list(network.subnet(length))
    new = [part for part in parts if part not in existing]
    lines = []
    for part in parts:
        found = existing.get(part)
        key = found.key if found is not None and found.visible else None
        lines.append(Line(str(part), "new" if found is None else "exists", key, *contents.within(part)))
    result = ReshapingPlan(lines, lambda writing: _apply(writing, endpoint, item, new))
    if not new:
        result.problems.append(f"Every /{length} of {network} exists already.")
    result.notes += _notes(item, contents, new)
    return result


def _notes(item: Item, contents: PrefixContents, new: Sequence[netaddr.IPNetwork]) -> list[str]:
    shared = [name for name in INHERITED if item[name]]
    names = " and ".join(filter(None, [", ".join(["the VRF", *shared[:-1]]), *shared[-1:]]))
    notes = [f"The new prefixes get {names} of {item['prefix']}, and the status Active."]
    if item["status"]["value"] != CONTAINER:
        notes.append(f"{item['prefix']} becomes a container.")
    notes.append("Addresses and prefixes stay as they are; addresses keep their mask.")
    if new and new[0].version == 4 and new[0].prefixlen < 31:
        numbers = set(contents.addresses)
        edges = [edge for part in new for edge in (part.first, part.last) if edge in numbers]
        if edges:
            texts = [netaddr.IPAddress(edge) for edge in edges]
            notes.append(f"Network or broadcast address of a new prefix would be: {name_items(texts)}.")
    if contents.is_cut:
        notes.append("There is more in the prefix than was counted.")
    return notes


def _apply(uow: UnitOfWork, endpoint: Endpoint, item: Item, new: Sequence[netaddr.IPNetwork]) -> tuple[str, Any]:
    """Creates the networks, and makes the prefix a container."""
    key = endpoint.parse_key(str(item["id"]))
    fields = {name: str(item[name]["id"]) for name in (*INHERITED, "vrf") if item[name]}
    bodies = [{"prefix": str(part), "status": USUAL_STATUS, **fields} for part in new]
    try:
        save.create(uow, endpoint, bodies)
    except Invalid as error:
        if not error.object_errors:
            raise
        named = zip((f"Prefix {part}" for part in new), error.object_errors, strict=True)
        raise Invalid.whole(*named_errors(named)) from error
    if item["status"]["value"] != CONTAINER:
        save.update(uow, endpoint, [{"id": str(key), "status": CONTAINER}], partial=True, single=True)
    return f"{item['prefix']} was split: {with_noun(len(new), 'new prefix', 'new prefixes')}.", key
