"""IPv4 comes before IPv6 in every list by address, and after it in descending order; not within other objects."""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qs, urlsplit

import netaddr
import pytest

from netinv_core.models.types import Packed
from netinv_core.read.ordering import orderings_of, requested_order
from netinv_testing import Api, Samples, Service, Unique
from netinv_web.testing import Browser

VRFS, DEVICES, SERVICES = "/api/ipam/vrfs/", "/api/dcim/devices/", "/api/ipam/services/"
ADDRESSES, PREFIXES, AGGREGATES = "/api/ipam/ip-addresses/", "/api/ipam/prefixes/", "/api/ipam/aggregates/"
WRITTEN = {ADDRESSES: "address", PREFIXES: "prefix", AGGREGATES: "prefix"}
Mixed = dict[str, tuple[dict[str, Any], list[str]]]


def _texts(unique: Unique) -> list[str]:
    """Networks of both families, which sort by their bytes as 4, 6, 4, 6, 4; of nothing else."""
    number = unique.number()
    rest = f"{number // 256 % 256}.{number % 256}.0/24"
    return [f"223.{rest}", f"{unique.ipv6()}::/64", f"9.{rest}", f"fd{unique.ipv6()[2:]}::/64", f"100.{rest}"]


def _by_bytes(texts: list[str]) -> list[str]:
    """The texts sorted by the bytes of the address, whatever the family."""
    return sorted(texts, key=lambda text: netaddr.IPNetwork(text).ip.packed)


def _in_order(texts: list[str]) -> list[str]:
    """The texts sorted by family, then as numbers."""
    return sorted(texts, key=lambda text: ((item := netaddr.IPNetwork(text)).version, item.value, item.prefixlen))


@pytest.fixture
def mixed(api: Api, unique: Unique) -> Mixed:
    """By path of a list: the filter of the addresses or networks of both families there, and their texts in order."""
    texts, word = _texts(unique), unique()
    vrf = api.post(VRFS, {"name": word})["id"]
    rir = api.post("/api/ipam/rirs/", {"name": word, "slug": word})["id"]
    api.post(ADDRESSES, [{"address": text, "vrf": vrf, "status": "active"} for text in texts])
    api.post(PREFIXES, [{"prefix": text, "vrf": vrf, "status": "active"} for text in texts])
    api.post(AGGREGATES, [{"prefix": text, "rir": rir} for text in texts])
    ordered = _in_order(texts)
    return {
        ADDRESSES: ({"vrf_id": vrf}, ordered),
        PREFIXES: ({"vrf_id": vrf}, ordered),
        AGGREGATES: ({"rir_id": rir}, ordered),
    }


def _pages(api: Api, path: str, query: dict[str, Any], direction: str = "next") -> list[str]:
    """The texts of all pages, of two objects each."""
    found: list[str] = []
    while True:
        page = api.get(path, query)
        texts = [item[WRITTEN[path]] for item in page["results"]]
        found = [*found, *texts] if direction == "next" else [*texts, *found]
        if page[direction] is None:
            return found
        query = parse_qs(urlsplit(page[direction]).query)


@pytest.mark.parametrize("paging", [{"offset": 0}, {"cursor": ""}], ids=str)
@pytest.mark.parametrize("path", WRITTEN)
def test_pages_have_ipv4_first(api: Api, mixed: Mixed, path: str, paging: dict[str, Any]) -> None:
    only, ordered = mixed[path]
    for name in ("", WRITTEN[path], "display"):
        query = {**only, **paging, "limit": 2}
        assert _pages(api, path, {**query, "ordering": name}) == ordered, name
        if name:
            assert _pages(api, path, {**query, "ordering": f"-{name}"}) == ordered[::-1], name


@pytest.mark.parametrize("path", WRITTEN)
def test_pages_that_are_read_backward_have_ipv4_first(api: Api, mixed: Mixed, path: str) -> None:
    only, ordered = mixed[path]
    for sign, expected in (("", ordered), ("-", ordered[::-1])):
        query = {**only, "limit": 2, "cursor": "", "ordering": sign + WRITTEN[path]}
        second = api.get(path, parse_qs(urlsplit(api.get(path, query)["next"]).query))
        third = api.get(path, parse_qs(urlsplit(second["next"]).query))
        before = parse_qs(urlsplit(third["previous"]).query)
        assert _pages(api, path, before, "previous") == expected[:4]


@pytest.mark.parametrize("path", WRITTEN)
def test_web_lists_have_ipv4_first(api: Api, browser: Browser, mixed: Mixed, path: str) -> None:
    (name, value), ordered = *mixed[path][0].items(), mixed[path][1]
    texts = {item["id"]: item[WRITTEN[path]] for item in api.get(path, {name: value})["results"]}
    page = path.removeprefix("/api")
    for ordering, expected in (("", ordered), (WRITTEN[path], ordered), (f"-{WRITTEN[path]}", ordered[::-1])):
        rows = browser.get(f"{page}?{name}={value}&ordering={ordering}").html.select("tr[data-key]")
        assert [texts[str(row["data-key"])] for row in rows] == expected, ordering


def test_graphql_lists_have_ipv4_first(api: Api, mixed: Mixed) -> None:
    only, ordered = mixed[ADDRESSES]
    vrf = only["vrf_id"]
    lists = f'ip_addresses(vrf_id: "{vrf}") {{ address }} prefixes(vrf_id: "{vrf}") {{ prefix }}'
    nested = "ip_addresses { address } prefixes { prefix }"
    query = f'{{ {lists} vrfs(id: "{vrf}") {{ {nested} }} }}'
    data = api.post("/api/graphql/", {"query": query}, status=200)["data"]
    assert [[item["address"] for item in data["ip_addresses"]], [item["prefix"] for item in data["prefixes"]]] == [
        ordered,
        ordered,
    ]
    [within] = data["vrfs"]
    assert [item["address"] for item in within["ip_addresses"]] == _by_bytes(ordered)
    assert [item["prefix"] for item in within["prefixes"]] == _by_bytes(ordered)


def test_lists_within_other_objects_are_in_the_order_of_bytes(api: Api, mixed: Mixed, unique: Unique) -> None:
    only, ordered = mixed[ADDRESSES]
    inside = api.post(ADDRESSES, {"address": f"{unique.ipv6()}::1/64", "status": "active"})["id"]
    listed = api.get(ADDRESSES, only)["results"]
    api.patch(ADDRESSES, [{"id": item["id"], "nat_inside": inside} for item in reversed(listed)])
    outside = api.get(f"{ADDRESSES}{inside}/")["nat_outside"]
    assert [item["address"] for item in outside] == _by_bytes(ordered)


def test_objects_by_address_have_ipv4_first(service: Service, api: Api, unique: Unique) -> None:
    """Objects whose address the user may not view come last, in both directions and whatever the family."""
    texts = _in_order(_texts(unique))
    devices = Samples(service).make_many(service.registry["dcim.device"], len(texts) + 1)
    addresses = [_primary(api, device["id"], text) for device, text in zip(devices, texts, strict=False)]
    ids = [device["id"] for device in devices]
    *own, without = ids
    seen = service.user(("view", "dcim.device"), ("view", "ipam.ipaddress", {"id__in": addresses[2:]})).api
    query = {"id": ids[::-1], "limit": 0}
    for sign, step in (("", 1), ("-", -1)):
        listed = [item["id"] for item in api.get(DEVICES, {**query, "ordering": f"{sign}primary_ip"})["results"]]
        assert listed == [*own[::step], without]
        listed = [item["id"] for item in seen.get(DEVICES, {**query, "ordering": f"{sign}primary_ip"})["results"]]
        assert listed == [*own[2:][::step], *sorted([*own[:2], without])]


def _primary(api: Api, device: str, text: str) -> str:
    """Gives a device a primary address; returns its id."""
    body = {"device": device, "name": "eth0", "type": "virtual", "status": "active"}
    interface = api.post("/api/dcim/interfaces/", body)["id"]
    assigned = {"assigned_object_type": "dcim.interface", "assigned_object_id": interface}
    key: str = api.post(ADDRESSES, {"address": text, "status": "active", **assigned})["id"]
    api.patch(f"{DEVICES}{device}/", {"primary_ip6" if ":" in text else "primary_ip4": key})
    return key


@pytest.mark.night
def test_every_order_by_an_address_begins_with_its_family(service: Service) -> None:
    """Of all lists: the usual order, each name, and each name of what references lead to."""
    found = set()
    with service.unit_of_work() as uow:
        for endpoint in service.registry.endpoints.values():
            orders = {"": endpoint.ordering} | {
                name: requested_order(uow, endpoint, [name]) for name in _names(endpoint)
            }
            for name, order in orders.items():
                columns = [str(key.expression) for key in order.keys]
                packed = [isinstance(key.expression.type, Packed) for key in order.keys]
                if True not in packed:
                    continue
                place = packed.index(True)
                assert place and "ip_version" in columns[place - 1], (endpoint.label, name, columns)
                found.add((endpoint.label, name))
    lists = {("ipam.ipaddress", ""), ("ipam.prefix", ""), ("ipam.aggregate", "")}
    assert found > lists | {("dcim.device", "primary_ip"), ("ipam.ipaddress", "nat_inside")}


def _names(endpoint: Any) -> list[str]:
    """The names that a list can be ordered by, up to one reference away."""
    names = list(orderings_of(endpoint))
    for reference in names[:]:
        target = getattr(endpoint.fields.get(reference), "target", None)
        if target is not None and reference not in endpoint.confidential:
            names += [f"{reference}.{name}" for name in orderings_of(target)]
    return names
