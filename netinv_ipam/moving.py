"""Plan that moves a prefix with its children and addresses to another VRF."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from netinv_core.auth import permissions
from netinv_core.errors import Denied
from netinv_core.models.base import table_of
from netinv_core.write import save
from netinv_ipam import networks
from netinv_ipam.addresses import SHARED_ROLES, IPAddress
from netinv_ipam.networks import parse
from netinv_ipam.prefixes import Prefix
from netinv_ipam.reshaping import MAX_NAMED, Item, Line, ReshapingPlan, same_vrf, with_noun
from netinv_ipam.vrfs import VRF, vrf_display

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.uow import UnitOfWork

GLOBAL = "global"  # value of the global table
GLOBAL_NAME = "Global"


def vrf_choices(uow: UnitOfWork, item: Item, vrfs: Sequence[tuple[Any, str]]) -> dict[str, str]:
    """Names by value of the VRFs that a prefix can move to."""
    own = str(item["vrf"]["id"]) if item["vrf"] else GLOBAL
    choices = {GLOBAL: GLOBAL_NAME} | {str(key): name for key, name in vrfs}
    return {value: name for value, name in choices.items() if value != own}


class _Moved:
    """The objects of one model that move."""

    def __init__(self, uow: UnitOfWork, endpoint: Endpoint, item: Item) -> None:
        self.endpoint, self._uow = endpoint, uow
        self.table = table_of(endpoint.model)
        self.is_prefix = endpoint.model is Prefix
        network = parse(str(item["prefix"]))
        if self.is_prefix:
            inside = networks.within(self.table, network, equal=False) | (self.table.c.id == item["id"])
        else:
            inside = networks.inside(self.table, network)
        self.conditions = [same_vrf(self.table, item), inside]

    def counts(self) -> tuple[int, int]:
        """The number of the objects, and of those that the user may change: one statement."""
        changing = sa.and_(sa.true(), *_limits(self._uow, self.endpoint, self.table))
        number = sa.func.count(sa.case((changing, 1)))
        row = self._uow.execute(sa.select(sa.func.count(), number).where(*self.conditions)).first()
        assert row is not None
        return int(row[0]), int(row[1])

    def ids(self) -> list[Any]:
        """The ids of the objects: one statement."""
        return list(self._uow.execute(sa.select(self.table.c.id).where(*self.conditions)).scalars())

    def collisions(self, vrf: Any) -> list[str]:
        """The first ones that the other VRF has already: one statement."""
        table, other = self.table, self.table.alias("other")
        low = networks.low(table).name
        names = ["ip_version", low, *(["prefix_length"] if self.is_prefix else [])]
        there = other.c.vrf_id == vrf if vrf is not None else other.c.vrf_id.is_(None)
        same = sa.and_(there, *[other.c[name] == table.c[name] for name in names])
        written = table.c.prefix if self.is_prefix else table.c.address
        found = sa.select(written).where(*self.conditions, sa.exists().where(same))
        if not self.is_prefix:  # those with these roles may be there twice
            found = found.where(table.c.role.not_in(sorted(SHARED_ROLES)))
        return [str(text) for text in self._uow.execute(found.order_by(table.c[low]).limit(MAX_NAMED + 1)).scalars()]


def _limits(uow: UnitOfWork, endpoint: Endpoint, table: Any) -> Sequence[Any]:
    """The conditions for objects that the user may change."""
    try:
        return permissions.limits(uow, endpoint, "change", table)
    except Denied:
        return [sa.false()]


def plan(uow: UnitOfWork, endpoint: Endpoint, item: Item, vrf: Any) -> ReshapingPlan:
    """The plan: six statements at most."""
    table: Any = VRF.__table__
    target = uow.execute(sa.select(table.c.name, table.c.rd, table.c.enforce_unique).where(table.c.id == vrf)).first()
    name = vrf_display(target.name, target.rd) if target is not None else GLOBAL_NAME
    unique = target.enforce_unique if target is not None else bool(uow.registry.settings["enforce_global_unique"])
    prefixes, addresses = (_Moved(uow, uow.registry.of_model(model), item) for model in (Prefix, IPAddress))
    (prefix_count, own_prefixes), (address_count, own_addresses) = prefixes.counts(), addresses.counts()
    lines = [Line(str(item["prefix"]), f"moves to {name}", item["id"], prefix_count - 1, address_count)]
    result = ReshapingPlan(lines, lambda writing: _apply(writing, item, vrf, name))
    hidden = prefix_count - own_prefixes + address_count - own_addresses
    if hidden:
        result.problems.append(f"You may not change {with_noun(hidden, 'object', 'objects')} of these.")
    most = int(uow.registry.settings["max_bulk_objects"])
    if max(prefix_count, address_count) > most:
        result.problems.append(f"One request changes at most {most:,} objects of a kind. Move its parts one by one.")
    for moved, word in ((prefixes, "prefixes"), (addresses, "addresses")):
        found = moved.collisions(vrf)
        if found:
            more = " and more" if len(found) > MAX_NAMED else ""
            text = f"{name} has these {word} already: {', '.join(found[:MAX_NAMED])}{more}."
            (result.problems if unique else result.notes).append(text)
    return result


def _apply(uow: UnitOfWork, item: Item, vrf: Any, name: str) -> tuple[str, Any]:
    """Moves the addresses and the prefixes: a bulk update of each."""
    numbers: Mapping[str, int] = {}
    for model in (Prefix, IPAddress):
        moved = _Moved(uow, uow.registry.of_model(model), item)
        bodies = [{"id": str(key), "vrf": None if vrf is None else str(vrf)} for key in moved.ids()]
        if bodies:
            save.update(uow, moved.endpoint, bodies, partial=True)
        numbers = {**numbers, model.__name__: len(bodies)}
    words = [
        with_noun(numbers["Prefix"], "prefix", "prefixes"),
        with_noun(numbers["IPAddress"], "address", "addresses"),
    ]
    return f"{' and '.join(words)} moved to {name}.", item["id"]
