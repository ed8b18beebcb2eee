"""Addresses and networks as values of templates: texts with the attributes of ``netaddr.IPAddress`` and ``IPNetwork``.

They are texts, so that they print, compare with texts and have the methods of texts. They sort by number, and a
network contains addresses. Unlike in netaddr, two hosts of one network differ (``10.0.0.1/24 != 10.0.0.2/24``).
"""

from __future__ import annotations

import ipaddress
import itertools
from collections.abc import Callable, Iterator
from types import FunctionType
from typing import Any

Key = tuple[int, int, int, int]
_BITS = {4: 32, 6: 128}


def _comparison(name: str) -> Any:
    """A comparison by number with another address or network, and by text with any other text."""
    by_text: Callable[[str, Any], Any] = getattr(str, name)

    def compare(self: _Text, other: object) -> Any:
        if isinstance(other, _Text):
            return getattr(self._key(), name)(other._key())
        return by_text(str.__str__(self), other)

    compare.__name__ = name
    return compare


class _Text(str):
    """Text with numeric order."""

    __slots__ = ()
    __lt__, __le__, __gt__, __ge__ = map(_comparison, ("__lt__", "__le__", "__gt__", "__ge__"))
    __eq__ = str.__eq__
    __hash__ = str.__hash__

    def _key(self) -> Key:
        raise NotImplementedError

    def lower(self) -> Any:
        """The address itself, which has no upper case: filters sort by it, and so by number."""
        return self

    def __str__(self) -> str:
        return str.__str__(self)


class AddressText(_Text):
    """An address without a prefix length."""

    __slots__ = ("_parsed",)
    _parsed: ipaddress.IPv4Address | ipaddress.IPv6Address

    def __new__(cls, value: object) -> AddressText:
        made = super().__new__(cls, value)
        made._parsed = ipaddress.ip_address(str.__str__(made))
        return made

    def _key(self) -> Key:
        return (self.version, self.value, _BITS[self.version], 0)

    @property
    def version(self) -> int:
        return int(self._parsed.version)

    @property
    def value(self) -> int:
        return int(self._parsed)

    @property
    def words(self) -> tuple[int, ...]:
        size = 1 if self.version == 4 else 2
        packed = self._parsed.packed
        return tuple(int.from_bytes(packed[at : at + size], "big") for at in range(0, len(packed), size))

    @property
    def reverse_dns(self) -> str:
        return f"{self._parsed.reverse_pointer}."

    def bits(self) -> str:
        return "".join(f"{byte:08b}" for byte in self._parsed.packed)

    def is_private(self) -> bool:
        return bool(self._parsed.is_private)

    def is_loopback(self) -> bool:
        return bool(self._parsed.is_loopback)

    def is_link_local(self) -> bool:
        return bool(self._parsed.is_link_local)

    def is_multicast(self) -> bool:
        return bool(self._parsed.is_multicast)

    def is_unicast(self) -> bool:
        return not self._parsed.is_multicast

    def is_reserved(self) -> bool:
        return bool(self._parsed.is_reserved)

    def __int__(self) -> int:
        return self.value

    def __add__(self, other: Any) -> Any:
        return AddressText(self._parsed + other) if isinstance(other, int) else str.__str__(self) + other

    def __sub__(self, other: int) -> AddressText:
        return AddressText(self._parsed - other)


class IPNetwork(_Text):
    """A network, or a host within its network: an address with a prefix length."""

    __slots__ = ("_parsed",)
    _parsed: ipaddress.IPv4Interface | ipaddress.IPv6Interface

    def __new__(cls, value: object) -> IPNetwork:
        made = super().__new__(cls, value)
        made._parsed = ipaddress.ip_interface(str.__str__(made))
        return made

    def _key(self) -> Key:
        return (self.version, self.first, self.prefixlen, self.value)

    @property
    def ip(self) -> AddressText:
        return AddressText(self._parsed.ip)

    @property
    def network(self) -> AddressText:
        return AddressText(self._parsed.network.network_address)

    @property
    def broadcast(self) -> AddressText | None:
        last = self._parsed.network.broadcast_address
        return AddressText(last) if _BITS[self.version] - self.prefixlen > 1 else None

    @property
    def netmask(self) -> AddressText:
        return AddressText(self._parsed.netmask)

    @property
    def hostmask(self) -> AddressText:
        return AddressText(self._parsed.hostmask)

    @property
    def cidr(self) -> IPNetwork:
        return IPNetwork(self._parsed.network)

    @property
    def prefixlen(self) -> int:
        return int(self._parsed.network.prefixlen)

    @property
    def version(self) -> int:
        return int(self._parsed.version)

    @property
    def size(self) -> int:
        return int(self._parsed.network.num_addresses)

    @property
    def value(self) -> int:
        return int(self._parsed)

    @property
    def first(self) -> int:
        return int(self._parsed.network.network_address)

    @property
    def last(self) -> int:
        return int(self._parsed.network.broadcast_address)

    def iter_hosts(self) -> Iterator[AddressText]:
        return map(AddressText, self._parsed.network.hosts())

    def subnet(self, prefixlen: int, count: int | None = None) -> Iterator[IPNetwork]:
        return itertools.islice(map(IPNetwork, self._parsed.network.subnets(new_prefix=prefixlen)), count)

    def supernet(self, prefixlen: int = 0) -> list[IPNetwork]:
        network = self._parsed.network
        return [IPNetwork(network.supernet(new_prefix=length)) for length in range(prefixlen, self.prefixlen)]

    def next(self, step: int = 1) -> IPNetwork:
        return self._move(step)

    def previous(self, step: int = 1) -> IPNetwork:
        return self._move(-step)

    def _move(self, steps: int) -> IPNetwork:
        network = self._parsed.network
        return IPNetwork(f"{network.network_address + steps * network.num_addresses}/{network.prefixlen}")

    def is_private(self) -> bool:
        return bool(self._parsed.network.is_private)

    def is_loopback(self) -> bool:
        return bool(self._parsed.network.is_loopback)

    def is_link_local(self) -> bool:
        return bool(self._parsed.network.is_link_local)

    def is_multicast(self) -> bool:
        return bool(self._parsed.network.is_multicast)

    def __len__(self) -> int:
        return self.size

    def __bool__(self) -> bool:
        return True

    def __iter__(self) -> Iterator[Any]:
        return map(AddressText, self._parsed.network)

    def __getitem__(self, place: Any) -> Any:
        network = self._parsed.network
        if isinstance(place, slice):
            return [AddressText(network[at]) for at in range(*place.indices(self.size))]
        return AddressText(network[place])

    def __contains__(self, other: object) -> bool:
        if not isinstance(other, str):
            return False
        try:
            inner = ipaddress.ip_interface(str.__str__(other))
        except ValueError:
            return str.__contains__(str.__str__(self), other)
        inside = self.first <= int(inner.network.network_address) <= self.last
        return inside and inner.version == self.version and inner.network.prefixlen >= self.prefixlen


def _public(kind: type) -> frozenset[str]:
    return frozenset(name for name in vars(kind) if not name.startswith("_"))


def plain(value: Any) -> Any:
    """Returns an address or network as a text; any other value unchanged."""
    return str.__str__(value) if isinstance(value, _Text) else value


ATTRIBUTES: dict[type, frozenset[str]] = {AddressText: _public(AddressText), IPNetwork: _public(IPNetwork)}
METHODS: tuple[Callable[..., Any], ...] = (
    _Text.lower,
    *(
        vars(kind)[name]
        for kind, names in ATTRIBUTES.items()
        for name in names
        if isinstance(vars(kind)[name], FunctionType)
    ),
)
