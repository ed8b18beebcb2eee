"""Protection against server-side request forgery (SSRF): the addresses that the service may connect to for users.

Users who may write webhooks or name Git repositories must not reach, through the service, hosts that trust its machine.
"""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import Iterable, Mapping
from typing import Any

from sqlalchemy.engine import make_url

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
# Networks that are not public, which ipaddress (of some versions of Python) counts as public.
_NOT_PUBLIC = tuple(
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
_ISATAP = (0x0000_5EFE, 0x0200_5EFE)  # RFC 5214: interface identifier before the embedded IPv4 address
_PORTS = {"postgresql": 5432, "mysql": 3306, "redis": 6379, "rediss": 6379}
_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")  # RFC 6052


class ConnectionRefused(Exception):
    """Error of a connection that is not allowed, with the reason."""


def own_services(settings: Mapping[str, Any]) -> list[tuple[str, int]]:
    """Returns hosts and ports of the database, its replicas and the queue."""
    named = (settings["database_url"], *settings["database_read_urls"], settings["queue_url"])
    urls = [make_url(url) for url in named if url]
    ports = [(url, url.port or _PORTS.get(url.get_backend_name(), 0)) for url in urls]
    return [(url.host or "localhost", port) for url, port in ports if port]


class Guard:
    """Check of addresses: public ones are allowed, and those of the networks and hosts in ``allowed``.

    ``setting`` is the name of the setting with ``allowed``, for messages. ``own`` are hosts and ports of the service's
    database and queue. They are never allowed, as they might interpret an HTTP request as commands.
    """

    def __init__(
        self,
        allowed: Iterable[str] = (),
        setting: str = "netinv.webhook_allow",
        own: Iterable[tuple[str, int]] = (),
    ) -> None:
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
        """Checks a connection to an address of a host.

        :raises Refused: when it is not allowed
        """
        if any(port == number and _is_at(address, name) for name, number in self.own):
            raise ConnectionRefused(f"Nothing is sent to port {port} of {address}: it is a service of netinv's own.")
        if host.lower().rstrip(".") in self.hosts:
            return
        forms = _forms(address)
        if any(form in network for form in forms for network in self.networks if network.version == form.version):
            return
        if not all(map(_is_public, forms)):
            reason = f"it is no public address, and {self.setting} does not name it"
            raise ConnectionRefused(f"Nothing is sent to {address}: {reason}.")


def _forms(address: Address) -> list[Address]:
    """Returns an address and the IPv4 address embedded in it (mapped, 6to4, NAT64, ISATAP)."""
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
    """True when an address belongs to a host, also for a host that cannot be resolved."""
    try:
        addresses = [ipaddress.ip_address(str(entry[0]).partition("%")[0]) for *_, entry in resolve(host, 0)]
    except (OSError, UnicodeError):
        return True
    forms = _forms(address)
    loopback = any(form.is_loopback or form.is_unspecified for form in forms)
    return any(resolved in forms or (loopback and resolved.is_loopback) for resolved in addresses)


def _is_public(address: Address) -> bool:
    # Versions of ipaddress differ about 6to4 (2002::/16); its embedded IPv4 address is checked separately.
    if isinstance(address, ipaddress.IPv6Address) and address.sixtofour is not None:
        return True
    not_public = any(address in network for network in _NOT_PUBLIC if network.version == address.version)
    return (address.is_global and not (address.is_multicast or address.is_reserved or not_public)) or address in _NAT64


def resolve(host: str, port: int) -> list[tuple[Any, ...]]:
    """Returns the addresses of a host from :func:`socket.getaddrinfo`, without duplicates."""
    entries = socket.getaddrinfo(host.strip("[]"), port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(entries))


def checked_addresses(guard: Guard, host: str, port: int) -> list[tuple[Any, ...]]:
    """Returns the addresses of a host, as :func:`resolve` does, after all of them were checked.

    :raises Refused: when one of them is not allowed
    :raises OSError: when the name cannot be resolved; or ``UnicodeError``
    """
    entries = resolve(host, port)
    for *_, address in entries:
        guard.check(host, ipaddress.ip_address(str(address[0]).partition("%")[0]), port)
    return entries
