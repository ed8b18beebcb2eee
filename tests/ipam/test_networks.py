"""Networks and addresses over HTTP: their filters, what they refer to, and what is given out of a prefix."""

from __future__ import annotations

from typing import Any

import pytest

from netinv_testing import Api, Case, Service, Unique

PREFIXES, ADDRESSES, AGGREGATES = "/api/ipam/prefixes/", "/api/ipam/ip-addresses/", "/api/ipam/aggregates/"
NOBODY = "00000000-0000-4000-8000-000000000000"
WRITTEN = ("10.0.0.0/24", "10.0.0.0/25", "10.0.0.128/25", "2001:db8::/64")


@pytest.fixture(scope="session")
def vrf(service: Service) -> str:
    """The id of a VRF with four prefixes and two addresses."""
    key: str = service.api.post("/api/ipam/vrfs/", {"name": service.unique()})["id"]
    service.api.post(PREFIXES, [{"prefix": text, "vrf": key, "status": "active"} for text in WRITTEN])
    service.api.post(
        ADDRESSES, [{"address": text, "vrf": key, "status": "active"} for text in ("10.0.0.1/24", "10.0.0.2/25")]
    )
    return key


def prefixes(api: Api, vrf: str, **query: Any) -> list[str]:
    """The prefixes of the VRF that the query selects."""
    return [item["prefix"] for item in api.get(PREFIXES, {"vrf_id": vrf, **query})["results"]]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ({"family": 6}, WRITTEN[3:]),
        ({"family__n": 6}, WRITTEN[:3]),
        ({"broadcast": "10.0.0.255"}, (WRITTEN[0], WRITTEN[2])),
        ({"broadcast": ["10.0.0.127", "2001:db8::ffff:ffff:ffff:ffff"]}, (WRITTEN[1], WRITTEN[3])),
        ({"broadcast__n": "10.0.0.255"}, (WRITTEN[1], WRITTEN[3])),
        ({"prefix_length": 24}, WRITTEN[:1]),
        ({"prefix_length": [24, 64]}, (WRITTEN[0], WRITTEN[3])),
        ({"prefix_length__n": 25}, (WRITTEN[0], WRITTEN[3])),
        ({"prefix_length__gt": 24, "prefix_length__lte": 32}, WRITTEN[1:3]),
        ({"is_pool": "false"}, WRITTEN),
        ({"is_pool__n": "false"}, ()),
        ({"created__n": "2000-01-01"}, WRITTEN),
    ],
)
def test_prefixes_are_found_by_their_parts(api: Api, vrf: str, query: Any, expected: Any) -> None:
    assert prefixes(api, vrf, **query) == list(expected)


def test_addresses_are_found_by_their_parts(api: Api, vrf: str) -> None:
    def found(**query: Any) -> list[str]:
        return [item["address"] for item in api.get(ADDRESSES, {"vrf_id": vrf, **query})["results"]]

    assert found(broadcast="10.0.0.255") == ["10.0.0.1/24"]
    assert found(prefix_length__n=24) == ["10.0.0.2/25"]
    assert found(assigned_to_interface__n="true") == ["10.0.0.1/24", "10.0.0.2/25"]


@pytest.mark.parametrize(
    ("name", "value"), [("broadcast", "10.0.0.0/24"), ("broadcast", "zz"), ("prefix_length", "zz"), ("family__n", "5")]
)
def test_parts_that_are_none_are_refused_by_name(api: Api, name: str, value: str) -> None:
    for path in (PREFIXES, ADDRESSES, AGGREGATES):
        assert list(api.get(path, {name: value}, status=400)) == [name]


# -- references by content type and id

OWNED = ("extras.configcontext", "extras.configcontextschema", "extras.exporttemplate")


@pytest.mark.parametrize("label", OWNED)
def test_an_owner_that_does_not_exist_is_refused(service: Service, label: str) -> None:
    case = Case(service, label)
    body = case.body(owner_content_type="tenancy.tenant", owner_object_id=NOBODY)
    refused = {"owner_object_id": [f"Related object not found using the provided ID: {NOBODY}"]}
    assert service.api.post(case.path, body, status=400) == refused
    assert list(service.api.post(case.path, {**body, "owner_object_id": None}, status=400)) == ["__all__"]


@pytest.mark.parametrize("kind", ["dcim.interface", "virtualization.vminterface"])
def test_an_address_is_assigned_to_what_exists(api: Api, vrf: str, kind: str) -> None:
    body = {"address": "10.9.9.9/32", "vrf": vrf, "status": "active", "assigned_object_type": kind}
    refused = {"assigned_object_id": [f"Related object not found using the provided ID: {NOBODY}"]}
    assert api.post(ADDRESSES, {**body, "assigned_object_id": NOBODY}, status=400) == refused
    assert (
        api.post(
            ADDRESSES, [{**body, "assigned_object_id": NOBODY}, {**body, "assigned_object_type": None}], status=400
        )[0]
        == refused
    )


def test_an_address_is_not_assigned_to_what_the_user_may_not_view(service: Service, make_user: Any) -> None:
    vrf = service.api.post("/api/ipam/vrfs/", {"name": service.unique()})["id"]
    interface = Case(service, "dcim.interface").make()
    body = {
        "address": "10.9.9.8/32",
        "vrf": vrf,
        "status": "active",
        "assigned_object_type": "dcim.interface",
        "assigned_object_id": interface["id"],
    }
    writer = make_user(("add change view", "ipam.ipaddress"), ("view", ["ipam.vrf", "extras.status"]))
    assert list(writer.api.post(ADDRESSES, body, status=400)) == ["assigned_object_id"]
    reader = make_user(("add change view", "ipam.ipaddress"), ("view", ["ipam.vrf", "extras.status", "dcim.interface"]))
    shown = reader.api.post(ADDRESSES, body)
    assert shown["assigned_object"]["id"] == interface["id"]
    assert writer.api.patch(shown["url"], {"description": "said"})["description"] == "said"


# -- giving out


def test_more_than_there_is_is_refused_with_the_reason(api: Api, unique: Unique) -> None:
    """204 as clients know it, with the reason in a header; 409 with it in the body for those who ask."""
    vrf = api.post("/api/ipam/vrfs/", {"name": unique()})["id"]
    prefix = api.post(PREFIXES, {"prefix": "10.1.2.0/30", "vrf": vrf, "status": "active"})["id"]
    asked = (
        ("available-ips", [{"status": "active"}] * 3, "10.1.2.0/30 has 2 free addresses, and 3 are asked for."),
        ("available-prefixes", {"prefix_length": 29, "status": "active"}, "10.1.2.0/30 has no room for /29."),
    )
    for action, body, reason in asked:
        path = f"{PREFIXES}{prefix}/{action}/"
        silent = api.send("POST", path, body, status=204)
        assert (silent.body, silent.headers["API-Detail"]) == (b"", reason)
        told = api.send("POST", path, body, headers={"Prefer": "respond-async, handling = strict"}, status=409)
        assert (told.json, told.headers["Preference-Applied"]) == ({"detail": reason}, "handling=strict")
    assert api.get(ADDRESSES, {"vrf_id": vrf})["count"] == 0


def test_free_addresses_are_listed_up_to_a_bound(api: Api, unique: Unique, configured: Any) -> None:
    vrf = api.post("/api/ipam/vrfs/", {"name": unique()})["id"]
    prefix = api.post(PREFIXES, {"prefix": "2001:db8:9::/48", "vrf": vrf, "status": "active"})["id"]
    with configured(max_page_size=0):
        for limit in (0, 2**63 - 1):
            assert len(api.get(f"{PREFIXES}{prefix}/available-ips/", {"limit": limit})) == 1000


@pytest.mark.parametrize("unique_globally", [True, False])
def test_duplicates_in_the_global_table_are_a_setting(api: Api, configured: Any, unique_globally: bool) -> None:
    """``enforce_global_unique`` is for prefixes and addresses alike."""
    octet = 7 if unique_globally else 8
    with configured(enforce_global_unique=unique_globally):
        for path, name, text in (
            (PREFIXES, "prefix", f"198.51.{octet}.0/24"),
            (ADDRESSES, "address", f"198.51.{octet}.1/24"),
        ):
            api.post(path, {name: text, "status": "active"})
            refused = api.send("POST", path, {name: text, "status": "active"}, status=400 if unique_globally else 201)
            assert not unique_globally or list(refused.json) == [name]


def test_a_service_has_no_more_ports_than_there_are(api: Api) -> None:
    """The list is refused before its items are looked at."""
    refused = api.post("/api/ipam/services/", {"name": "x", "protocol": "tcp", "ports": ["x"] * 65536}, status=400)
    assert refused["ports"] == ["There are only 65535 ports."]
