"""Changes of the structure of address space, as plans: split a prefix, merge it with its siblings, move it to a VRF.

A plan says what would exist and why it is refused, before anything is written. Applying it is one unit of work.
"""

from __future__ import annotations

import dataclasses
from bisect import bisect
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import netaddr
import sqlalchemy as sa

from netinv_core.auth import permissions
from netinv_core.models.base import table_of
from netinv_ipam import networks
from netinv_ipam.addresses import IPAddress
from netinv_ipam.prefixes import Prefix

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.uow import UnitOfWork

MAX_READ = 20_000  # prefixes, and addresses, that a plan counts
MAX_NAMED = 5
INHERITED = ("role", "tenant", "site", "location")
Item = Mapping[str, Any]  # the representation of a prefix


@dataclasses.dataclass(frozen=True)
class Line:
    """A prefix of a plan and what becomes of it, with the numbers of prefixes and addresses within it."""

    network: str
    state: str
    key: Any = None
    prefixes: int = 0
    addresses: int = 0


@dataclasses.dataclass
class ReshapingPlan:
    """Writes that a plan would make: ``lines``, ``notes`` about it, and the ``problems`` for which it is refused.

    ``apply`` writes it, and returns a sentence and the id of the prefix to lead to.
    """

    lines: Sequence[Line]
    apply: Callable[[UnitOfWork], tuple[str, Any]]
    notes: list[str] = dataclasses.field(default_factory=list)
    problems: list[str] = dataclasses.field(default_factory=list)


@dataclasses.dataclass(frozen=True)
class FoundPrefix:
    """A prefix that was read; ``visible`` if the user may view it."""

    key: Any
    network: netaddr.IPNetwork
    visible: bool

    def __str__(self) -> str:
        return str(self.network)


@dataclasses.dataclass(frozen=True)
class PrefixContents:
    """The prefixes and the addresses within a network in a VRF, in order: the first :data:`MAX_READ`."""

    prefixes: Sequence[FoundPrefix]
    addresses: Sequence[int]

    @property
    def is_cut(self) -> bool:
        """True if there are more."""
        return len(self.prefixes) >= MAX_READ or len(self.addresses) >= MAX_READ

    def within(self, network: netaddr.IPNetwork) -> tuple[int, int]:
        """The numbers of prefixes below a network, and of addresses in it."""
        first, last = network.first, network.last
        start, end = (bisect(self.prefixes, edge, key=lambda item: item.network.first) for edge in (first - 1, last))
        below = sum(item.network.prefixlen > network.prefixlen for item in self.prefixes[start:end])
        return below, bisect(self.addresses, last) - bisect(self.addresses, first - 1)


def same_vrf(table: Any, item: Item) -> Any:
    """Condition for rows of the VRF of a prefix."""
    return table.c.vrf_id == item["vrf"]["id"] if item["vrf"] else table.c.vrf_id.is_(None)


def contents_of(uow: UnitOfWork, endpoint: Endpoint, item: Item, network: netaddr.IPNetwork) -> PrefixContents:
    """Contents of a network in the VRF of a prefix, the network itself included: two statements."""
    table, address = table_of(Prefix), table_of(IPAddress)
    visible = sa.and_(sa.true(), *permissions.visible(uow, endpoint, table))
    columns = (table.c.id, table.c.network, table.c.prefix_length, visible)
    inside = sa.select(*columns).where(same_vrf(table, item), networks.within(table, network))
    rows = uow.execute(inside.order_by(table.c.network, table.c.prefix_length, table.c.id).limit(MAX_READ)).tuples()
    found = [
        FoundPrefix(key, netaddr.IPNetwork((int.from_bytes(low, "big"), length), network.version), bool(seen))
        for key, low, length, seen in rows
    ]
    hosts = sa.select(address.c.host).where(same_vrf(address, item), networks.inside(address, network))
    numbers = uow.execute(hosts.order_by(address.c.host).limit(MAX_READ)).scalars()
    return PrefixContents(found, [int.from_bytes(number, "big") for number in numbers])


def name_items(items: Sequence[Any]) -> str:
    """The first of some items, and the number of the others."""
    text = ", ".join(str(item) for item in items[:MAX_NAMED])
    return f"{text} and {len(items) - MAX_NAMED} more" if len(items) > MAX_NAMED else text


def with_noun(number: int, one: str, several: str) -> str:
    """A number with its noun."""
    return f"{number:,} {one if number == 1 else several}"
