"""Addresses of clients, and networks (CIDR, RFC 4632) that name some of them."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable

from netinv_core.caches import lru_cache

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Network = ipaddress.IPv4Network | ipaddress.IPv6Network


def parse(address: str) -> Address | None:
    """Parses the address of a client, without a zone; an IPv4-mapped IPv6 address is the IPv4 address. ``None`` for
    another text, such as that of a local socket.
    """
    try:
        parsed = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return None
    return getattr(parsed, "ipv4_mapped", None) or parsed


@lru_cache("networks", 4096)
def network(text: str) -> Network:
    """Parses a network: ``192.0.2.0/24``, or a single address.

    :raises ValueError: for another text, and for an address within a network (``192.0.2.1/24``)
    """
    return ipaddress.ip_network(text)


def is_in(address: str, networks: Iterable[str]) -> bool:
    """True if the address of a client is in one of the networks."""
    parsed = parse(address)
    if parsed is None:
        return False
    return any(parsed in item for item in map(network, networks) if item.version == parsed.version)


def client_network(address: str) -> str:
    """The network whose clients count as one: an IPv4 address, or an IPv6 /64; empty for a local socket."""
    parsed = parse(address)
    if parsed is None:
        return ""
    return str(parsed if parsed.version == 4 else ipaddress.ip_network((parsed, 64), strict=False))
