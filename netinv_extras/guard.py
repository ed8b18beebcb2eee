"""The guard: which addresses netinv talks to for its users. Whoever may write webhooks or name repositories must not reach, through netinv,
what trusts the machine it runs on."""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import Iterable
from typing import Any

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
        ),
    )
)
_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")  # RFC 6052


class Refused(Exception):
    """A target that nothing is sent to, and why."""


class Guard:
    """Which addresses may be connected to: public ones, and those of networks and hosts that ``allowed`` names, which is what is set as ``setting``."""

    def __init__(self, allowed: Iterable[str] = (), setting: str = "netinv.webhook_allow") -> None:
        self.setting = setting
        self.networks: list[Any] = []
        self.hosts: set[str] = set()
        for word in allowed:
            try:
                self.networks.append(ipaddress.ip_network(word, strict=False))
            except ValueError:
                self.hosts.add(word.lower().rstrip("."))

    def check(self, host: str, address: Address) -> None:
        """Lets an address of a host pass.

        :raises Refused: when it is not allowed
        """
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
    return [address]


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
