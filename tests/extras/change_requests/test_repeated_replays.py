"""Reads of one change request after another: cheap while nothing has changed, and never out of date."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from netinv_core.changelog.packing import unpack
from netinv_core.changelog.sequence import number_changes
from netinv_extras.change_requests import proposals
from netinv_testing import Api, Service, Unique
from tests.support.cabling_fixtures import Plant

REQUESTS, SITES, TENANTS = "/api/extras/change-requests/", "/api/dcim/sites/", "/api/tenancy/tenants/"
RACKS, DEVICES, FIELDS = "/api/dcim/racks/", "/api/dcim/devices/", "/api/extras/custom-fields/"
MORE = 12  # statements of a read in a change request, beside those of the read
Read = Callable[[str], Any]


@pytest.fixture
def inside(service: Service, unique: Unique) -> dict[str, str]:
    """The header of an open change request."""
    number_changes(service.engine, service.registry)  # as the worker does
    return {"X-Change-Request": service.api.post(REQUESTS, {"title": unique()})["id"]}


@pytest.fixture
def plant(api: Api, unique: Unique) -> Plant:
    """Devices."""
    return Plant(api, unique)


@pytest.fixture
def read_twice(api: Api, inside: dict[str, str]) -> Read:
    """``read_twice(path)``: what two reads in the change request have, which is the same."""

    def read(path: str) -> Any:
        first = api.get(path, headers=inside)
        assert api.get(path, headers=inside) == first
        return first

    return read


def propose(service: Service, site: Any, inside: dict[str, str], count: int) -> None:
    """Changes a site and makes sites and tenants in a change request."""
    tenants = [{"name": service.unique()} for _ in range(count)]
    made = service.api.post(TENANTS, tenants, headers=inside)
    bodies = [{"name": service.unique(), "status": "active", "tenant": tenant["id"]} for tenant in made]
    service.api.post(SITES, bodies, headers=inside)
    service.api.patch(site["url"], {"facility": "DC 7", "tenant": made[0]["id"]}, headers=inside)


@pytest.mark.any_database
@pytest.mark.night
def test_a_repeated_read_takes_few_statements_however_many_objects_there_are(
    service: Service, site: Any, inside: dict[str, str]
) -> None:
    counts = []
    for count in (1, 20):
        propose(service, site, inside, count)
        found = []
        for headers in ({}, inside):
            for _ in range(2):
                service.api.get(SITES, {"limit": 1}, headers=headers)
            with service.statements() as statements:
                service.api.get(SITES, {"limit": 1}, headers=headers)
            found.append(len(statements))
        counts.append(found[1] - found[0])
    assert counts[0] == counts[1] <= MORE


@pytest.mark.any_database
def test_changes_of_others_are_seen_by_the_next_read(
    service: Service, api: Api, site: Any, inside: dict[str, str], read_twice: Read
) -> None:
    propose(service, site, inside, 1)
    assert read_twice(site["url"])["facility"] == "DC 7"
    api.patch(site["url"], {"comments": "Others"})
    shown = read_twice(site["url"])
    assert (shown["facility"], shown["comments"]) == ("DC 7", "Others")
    api.patch(site["url"], {"facility": "DC 8"})
    assert "conflicts" in api.get(site["url"], headers=inside, status=409)["detail"]
    api.patch(site["url"], {"facility": ""})
    assert read_twice(site["url"])["facility"] == "DC 7"


@pytest.mark.any_database
def test_a_name_that_others_take_meanwhile_is_a_conflict(
    api: Api, inside: dict[str, str], read_twice: Read, unique: Unique
) -> None:
    name = unique()
    new = api.post(SITES, {"name": name, "status": "active"}, headers=inside)
    read_twice(new["url"])
    taken = api.post(SITES, {"name": name, "status": "active"})
    api.get(new["url"], headers=inside, status=409)
    api.delete(taken["url"])
    assert read_twice(new["url"])["name"] == name


@pytest.mark.any_database
def test_a_reference_that_others_delete_meanwhile_is_a_conflict(
    api: Api, inside: dict[str, str], read_twice: Read, unique: Unique
) -> None:
    tenant = api.post(TENANTS, {"name": unique()})
    new = api.post(SITES, {"name": unique(), "status": "active", "tenant": tenant["id"]}, headers=inside)
    read_twice(new["url"])
    api.delete(tenant["url"])
    api.get(new["url"], headers=inside, status=409)


@pytest.mark.any_database
def test_a_rule_that_a_change_of_another_model_breaks_is_a_conflict(
    api: Api, plant: Plant, site: Any, inside: dict[str, str], read_twice: Read, unique: Unique
) -> None:
    rack = api.post(RACKS, {"name": unique(), "site": site["id"], "status": "active", "u_height": 42})
    device = api.get(f"{DEVICES}{plant.device(site=site['id'])}/")
    api.patch(device["url"], {"rack": rack["id"], "position": 40, "face": "front"}, headers=inside)
    assert read_twice(device["url"])["position"] == 40
    api.patch(rack["url"], {"u_height": 20})
    api.get(device["url"], headers=inside, status=409)


def test_a_change_of_another_model_is_no_reason_to_carry_out_anew(
    service: Service, api: Api, site: Any, inside: dict[str, str], unique: Unique
) -> None:
    propose(service, site, inside, 1)
    counts = []
    for _ in range(3):
        api.get(site["url"], headers=inside)
        with service.statements() as statements:
            api.get(site["url"], headers=inside)
        counts.append(len(statements))
        api.post("/api/circuits/providers/", {"name": unique()})
    assert counts[0] == counts[1] == counts[2]


def test_a_definition_that_is_made_meanwhile_is_part_of_new_objects(
    api: Api, inside: dict[str, str], read_twice: Read, unique: Unique
) -> None:
    new = api.post(SITES, {"name": unique(), "status": "active"}, headers=inside)
    read_twice(new["url"])
    name = f"f{unique()}"
    field = {"name": name, "slug": name, "label": name, "type": "text", "content_types": ["dcim.site"], "default": "x"}
    made = api.post(FIELDS, field)
    assert field["name"] in read_twice(new["url"])["custom_fields"]
    api.delete(made["url"])
    assert field["name"] not in read_twice(new["url"])["custom_fields"]


def test_a_repeated_read_unpacks_no_proposal(
    service: Service, api: Api, site: Any, inside: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A replay does, once what the proposals depend on has changed."""
    propose(service, site, inside, 3)
    api.get(SITES, {"id": site["id"]}, headers=inside)
    unpacked: list[str] = []

    def noting(packed: bytes, name: str) -> Any:
        unpacked.append(name)
        return unpack(packed, name)

    monkeypatch.setattr(proposals, "unpack", noting)
    (shown,) = api.get(SITES, {"id": site["id"]}, headers=inside)["results"]
    assert shown["facility"] == "DC 7"
    assert unpacked == []
    api.patch(f"{SITES}{site['id']}/", {"description": "Moved"})
    (shown,) = api.get(SITES, {"id": site["id"]}, headers=inside)["results"]
    assert (shown["facility"], shown["description"]) == ("DC 7", "Moved")
    assert sorted(unpacked) == ["after"] * 7 + ["before"] * 7
