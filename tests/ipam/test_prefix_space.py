"""The page of a prefix: its containers, map, addresses, children with gaps, free space, gateway."""

from __future__ import annotations

import re
from typing import Any

import pytest

from netinv_ipam.web import prefix_map
from netinv_testing import Api, Service, Unique
from netinv_testing.client import PASSWORD
from netinv_web.testing import Browser

MAX_STATEMENTS = 30  # of the page with all of its parts
PREFIXES, ADDRESSES = "/api/ipam/prefixes/", "/api/ipam/ip-addresses/"


@pytest.fixture
def vrf(api: Api, unique: Unique) -> str:
    """The id of a VRF where duplicates are allowed."""
    return str(api.post("/api/ipam/vrfs/", {"name": unique(), "enforce_unique": False})["id"])


def prefix_of(api: Api, vrf: str | None, network: str, status: str = "active", **fields: Any) -> str:
    """The id of a new prefix."""
    return str(api.post(PREFIXES, {"prefix": network, "status": status, "vrf": vrf, **fields})["id"])


def hosts(api: Api, vrf: str | None, *addresses: str, **fields: Any) -> list[Any]:
    items = [{"address": address, "status": "active", "vrf": vrf, **fields} for address in addresses]
    return list(api.post(ADDRESSES, items))


def whole(browser: Browser, key: str, **query: str) -> Any:
    """The page of a prefix with all of its parts."""
    return browser.get(f"/ipam/prefixes/{key}/", {"_show": "all", **query})


def areas(page: Any, panel: str) -> dict[str, str]:
    """Titles of the parts of a drawing, and where they lead."""
    found = page.html.select(f"#panel-{panel} svg.space-drawing > *")
    return {item.select_one("title").get_text(): str(item.get("href") or "") for item in found}


def test_the_breadcrumb_has_the_containers_of_the_vrf(browser: Browser, api: Api, vrf: str) -> None:
    prefix_of(api, None, "10.70.0.0/16", "container")
    outer = prefix_of(api, vrf, "10.70.0.0/16", "container")
    inner = prefix_of(api, vrf, "10.70.64.0/18", "container")
    key = prefix_of(api, vrf, "10.70.64.0/24")
    crumbs = browser.get(f"/ipam/prefixes/{key}/").html.select("nav.crumbs a")
    assert [item["href"] for item in crumbs[1:]] == [f"/ipam/prefixes/{item}/" for item in (outer, inner)]


def test_the_map_has_each_block_where_it_is(browser: Browser, api: Api, vrf: str) -> None:
    container = prefix_of(api, vrf, "10.70.0.0/16", "container")
    half = prefix_of(api, vrf, "10.70.128.0/17")
    for network in ("10.70.4.0/25", "10.70.4.128/26", "10.70.5.0/24"):
        prefix_of(api, vrf, network)
    page = whole(browser, container, color="status")
    titles = areas(page, "map")
    assert titles["10.70.128.0/17: Active"] == f"/ipam/prefixes/{half}/"
    assert titles["10.70.4.0/24: 2 prefixes, Active"] == f"/ipam/prefixes/?within_include=10.70.4.0%2F24&vrf_id={vrf}"
    assert titles["10.70.0.0/22: free"] == f"/ipam/prefixes/add/?prefix=10.70.0.0%2F22&vrf={vrf}"
    (rect,) = [item.parent.rect for item in page.html.select("#panel-map title") if "/17: Active" in item.get_text()]
    assert (rect["x"], rect["y"], rect["height"]) == ("1", str(8 * prefix_map.HEIGHT + 1), "222")
    rows = [" ".join(row.get_text(" ", strip=True).split()) for row in page.html.select("#panel-level tbody tr")]
    assert rows[0].startswith("Free: 10.70.0.0/22") and rows[1].startswith("10.70.4.0/25")


@pytest.mark.parametrize(("color", "title"), [("role", "Servers"), ("tenant", "no tenant"), ("fill", "0 % used")])
def test_the_map_is_coloured_by_what_one_chooses(
    browser: Browser, api: Api, vrf: str, unique: Unique, color: str, title: str
) -> None:
    role = api.post("/api/ipam/roles/", {"name": f"Servers {unique()}", "slug": unique()})
    container = prefix_of(api, vrf, "10.70.0.0/16", "container")
    prefix_of(api, vrf, "10.70.5.0/24", role=role["id"])
    page = whole(browser, container, color=color)
    assert page.html.select_one("#panel-map [aria-current]").get_text() == color
    assert any(re.match(rf"10\.70\.5\.0/24: {title}", text) for text in areas(page, "map"))


def test_another_colour_is_refused(browser: Browser, api: Api, vrf: str) -> None:
    key = prefix_of(api, vrf, "10.70.0.0/16")
    assert browser.get(f"/ipam/prefixes/{key}/", {"_show": "all", "color": "x"}, status=400)


def test_free_space_offers_halves_and_never_the_prefix_itself(browser: Browser, api: Api, vrf: str) -> None:
    titles = areas(whole(browser, prefix_of(api, vrf, "fd70::/32", "container")), "map")
    assert set(titles) == {"fd70::/33: free", "fd70:0:8000::/33: free"}


def test_what_the_map_did_not_read_is_said(
    browser: Browser, api: Api, vrf: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    container = prefix_of(api, vrf, "10.0.0.0/8", "container")
    for number in range(4):
        prefix_of(api, vrf, f"10.{number}.0.0/16")
    monkeypatch.setattr(prefix_map, "MAX_READ", 2)
    titles = areas(whole(browser, container), "map")
    assert {title for title in titles if "not read" in title} >= {"10.2.0.0/15: not read", "10.128.0.0/9: not read"}
    assert not any(title.endswith("free") for title in titles)


def test_small_prefixes_have_a_grid_of_their_addresses(browser: Browser, api: Api, vrf: str, unique: Unique) -> None:
    tenant = api.post("/api/tenancy/tenants/", {"name": unique(), "slug": unique()})["id"]
    key = prefix_of(api, vrf, "10.70.5.0/24", tenant=tenant)
    (address,) = hosts(api, vrf, "10.70.5.9/24", dns_name="db.example.com")
    page = whole(browser, key)
    titles = areas(page, "grid")
    assert len(titles) == 256 and "map" not in {item["id"] for item in page.html.select("section[id]")}
    assert titles["10.70.5.9/24: Active db.example.com"] == f"/ipam/ip-addresses/{address['id']}/"
    assert titles["10.70.5.0: network"] == titles["10.70.5.255: broadcast"] == ""
    form = browser.get(titles["10.70.5.10: free"]).form()
    assert [form[name].value for name in ("address", "vrf", "tenant")] == ["10.70.5.10/24", vrf, tenant]
    runs = [" ".join(item.get_text(" ", strip=True).split()) for item in page.html.select("#panel-grid details li")]
    assert runs[1:4] == ["10.70.5.1 – 10.70.5.8 free 8", "10.70.5.9 Active 1", "10.70.5.10 – 10.70.5.254 free 245"]


@pytest.mark.parametrize(
    ("network", "used", "last", "gateway"),
    [
        ("10.70.5.0/24", ["10.70.5.1/24", "10.70.5.254/24"], "10.70.5.253/24", "10.70.5.1/24 first usable address"),
        ("10.70.5.0/24", ["10.70.5.254/24"], "10.70.5.253/24", "10.70.5.254/24 last usable address"),
        ("fd70::/64", ["fd70::1/64"], "fd70::ffff:ffff:ffff:ffff/64", "fd70::1/64 first usable address"),
        ("10.70.5.0/24", ["10.70.5.7/24"], "10.70.5.254/24", None),
    ],
)
def test_free_space_says_the_last_free_address_and_the_gateway(
    browser: Browser, api: Api, vrf: str, network: str, used: list[str], last: str, gateway: str | None
) -> None:
    key = prefix_of(api, vrf, network)
    hosts(api, vrf, *used)
    facts = whole(browser, key).html.select("#panel-free dl > div")
    words = {item.dt.get_text(): " ".join(item.dd.get_text(" ", strip=True).split()) for item in facts}
    assert (words["Last free address"], words.get("Gateway")) == (last, gateway)


def test_a_container_has_no_gateway(browser: Browser, api: Api, vrf: str) -> None:
    key = prefix_of(api, vrf, "10.90.0.0/16", "container")
    prefix_of(api, vrf, "10.90.0.0/24")
    hosts(api, vrf, "10.90.0.1/24")
    assert "Gateway" not in whole(browser, key).html.select_one("#panel-free").get_text()


def test_the_containers_of_a_prefix_are_read_once(service: Service, browser: Browser, api: Api, vrf: str) -> None:
    prefix_of(api, vrf, "10.90.0.0/16", "container")
    key = prefix_of(api, vrf, "10.90.0.0/20", "container")
    prefix_of(api, vrf, "10.90.0.0/24")
    whole(browser, key)
    with service.statements() as statements:
        page = whole(browser, key)
    assert page.html.select("#panel-level tbody tr")
    of_containers = [item for item in statements if "ORDER BY ipam_prefix.prefix_length, ipam_prefix.id" in str(item)]
    assert len(of_containers) == 1


def test_restricted_users_see_hidden_blocks_and_addresses_as_taken(service: Service, api: Api, vrf: str) -> None:
    container, small = prefix_of(api, vrf, "10.70.0.0/16", "container"), prefix_of(api, vrf, "10.70.5.0/24")
    prefix_of(api, vrf, "10.70.6.0/24")
    hosts(api, vrf, "10.70.5.9/24")
    user = service.user(
        ("view", "ipam.prefix", {"id__in": [container, small]}),
        ("view", "ipam.ipaddress", {"dns_name": "mine"}),
        password=PASSWORD,
    )
    reader = Browser(service, user)
    assert "10.70.6.0/24: taken" in areas(whole(reader, container), "map")
    assert "10.70.5.9: taken" in areas(whole(reader, small), "grid")


@pytest.mark.night
def test_the_number_of_statements_does_not_grow(service: Service, browser: Browser, api: Api, vrf: str) -> None:
    container, small = prefix_of(api, vrf, "10.70.0.0/16", "container"), prefix_of(api, vrf, "10.70.5.0/24")
    hosts(api, vrf, "10.70.5.9/24")

    def statements() -> tuple[int, int]:
        numbers = []
        for key in (container, small):
            whole(browser, key, color="fill")
            with service.statements() as result:
                whole(browser, key, color="fill")
            numbers.append(len(result))
        return numbers[0], numbers[1]

    before = statements()
    for number in range(20, 40):
        prefix_of(api, vrf, f"10.70.{number}.0/24", "container")
    hosts(api, vrf, *(f"10.70.5.{number}/24" for number in range(20, 60)))
    counts_apart = not service.registry.driver.compares_ranges_of_rows  # on MariaDB
    assert statements() == before and max(before) <= MAX_STATEMENTS + counts_apart


def test_the_next_prefix_of_a_length_is_allocated(browser: Browser, api: Api, vrf: str) -> None:
    container = prefix_of(api, vrf, "10.70.0.0/16", "container")
    prefix_of(api, vrf, "10.70.0.0/24")
    assert whole(browser, container).html.select_one('[aria-keyshortcuts="n"]').text == "Of each length"
    tree = browser.get("/ipam/prefixes/tree/", {"vrf": vrf})
    page = browser.get(next(link for link in tree.links() if link.endswith("next-prefix/")))
    offered = {button["value"]: button.get_text() for button in page.html.select("button[name=prefix_length]")}
    assert (offered["24"], offered["17"]) == ("Allocate 10.70.1.0/24", "Allocate 10.70.128.0/17")
    assert [button["value"] for button in page.html.select("[autofocus]")] == ["24"]
    path = f"/ipam/prefixes/{container}/next-prefix/"
    answer = browser.post(path, {"prefix_length": "24"}).follow()
    assert answer.form()["prefix"].value == "10.70.1.0/24" and "10.70.1.0/24 was allocated." in answer.words
    assert "Choose a length from 17 to 32" in browser.post(path, {"prefix_length": "16"}).follow().words
    prefix_of(api, vrf, "10.70.128.0/17")
    assert "There is no room for a /17." in browser.post(path, {"prefix_length": "17"}).follow().words


@pytest.mark.parametrize(
    ("network", "lengths"),
    [
        ("10.71.0.0/24", {23: 204, 24: 204, 25: 201, 32: 201, 33: 400}),
        ("10.71.1.0/31", {31: 204, 32: 201}),
        ("10.71.1.9/32", {0: 204, 31: 204, 32: 204}),
        ("2001:db8:71::/64", {63: 204, 64: 204, 65: 201, 128: 201, 129: 400}),
        ("2001:db8:71::/127", {127: 204, 128: 201}),
        ("2001:db8:71::1/128", {128: 204}),
    ],
)
def test_networks_are_allocated_that_are_longer_than_the_prefix(
    api: Api, vrf: str, network: str, lengths: dict[int, int]
) -> None:
    for status in ("container", "active"):
        key = prefix_of(api, vrf, network, status)
        for length, expected in lengths.items():
            path = f"{PREFIXES}{key}/available-prefixes/"
            answer = api.send("POST", path, {"prefix_length": length, "status": "active"}, status=expected)
            if expected == 204:
                assert f"/{length}" in answer.headers["API-Detail"]
            elif expected == 201:
                assert answer.json["prefix"] != network
                assert answer.json["prefix"].endswith(f"/{length}")
                api.delete(answer.json["url"])
        api.delete(f"{PREFIXES}{key}/")


def test_a_prefix_that_an_equal_one_fills_has_no_room(api: Api, vrf: str) -> None:
    container = prefix_of(api, vrf, "10.72.0.0/30", "container")
    prefix_of(api, vrf, "10.72.0.0/30")
    answer = api.send("POST", f"{PREFIXES}{container}/available-prefixes/", {"prefix_length": 30}, status=204)
    assert "no room" in answer.headers["API-Detail"]
