"""Pages of prefixes."""

from __future__ import annotations

from typing import Any

from netinv_testing import Api, Service, Unique
from netinv_testing.client import PASSWORD
from netinv_web.testing import Browser

WHOLE = {"_show": "all"}  # the page with the parts that are loaded after it


def prefix_of(api: Api, unique: Unique, **fields: Any) -> Any:
    """A new prefix of 64 addresses in a VRF of its own."""
    vrf = api.post("/api/ipam/vrfs/", {"name": unique()})
    return api.post("/api/ipam/prefixes/", {"prefix": "10.9.0.0/26", "status": "active", "vrf": vrf["id"], **fields})


def test_the_page_of_a_prefix_allocates_the_next_address(browser: Browser, api: Api, unique: Unique) -> None:
    prefix = prefix_of(api, unique)
    api.post("/api/ipam/ip-addresses/", {"address": "10.9.0.1/26", "status": "active", "vrf": prefix["vrf"]["id"]})
    page = browser.get(f"/ipam/prefixes/{prefix['id']}/", WHOLE)
    assert "Next address 10.9.0.2/26" in page.words
    answer = page.form(f"/ipam/prefixes/{prefix['id']}/allocate/").submit()
    form = answer.follow().form()
    assert form["address"].value == "10.9.0.2/26"
    assert api.get("/api/ipam/ip-addresses/", {"vrf_id": prefix["vrf"]["id"]})["count"] == 2


def test_the_page_of_a_prefix_leads_with_its_space_and_the_facts_follow(
    browser: Browser, api: Api, unique: Unique
) -> None:
    prefix = prefix_of(api, unique, role=api.post("/api/ipam/roles/", {"name": unique(), "slug": unique()})["id"])
    api.post("/api/ipam/prefixes/", {"prefix": "10.9.0.0/28", "status": "active", "vrf": prefix["vrf"]["id"]})
    page = browser.get(f"/ipam/prefixes/{prefix['id']}/", WHOLE)
    assert [title.text for title in page.html.select(".detail h2")][:6] == [
        "Utilization",
        "Free space",
        "Child prefixes",
        "Map",
        "Addresses",
        "Prefix",
    ]


def test_a_full_prefix_says_so(browser: Browser, api: Api, unique: Unique) -> None:
    prefix = prefix_of(api, unique, prefix="10.9.0.0/32")
    api.post("/api/ipam/ip-addresses/", {"address": "10.9.0.0/32", "status": "active", "vrf": prefix["vrf"]["id"]})
    assert "No address is free." in browser.get(f"/ipam/prefixes/{prefix['id']}/", WHOLE).words
    answer = browser.post(f"/ipam/prefixes/{prefix['id']}/allocate/")
    assert "No address is free." in answer.follow().words


def test_allocation_needs_the_permission_to_add_addresses(service: Service, api: Api, unique: Unique) -> None:
    prefix = prefix_of(api, unique)
    reader = service.user(("view", ["ipam.prefix", "ipam.ipaddress"]), password=PASSWORD)
    browser = Browser(service, reader)
    path = f"/ipam/prefixes/{prefix['id']}/"
    assert not [form for form in browser.get(path, WHOLE).forms.values() if "allocate" in form.action and form.fields]
    browser.post(f"{path}allocate/").follow()
    assert api.get("/api/ipam/ip-addresses/", {"vrf_id": prefix["vrf"]["id"]})["count"] == 0


def test_tabs_of_a_prefix_list_what_is_within_it(browser: Browser, api: Api, unique: Unique) -> None:
    prefix = prefix_of(api, unique)
    vrf = prefix["vrf"]["id"]
    child = api.post("/api/ipam/prefixes/", {"prefix": "10.9.0.16/28", "status": "active", "vrf": vrf})
    api.post("/api/ipam/prefixes/", {"prefix": "10.9.1.0/28", "status": "active", "vrf": vrf})
    address = api.post("/api/ipam/ip-addresses/", {"address": "10.9.0.17/28", "status": "active", "vrf": vrf})
    children = browser.get(f"/ipam/prefixes/{prefix['id']}/prefixes/").html.select("tr")
    assert [row.get("data-key") for row in children if row.get("data-key")] == [child["id"]]
    addresses = browser.get(f"/ipam/prefixes/{prefix['id']}/ip-addresses/").html.select("tr")
    assert [row.get("data-key") for row in addresses if row.get("data-key")] == [address["id"]]


def test_a_large_prefix_without_children_shows_its_addresses_and_no_map_of_free_space(
    service: Service, browser: Browser, api: Api, unique: Unique
) -> None:
    """Its halves are free of prefixes, not of addresses."""
    prefix = prefix_of(api, unique, prefix="10.9.0.0/23")
    path, vrf = f"/ipam/prefixes/{prefix['id']}/", prefix["vrf"]["id"]
    assert [title.text for title in browser.get(path, WHOLE).html.select("#panel-map h2")] == ["Map"]
    name = unique()
    body = {"status": "active", "vrf": vrf, "dns_name": f"{name}.example.com".lower()}
    made = [api.post("/api/ipam/ip-addresses/", {**body, "address": f"10.9.1.{n}/23"}) for n in range(1, 28)]
    page = browser.get(path, WHOLE)
    assert not page.html.select("#panel-map") and f"{name}.example.com".lower() in page.words
    shown = [link.text for link in page.html.select(".main #panel-addresses th a")]
    assert shown == [address["address"] for address in made[:25]]
    assert f"{path}ip-addresses/" in [
        link["href"] for link in page.html.select("#panel-addresses > p a, #panel-addresses a")
    ]
    reader = service.user(("view", ["ipam.prefix"]), password=PASSWORD)
    assert "10.9.1.1/23" not in Browser(service, reader).get(path, WHOLE).text
    api.post("/api/ipam/prefixes/", {"prefix": "10.9.1.0/24", "status": "active", "vrf": vrf})
    page = browser.get(path, WHOLE)
    assert page.html.select("#panel-map") and not page.html.select("#panel-addresses")
