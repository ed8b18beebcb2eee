"""Recogniser of the search: the ranges that contain an address."""

from __future__ import annotations

from collections.abc import Iterator

from netinv_core import Match, UnitOfWork
from netinv_ip_ranges.ip_ranges import around
from netinv_ipam import networks


def ranges_around(uow: UnitOfWork, text: str) -> Iterator[Match]:
    """Yields the ranges that contain an address in four parts, or an IPv6 address."""
    if text.count(".") != 3 and text.count(":") < 2:
        return
    try:
        network = networks.parse(text)
    except ValueError:
        return
    host = networks.parse(str(network.ip))
    yield Match(
        "ip_ranges.iprange",
        "IP ranges that contain it",
        "start_address",
        lambda table: around(table, host),
        [("contains", str(network.ip))],
    )
