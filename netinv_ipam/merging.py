"""Plan that merges a prefix with its siblings into the prefix that they make up together."""

from __future__ import annotations

import collections
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import netaddr
import sqlalchemy as sa

from netinv_core.auth import permissions
from netinv_core.labels import label_of
from netinv_core.models.base import table_of
from netinv_core.sql.plans import plan_of
from netinv_core.write import delete, save
from netinv_ipam.networks import parse, within
from netinv_ipam.prefixes import Prefix
from netinv_ipam.reshaping import (
    MAX_NAMED,
    MAX_READ,
    FoundPrefix,
    Item,
    Line,
    PrefixContents,
    ReshapingPlan,
    contents_of,
    name_items,
    same_vrf,
    with_noun,
)

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.uow import UnitOfWork

MAX_BITS = 8  # 256 siblings
COMPARED = ("role", "tenant", "site", "location", "vlan", "is_pool", "description")


def lengths(item: Item) -> Sequence[int]:
    """The lengths of the networks that a prefix can be merged into, the longest first."""
    length = parse(str(item["prefix"])).prefixlen
    return range(length - 1, max(length - MAX_BITS, 1) - 1, -1)


def workable(uow: UnitOfWork, endpoint: Endpoint, item: Item) -> Sequence[int]:
    """The lengths for which no sibling is missing, there twice, or hidden: one statement."""
    own, found = parse(str(item["prefix"])), list[int]()
    offered = lengths(item)
    if not offered:
        return found
    table, widest = table_of(Prefix), netaddr.IPNetwork((own.first, offered[-1]), own.version).cidr
    visible = sa.and_(sa.true(), *permissions.visible(uow, endpoint, table))
    siblings = sa.and_(same_vrf(table, item), within(table, widest), table.c.prefix_length == own.prefixlen)
    statement = sa.select(table.c.network, visible).where(siblings).order_by(table.c.network).limit(MAX_READ)
    rows = uow.execute(statement).tuples().all()
    numbers = collections.Counter(int.from_bytes(low, "big") for low, _ in rows)
    hidden = {int.from_bytes(low, "big") for low, seen in rows if not seen}
    for length in offered:
        whole = netaddr.IPNetwork((own.first, length), own.version).cidr
        parts = range(whole.first, whole.last + 1, own.size)
        if any(numbers[part] != 1 or part in hidden for part in parts):
            break
        found.append(length)
    return found


def plan(uow: UnitOfWork, endpoint: Endpoint, item: Item, length: int) -> ReshapingPlan:
    """The plan: two statements, and those that read the siblings for comparison."""
    own, key = parse(str(item["prefix"])), endpoint.parse_key(str(item["id"]))
    whole = netaddr.IPNetwork((own.first, length), own.version).cidr
    contents = contents_of(uow, endpoint, item, whole)
    siblings = [found for found in contents.prefixes if found.network.prefixlen == own.prefixlen]
    wider = [found for found in contents.prefixes if found.network == whole]
    removed = [found for found in siblings if found.key != key or wider]
    state = "stays" if wider else f"{own} grows to it"
    lines = [Line(str(whole), state, wider[0].key if wider and wider[0].visible else None, *contents.within(whole))]
    lines += [
        Line(str(found), "is deleted", found.key if found.visible else None, *contents.within(found.network))
        for found in removed
    ]
    lead = wider[0].key if wider else key
    result = ReshapingPlan(lines, lambda writing: _apply(writing, endpoint, key, whole, removed, lead))
    result.problems += _problems(whole, own, siblings, contents)
    if not result.problems:
        result.notes.append("Prefixes and addresses within them stay as they are.")
        result.notes += _differences(uow, endpoint, lead, [found.key for found in removed])
    return result


def _problems(
    whole: netaddr.IPNetwork, own: netaddr.IPNetwork, siblings: Sequence[FoundPrefix], contents: PrefixContents
) -> list[str]:
    """The reasons against a merge."""
    problems, seen = list[str](), {found.network for found in siblings}
    missing = [part for part in whole.subnet(own.prefixlen) if part not in seen]
    if missing:
        problems.append(
            f"{name_items(missing)} {'is' if len(missing) == 1 else 'are'} not there: {whole} is not complete."
        )
    if len(siblings) > len(seen):
        counts = [part for part in seen if sum(found.network == part for found in siblings) > 1]
        problems.append(f"There are several {name_items(sorted(counts))}: delete the surplus ones first.")
    if not all(found.visible for found in siblings):
        problems.append("You may not view all of the siblings.")
    if contents.is_cut:
        problems.append(f"There is too much in {whole} to be merged in one request.")
    return problems


def _differences(uow: UnitOfWork, endpoint: Endpoint, kept: Any, removed: Sequence[Any]) -> list[str]:
    """Values of siblings that the prefix that stays does not have: they are lost."""
    items = {str(item["id"]): item for item in plan_of(endpoint).represent(uow, [kept, *removed])}
    stays = items.pop(str(kept), None)
    notes = []
    for item in items.values():
        lost = []
        for name in COMPARED:
            field, value = endpoint.fields[name], item[name]
            if value and (stays is None or field.text(value) != field.text(stays[name])):
                lost.append(f"{label_of(field)} {field.text(value)}")
        if lost:
            notes.append(f"{item['prefix']} has other values, which are lost: {', '.join(lost)}.")
    return (
        [*notes[:MAX_NAMED], f"{len(notes) - MAX_NAMED} more have other values."] if len(notes) > MAX_NAMED else notes
    )


def _apply(
    uow: UnitOfWork, endpoint: Endpoint, key: Any, whole: netaddr.IPNetwork, removed: Sequence[FoundPrefix], lead: Any
) -> tuple[str, Any]:
    """Deletes the siblings; where the common prefix does not exist, the one that is merged becomes it."""
    delete.delete(uow, endpoint, [{"id": found.key} for found in removed])
    if lead == key:
        save.update(uow, endpoint, [{"id": str(key), "prefix": str(whole)}], partial=True, single=True)
    return f"{with_noun(len(removed) + (lead == key), 'prefix', 'prefixes')} became {whole}.", lead
