"""Networks and hosts: the packed columns that they are sorted and searched by, and the filters on these columns.

The packed forms (4 bytes for IPv4, 16 for IPv6) compare as bytes on every database. So the condition "inside a network"
is a range, and "contains a network" is a lookup of at most 32 (128) possible parents. The IP version comes before them
in the order of lists, IPv4 first, and so in the indexes: every condition on a packed column also names the version.
"""

from __future__ import annotations

import dataclasses
import re
import socket
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

import netaddr
import sqlalchemy as sa
from sqlalchemy.orm import Mapped, MappedColumn

from netinv_core import fields
from netinv_core.caches import lru_cache
from netinv_core.fields import schema
from netinv_core.models.columns import Choices, column, column_info
from netinv_core.models.types import Chars, Packed
from netinv_core.read.filters import Filter, custom
from netinv_core.resource import FieldFactory, computed, computed_choice
from netinv_core.sql.lookups import any_of, whole_number

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.fields import Field
    from netinv_core.registry import Registry
    from netinv_core.resource import Rule
    from netinv_core.uow import UnitOfWork
    from netinv_core.write.draft import Draft

# What netaddr reads besides (line breaks, ``/024``) is refused, as databases and other tools do.
_WRITTEN = re.compile(r"[0-9a-fA-F:.]+(/(0|[1-9][0-9]{0,2}|[0-9a-fA-F:.]*[.:][0-9a-fA-F:.]*))?")
FAMILIES = Choices.of((4, "IPv4"), (6, "IPv6"))
BITS = {4: 32, 6: 128}
_SOCKETS = {4: socket.AF_INET, 16: socket.AF_INET6}
Condition = Any


def parse(value: str) -> netaddr.IPNetwork:
    """Parses an address with or without a prefix length (RFC 4632, RFC 4291); without one it is a single host.

    :raises ValueError: when the value is not an address
    """
    if not value.strip():
        raise ValueError(schema.NOT_BLANK)
    try:
        if not _WRITTEN.fullmatch(value.strip(" ")):
            raise ValueError(value)
        return netaddr.IPNetwork(value)
    except (netaddr.AddrFormatError, ValueError):
        raise ValueError(f"Invalid IP address format: {value}") from None


@dataclasses.dataclass(frozen=True, slots=True)
class Forms:
    """The canonical texts of an address with its prefix length, and what columns store of it."""

    host_text: str
    network_text: str
    host: bytes
    network: bytes
    broadcast: bytes
    prefix_length: int
    ip_version: int


@lru_cache("addresses", 2048)
def _forms(text: str) -> Forms:
    """The forms of an address. A new object asks twice: for the canonical text and for the packed columns."""
    network = parse(text)
    version = network.version
    return Forms(
        str(network),
        str(network.cidr),
        packed(network.value, version),
        first(network),
        last(network),
        network.prefixlen,
        version,
    )


def _forms_of(value: Any) -> Forms:
    """The forms of a value.

    :raises ValueError: when it is not an address
    """
    if not isinstance(value, str):
        raise ValueError(f"unexpected type {type(value)} for addr arg")
    return _forms(value)


def network_text(value: Any) -> str:
    """The canonical text of a network, with the host bits cleared: ``10.5.5.5/24`` → ``10.5.5.0/24``."""
    return _forms_of(value).network_text


def host_text(value: Any) -> str:
    """The canonical text of a host with its prefix length: ``10.5.5.5/24``."""
    return _forms_of(value).host_text


def packed(number: int, version: int) -> bytes:
    """The bytes that columns store for an address, 4 or 16 in network byte order."""
    return number.to_bytes(BITS[version] // 8, "big")


def address_text(value: bytes) -> str:
    """The text of a packed address: ``b"\\n\\0\\0\\1"`` → ``10.0.0.1``."""
    return socket.inet_ntop(_SOCKETS[len(value)], value)


def first(network: netaddr.IPNetwork) -> bytes:
    """The lowest address of a network, packed."""
    return packed(network.first, network.version)


def last(network: netaddr.IPNetwork) -> bytes:
    """The highest address of a network, packed."""
    return packed(network.last, network.version)


# -- columns


def cidr(parse: Callable[[Any], str]) -> MappedColumn[Any]:
    """The text column of an address and its prefix length; :func:`fill_packed_columns` derives the others from it."""
    return column(Chars(43, parse), index=True, parse=parse, in_object_data=False)


def edge() -> MappedColumn[Any]:
    """The column of a packed address."""
    return column(Packed(16), hidden=True, in_object_data=address_text)


class SpanColumns:
    """Mixin with the columns that networks and hosts share; ``broadcast`` is the highest address of the network.

    Models add the indexes: (``ip_version``, ``network``, ``prefix_length``), or (``ip_version``, ``host``,
    ``prefix_length``) and ``broadcast``.
    """

    broadcast: Mapped[bytes] = edge()
    prefix_length: Mapped[int] = column(hidden=True, in_object_data=True)
    ip_version: Mapped[int] = column(sa.SmallInteger(), hidden=True)


class NetworkColumns(SpanColumns):
    """Mixin for networks; ``network`` is the lowest address."""

    network: Mapped[bytes] = edge()


class HostColumns(SpanColumns):
    """Mixin for hosts within their networks; ``host`` is the address itself."""

    host: Mapped[bytes] = edge()


def fill_packed_columns(name: str) -> Rule:
    """Preparation that fills the packed columns from the text column ``name``."""

    def unpack(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
        """Fills the packed columns (address, broadcast, prefix length, version) from the text."""
        for draft in drafts:
            if not draft.changed(name):
                continue
            forms = _forms(draft[name])
            if "host" in draft.endpoint.table.c:
                draft["host"] = forms.host
            else:
                draft["network"] = forms.network
            draft["broadcast"] = forms.broadcast
            draft["prefix_length"], draft["ip_version"] = forms.prefix_length, forms.ip_version

    return unpack


def reject_zero_prefix(name: str, title: str) -> Rule:
    """Rule: rejects the prefix length 0, the whole address space."""

    def no_zero_mask(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
        """Rejects the prefix length 0."""
        for draft in drafts:
            if draft["prefix_length"] == 0:
                draft.reject(name, f"Cannot create {title} with /0 mask.")

    return no_zero_mask


def cidr_field(name: str) -> FieldFactory:
    """The field of the text column, without a limit on the length of the text."""

    def make(registry: Registry, endpoint: Endpoint) -> Field:
        info = column_info(endpoint.table.c[name])
        node = schema.node(name, str, info, length=None, digits=None)
        return fields.Value(
            name=name, attribute=name, kind="string", required=True, info=info, node=node, openapi={"type": "string"}
        )

    return FieldFactory(name, make)


def family() -> FieldFactory:
    """The field of the IP version."""
    return computed_choice("family", FAMILIES, "ip_version")


# -- conditions


def parts(endpoint: Endpoint) -> list[FieldFactory]:
    """Fields for the parts of a network or host: host or network, broadcast, prefix length. Empty for other models."""
    if not issubclass(endpoint.model, SpanColumns):
        return []
    text, integer = {"type": "string"}, {"type": "integer"}
    columns = [name for name in ("host", "network", "broadcast") if name in endpoint.table.c]
    addresses = [computed(name, address_text, name, openapi=text) for name in columns]
    return [*addresses, computed("prefix_length", lambda length: length, "prefix_length", openapi=integer)]


def low(table: Any) -> Any:
    """The column of the address itself: ``network`` or ``host``."""
    return table.c.network if "network" in table.c else table.c.host


def host_is(table: Any, network: netaddr.IPNetwork) -> Condition:
    """Condition: the row's address itself, whatever its prefix length, is the one of ``network``."""
    return sa.and_(table.c.ip_version == network.version, low(table) == packed(network.value, network.version))


def inside(table: Any, network: netaddr.IPNetwork) -> Condition:
    """Condition: the address lies in the network, whatever its own prefix length."""
    return sa.and_(table.c.ip_version == network.version, low(table).between(first(network), last(network)))


def within(table: Any, network: netaddr.IPNetwork, *, equal: bool = True) -> Condition:
    """Condition: the row's network lies in ``network``, or also equals it when ``equal``."""
    length = table.c.prefix_length
    return sa.and_(inside(table, network), length >= network.prefixlen if equal else length > network.prefixlen)


def parents(network: netaddr.IPNetwork, *, equal: bool = True) -> Iterable[netaddr.IPNetwork]:
    """The networks that contain a network, from /1 to the longest; with ``equal`` also the network itself."""
    for length in range(1, network.prefixlen + equal):
        yield netaddr.IPNetwork((network.value, length), network.version).cidr


def edges_of_parents(network: netaddr.IPNetwork, *, equal: bool = True) -> Iterable[tuple[int, bytes, bytes]]:
    """Prefix length, lowest and highest address of the networks that contain a network, from /1 to the longest; with
    ``equal`` also those of the network itself.
    """
    version, value, bits = network.version, network.value, BITS[network.version]
    for length in range(1, network.prefixlen + equal):
        hosts = (1 << (bits - length)) - 1
        yield length, packed(value & ~hosts, version), packed(value | hosts, version)


def containing(table: Any, network: netaddr.IPNetwork, *, equal: bool = True) -> Condition:
    """Condition: the row's network contains ``network``, or also equals it when ``equal``.

    Uses an index: it compares the first or last addresses of all possible parents.
    """
    above = list(edges_of_parents(network, equal=equal))
    if "network" not in table.c:
        lengths = {last_address: length for length, _, last_address in above}
        return any_of(
            [
                sa.and_(table.c.broadcast == last_address, table.c.prefix_length <= length)
                for last_address, length in lengths.items()
            ]
        )
    first_addresses = list(dict.fromkeys(first_address for _, first_address, _ in above))
    begins_above = sa.and_(table.c.ip_version == network.version, table.c.network.in_(first_addresses))
    contains = sa.and_(begins_above, table.c.broadcast >= last(network))
    return contains if equal else sa.and_(contains, table.c.prefix_length < network.prefixlen)


def equal(table: Any, network: netaddr.IPNetwork) -> Condition:
    """Condition: the row's network equals ``network``."""
    same_edge = table.c.network == first(network) if "network" in table.c else table.c.broadcast == last(network)
    return sa.and_(table.c.ip_version == network.version, same_edge, table.c.prefix_length == network.prefixlen)


def exact(table: Any, value: str) -> Condition:
    """Condition: the row's address equals the value; a prefix length in the value must be equal too."""
    network = parse(value)
    same_address = host_is(table, network)
    return sa.and_(same_address, table.c.prefix_length == network.prefixlen) if "/" in value else same_address


def of_family(table: Any, value: str) -> Condition:
    """Condition: the row is of an IP version."""
    version = whole_number(value)
    if version not in (4, 6):
        raise ValueError(f"Select a valid choice. {value} is not one of the available choices.")
    return table.c.ip_version == version


def family_filter() -> Filter:
    """Filter by the IP version."""

    def apply(uow: UnitOfWork, table: Any, values: list[str]) -> Condition:
        return of_family(table, values[-1])

    return custom("family", apply, multiple=False, kind="number", negatable=True)
