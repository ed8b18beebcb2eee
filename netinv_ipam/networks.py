"""Networks and hosts: the packed columns by which they sort and are found, and the query parameters over those columns.

The packed forms (4 bytes of IPv4, 16 of IPv6) compare as bytes on every database, so "inside" is a range and "which networks
contain this one" is a lookup of at most 32 (128) possible parents.
"""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import netaddr
import sqlalchemy as sa
from sqlalchemy.orm import Mapped, MappedColumn

from netinv_core import fields
from netinv_core.endpoint import Endpoint
from netinv_core.models.columns import Choices, column, column_info
from netinv_core.models.types import Chars, Packed
from netinv_core.read.filters import Filter, custom, number
from netinv_core.read.lookups import LOOKUPS, any_of
from netinv_core.registry import Registry
from netinv_core.resource import FieldFactory, Rule, computed, computed_choice
from netinv_core.uow import UnitOfWork
from netinv_core.write import schema
from netinv_core.write.draft import Draft

FAMILIES = Choices.of((4, "IPv4"), (6, "IPv6"))
BITS = {4: 32, 6: 128}
_SOCKETS = {4: socket.AF_INET, 16: socket.AF_INET6}
Condition = Any


def parse(value: Any) -> netaddr.IPNetwork:
    """An address with or without a prefix length (RFC 4632, RFC 4291); without one it is a single host.

    :raises ValueError: when it is none
    """
    if not isinstance(value, str):
        raise ValueError(f"unexpected type {type(value)} for addr arg")
    if not value.strip():
        raise ValueError(schema.NOT_BLANK)
    try:
        return netaddr.IPNetwork(value)
    except (netaddr.AddrFormatError, ValueError):
        raise ValueError(f"Invalid IP address format: {value}") from None


def network_text(value: Any) -> str:
    """A network in its one written form, host bits dropped: ``10.5.5.5/24`` → ``10.5.5.0/24``."""
    return str(parse(value).cidr)


def host_text(value: Any) -> str:
    """A host with its prefix length in its one written form."""
    return str(parse(value))


def packed(number: int, version: int) -> bytes:
    """An address as the bytes that columns hold."""
    return number.to_bytes(BITS[version] // 8, "big")


def address_text(value: bytes) -> str:
    """The written form of an address as columns hold it."""
    return socket.inet_ntop(_SOCKETS[len(value)], value)


def first(network: netaddr.IPNetwork) -> bytes:
    """The lowest address of a network, packed."""
    return packed(network.first, network.version)


def last(network: netaddr.IPNetwork) -> bytes:
    """The highest address of a network, packed."""
    return packed(network.last, network.version)


# -- columns


def cidr(parse: Callable[[Any], str]) -> MappedColumn[Any]:
    """The written form, address and prefix length; the other columns follow from it (:func:`fill_packed_columns`)."""
    return column(Chars(43), index=True, parse=parse, in_object_data=False)


def edge() -> MappedColumn[Any]:
    """The column of a packed address."""
    return column(Packed(16), hidden=True, in_object_data=address_text)


class Span:
    """Adds what a network and a host have in common: ``broadcast`` is the highest address of its network.

    Models index what they are found by: (``network``, ``prefix_length``), or (``host``, ``prefix_length``) and ``broadcast``.
    """

    broadcast: Mapped[bytes] = edge()
    prefix_length: Mapped[int] = column(hidden=True, in_object_data=True)
    ip_version: Mapped[int] = column(sa.SmallInteger(), hidden=True)


class Network(Span):
    """Adds a network: ``network`` is its lowest address."""

    network: Mapped[bytes] = edge()


class Host(Span):
    """Adds a host within its network: ``host`` is its own address."""

    host: Mapped[bytes] = edge()


def fill_packed_columns(name: str) -> Rule:
    """The preparation that fills the packed columns from the written form in the column ``name``."""

    def unpack(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
        for draft in drafts:
            if not draft.changed(name):
                continue
            network = netaddr.IPNetwork(draft[name])
            if "host" in draft.endpoint.table.c:
                draft["host"] = packed(network.value, network.version)
            else:
                draft["network"] = first(network)
            draft["broadcast"], draft["prefix_length"], draft["ip_version"] = last(network), network.prefixlen, network.version

    return unpack


def reject_zero_prefix(name: str, title: str) -> Rule:
    """The rule that a network is not the whole address space."""

    def no_zero_mask(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
        for draft in drafts:
            if draft["prefix_length"] == 0:
                draft.reject(name, f"Cannot create {title} with /0 mask.")

    return no_zero_mask


def cidr_field(name: str) -> FieldFactory:
    """The field of the written form, whose length is nobody's concern."""

    def make(registry: Registry, endpoint: Endpoint) -> fields.Field:
        what = column_info(endpoint.table.c[name])
        node = schema.node(name, str, what, length=None, digits=None)
        return fields.Value(name=name, attribute=name, kind="string", required=True, known=what, node=node, openapi={"type": "string"})

    return FieldFactory(name, make)


def family() -> FieldFactory:
    """The field of the IP version."""
    return computed_choice("family", FAMILIES, "ip_version")


# -- conditions


def parts(endpoint: Endpoint) -> list[FieldFactory]:
    """The parts of what an endpoint's objects are, each by itself: host or network, broadcast, prefix length."""
    if not issubclass(endpoint.model, Span):
        return []
    text, whole = {"type": "string"}, {"type": "integer"}
    places = [name for name in ("host", "network", "broadcast") if name in endpoint.table.c]
    shown = [computed(name, address_text, name, openapi=text) for name in places]
    return [*shown, computed("prefix_length", lambda length: length, "prefix_length", openapi=whole)]


def low(table: Any) -> Any:
    """The column of the address itself: of the network, or of the host."""
    return table.c.network if "network" in table.c else table.c.host


def inside(table: Any, network: netaddr.IPNetwork) -> Condition:
    """The address lies in the network, whatever its own prefix length."""
    return sa.and_(table.c.ip_version == network.version, low(table).between(first(network), last(network)))


def within(table: Any, network: netaddr.IPNetwork, *, equal: bool = True) -> Condition:
    """The network (of the host) lies in the other, or equals it when ``equal``."""
    length = table.c.prefix_length
    return sa.and_(inside(table, network), length >= network.prefixlen if equal else length > network.prefixlen)


def parents(network: netaddr.IPNetwork, *, equal: bool = True) -> Iterable[netaddr.IPNetwork]:
    """Every network that contains another, longest last; the network itself when ``equal``."""
    for length in range(1, network.prefixlen + equal):
        yield netaddr.IPNetwork((network.value, length), network.version).cidr


def containing(table: Any, network: netaddr.IPNetwork, *, equal: bool = True) -> Condition:
    """The network (of the host) contains the other, or equals it when ``equal``; found by its possible edges."""
    above = list(parents(network, equal=equal))
    if "network" not in table.c:
        lengths = {last(parent): parent.prefixlen for parent in above}
        return any_of([sa.and_(table.c.broadcast == edge, table.c.prefix_length <= length) for edge, length in lengths.items()])
    found = sa.and_(table.c.network.in_(list(dict.fromkeys(map(first, above)))), table.c.broadcast >= last(network))
    return found if equal else sa.and_(found, table.c.prefix_length < network.prefixlen)


def equal(table: Any, network: netaddr.IPNetwork) -> Condition:
    """The network (of the host) is the other."""
    found = table.c.network == first(network) if "network" in table.c else table.c.broadcast == last(network)
    return sa.and_(found, table.c.prefix_length == network.prefixlen)


def exact(table: Any, value: str) -> Condition:
    """The address is the one given; with a prefix length, that is the same too."""
    network = parse(value)
    found = low(table) == packed(network.value, network.version)
    return sa.and_(found, table.c.prefix_length == network.prefixlen) if "/" in value else found


def _of_family(table: Any, value: str) -> Condition:
    if not value.strip().lstrip("-").isdecimal():
        raise ValueError("Enter a number.")
    if value.strip() not in ("4", "6"):
        raise ValueError(f"Select a valid choice. {value} is not one of the available choices.")
    return table.c.ip_version == int(value)


# -- query parameters

# what follows ``network__`` or ``host__``
NETWORK_LOOKUPS: dict[str, Callable[[Any, str], Condition]] = {
    "exact": exact,
    "iexact": exact,
    "net_contained": lambda table, value: within(table, parse(value), equal=False),
    "net_contained_or_equal": lambda table, value: within(table, parse(value)),
    "net_contains": lambda table, value: containing(table, parse(value), equal=False),
    "net_contains_or_equals": lambda table, value: containing(table, parse(value)),
    "net_equals": lambda table, value: equal(table, parse(value)),
    "net_host": lambda table, value: containing(table, netaddr.IPNetwork(parse(value).ip)),
    "net_host_contained": lambda table, value: inside(table, parse(value)),
    "net_in": lambda table, value: any_of([inside(table, parse(item)) for item in value.split(",")]),
    "family": _of_family,
}
TEXT_LOOKUPS = ("startswith", "istartswith", "endswith", "iendswith", "regex", "iregex")


def _address_part(dialect: str, written: Any) -> Any:
    """The written form without its prefix length."""
    if dialect == "sqlite":
        return sa.func.substr(written, 1, sa.func.instr(written, "/") - 1, type_=sa.Text)
    return (sa.func.split_part if dialect == "postgresql" else sa.func.substring_index)(written, "/", 1, type_=sa.Text)


def lookups(name: str, written: str) -> Filter:
    """The parameter ``name`` (``network`` or ``host``) with its lookups; ``written`` is the column of the written form."""

    def apply(uow: UnitOfWork, endpoint: Endpoint, table: Any, suffix: str, values: list[str]) -> Condition:
        if suffix in TEXT_LOOKUPS:
            dialect = endpoint.registry.dialect
            text = _address_part(dialect, table.c[written])
            return any_of([LOOKUPS[suffix](dialect, text, value) for value in values])
        return any_of([NETWORK_LOOKUPS[suffix or "exact"](table, value) for value in values])

    return Filter(name, apply, (*NETWORK_LOOKUPS, *TEXT_LOOKUPS))


def network_comparison(name: str, condition: Callable[[Any, netaddr.IPNetwork], Condition]) -> Filter:
    """A parameter that relates to one network given; what is not a network relates to nothing."""

    def apply(uow: UnitOfWork, table: Any, values: list[str]) -> Condition:
        try:
            return condition(table, parse(values[-1]))
        except ValueError:
            return sa.false()

    return custom(name, apply, multiple=False)


def family_filter() -> Filter:
    """The parameter for the IP version."""

    def apply(uow: UnitOfWork, table: Any, values: list[str]) -> Condition:
        return _of_family(table, values[-1])

    return custom("family", apply, multiple=False, kind="number", negatable=True)


def edge_filters() -> list[Filter]:
    """The parameters for the last address of the network, and for the prefix length."""

    def ends_at(uow: UnitOfWork, table: Any, values: list[str]) -> Condition:
        return table.c.broadcast.in_([packed(found.value, found.version) for found in map(_address, values)])

    return [custom("broadcast", ends_at, negatable=True), number("prefix_length")]


def _address(text: str) -> netaddr.IPNetwork:
    """An address written alone.

    :raises ValueError: for anything else
    """
    if "/" in text:
        raise ValueError("Enter a valid IP address, without a prefix length.")
    return parse(text)


def network_filter() -> Filter:
    """The parameter for a network as a whole."""
    return network_comparison("prefix", lambda table, network: equal(table, network.cidr))


def search(written: str, condition: Callable[[Any, netaddr.IPNetwork], Condition], *columns: str) -> Filter:
    """``q``: a network or host given whole goes by ``condition``, otherwise by how the written form begins; or words of the columns."""

    def apply(uow: UnitOfWork, table: Any, values: list[str]) -> Condition:
        text, dialect = values[-1].strip(), uow.registry.dialect
        if not text:
            return sa.true()
        try:
            found = condition(table, parse(text))
        except ValueError:
            found = LOOKUPS["istartswith"](dialect, table.c[written], text)
        return any_of([found, *[LOOKUPS["icontains"](dialect, table.c[name], text) for name in columns]])

    return custom("q", apply, multiple=False)
