"""The guard: which addresses netinv talks to for its users. Whoever may write webhooks or name repositories must not reach, through netinv,
what trusts the machine it runs on."""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import Iterable, Mapping
from typing import Any

from sqlalchemy.engine import make_url

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
# Not for the public, but not (or not in every version of Python) among those that ipaddress knows for it.
_FURTHER = tuple(
    map(
        ipaddress.ip_network,
        (
            "168.63.129.16/32",  # the host of a virtual machine in Azure
            "192.0.0.0/24",  # RFC 6890; 192.0.0.192 is the metadata service of Oracle's cloud
            "192.88.99.0/24",  # RFC 7526
            "64:ff9b:1::/48",  # RFC 8215
            "::/96",  # RFC 4291, IPv4-compatible
            "fec0::/10",  # RFC 3879
            "3fff::/20",  # RFC 9637
        ),
    )
)
_ISATAP = (0x0000_5EFE, 0x0200_5EFE)  # RFC 5214: what stands before the IPv4 address in the lower half
_PORTS = {"postgresql": 5432, "mysql": 3306, "redis": 6379, "rediss": 6379}
_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")  # RFC 6052


class Refused(Exception):
    """A target that nothing is sent to, and why."""


def own_services(settings: Mapping[str, Any]) -> list[tuple[str, int]]:
    """Hosts and ports of the database and the queue."""
    urls = [make_url(settings[name]) for name in ("database_url", "queue_url") if settings[name]]
    ports = [(url, url.port or _PORTS.get(url.get_backend_name(), 0)) for url in urls]
    return [(url.host or "localhost", port) for url, port in ports if port]


class Guard:
    """Which addresses may be connected to: public ones, and those of networks and hosts that ``allowed`` names, which is what is set as ``setting``.

    ``own`` are hosts and ports of netinv's own services, to which nothing is sent whatever is allowed: a request of HTTP may look like commands to them.
    """

    def __init__(self, allowed: Iterable[str] = (), setting: str = "netinv.webhook_allow", own: Iterable[tuple[str, int]] = ()) -> None:
        self.setting = setting
        self.own = list(own)
        self.networks: list[Any] = []
        self.hosts: set[str] = set()
        for word in allowed:
            try:
                self.networks.append(ipaddress.ip_network(word, strict=False))
            except ValueError:
                self.hosts.add(word.lower().rstrip("."))

    def check(self, host: str, address: Address, port: int = 0) -> None:
        """Lets an address of a host pass.

        :raises Refused: when it is not allowed
        """
        if any(port == number and _is_at(address, name) for name, number in self.own):
            raise Refused(f"Nothing is sent to port {port} of {address}: it is a service of netinv's own.")
        if host.lower().rstrip(".") in self.hosts:
            return
        forms = _forms(address)
        if any(form in network for form in forms for network in self.networks if network.version == form.version):
            return
        if not all(map(_is_public, forms)):
            raise Refused(f"Nothing is sent to {address}: it is no public address, and {self.setting} does not name it.")


def _forms(address: Address) -> list[Address]:
    """An address, and the IPv4 address that it stands for."""
    if isinstance(address, ipaddress.IPv4Address):
        return [address]
    if address.ipv4_mapped is not None:
        return [address.ipv4_mapped]
    if address.sixtofour is not None:
        return [address, address.sixtofour]
    if address in _NAT64:
        return [address, ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)]
    if int(address) >> 32 & 0xFFFFFFFF in _ISATAP:
        return [address, ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)]
    return [address]


def _is_at(address: Address, host: str) -> bool:
    """Tells whether an address is one of a host, or leads to one; when the host cannot be resolved, that is not known, and counts as true."""
    try:
        places = [ipaddress.ip_address(str(place[0]).partition("%")[0]) for *_, place in resolve(host, 0)]
    except (OSError, UnicodeError):
        return True
    forms = _forms(address)
    loopback = any(form.is_loopback or form.is_unspecified for form in forms)
    return any(place in forms or (loopback and place.is_loopback) for place in places)


def _is_public(address: Address) -> bool:
    # 2002::/16 stands for the public in ipaddress of some versions and not in others; what counts is what it leads to.
    if isinstance(address, ipaddress.IPv6Address) and address.sixtofour is not None:
        return True
    further = any(address in network for network in _FURTHER if network.version == address.version)
    return (address.is_global and not (address.is_multicast or address.is_reserved or further)) or address in _NAT64


def resolve(host: str, port: int) -> list[tuple[Any, ...]]:
    """The addresses of a host, as :func:`socket.getaddrinfo` gives them, each once."""
    found = socket.getaddrinfo(host.strip("[]"), port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(found))
