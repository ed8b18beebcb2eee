"""Recognisers of the search: MAC addresses, serial numbers, asset tags, numbers of autonomous systems."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

import sqlalchemy as sa

from netinv_core.read.recognisers import Match, SearchProvider

if TYPE_CHECKING:
    from netinv_core.uow import UnitOfWork

# Octets, of which a leading zero may be left out; groups of four or six digits; twelve digits.
_OCTETS = re.compile(r"[0-9a-f]{1,2}(([:-][0-9a-f]{1,2}){1,5}|( [0-9a-f]{1,2}){5})", re.I)
_GROUPS = re.compile(r"[0-9a-f]{4}([.:-][0-9a-f]{4}){1,2}|[0-9a-f]{6}[:-][0-9a-f]{6}|[0-9a-f]{12}", re.I)
_AS_NUMBER = re.compile(r"AS\s*([0-9]{1,10})", re.I)
MAC_DIGITS = 12
MIN_SERIAL_LENGTH = 3
MAX_AS_NUMBER = 2**32 - 1
_NUMBERED = (("dcim.device", "devices"), ("dcim.rack", "racks"), ("dcim.inventoryitem", "inventory items"))


def mac_matches(label: str, title: str, text: str) -> Iterator[Match]:
    """Yields the interfaces with a MAC address, in any notation, or whose MAC address begins with a part of one."""
    if _OCTETS.fullmatch(text):
        digits = "".join(octet.zfill(2) for octet in re.split("[-: ]", text)).upper()
    elif _GROUPS.fullmatch(text):
        digits = re.sub("[-:.]", "", text).upper()
    else:
        return
    start = ":".join(digits[number : number + 2] for number in range(0, len(digits), 2))
    if len(digits) == MAC_DIGITS:
        yield Match(label, title, "mac_address", lambda table: table.c.mac_address == start, [("mac_address", start)])
    else:
        condition = functools.partial(_begins, start)
        yield Match(label, title, "mac_address", condition, [("mac_address__isw", start)])


def _begins(start: str, table: sa.Table) -> sa.ColumnElement[bool]:
    return table.c.mac_address.between(start, f"{start}~")


def interfaces(uow: UnitOfWork, text: str) -> Iterator[Match]:
    """Yields the interfaces with a MAC address."""
    yield from mac_matches("dcim.interface", "interfaces", text)


def serial_numbers(uow: UnitOfWork, text: str) -> Iterator[Match]:
    """Yields the objects with a serial number, then those with an asset tag."""
    if len(text) < MIN_SERIAL_LENGTH:
        return
    spellings = list(dict.fromkeys([text, text.upper()]))
    for field in ("serial", "asset_tag"):
        for label, title in _NUMBERED:
            yield Match(label, title, field, functools.partial(_equals, field, spellings), [(field, text)])


def _equals(field: str, spellings: list[str], table: sa.Table) -> sa.ColumnElement[bool]:
    return table.c[field].in_(spellings)


def as_number_matches(label: str, title: str, text: str) -> Iterator[Match]:
    """Yields the objects with the number of an autonomous system: ``AS64500``."""
    match = _AS_NUMBER.fullmatch(text)
    if match is not None and 1 <= (number := int(match[1])) <= MAX_AS_NUMBER:
        yield Match(label, title, "asn", lambda table: table.c.asn == number, [("asn", str(number))])


def sites(uow: UnitOfWork, text: str) -> Iterator[Match]:
    """Yields the sites with the number of an autonomous system."""
    yield from as_number_matches("dcim.site", "sites", text)


PROVIDERS = (
    SearchProvider("MAC address", 10, interfaces),
    SearchProvider("AS number", 20, sites),
    SearchProvider("serial number", 30, serial_numbers),
)
