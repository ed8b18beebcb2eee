"""Recognisers of the search: addresses, prefixes, VLANs."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import netaddr
import sqlalchemy as sa

from netinv_core.auth import permissions
from netinv_core.read.recognisers import Match, SearchProvider
from netinv_ipam import networks
from netinv_ipam.addresses import OWNERS

if TYPE_CHECKING:
    from netinv_core.uow import UnitOfWork

ADDRESS, PREFIX, AGGREGATE, VLAN = "ipam.ipaddress", "ipam.prefix", "ipam.aggregate", "ipam.vlan"
MAX_VID = 4094
_VLAN = re.compile(r"vlan\s*([0-9]{1,4})", re.I)


def _network(text: str) -> netaddr.IPNetwork | None:
    """Parses an IPv4 address in four parts or an IPv6 address, with or without a prefix length."""
    if "." in text and text.count(".") != 3 and ":" not in text:
        return None
    if not ("." in text or text.count(":") >= 2):
        return None
    try:
        return networks.parse(text)
    except ValueError:
        return None


def addresses(uow: UnitOfWork, text: str) -> Iterator[Match]:
    """Yields the address itself or the prefixes that contain it; for a prefix, itself and those that contain it."""
    network = _network(text)
    if network is None:
        return
    host = str(network.ip)
    if "/" not in text or network.prefixlen == networks.BITS[network.version]:
        yield Match(
            ADDRESS, "IP addresses", "address", lambda table: networks.host_is(table, network), [("host", host)]
        )
    else:
        yield Match(
            PREFIX,
            "prefixes",
            "prefix",
            lambda table: networks.equal(table, network.cidr),
            [("prefix", str(network.cidr))],
        )
    for label, title, parameter in ((PREFIX, "prefixes that contain it", "contains"), (AGGREGATE, "aggregates", "q")):
        yield Match(
            label,
            title,
            "prefix",
            lambda table: networks.containing(table, network.cidr),
            [(parameter, str(network.cidr))],
            order=lambda table: (table.c.prefix_length.desc(), table.c.id),
            fallback=True,
            links=_next_free if label == PREFIX else lambda first: (),
        )


def owners(uow: UnitOfWork, text: str) -> Iterator[Match]:
    """Yields the devices and virtual machines with the address, which are shown after it."""
    network = _network(text)
    if network is None or network.prefixlen < networks.BITS[network.version]:
        return
    endpoint = uow.registry[ADDRESS]
    for label, (owner, attribute, _) in OWNERS.items():
        ports = uow.registry.get(label)
        if ports is None:
            continue
        address, port = endpoint.table.alias(), ports.table.alias()
        conditions = [networks.host_is(address, network), address.c.assigned_object_type == label]
        conditions += permissions.visible(uow, endpoint, address)
        assigned = sa.select(address.c.assigned_object_id).where(*conditions)
        limits = permissions.visible(uow, ports, port)
        keys = sa.select(port.c[f"{attribute}_id"]).where(port.c.id.in_(assigned), *limits)
        title = uow.registry[owner].plural
        yield Match(owner, title, "address", functools.partial(_is_one, keys), fallback=True)


def _is_one(keys: Any, table: Any) -> Any:
    """Condition: the row has one of the ids."""
    return table.c.id.in_(keys)


def _next_free(first: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yields the link to the next free address of the most specific prefix."""
    yield f"Next free in {first['prefix']}", f"{first['url']}available-ips/?limit=1"


def vlans(uow: UnitOfWork, text: str) -> Iterator[Match]:
    """Yields the VLANs of a number: ``vlan 120``."""
    match = _VLAN.fullmatch(text)
    if match is not None and 1 <= int(match[1]) <= MAX_VID:
        vid = int(match[1])
        yield Match(VLAN, "VLANs", "vid", lambda table: table.c.vid == vid, [("vid", str(vid))])


PROVIDERS = (
    SearchProvider("address", 10, addresses),
    SearchProvider("owner of an address", 15, owners),
    SearchProvider("VLAN", 20, vlans),
)
