"""The grid of the addresses of a small prefix: 16 in a row, coloured by status, and their runs as text."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

import sqlalchemy as sa

from netinv_core.auth import permissions
from netinv_core.models.base import table_of
from netinv_extras.statuses import Status
from netinv_ipam.addresses import IPAddress
from netinv_ipam.free_space import usable
from netinv_ipam.networks import address_text, packed, parse
from netinv_ipam.prefixes import USUAL_STATUS
from netinv_ipam.taken_space import ADDRESSES, Row, children, space_of
from netinv_ipam.web.prefix_map import MAX_CELLS, Area, MapDrawing, rectangle, size_of

if TYPE_CHECKING:
    from netinv_core.uow import UnitOfWork

SHORTEST = 24  # prefix length of IPv4
MAX_READ = 4 * MAX_CELLS  # addresses: several may have one host
FREE, TAKEN, NETWORK, BROADCAST = "free", "taken", "network", "broadcast"
FIRST, LAST = "first usable address", "last usable address"


def has_grid(prefix: Mapping[str, Any]) -> bool:
    """True for the representation of a prefix whose addresses are drawn one by one."""
    network = parse(str(prefix["prefix"]))
    return network.version == 4 and SHORTEST <= network.prefixlen < 32


@dataclasses.dataclass(frozen=True)
class Host:
    """An address of the prefix; ``key`` is ``None`` for one that the user may not view."""

    number: int
    key: Any
    text: str
    status: str
    color: str
    name: str = ""


def hosts_of(uow: UnitOfWork, prefix: Mapping[str, Any], *conditions: Any, most: int = MAX_READ) -> list[Host]:
    """The addresses that take space of a prefix, given its representation, in order. Takes one statement."""
    table, status = table_of(IPAddress), table_of(Status)
    limits = permissions.visible(uow, uow.registry.of_model(IPAddress), table)
    statement = (
        sa.select(
            *[table.c[name] for name in ("id", "host", "address", "dns_name")],
            status.c.name,
            status.c.color,
            sa.and_(sa.true(), *limits).label("visible"),
        )
        .join_from(table, status, status.c.id == table.c.status_id)
        .where(children(prefix, ADDRESSES), *conditions)
        .order_by(table.c.host, table.c.prefix_length, table.c.id)
        .limit(most)
    )
    return [
        Host(int.from_bytes(host, "big"), key, text, status_name, color, dns_name)
        if visible
        else Host(int.from_bytes(host, "big"), None, "", TAKEN, "")
        for key, host, text, dns_name, status_name, color, visible in uow.execute(statement).tuples()
    ]


@dataclasses.dataclass(frozen=True)
class Run:
    """Consecutive addresses of one status: the text of the first and the last, and their number."""

    kind: str
    first: str
    last: str
    count: int
    path: str = ""


@dataclasses.dataclass(frozen=True)
class AddressGrid:
    """The drawing of a grid, and the same in words."""

    drawing: MapDrawing
    runs: Sequence[Run]


def add_path(prefix: Mapping[str, Any], number: int) -> str:
    """The form of an address with all that follows from the prefix."""
    network = parse(str(prefix["prefix"]))
    text = f"{address_text(packed(number, network.version))}/{network.prefixlen}"
    query = {"address": text, "status": USUAL_STATUS}
    query |= {name: str(prefix[name]["id"]) for name in ("vrf", "tenant") if prefix[name]}
    return f"/ipam/ip-addresses/add/?{urlencode(query)}"


def grid_of(uow: UnitOfWork, prefix: Mapping[str, Any], row: Row, *, may_add: bool) -> AddressGrid:
    """The grid of a prefix, given its representation and its row: one statement."""
    network = parse(str(prefix["prefix"]))
    hosts = {host.number: host for host in reversed(hosts_of(uow, prefix))}
    lowest, highest = usable(space_of(uow, row, ADDRESSES))
    areas, kinds = list[Area](), list[tuple[int, str]]()
    for number in range(network.first, network.last + 1):
        place = rectangle(number - network.first, 1, network.size)
        text = address_text(packed(number, 4))
        short, host = text.rpartition(".")[2], hosts.get(number)
        if host is not None:
            path = f"/ipam/ip-addresses/{host.key}/" if host.key else ""
            title = " ".join(filter(None, (f"{host.text or text}: {host.status}", host.name)))
            areas.append(Area(*place, "" if host.key else "hidden", title, short, path, host.color))
            kinds.append((number, host.status))
            continue
        kind = FREE if lowest <= number <= highest else NETWORK if number == network.first else BROADCAST
        path = add_path(prefix, number) if may_add and kind == FREE else ""
        areas.append(Area(*place, FREE if kind == FREE else "edge", f"{text}: {kind}", short, path))
        kinds.append((number, kind))
    numbers: dict[tuple[str, str, str], int] = {}
    for host in hosts.values():
        entry = host.status, "" if host.key else "hidden", host.color
        numbers[entry] = numbers.get(entry, 0) + 1
    free = sum(kind == FREE for _, kind in kinds)
    legend = [*((*entry, number) for entry, number in sorted(numbers.items())), ("Free", FREE, "", free)]
    runs = list(_runs(kinds, lambda number: add_path(prefix, number) if may_add else ""))
    return AddressGrid(MapDrawing(areas, *size_of(network.size), legend), runs)


def _runs(kinds: Iterable[tuple[int, str]], path: Any) -> Iterator[Run]:
    for kind, group in itertools.groupby(kinds, key=lambda item: item[1]):
        numbers = [number for number, _ in group]
        first, last = (address_text(packed(number, 4)) for number in (numbers[0], numbers[-1]))
        yield Run(kind, first, last, len(numbers), path(numbers[0]) if kind == FREE else "")


@dataclasses.dataclass(frozen=True)
class Gateway:
    """The address that is the gateway by a rule: the first usable one of the prefix if it exists, or the last."""

    host: Host
    rule: str


def gateway_of(uow: UnitOfWork, prefix: Mapping[str, Any], row: Row) -> Gateway | None:
    """The gateway of a prefix as far as the user may view it: one statement.

    The lowest address of an IPv6 network is that of all its routers (RFC 4291), so the first one is behind it.
    """
    space = space_of(uow, row, ADDRESSES)
    lowest, highest = usable(space)
    if space.version == 6 and row["prefix_length"] < 127:
        lowest += 1
    edges = [packed(number, space.version) for number in (lowest, highest)]
    found = hosts_of(uow, prefix, table_of(IPAddress).c.host.in_(edges), most=4)
    for number, rule in ((lowest, FIRST), (highest, LAST)):
        host = next((host for host in found if host.number == number and host.key), None)
        if host is not None:
            return Gateway(host, rule)
    return None
