"""Recogniser of the search: AS numbers."""

from __future__ import annotations

import re
from collections.abc import Iterator

from netinv_asns.asns import LARGEST
from netinv_core import Match, UnitOfWork

_NUMBER = re.compile(r"(?:ASN?)\s*([0-9]{1,10})", re.I)


def by_number(uow: UnitOfWork, text: str) -> Iterator[Match]:
    """Yields the AS number: ``AS64500``."""
    found = _NUMBER.fullmatch(text)
    if found is not None and 1 <= (number := int(found[1])) <= LARGEST:
        yield Match("asns.asn", "ASNs", "asn", lambda table: table.c.asn == number, [("asn", str(number))])
