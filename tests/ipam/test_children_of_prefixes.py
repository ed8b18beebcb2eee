"""Children of a prefix: tabs, their links to the API, free space and allocations know the same ones.

Those of a container in the global table are in any VRF; those of any other prefix are in its own VRF.
"""

from __future__ import annotations

import ipaddress
import itertools
from typing import Any

import pytest

from netinv_testing import Api, Unique
from netinv_web.testing import Browser

PREFIXES, ADDRESSES = "/api/ipam/prefixes/", "/api/ipam/ip-addresses/"
NETWORKS = {4: "10.177.{}.0/24", 6: "fd77:0:0:{}::/120"}
numbers = itertools.count(1)
KINDS = [
    (status, pool, in_vrf, version)
    for status, pool in (("container", False), ("active", False), ("active", True))
    for in_vrf in (False, True)
    for version in (4, 6)
]


@pytest.fixture(params=KINDS, ids=str)
def family(request: Any, api: Api, unique: Unique) -> Any:
    """A prefix, and by place (global table, VRF of the prefix, another one) a child prefix and an address within it."""
    status, pool, in_vrf, version = request.param
    network = ipaddress.ip_network(NETWORKS[version].format(next(numbers)))
    own, other = (api.post("/api/ipam/vrfs/", {"name": unique()})["id"] for _ in range(2))
    fields = {"status": status, "is_pool": pool, "vrf": own if in_vrf else None}
    prefix = api.post(PREFIXES, {"prefix": str(network), **fields})
    parts = list(network.subnets(prefixlen_diff=2))
    places: dict[Any, Any] = {}
    for place, part in zip((None, own, other), parts, strict=False):
        child = api.post(PREFIXES, {"prefix": str(part), "status": "active", "vrf": place})
        host = f"{part[5]}/{network.prefixlen}"
        places[place] = child, api.post(ADDRESSES, {"address": host, "status": "active", "vrf": place})
    here = list(places) if status == "container" and not in_vrf else [own if in_vrf else None]
    return prefix, network, [places[place] for place in here]


def listed(browser: Browser, path: str) -> set[str]:
    """The ids of the rows of a list."""
    rows = browser.get(path).html.select("tr[data-key]")
    return {str(row["data-key"]) for row in rows}


def test_every_door_knows_the_same_children(browser: Browser, api: Api, family: Any) -> None:
    prefix, network, children = family
    path = f"/ipam/prefixes/{prefix['id']}/"
    for tab, number, resource in (("prefixes", 0, PREFIXES), ("ip-addresses", 1, ADDRESSES)):
        expected = {child[number]["id"] for child in children}
        page = browser.get(f"{path}{tab}/")
        assert {row["data-key"] for row in page.html.select("tr[data-key]")} == expected
        (link,) = {str(a["href"]) for a in page.html.select(f'a[href*="{resource}?"]') if a.text == "API"}
        assert {item["id"] for item in api.get(link)["results"]} == expected
    taken = [ipaddress.ip_network(child["prefix"]) for child, _ in children]
    free = [ipaddress.ip_network(item["prefix"]) for item in api.get(f"{prefix['url']}available-prefixes/")]
    assert not any(part.overlaps(child) for part in free for child in taken)
    assert sum(part.num_addresses for part in [*free, *taken]) == network.num_addresses
    hosts = {item["address"].partition("/")[0] for item in api.get(f"{prefix['url']}available-ips/", {"limit": 0})}
    used = {address["address"].partition("/")[0] for _, address in children}
    reserved = 2 if network.version == 4 and not prefix["is_pool"] else 0
    assert not hosts & used and len(hosts) + len(used) + reserved == network.num_addresses
    words = browser.get(path, {"_show": "all"}).words
    assert all(str(part) in words for part in free)


def test_an_allocation_leaves_the_free_space_and_enters_the_tabs(browser: Browser, api: Api, family: Any) -> None:
    prefix, _, children = family
    sizes = [len(api.get(f"{prefix['url']}available-ips/", {"limit": 0}))]
    made = api.post(f"{prefix['url']}available-ips/", {"status": "active"})
    block = api.post(
        f"{prefix['url']}available-prefixes/",
        {"prefix_length": 123 if ":" in made["address"] else 27, "status": "active"},
    )
    sizes.append(len(api.get(f"{prefix['url']}available-ips/", {"limit": 0})))
    assert sizes[0] - sizes[1] == 1
    path = f"/ipam/prefixes/{prefix['id']}/"
    assert listed(browser, f"{path}ip-addresses/") == {made["id"], *(address["id"] for _, address in children)}
    assert listed(browser, f"{path}prefixes/") == {block["id"], *(child["id"] for child, _ in children)}
