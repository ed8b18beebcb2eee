"""Search for addresses, prefixes and VLANs."""

from __future__ import annotations

from typing import Any

import pytest

from netinv_testing import Api, Service, Unique
from netinv_web.testing import Browser
from tests.support.cabling_fixtures import Plant

SEARCH = "/api/search/"


@pytest.fixture
def plant(api: Api, unique: Unique) -> Plant:
    """Devices with interfaces."""
    return Plant(api, unique)


def prefixes(api: Api, unique: Unique) -> tuple[str, list[str]]:
    """The beginning of an IPv6 network, and the ids of nested prefixes of it, the shortest first."""
    start = unique.ipv6()
    bodies = [{"prefix": f"{start}::/{length}", "status": "active"} for length in (48, 56, 64)]
    return start, [item["id"] for item in api.post("/api/ipam/prefixes/", bodies)]


def found(api: Api, text: str) -> list[Any]:
    """The groups of a search."""
    groups: list[Any] = api.get(SEARCH, {"q": text})["groups"]
    return groups


def test_an_address_is_found_by_its_host(api: Api, unique: Unique) -> None:
    start, _ = prefixes(api, unique)
    key = api.post("/api/ipam/ip-addresses/", {"address": f"{start}::5/64", "status": "active"})["id"]
    for text in (f"{start}::5", f"{start}:0:0:0:0:5", f"{start.upper()}::5/128"):
        (group,) = found(api, text)
        assert (group["resource"], [item["id"] for item in group["results"]]) == ("ipam.ipaddress", [key])
        assert [item["id"] for item in api.get(group["url"])["results"]] == [key]


def test_an_address_is_found_with_what_has_it(service: Service, api: Api, plant: Plant, unique: Unique) -> None:
    port, start = plant.end(), unique.ipv6()
    device = api.get(port.path)["device"]["id"]
    body = {"status": "active", "assigned_object_type": port.label, "assigned_object_id": port.id}
    key = api.post("/api/ipam/ip-addresses/", {**body, "address": f"{start}::7/64"})["id"]
    first, second = found(api, f"{start}::7")
    assert (first["resource"], first["exact"], second["resource"]) == ("ipam.ipaddress", True, "dcim.device")
    assert [item["id"] for item in second["results"]] == [device]
    assert [item["id"] for item in api.get(second["url"])["results"]] == [device]
    assert "dcim.device" not in [group["resource"] for group in found(api, f"{start}::/64")]
    may_view = [("view", label) for label in ("ipam.ipaddress", "dcim.device", "dcim.interface")]
    for permission in may_view:  # what has the address is found by users who may view all three
        reader = service.user(*(other for other in may_view if other != permission)).api
        assert device not in [item["id"] for group in found(reader, f"{start}::7") for item in group["results"]]
    reader = service.user(*may_view).api
    assert [group["results"][0]["id"] for group in found(reader, f"{start}::7")] == [key, device]


def test_the_search_leads_to_the_address_and_offers_what_has_it(
    browser: Browser, api: Api, plant: Plant, unique: Unique
) -> None:
    port, start = plant.end(), unique.ipv6()
    device = api.get(port.path)["device"]
    body = {"status": "active", "assigned_object_type": port.label, "assigned_object_id": port.id}
    address, _ = (api.post("/api/ipam/ip-addresses/", {**body, "address": f"{start}::{host}/64"}) for host in (7, 71))
    page = browser.get("/search/", {"q": f"{start}::7", "_part": "palette"})
    titles = [group["aria-label"] for group in page.html.select("[role=group]")]
    assert titles == ["IP addresses", "Devices", "More IP addresses"]
    assert str(page.html.select("[role=option]")[1]["href"]) == f"/dcim/devices/{device['id']}/"
    led = browser.get("/search/", {"q": f"{start}::7", "_jump": "1"}, status=303).headers["Location"]
    assert led.endswith(f"/ipam/ip-addresses/{address['id']}/")
    panels = browser.get(led).html.select("main .panel h2")
    assert panels[0].text == "Assigned to"


def test_a_free_address_leads_to_its_prefixes_and_the_next_free_one(api: Api, unique: Unique) -> None:
    start, ids = prefixes(api, unique)
    (group,) = found(api, f"{start}::9")
    assert (group["resource"], [item["id"] for item in group["results"]]) == ("ipam.prefix", ids[::-1])
    (link,) = group["links"]
    assert link["title"] == f"Next free in {start}::/64"
    assert api.get(link["url"])[0]["address"].startswith(start)


def test_a_prefix_is_found_or_those_that_contain_it(api: Api, unique: Unique) -> None:
    start, ids = prefixes(api, unique)
    assert [[item["id"] for item in group["results"]] for group in found(api, f"{start}::/56")] == [[ids[1]]]
    assert [[item["id"] for item in group["results"]] for group in found(api, f"{start}::/60")] == [[ids[1], ids[0]]]


def test_addresses_and_prefixes_are_those_that_a_user_may_view(service: Service, api: Api, unique: Unique) -> None:
    start, ids = prefixes(api, unique)
    limited = service.user(("view", "ipam.prefix", {"id": ids[0]})).api
    (group,) = found(limited, f"{start}::9")
    assert [item["id"] for item in group["results"]] == [ids[0]]
    assert group["links"][0]["title"] == f"Next free in {start}::/48"


def test_a_vlan_is_found_by_its_number(api: Api, unique: Unique) -> None:
    group = api.post("/api/ipam/vlan-groups/", {"name": unique()})["id"]
    body = {"name": unique(), "vid": 3120, "status": "active", "group": group}
    key = api.post("/api/ipam/vlans/", body)["id"]
    for text in ("vlan 3120", "VLAN3120"):
        assert key in [item["id"] for part in found(api, text) for item in part["results"]]
