"""IP ranges: their ends, overlaps, free addresses, utilisation, pages, and their import."""

from __future__ import annotations

from typing import Any

import pytest

from netinv_core.http.versions import NEWEST
from netinv_testing import Api, Service, Unique
from netinv_testing.checks.racing import race
from netinv_web.testing import Browser
from tests.support.dumps import item, load_nautobot
from tests.support.inventory_service import InventoryService, serving
from tests.support.nautobot2 import Nautobot2, choice

RANGES, ADDRESSES, VRFS = "/api/plugins/ip_ranges/ip-ranges/", "/api/ipam/ip-addresses/", "/api/ipam/vrfs/"


@pytest.fixture
def vrf(api: Api, unique: Unique) -> Any:
    """A VRF of the test."""
    return api.post(VRFS, {"name": unique(), "enforce_unique": False})


@pytest.fixture
def make_range(api: Api, vrf: Any) -> Any:
    """``make_range(first, last)``: the range of 192.0.2.0/24 between two numbers, in the VRF of the test."""

    def make(first: int, last: int, status: int = 201, **other: Any) -> Any:
        body = {"start_address": f"192.0.2.{first}/24", "end_address": f"192.0.2.{last}/24", "status": "active"}
        return api.post(RANGES, {**body, "vrf": vrf["id"], **other}, status=status)

    return make


def test_a_range_has_a_size_and_a_family(make_range: Any) -> None:
    made = make_range(10, 19)
    assert (made["size"], made["family"]["value"], made["display"]) == (10, 4, "192.0.2.10-192.0.2.19/24")


@pytest.mark.parametrize(
    ("first", "last", "message"),
    [
        ("192.0.2.9/24", "2001:db8::9/64", "Both addresses must be of the same IP version."),
        ("192.0.2.9/24", "192.0.2.10/25", "Both addresses must have the same prefix length."),
        ("192.0.2.9/24", "192.0.2.8/24", "The end address must not be lower than the start address."),
        ("2001:db8::/32", "2001:db8:1::/32", "A range has at most 4294967295 addresses."),
    ],
)
def test_the_ends_of_a_range_belong_together(api: Api, first: str, last: str, message: str) -> None:
    body = {"start_address": first, "end_address": last, "status": "active"}
    assert api.post(RANGES, body, status=400) == {"end_address": [message]}


def test_ranges_of_a_vrf_do_not_overlap(api: Api, make_range: Any, unique: Unique) -> None:
    make_range(10, 19)
    refused = make_range(19, 30, status=400)
    assert refused == {"start_address": ["The range overlaps with the range 192.0.2.10-192.0.2.19/24 of this VRF."]}
    make_range(12, 13, status=400)
    next_to_it = make_range(20, 30)
    make_range(12, 13, vrf=api.post(VRFS, {"name": unique()})["id"])
    api.patch(f"{RANGES}{next_to_it['id']}/", {"start_address": "192.0.2.18/24"}, status=400)
    both = [{"start_address": f"192.0.2.{n}/24", "end_address": "192.0.2.99/24", "status": "active"} for n in (50, 60)]
    answer = api.post(RANGES, [{**body, "vrf": next_to_it["vrf"]["id"]} for body in both], status=400)
    assert [list(errors) for errors in answer] == [[], ["start_address"]]


def test_an_overlap_with_a_hidden_range_names_none(make_range: Any, make_user: Any, unique: Unique) -> None:
    made = make_range(10, 19)
    user = make_user(("add", "ip_ranges.iprange"), ("view", "ip_ranges.iprange", {"description": unique()}),
                     ("view", "ipam.vrf"), ("view", "extras.status"))  # fmt: skip
    body = {"start_address": "192.0.2.15/24", "end_address": "192.0.2.16/24", "vrf": made["vrf"]["id"]}
    refused = user.api.post(RANGES, {**body, "status": "active"}, status=400)
    assert refused == {"start_address": ["The range overlaps with the range of this VRF."]}


def test_ranges_are_found_by_an_address_and_a_prefix(api: Api, make_range: Any, vrf: Any) -> None:
    made = make_range(10, 19)

    def found(**query: str) -> list[str]:
        return [found["id"] for found in api.get(RANGES, {"vrf_id": vrf["id"], **query})["results"]]

    assert found(contains="192.0.2.15") == found(parent="192.0.2.0/27") == [made["id"]]
    assert found(contains="192.0.2.20") == found(parent="192.0.2.0/28") == []
    assert "contains" in api.get(RANGES, {"contains": "here"}, status=400)
    assert made["display"] in str(api.get("/api/search/", {"q": "192.0.2.15"}))


def test_the_free_addresses_of_a_range_are_allocated_in_order(api: Api, make_range: Any, vrf: Any) -> None:
    made = make_range(10, 14)
    path = f"{RANGES}{made['id']}/available-ips/"
    for address in ("192.0.2.9/24", "192.0.2.11/24", "192.0.2.11/32"):
        api.post(ADDRESSES, {"address": address, "status": "active", "vrf": vrf["id"]})
    free = [found["address"] for found in api.get(path)]
    assert free == ["192.0.2.10/24", "192.0.2.12/24", "192.0.2.13/24", "192.0.2.14/24"]
    assert len(api.get(path, {"limit": 2})) == 2
    made = api.post(path, [{"status": "active"}, {"status": "active", "description": "second"}])
    assert [(found["address"], found["vrf"]["id"]) for found in made] == [
        ("192.0.2.10/24", vrf["id"]), ("192.0.2.12/24", vrf["id"])]  # fmt: skip
    assert api.post(path, {"status": "active"})["address"] == "192.0.2.13/24"
    answer = api.send("POST", path, [{"status": "active"}] * 2, status=204)
    assert answer.headers["API-Detail"] == ("192.0.2.10-192.0.2.14/24 has 1 free addresses, and 2 are asked for.")
    assert "detail" in api.send("POST", path, [{}] * 2, headers={"Prefer": "handling=strict"}, status=409).json


def test_the_body_of_an_allocation_is_described(service: Service, make_range: Any) -> None:
    path = f"{RANGES}{make_range(10, 14)['id']}/available-ips/"
    for body in ({"status": "active"}, [{"status": "active", "dns_name": "a.example"}] * 2):
        service.documented.takes(NEWEST, "POST", path, body)
    for wrong in ({}, {"status": "active", "vrf": None}, {"status": "active", "address": "192.0.2.1/24"}):
        with pytest.raises(AssertionError, match="is not as version"):
            service.documented.takes(NEWEST, "POST", path, wrong)


def test_a_range_and_the_prefix_around_it_give_out_different_addresses(
    api: Api, service: Service, make_range: Any, vrf: Any
) -> None:
    """At the same time, in a VRF that would allow an address twice."""
    prefix = api.post("/api/ipam/prefixes/", {"prefix": "192.0.2.0/24", "vrf": vrf["id"], "status": "active"})
    paths = [f"{RANGES}{make_range(1, 20)['id']}/", f"/api/ipam/prefixes/{prefix['id']}/"] * 2
    calls = [lambda api, path=path: api.post(f"{path}available-ips/", {"status": "active"}) for path in paths]
    assert len({made["address"] for made in race(service, calls)}) == len(paths)


def test_allocating_takes_as_many_statements_for_many_addresses_as_for_one(
    api: Api, make_range: Any, statements: Any
) -> None:
    path = f"{RANGES}{make_range(1, 200)['id']}/available-ips/"
    api.post(path, [{"status": "active"}])
    with statements() as one:
        api.post(path, [{"status": "active"}])
    with statements() as many:
        api.post(path, [{"status": "active"}] * 30)
    assert len(many) == len(one)


def test_allocating_needs_the_permission_to_add_addresses(make_range: Any, make_user: Any) -> None:
    path = f"{RANGES}{make_range(10, 14)['id']}/available-ips/"
    viewer = make_user(("view", "ip_ranges.iprange"))
    assert len(viewer.api.get(path)) == 5
    viewer.api.post(path, {"status": "active"}, status=403)
    make_user(("add", "ipam.ipaddress")).api.get(path, status=403)


def test_utilisation_counts_addresses_once(api: Api, make_range: Any, vrf: Any) -> None:
    made = make_range(10, 19)
    for address in ("192.0.2.11/24", "192.0.2.11/32", "192.0.2.12/24", "192.0.2.30/24"):
        api.post(ADDRESSES, {"address": address, "status": "active", "vrf": vrf["id"]})
    path = f"{RANGES}{made['id']}/"
    assert api.get(path, {"include": "utilization"})["utilization"]["percent"] == 20
    assert api.patch(path, {"mark_utilized": True})["mark_utilized"]
    assert api.get(path, {"include": "utilization"})["utilization"]["percent"] == 100


def test_the_pages_of_a_range(api: Api, service: Service, make_range: Any, vrf: Any) -> None:
    made, browser = make_range(10, 14), Browser(service, service.admin)
    prefix = api.post("/api/ipam/prefixes/", {"prefix": "192.0.2.0/24", "vrf": vrf["id"], "status": "active"})
    assert made["display"] in browser.get(f"/ipam/prefixes/{prefix['id']}/ip-ranges/").text
    page = f"/plugins/ip_ranges/ip-ranges/{made['id']}/"
    browser.get(page).form(f"{page}allocate/").submit()
    assert "192.0.2.10/24" in browser.get(f"{page}ip-addresses/").text


def test_a_gap_of_a_prefix_leads_to_the_form_of_a_range(api: Api, service: Service, vrf: Any) -> None:
    prefix = api.post("/api/ipam/prefixes/", {"prefix": "192.0.2.0/24", "vrf": vrf["id"], "status": "container"})
    browser = Browser(service, service.admin)
    page = browser.get(f"/ipam/prefixes/{prefix['id']}/gap/", {"first": "192.0.2.64", "last": "192.0.2.255"})
    form = browser.get(next(link for link in page.links() if "/ip-ranges/add/?" in link)).form()
    ends = [form[name].value for name in ("start_address", "end_address", "vrf")]
    assert ends == ["192.0.2.64/24", "192.0.2.255/24", vrf["id"]]


def test_ranges_of_a_netbox_dump_are_imported(api: Api, load_dump: Any) -> None:
    dump = [
        item("ipam.vrf", 1, name="imported ranges", rd="65000:77"),
        item(
            "ipam.iprange",
            1,
            start_address="192.0.2.10/24",
            end_address="192.0.2.20/24",
            size=11,
            vrf=1,
            status="active",
            role=None,
            tenant=None,
            mark_utilized=True,
            mark_populated=False,
            description="imported pool",
            comments="",
        ),
    ]
    report = load_dump(*dump)
    assert report.counts()["ipam.iprange"] == {"created": 1}
    assert report.left_out == {}
    (found,) = api.get(RANGES, {"description": "imported pool"})["results"]
    assert (found["display"], found["vrf"]["name"]) == ("192.0.2.10-192.0.2.20/24", "imported ranges")
    assert load_dump(*dump).counts()["ipam.iprange"] == {"unchanged": 1}


def test_ranges_of_a_nautobot_have_the_vrf_and_the_length_of_their_prefix(
    api: Api, service: Service, unique: Unique
) -> None:
    there = Nautobot2(unique())
    active = there.add("extras/statuses", name="Active", color="4caf50", content_types=["ipam.prefix", "ipam.vrf"])
    namespace = there.named("ipam/namespaces", "Shop")
    prefix = there.add(
        "ipam/prefixes",
        prefix=f"{there.network}.4.0/22",
        type=choice("network"),
        namespace=namespace,
        parent=None,
        status=active,
    )
    edges = {name: f"{there.network}.4.{n}" for name, n in (("start_address", 10), ("end_address", 20))}
    common = {"status": active, "size": 11, "is_exclusive": True, "count_as_utilized": True, "namespace": namespace}
    for name, parent in (("Pool", prefix), ("Stray", None)):
        there.named("ipam/ip-address-ranges", name, parent=parent, **edges, **common)
    with serving(InventoryService("nautobot", "3.2.7", there.lists, page_size=50)) as other:
        reports = [load_nautobot(service, other) for _ in range(2)]
    counts = [report.counts()["ipam.ipaddressrange"] for report in reports]
    assert counts == [{"created": 1, "skipped": 1}, {"unchanged": 1, "skipped": 1}]
    made = api.get(f"{RANGES}{there.of('ipam/ip-address-ranges', 'Pool')['id']}/")
    assert (made["display"], made["vrf"]["name"], made["mark_utilized"], made["custom_fields"]["nautobot_name"]) == (
        f"{there.network}.4.10-{there.network}.4.20/22",
        f"{there.word} Shop",
        True,
        f"{there.word} Pool",
    )
    assert made["custom_fields"]["nautobot_is_exclusive"] is True
