"""Query parameters that compare networks and addresses, for columns of :mod:`netinv_ipam.networks`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import netaddr
import sqlalchemy as sa

from netinv_core.db.expressions import before_slash, in_values
from netinv_core.read.filters import Filter, custom, number
from netinv_core.read.parameters import TOO_MANY
from netinv_core.sql.lookups import any_of, begins, compare, max_terms, meets
from netinv_ipam.networks import (
    BITS,
    Condition,
    containing,
    equal,
    inside,
    low,
    of_family,
    packed,
    parse,
    within,
)

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.uow import UnitOfWork


def any_exact(table: Any, values: Sequence[str]) -> Condition:
    """Condition: the row's address equals one of the values as in :func:`exact`, by a list for each prefix length."""
    hosts: dict[tuple[int, int | None], list[bytes]] = {}
    for value in values:
        network = parse(value)
        key = network.version, network.prefixlen if "/" in value else None
        hosts.setdefault(key, []).append(packed(network.value, network.version))
    return any_of(
        [
            sa.and_(
                table.c.ip_version == version,
                in_values(low(table), found),
                *([] if length is None else [table.c.prefix_length == length]),
            )
            for (version, length), found in hosts.items()
        ]
    )


# The lookups of the parameters ``network__…`` and ``host__…``.
NETWORK_LOOKUPS: dict[str, Callable[[Any, str], Condition]] = {
    "net_contained": lambda table, value: within(table, parse(value), equal=False),
    "net_contained_or_equal": lambda table, value: within(table, parse(value)),
    "net_contains": lambda table, value: containing(table, parse(value), equal=False),
    "net_contains_or_equals": lambda table, value: containing(table, parse(value)),
    "net_equals": lambda table, value: equal(table, parse(value)),
    "net_host": lambda table, value: containing(table, netaddr.IPNetwork(parse(value).ip)),
    "net_host_contained": lambda table, value: inside(table, parse(value)),
    "net_in": lambda table, value: any_of([inside(table, parse(item)) for item in value.split(",")]),
    "family": of_family,
}
CONTAINING_LOOKUPS = ("net_contains", "net_contains_or_equals", "net_host")
EXACT_LOOKUPS = ("", "exact", "iexact")
TEXT_LOOKUPS = ("startswith", "istartswith", "endswith", "iendswith", "regex", "iregex")


def lookups(name: str, written: str) -> Filter:
    """Filter ``name`` (``network`` or ``host``) with its lookups; ``written`` is the name of the text column."""

    def apply(uow: UnitOfWork, endpoint: Endpoint, table: Any, suffix: str, values: list[str]) -> Condition:
        if suffix in EXACT_LOOKUPS:
            return any_exact(table, values)
        if suffix in TEXT_LOOKUPS:
            text = before_slash(table.c[written])  # the address without its prefix length
            return meets(suffix, endpoint.registry.driver, values, text)
        if sum(_terms(table, suffix, value) for value in values) > (most := max_terms(uow.settings)):
            raise ValueError(TOO_MANY.format(most=most))
        return any_of([NETWORK_LOOKUPS[suffix](table, value) for value in values])

    return Filter(name, apply, (*EXACT_LOOKUPS[1:], *NETWORK_LOOKUPS, *TEXT_LOOKUPS), listed=EXACT_LOOKUPS)


def _terms(table: Any, suffix: str, value: str) -> int:
    """The conditions of which the one for a value is made, as in :func:`containing`."""
    if suffix == "net_in":
        return value.count(",") + 1
    if suffix in CONTAINING_LOOKUPS and "network" not in table.c:
        return BITS[parse(value).version]
    return 1


def network_comparison(name: str, condition: Callable[[Any, netaddr.IPNetwork], Condition]) -> Filter:
    """Filter that compares rows with the network in its value."""

    def apply(uow: UnitOfWork, table: Any, values: list[str]) -> Condition:
        return condition(table, parse(values[-1]))

    return custom(name, apply, multiple=False)


def edge_filters() -> list[Filter]:
    """Filters by the last address of the network, and by the prefix length."""

    def ends_at(uow: UnitOfWork, table: Any, values: list[str]) -> Condition:
        return table.c.broadcast.in_([packed(address.value, address.version) for address in map(_address, values)])

    return [custom("broadcast", ends_at, negatable=True), number("prefix_length")]


def _address(text: str) -> netaddr.IPNetwork:
    """Parses an address without a prefix length.

    :raises ValueError: when the text is not an address, or has a prefix length
    """
    if "/" in text:
        raise ValueError("Enter a valid IP address, without a prefix length.")
    return parse(text)


def network_filter() -> Filter:
    """Filter ``prefix``: rows whose network equals the value."""
    return network_comparison("prefix", lambda table, network: equal(table, network.cidr))


def search(written: str, condition: Callable[[Any, netaddr.IPNetwork], Condition], *columns: str) -> Filter:
    """Filter ``q``: compares a complete network or host by ``condition``, other text with the start of the text column.

    Rows also match if one of the ``columns`` contains the text.
    """

    def apply(uow: UnitOfWork, table: Any, values: list[str]) -> Condition:
        text, driver = values[-1].strip(), uow.registry.driver
        if not text:
            return sa.true()
        try:
            by_address = condition(table, parse(text))
        except ValueError:
            by_address = begins(driver, table.c[written], text.lower())
        return any_of([by_address, *[compare("icontains", driver, table.c[name], text) for name in columns]])

    return custom("q", apply, multiple=False)
