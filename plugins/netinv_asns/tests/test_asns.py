"""AS numbers: sites and providers, ranges and their free numbers, pages, search, and their import."""

from __future__ import annotations

from typing import Any

import pytest

from netinv_core.http.versions import NEWEST
from netinv_testing import Api, Service, Unique
from netinv_web.testing import Browser
from tests.support.dumps import item, named

ASNS, RANGES = "/api/plugins/asns/asns/", "/api/plugins/asns/asn-ranges/"


@pytest.fixture
def rir(make: Any) -> str:
    """The id of a registry."""
    registry: str = make("/api/ipam/rirs/")["id"]
    return registry


@pytest.fixture
def make_range(api: Api, rir: str, unique: Unique) -> Any:
    """``make_range(size)``: a range whose numbers no other test has."""

    def make(size: int) -> Any:
        start = 4_200_000_000 + 100 * unique.number()
        return api.post(RANGES, {"name": unique(), "start": start, "end": start + size - 1, "rir": rir})

    return make


def test_an_as_number_has_sites_and_providers(api: Api, make: Any, rir: str, unique: Unique) -> None:
    site, provider = make("/api/dcim/sites/", status="active"), make("/api/circuits/providers/")
    number = 4_100_000_000 + unique.number()
    body = {"asn": number, "rir": rir, "sites": [site["id"]], "providers": [provider["id"]]}
    made = api.post(ASNS, body)
    assert (made["display"], made["sites"][0]["id"]) == (f"AS{number}", site["id"])
    assert [found["id"] for found in api.get("/api/dcim/sites/", {"asns": made["id"]})["results"]] == [site["id"]]
    assert [found["id"] for found in api.get(ASNS, {"providers": provider["id"]})["results"]] == [made["id"]]
    assert list(api.post(ASNS, {"asn": number, "rir": rir}, status=400)) == ["asn"]
    assert made["display"] in str(api.get("/api/search/", {"q": f"as{number}"}))


def test_a_range_begins_before_it_ends(api: Api, rir: str, unique: Unique) -> None:
    body = {"name": unique(), "start": 65000, "end": 64999, "rir": rir}
    assert api.post(RANGES, body, status=400) == {"end": ["The end must not be lower than the start."]}


def test_the_free_numbers_of_a_range_are_allocated_in_order(
    api: Api, make_range: Any, rir: str, statements: Any
) -> None:
    of = make_range(5)
    path, start = f"{RANGES}{of['id']}/available-asns/", of["start"]
    api.post(ASNS, {"asn": start + 1, "rir": rir})
    assert [found["asn"] - start for found in api.get(path)] == [0, 2, 3, 4]
    with statements() as one:
        assert api.post(path, {})["asn"] == start
    with statements() as many:
        made = api.post(path, [{}, {"description": "second"}])
    assert [(found["asn"] - start, found["rir"]["id"]) for found in made] == [(2, rir), (3, rir)]
    assert len(one) == len(many)
    answer = api.send("POST", path, [{}, {}], status=204)
    assert answer.headers["API-Detail"] == f"{of['name']} has 1 free numbers, and 2 are asked for."
    assert api.get(f"{RANGES}{of['id']}/", {"include": "utilization"})["utilization"]["percent"] == 80


def test_the_body_of_an_allocation_is_described(service: Service, make_range: Any, rir: str) -> None:
    path = f"{RANGES}{make_range(2)['id']}/available-asns/"
    for body in ({}, {"description": "x", "rir": rir}, [{}, {"tenant": None}]):
        service.documented.takes(NEWEST, "POST", path, body)
    for wrong in ({"asn": 1}, {"name": "x"}, "x"):
        with pytest.raises(AssertionError, match="is not as version"):
            service.documented.takes(NEWEST, "POST", path, wrong)


def test_ranges_are_found_by_a_number(api: Api, make_range: Any) -> None:
    of = make_range(5)
    assert of["id"] in [found["id"] for found in api.get(RANGES, {"contains": of["end"]})["results"]]
    assert of["id"] not in [found["id"] for found in api.get(RANGES, {"contains": of["end"] + 1})["results"]]


def test_allocating_needs_the_permission_to_add_as_numbers(make_range: Any, make_user: Any) -> None:
    path = f"{RANGES}{make_range(2)['id']}/available-asns/"
    viewer = make_user(("view", "asns.asnrange"))
    assert len(viewer.api.get(path)) == 2
    viewer.api.post(path, {}, status=403)


def test_sites_and_ranges_have_a_tab_of_as_numbers(
    api: Api, service: Service, make: Any, make_range: Any, rir: str
) -> None:
    of, site = make_range(5), make("/api/dcim/sites/", status="active")
    made = api.post(ASNS, {"asn": of["start"], "rir": rir, "sites": [site["id"]]})
    browser = Browser(service, service.admin)
    for page in (f"/dcim/sites/{site['id']}/", f"/plugins/asns/asn-ranges/{of['id']}/"):
        assert made["display"] in browser.get(f"{page}asns/").text


def test_as_numbers_of_a_netbox_dump_are_imported(api: Api, load_dump: Any, unique: Unique) -> None:
    number, name = 4_000_000_000 + unique.number(), unique()
    report = load_dump(
        named("ipam.rir", 1, name),
        named("dcim.site", 1, name, status="active", asns=[1, 2]),
        item("ipam.asn", 1, asn=number, rir=1, tenant=None, description="first", comments=""),
        item("ipam.asn", 2, asn=number + 1, rir=1, tenant=None, description="second", comments=""),
        named("ipam.asnrange", 1, name, rir=1, start=64512, end=64600, tenant=None, description=""),
    )
    assert report.counts()["ipam.asn"] == {"created": 2}
    assert report.counts()["ipam.asnrange"] == {"created": 1}
    assert (report.left_out, report.kept) == ({}, {})
    (site,) = api.get("/api/dcim/sites/", {"name": name})["results"]
    assert site["asn"] == number
    assert {found["asn"] for found in api.get(ASNS, {"sites": site["id"]})["results"]} == {number, number + 1}
