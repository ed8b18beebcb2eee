"""Network guard: tests reach this machine only. Connections elsewhere fail, and so does the resolution of other hosts'
names.

The guard replaces methods of ``socket.socket`` and the resolving functions of ``socket``, so it covers pure Python
code. A refused connection fails the test during which it happened; an unresolved name is an ordinary error of the
resolver, since many tests name receivers that do not exist (``example.com``).
"""

from __future__ import annotations

import errno
import ipaddress
import socket
from collections.abc import Callable
from typing import Any

LOCAL_NAMES = frozenset({"", "localhost", "ip6-localhost", "ip6-loopback", socket.gethostname().lower()})


class RefusedConnection(OSError):
    """A connection or datagram to another machine than this one."""

    def __init__(self, address: object) -> None:
        super().__init__(errno.ENETUNREACH, f"tests may not reach {address!r}")


class NetworkGuard:
    """Replaces the functions of ``socket`` while it is installed; ``refused`` holds the addresses of refused
    connections.
    """

    def __init__(self) -> None:
        self.refused: list[object] = []
        self._originals: list[tuple[Any, str, Any]] = []

    def install(self) -> None:
        """Starts to refuse."""
        for name in ("connect", "connect_ex", "sendto"):
            self._replace(socket.socket, name, self._checked_method(getattr(socket.socket, name)))
        for name in ("getaddrinfo", "gethostbyname", "gethostbyname_ex"):
            self._replace(socket, name, self._checked_resolver(getattr(socket, name)))

    def uninstall(self) -> None:
        """Puts the functions back."""
        while self._originals:
            owner, name, original = self._originals.pop()
            setattr(owner, name, original)

    def _replace(self, owner: Any, name: str, function: Callable[..., Any]) -> None:
        self._originals.append((owner, name, getattr(owner, name)))
        setattr(owner, name, function)

    def _checked_method(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def checked(connection: socket.socket, *arguments: Any) -> Any:
            address = arguments[-1]
            if connection.family in (socket.AF_INET, socket.AF_INET6) and not is_local(address[0]):
                self.refused.append(address)
                raise RefusedConnection(address)
            return original(connection, *arguments)

        return checked

    def _checked_resolver(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def checked(host: Any, *arguments: Any, **options: Any) -> Any:
            if not (host is None or is_name_local(host)):
                raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
            return original(host, *arguments, **options)

        return checked


def is_local(host: object) -> bool:
    """True for loopback and unspecified addresses and the names of this machine."""
    address = _address(host)
    return is_name_local(host) if address is None else address.is_loopback or address.is_unspecified


def is_name_local(host: object) -> bool:
    """True for the names of this machine, and for addresses, which need no resolution."""
    name = (host.decode() if isinstance(host, bytes) else str(host)).lower()
    return name in LOCAL_NAMES or name.endswith(".localhost") or _address(name) is not None


def _address(host: object) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    """The address that a text stands for, in any form that the resolver takes without a name server (``127.1``,
    ``0x7f000001``).
    """
    text = str(host).partition("%")[0]
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        try:
            return ipaddress.IPv4Address(socket.inet_aton(text))
        except (OSError, ValueError):
            return None
    return getattr(address, "ipv4_mapped", None) or address
