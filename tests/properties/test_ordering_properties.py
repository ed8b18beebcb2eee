"""The parameter ``ordering`` sorts lists as Python sorts their representations."""

from __future__ import annotations

import functools
import itertools
import random
from collections.abc import Callable, Sequence
from typing import Any
from urllib.parse import parse_qs, urlsplit

import netaddr
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from netinv_core.write.slugs import natural_key
from netinv_testing import Service

SITES, ADDRESSES = "/api/dcim/sites/", "/api/ipam/ip-addresses/"
COUNT = 40
Key = Callable[[dict[str, Any]], Any]


def _member(*path: str) -> Key:
    """A function that returns the member at a path; None where a reference on the way is null."""
    return lambda item: functools.reduce(lambda value, step: None if value is None else value[step], path, item)


def _natural(*path: str) -> Key:
    read = _member(*path)
    return lambda item: None if read(item) is None else natural_key(read(item))


class Shelf:
    """Sites with many ties and nulls, and the functions that compute their sort keys in Python."""

    def __init__(self, service: Service) -> None:
        api, word, draw = service.api, service.unique(), random.Random(7)
        self.slugs = {kind: f"{word}_{kind}".lower() for kind in ("integer", "text", "boolean")}
        for kind, slug in self.slugs.items():
            body = {"type": kind, "label": slug, "slug": slug, "content_types": ["dcim.site"], "required": False}
            api.post("/api/extras/custom-fields/", body)
        self.region = api.post("/api/dcim/regions/", {"name": word})["id"]
        group = api.post("/api/tenancy/tenant-groups/", {"name": f"{word} z"})["id"]
        tenants = [{"name": f"{word} {name}", "group": at} for name, at in (("b", group), ("a", None), ("É", group))]
        ids = [None, *(item["id"] for item in api.post("/api/tenancy/tenants/", tenants))]
        api.post(SITES, [self._body(f"{word} {number % 13}-{number}", ids, draw) for number in range(COUNT)])
        self.keys: dict[str, Key] = {
            "id": _member("id"),
            "name": _natural("name"),
            "description": _member("description"),
            "facility": _member("facility"),
            "asn": _member("asn"),
            "status": _member("status", "label"),
            "tenant": _member("tenant", "name"),
            "tenant.slug": _member("tenant", "slug"),
            "latitude": lambda item: None if item["latitude"] is None else float(item["latitude"]),
            "rack_count": _member("rack_count"),
        }
        self.keys |= {f"cf_{slug}": _member("custom_fields", slug) for slug in self.slugs.values()}

    def _body(self, name: str, tenants: Sequence[Any], draw: random.Random) -> dict[str, Any]:
        number, text, flag = self.slugs.values()
        some = {
            number: draw.choice([None, -5, 3, 20, 100]),
            text: draw.choice([None, "b", "a", "Z", "é"]),
            flag: draw.choice([None, True, False]),
        }
        return {
            "name": name,
            "slug": name.replace(" ", "-"),
            "status": draw.choice(["active", "planned"]),
            "region": self.region,
            "description": draw.choice(["", "10", "9", "é", "Z", "a"]),
            "facility": draw.choice(["", "one", "One", "two"]),
            "asn": draw.choice([None, 64500, 65001, 4200000000]),
            "latitude": draw.choice([None, -10.5, 3.25, 20]),
            "tenant": draw.choice(tenants),
            "custom_fields": {slug: value for slug, value in some.items() if value is not None},
        }


@pytest.fixture(scope="session")
def shelf(service: Service) -> Shelf:
    """The sites of this module."""
    return Shelf(service)


def in_order(items: Sequence[dict[str, Any]], keys: Sequence[tuple[Key, bool]]) -> list[dict[str, Any]]:
    """The items by several sort keys, each ascending or descending, nulls last, then by id."""
    ordered = sorted(items, key=lambda item: str(item["id"]))
    for key, descending in reversed(keys):
        known = [item for item in ordered if key(item) is not None]
        ordered = [*sorted(known, key=key, reverse=descending), *(item for item in ordered if key(item) is None)]
    return ordered


@settings(max_examples=60)
@given(data=st.data())
def test_lists_are_ordered_as_python_orders_them(service: Service, shelf: Shelf, data: st.DataObject) -> None:
    names = data.draw(st.lists(st.sampled_from(sorted(shelf.keys)), min_size=1, max_size=4, unique=True))
    signs = [data.draw(st.booleans()) for _ in names]
    ordering = ",".join(f"{'-' * descending}{name}" for name, descending in zip(names, signs, strict=True))
    query = {"region_id": shelf.region, "ordering": ordering, "limit": 0}
    listed = service.api.get(SITES, query)["results"]
    keys = [(shelf.keys[name], descending) for name, descending in zip(names, signs, strict=True)]
    assert len(listed) == COUNT
    assert [item["id"] for item in listed] == [item["id"] for item in in_order(listed, keys)], ordering


@settings(max_examples=20)
@given(limit=st.integers(1, COUNT), names=st.permutations(["asn", "-tenant", "-facility"]))
@pytest.mark.night
def test_pages_of_an_order_are_the_whole_list(service: Service, shelf: Shelf, limit: int, names: list[str]) -> None:
    query = {"region_id": shelf.region, "ordering": ",".join(names)}
    whole = service.api.get(SITES, {**query, "limit": 0})["results"]
    offsets = range(0, COUNT, limit)
    pages = [service.api.get(SITES, {**query, "limit": limit, "offset": offset})["results"] for offset in offsets]
    assert list(itertools.chain.from_iterable(pages)) == whole


@settings(max_examples=20)
@given(data=st.data(), limit=st.integers(7, 15))
@pytest.mark.night
def test_cursors_lead_through_every_order_and_back(
    service: Service, shelf: Shelf, data: st.DataObject, limit: int
) -> None:
    names = data.draw(st.lists(st.sampled_from(sorted(shelf.keys)), max_size=4, unique=True))
    ordering = ",".join(f"{'-' * data.draw(st.booleans())}{name}" for name in names)
    query = {"region_id": shelf.region, "ordering": ordering, "brief": 1}
    whole = [item["id"] for item in service.api.get(SITES, {**query, "limit": 0})["results"]]
    link: dict[str, Any] = {**query, "limit": limit, "cursor": ""}
    forward: list[str] = []
    backward: list[str] = []
    for ids, direction in ((forward, "next"), (backward, "previous")):
        while True:
            page = service.api.get(SITES, link)
            found = [item["id"] for item in page["results"]]
            ids[:] = [*ids, *found] if direction == "next" else [*found, *ids]
            if page[direction] is None or len(ids) > COUNT:
                break
            link = parse_qs(urlsplit(page[direction]).query)
        assert ids == whole, (ordering, direction)


def test_addresses_are_ordered_as_numbers(service: Service) -> None:
    word, draw = service.unique(), random.Random(11)
    vrf = service.api.post("/api/ipam/vrfs/", {"name": word})["id"]
    texts = {
        f"{draw.choice([9, 10, 100])}.{draw.randrange(256)}.0.{draw.randrange(1, 9)}/{draw.choice([8, 24])}"
        for _ in range(30)
    }
    texts |= {f"2001:db8::{draw.randrange(1, 2**16):x}/64" for _ in range(10)}
    bodies = [{"address": text, "status": "active", "vrf": vrf} for text in sorted(texts)]
    service.api.post(ADDRESSES, bodies)
    for sign, reverse in (("", False), ("-", True)):
        query = {"vrf_id": vrf, "ordering": f"family,{sign}address", "limit": 0}
        listed = [netaddr.IPNetwork(item["address"]) for item in service.api.get(ADDRESSES, query)["results"]]
        expected = sorted(map(netaddr.IPNetwork, texts), key=lambda item: (item.value, item.prefixlen), reverse=reverse)
        assert listed == sorted(expected, key=lambda item: item.version)
