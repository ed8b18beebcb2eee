"""Search for addresses, prefixes and VLANs."""

from __future__ import annotations

from typing import Any

from netinv_testing import Api, Service, Unique

SEARCH = "/api/search/"


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
