"""Requests of endless variety: each asks for other fields, filters, orders and columns than the ones before, so that
it finds nothing in the caches of the service.
"""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Callable, Iterator, Sequence
from typing import Any
from urllib.parse import quote, urlencode


@dataclasses.dataclass(frozen=True)
class Kind:
    """A list that requests ask for: its path, name in GraphQL, texts to filter by, members to order by and to show."""

    path: str
    root: str
    texts: tuple[str, ...]
    orders: tuple[str, ...]
    members: tuple[str, ...]


KINDS = (
    Kind(
        "dcim/devices/",
        "devices",
        ("name", "asset_tag", "comments"),
        ("name", "serial", "site.name", "rack.name", "tenant.group.name", "device_type.manufacturer.name", "position"),
        ("name", "status", "site", "rack", "tenant", "platform", "device_type", "device_role", "serial", "face"),
    ),
    Kind(
        "dcim/sites/",
        "sites",
        ("name", "slug", "facility", "description"),
        ("name", "slug", "facility", "region.name", "tenant.name", "tenant.group.name", "asn", "last_updated"),
        ("name", "slug", "status", "region", "tenant", "facility", "asn", "description", "comments", "tags"),
    ),
    Kind(
        "dcim/interfaces/",
        "interfaces",
        ("name", "label", "description"),
        ("name", "device.name", "device.site.name", "type", "mtu", "label"),
        ("name", "device", "type", "enabled", "mtu", "label", "description", "tags", "mac_address"),
    ),
    Kind(
        "ipam/ip-addresses/",
        "ip_addresses",
        ("dns_name", "description"),
        ("address", "dns_name", "vrf.name", "tenant.name", "status.name", "last_updated"),
        ("address", "status", "vrf", "tenant", "role", "dns_name", "description", "tags", "created", "last_updated"),
    ),
)
NAMED = frozenset({"site", "rack", "tenant", "platform", "device_role", "region", "device", "vrf"})
OBJECTS = NAMED | {"device_type", "tags"}
LOOKUPS = ("", "__n", "__ic", "__nic", "__isw", "__iew", "__ie", "__re", "__ire")
NEGATED = ("__n", "__nic")  # these words are in no text, so that all objects are found
LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789"
MAX = 5  # objects of a page


@dataclasses.dataclass(frozen=True)
class Request:
    """A request, below ``/api/`` or of a page (``is_page``)."""

    method: str
    path: str
    body: Any = None
    is_page: bool = False


def requests(seed: int, devices: Sequence[str] = ()) -> Iterator[Request]:
    """Yields requests without end, the same for the same seed. They change ``devices``, given by their ids."""
    draw = random.Random(seed)
    makers: tuple[Callable[[random.Random, Kind], Request], ...] = (_fields, _filters, _orders, _graphql, _page)
    while True:
        for make in makers:
            yield make(draw, draw.choice(KINDS))
        if devices:
            yield Request("PATCH", f"dcim/devices/{draw.choice(devices)}/", {"comments": _word(draw)})


def _some(draw: random.Random, words: tuple[str, ...], least: int = 1) -> list[str]:
    return draw.sample(words, draw.randint(least, len(words)))


def _word(draw: random.Random) -> str:
    return "".join(draw.choices(LETTERS, k=draw.randint(3, 8)))


def _listing(kind: Kind, parameters: list[tuple[str, str]]) -> Request:
    return Request("GET", f"{kind.path}?{urlencode([*parameters, ('limit', str(MAX))])}")


def _fields(draw: random.Random, kind: Kind) -> Request:
    members = [f"{name}.name" if name in NAMED and draw.random() < 0.5 else name for name in _some(draw, kind.members)]
    return _listing(kind, [("fields", ",".join(members))])


def _filters(draw: random.Random, kind: Kind) -> Request:
    return _listing(kind, _conditions(draw, kind))


def _conditions(draw: random.Random, kind: Kind, among: Sequence[str] = LOOKUPS) -> list[tuple[str, str]]:
    lookups = [(name, draw.choice(among)) for name in _some(draw, kind.texts)]
    values = range(draw.randint(1, 3))
    return [(f"{name}{lookup}", _word(draw)) for name, lookup in lookups for _ in values]


def _orders(draw: random.Random, kind: Kind) -> Request:
    names = [draw.choice(("", "-")) + name for name in _some(draw, kind.orders)]
    return _listing(kind, [("ordering", ",".join(names)), ("offset", str(draw.randint(0, 50)))])


def _graphql(draw: random.Random, kind: Kind) -> Request:
    members = " ".join(
        f"{name} {{ {draw.choice(('id', 'display', 'id display', 'url display'))} }}" if name in OBJECTS else name
        for name in _some(draw, kind.members)
        if name not in ("status", "role", "type", "face")
    )
    arguments = ", ".join(f'{name}: ["{value}"]' for name, value in dict(_conditions(draw, kind, NEGATED)).items())
    query = f"query q{_word(draw)} {{ {kind.root}(limit: {MAX}, {arguments}) {{ id {members} }} }}"
    return Request("POST", "graphql/", {"query": query})


def _page(draw: random.Random, kind: Kind) -> Request:
    parameters = [
        ("_columns", ",".join(_some(draw, kind.members))),
        *_conditions(draw, kind, NEGATED),
        ("per_page", "25"),
    ]
    return Request("GET", f"/{kind.path}?{urlencode(parameters, quote_via=quote)}", is_page=True)
