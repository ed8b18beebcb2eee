"""Utilisation of address space and of VLAN groups: in the API on request, in lists, in an order."""

from __future__ import annotations

from typing import Any

import pytest

from netinv_core.read import ranked
from netinv_testing import Api, Service, Unique
from netinv_testing.client import PASSWORD
from netinv_web.testing import Browser

PREFIXES, ADDRESSES, VRFS = "/api/ipam/prefixes/", "/api/ipam/ip-addresses/", "/api/ipam/vrfs/"
INCLUDE = {"include": "utilization"}


@pytest.fixture
def vrf(api: Api, unique: Unique) -> str:
    """The id of a VRF where duplicates are allowed."""
    return str(api.post(VRFS, {"name": unique(), "enforce_unique": False})["id"])


def prefix_of(api: Api, vrf: str | None, network: str, status: str = "active", **fields: Any) -> Any:
    return api.post(PREFIXES, {"prefix": network, "status": status, "vrf": vrf, **fields})


def hosts(api: Api, vrf: str | None, *addresses: str) -> None:
    api.post(ADDRESSES, [{"address": address, "status": "active", "vrf": vrf} for address in addresses])


def share(api: Api, item: Any) -> Any:
    """The utilisation of an object: used, size, percent."""
    value = api.get(item["url"], INCLUDE)["utilization"]
    return value["used"], value["size"], value["percent"]


def test_it_is_there_only_for_those_who_ask(api: Api, vrf: str) -> None:
    prefix = prefix_of(api, vrf, "10.60.0.0/24")
    assert "utilization" not in prefix
    assert "utilization" not in api.get(prefix["url"])
    assert "utilization" not in api.get(PREFIXES, {"vrf_id": vrf})["results"][0]
    (listed,) = api.get(PREFIXES, {"vrf_id": vrf, **INCLUDE})["results"]
    assert listed["utilization"] == {"used": 0, "size": 254, "unit": "addresses", "percent": 0.0}
    (sparse,) = api.get(PREFIXES, {"vrf_id": vrf, "fields": "prefix,utilization"})["results"]
    assert sparse["utilization"]["size"] == 254


@pytest.mark.parametrize("counts_in_subquery", [True, False], ids=["subquery", "ranges"])
@pytest.mark.parametrize(
    ("network", "fields", "used", "size"),
    [
        ("10.60.0.0/24", {}, ["10.60.0.1/24", "10.60.0.1/25", "10.60.0.9/24", "10.60.0.0/24", "10.60.0.255/24"], 254),
        ("10.60.0.0/24", {"is_pool": True}, ["10.60.0.0/24", "10.60.0.255/24"], 256),
        ("10.60.0.0/31", {}, ["10.60.0.0/31", "10.60.0.1/31"], 2),
        ("10.60.0.7/32", {}, ["10.60.0.7/32"], 1),
        ("fd60::/127", {}, ["fd60::/127", "fd60::1/127"], 2),
        ("fd60::/120", {}, ["fd60::/120", "fd60::ff/64"], 256),
    ],
    ids=["a network", "a pool", "a point-to-point link", "a host", "a link of IPv6", "a network of IPv6"],
)
def test_addresses_count_once_among_those_that_hosts_may_have(
    service: Service,
    api: Api,
    vrf: str,
    monkeypatch: pytest.MonkeyPatch,
    network: str,
    fields: Any,
    used: list[str],
    size: int,
    counts_in_subquery: bool,
) -> None:
    """MariaDB counts by constant ranges, the others in a subquery: both ways count the same on every database."""
    monkeypatch.setattr(service.registry.driver, "compares_ranges_of_rows", counts_in_subquery)
    prefix = prefix_of(api, vrf, network, **fields)
    hosts(api, vrf, *used)
    hosts(api, None, used[0])
    free = len(api.get(f"{prefix['url']}available-ips/", {"limit": 0}))
    assert share(api, prefix)[:2] == (size - free, size) == (2 if len(used) > 1 else 1, size)


def test_containers_count_what_their_children_take_however_deep(api: Api, vrf: str) -> None:
    container = prefix_of(api, vrf, "10.60.0.0/16", "container")
    for network in (
        "10.60.0.0/24",
        "10.60.0.0/24",
        "10.60.0.0/25",
        "10.60.0.64/26",
        "10.60.128.0/17",
        "10.60.200.0/24",
    ):
        prefix_of(api, vrf, network)
    hosts(api, vrf, "10.60.1.1/24")
    free = api.get(f"{container['url']}available-prefixes/")
    left = sum(1 << (32 - int(item["prefix"].partition("/")[2])) for item in free)
    assert share(api, container) == (65536 - left, 65536, 50.39) == (256 + 32768, 65536, 50.39)


def test_a_container_of_the_global_table_counts_those_of_every_vrf(api: Api, vrf: str) -> None:
    container = prefix_of(api, None, "10.188.0.0/16", "container")
    network = prefix_of(api, None, "10.188.4.0/24")
    prefix_of(api, vrf, "10.188.5.0/24")
    hosts(api, vrf, "10.188.4.1/24")
    assert share(api, container)[:2] == (512, 65536)
    assert share(api, network)[:2] == (0, 254)


def test_large_networks_of_ipv6_have_numbers_that_json_can_write(api: Api, vrf: str) -> None:
    container = prefix_of(api, vrf, "fd61::/32", "container")
    prefix_of(api, vrf, "fd61::/33")
    assert share(api, container) == (2.0**95, 2.0**96, 50.0)


def test_aggregates_and_registries_count_prefixes_of_any_vrf(api: Api, vrf: str, unique: Unique) -> None:
    rir = api.post("/api/ipam/rirs/", {"name": unique(), "slug": unique()})
    first, second = api.post(
        "/api/ipam/aggregates/",
        [{"prefix": network, "rir": rir["id"]} for network in ("100.70.0.0/16", "100.71.0.0/16")],
    )
    prefix_of(api, vrf, "100.70.0.0/16")
    prefix_of(api, None, "100.71.0.0/18")
    prefix_of(api, vrf, "100.71.0.0/24")
    assert share(api, first) == (65536, 65536, 100.0)
    assert share(api, second) == (16384, 65536, 25.0)
    assert api.get(rir["url"], INCLUDE)["utilization"]["ipv4"]["percent"] == 62.5


def test_vrfs_count_by_ip_version(api: Api, vrf: str) -> None:
    prefix_of(api, vrf, "10.60.0.0/24")
    prefix_of(api, vrf, "10.60.1.0/24", "container")
    prefix_of(api, vrf, "10.60.1.0/25")
    prefix_of(api, vrf, "fd60::/126")
    hosts(api, vrf, "10.60.0.1/24", "fd60::1/126", "fd60::2/126")
    value = api.get(f"{VRFS}{vrf}/", INCLUDE)["utilization"]
    assert (value["ipv4"]["used"], value["ipv4"]["size"]) == (1 + 128, 254 + 256)
    assert (value["ipv6"]["used"], value["ipv6"]["size"]) == (2, 4)
    empty = api.post(VRFS, {"name": "nothing in it"})
    assert api.get(empty["url"], INCLUDE)["utilization"] is None


def test_vlan_groups_count_their_vlans(api: Api, unique: Unique) -> None:
    group = api.post("/api/ipam/vlan-groups/", {"name": unique(), "slug": unique()})
    for vid in (10, 20):
        api.post("/api/ipam/vlans/", {"name": unique(), "vid": vid, "status": "active", "group": group["id"]})
    assert share(api, group)[:2] == (2, 4094)


def test_restricted_users_count_what_they_may_view(service: Service, api: Api, vrf: str) -> None:
    container = prefix_of(api, vrf, "10.60.0.0/16", "container")
    network = prefix_of(api, vrf, "10.60.4.0/24")
    prefix_of(api, vrf, "10.60.8.0/24")
    hosts(api, vrf, "10.60.4.1/24")
    reader = service.user(("view", "ipam.prefix", {"id__in": [container["id"], network["id"]]})).api
    assert share(reader, container)[:2] == (256, 65536)
    assert share(reader, network)[:2] == (0, 254)
    assert share(api, container)[0] == 512
    assert share(api, network)[0] == 1


@pytest.mark.parametrize(("counts_in_subquery", "more"), [(True, 2), (False, 3)], ids=["subquery", "ranges"])
def test_lists_take_a_few_statements_more_however_many_prefixes(
    service: Service, api: Api, vrf: str, monkeypatch: pytest.MonkeyPatch, counts_in_subquery: bool, more: int
) -> None:
    monkeypatch.setattr(service.registry.driver, "compares_ranges_of_rows", counts_in_subquery)

    def statements(**query: Any) -> int:
        with service.statements() as result:
            api.get(PREFIXES, {"vrf_id": vrf, "limit": 100, **query})
        return len(result)

    for number in range(3):
        prefix_of(api, vrf, f"10.{number}.0.0/16", "container")
        prefix_of(api, vrf, f"10.{number}.0.0/24")
    statements(**INCLUDE)
    few = statements(**INCLUDE)
    for number in range(3, 20):
        prefix_of(api, vrf, f"10.{number}.0.0/16", "container")
        prefix_of(api, vrf, f"10.{number}.0.0/24")
    assert statements(**INCLUDE) == few == statements() + more


def test_writes_do_not_read_it(service: Service, api: Api, vrf: str) -> None:
    with service.statements() as result:
        prefix_of(api, vrf, "10.60.0.0/24")
    assert not [text for text in result if "count(distinct" in text.lower()]


def test_lists_are_ordered_by_it(api: Api, vrf: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for number, count in enumerate((2, 0, 3)):
        prefix_of(api, vrf, f"10.60.{number}.0/24")
        hosts(api, vrf, *[f"10.60.{number}.{host}/24" for host in range(1, count + 1)])

    def listed(ordering: str, **query: Any) -> list[str]:
        results = api.get(PREFIXES, {"vrf_id": vrf, "ordering": ordering, **query})["results"]
        return [item["prefix"].split(".")[2] for item in results]

    assert listed("utilization") == ["1", "0", "2"]
    assert listed("-utilization") == ["2", "0", "1"]
    assert listed("-utilization", limit=1, offset=1) == ["0"]
    assert listed("utilization,-prefix") == ["1", "0", "2"]
    monkeypatch.setattr(ranked, "MAX_RANKED", 2)
    message = api.get(PREFIXES, {"vrf_id": vrf, "ordering": "utilization"}, status=400)
    assert message == {"ordering": ["At most 2 objects are sorted by 'utilization'. Narrow the list by filters."]}
    message = api.get(PREFIXES, {"vrf_id": vrf, "ordering": "utilization", "cursor": ""}, status=400)
    assert list(message) == ["ordering"]


def test_pages_have_bars_in_lists_and_on_the_page_of_a_prefix(browser: Browser, api: Api, vrf: str) -> None:
    prefix = prefix_of(api, vrf, "10.60.0.0/29")
    hosts(api, vrf, *[f"10.60.0.{number}/29" for number in range(1, 7)])
    for path in (f"/ipam/prefixes/?vrf_id={vrf}", f"/ipam/prefixes/{prefix['id']}/?_show=all"):
        page = browser.get(path)
        (meter,) = page.html.select("meter")
        assert meter["title"] == meter["aria-label"] == "6 of 6 addresses"
        assert (meter["value"], meter["low"], meter["high"]) == ("100.00", "75", "90")
        assert "100 %" in page.words
    page = browser.get(f"/ipam/prefixes/?vrf_id={vrf}&ordering=-utilization")
    assert page.html.select_one('th[aria-sort="descending"]').get_text(strip=True).startswith("Utilization")


@pytest.mark.night
def test_the_thresholds_of_bars_are_settings(service: Service, api: Api, vrf: str) -> None:
    prefix = prefix_of(api, vrf, "10.60.0.0/29")
    user = service.user(("view", "ipam.prefix"), password=PASSWORD)
    settings = {"netinv.utilization_warning": "50", "netinv.utilization_danger": "60"}
    browser = Browser(Service(service.engine, settings), user)
    (meter,) = browser.get(f"/ipam/prefixes/{prefix['id']}/?_show=all").html.select("meter")
    assert (meter["low"], meter["high"]) == ("50", "60")
