"""Change requests: the number of statements does not grow with that of the proposed changes, and nothing follows."""

from __future__ import annotations

from typing import Any

import pytest

from netinv_testing import Api, Service, Unique

REQUESTS, SITES, VLANS = "/api/extras/change-requests/", "/api/dcim/sites/", "/api/ipam/vlans/"
MORE_STATEMENTS = 12  # of a read in a change request


@pytest.fixture
def change_request(api: Api, unique: Unique) -> Any:
    """An open change request, with its headers."""
    made = api.post(REQUESTS, {"title": unique()})
    return {**made, "headers": {"X-Change-Request": made["id"]}, "path": f"{REQUESTS}{made['id']}/"}


def vlans(unique: Unique, count: int) -> list[dict[str, Any]]:
    """Bodies of VLANs."""
    return [{"name": unique(), "vid": 2 + number, "status": "active"} for number in range(count)]


def test_a_read_takes_as_many_statements_for_many_changes_as_for_few(
    api: Api, service: Service, unique: Unique, change_request: Any
) -> None:
    site = api.post(SITES, {"name": unique(), "status": "active"})
    path, headers = f"{SITES}{site['id']}/", change_request["headers"]
    api.get(path)
    with service.statements() as live:
        api.get(path)
    api.post(VLANS, vlans(unique, 2), headers=headers)
    with service.statements() as of_few:
        api.get(path, headers=headers)
    api.post(VLANS, vlans(unique, 200), headers=headers)
    with service.statements() as of_many:
        api.get(path, headers=headers)
    assert len(of_many) == len(of_few), of_many
    assert len(of_many) <= len(live) + MORE_STATEMENTS, of_many
    with service.statements() as of_merge:
        api.post(f"{change_request['path']}merge/", {}, status=200)
    assert len(of_merge) <= 40, of_merge


def test_what_is_free_is_taken_within_the_change_request(api: Api, change_request: Any, unique: Unique) -> None:
    headers = change_request["headers"]
    prefix = api.post("/api/ipam/prefixes/", {"prefix": f"{unique.ipv6()}::/64", "status": "active"})
    path = f"/api/ipam/prefixes/{prefix['id']}/available-ips/"
    first = api.post(path, {"status": "active"}, headers=headers)
    second = api.post(path, {"status": "active"}, headers=headers)
    assert first["address"] != second["address"]
    live = api.post(path, {"status": "active"})
    assert live["address"] == first["address"]


def test_graphql_reads_proposed_values(api: Api, change_request: Any, unique: Unique) -> None:
    name = unique()
    api.post(SITES, {"name": name, "status": "active"}, headers=change_request["headers"])
    query = {"query": "query ($name: [String]) { sites(name: $name) { name } }", "variables": {"name": [name]}}
    assert api.post("/api/graphql/", query, status=200)["data"]["sites"] == []
    inside = api.post("/api/graphql/", query, headers=change_request["headers"], status=200)
    assert inside["data"]["sites"] == [{"name": name}]


def test_a_dry_run_in_a_change_request_adds_nothing(api: Api, change_request: Any, unique: Unique) -> None:
    body = {"name": unique(), "status": "active"}
    api.post(f"{SITES}?dry_run=true", body, headers=change_request["headers"], status=200)
    assert api.get(f"{change_request['path']}changes/")["count"] == 0


def test_a_preview_of_the_merge_leaves_the_change_request_open(api: Api, change_request: Any, unique: Unique) -> None:
    api.post(SITES, {"name": unique(), "status": "active"}, headers=change_request["headers"])
    preview = api.post(f"{change_request['path']}merge/?dry_run=true", {}, status=200)
    assert preview["count"]["changes"] == 2  # the site, and the change request itself
    assert api.get(change_request["path"])["state"]["value"] == "draft"


def test_a_closed_change_request_takes_nothing_until_it_is_opened_again(
    api: Api, change_request: Any, unique: Unique
) -> None:
    body = {"name": unique(), "status": "active"}
    api.post(f"{change_request['path']}close/", {}, status=200)
    api.post(SITES, body, headers=change_request["headers"], status=409)
    api.post(f"{change_request['path']}merge/", {}, status=409)
    api.post(f"{change_request['path']}reopen/", {}, status=200)
    api.post(SITES, body, headers=change_request["headers"])


def test_a_device_comes_with_its_components_and_cables(api: Api, service: Service, change_request: Any) -> None:
    headers = change_request["headers"]
    samples = service.population.objects(service.registry["dcim.device"])
    (other, *_) = samples
    kind = {"device_type": other["device_type"]["id"], "device_role": other["device_role"]["id"]}
    template = {"device_type": kind["device_type"], "name": "cr-port", "type": "1000base-t"}
    api.post("/api/dcim/interface-templates/", template)
    bodies = [{**kind, "site": other["site"]["id"], "status": "active", "name": f"{service.unique()}"} for _ in "ab"]
    made = api.post("/api/dcim/devices/", bodies, headers=headers)
    ports = [
        api.get("/api/dcim/interfaces/", {"device_id": device["id"], "name": "cr-port"}, headers=headers)["results"][0]
        for device in made
    ]
    ends = {
        "termination_a_type": "dcim.interface",
        "termination_a_id": ports[0]["id"],
        "termination_b_type": "dcim.interface",
        "termination_b_id": ports[1]["id"],
        "status": "connected",
    }
    cable = api.post("/api/dcim/cables/", ends, headers=headers)
    inside = api.get(f"/api/dcim/interfaces/{ports[0]['id']}/", headers=headers)
    assert inside["cable"]["id"] == cable["id"]
    api.post(f"{change_request['path']}merge/", {}, status=200)
    live = api.get(f"/api/dcim/interfaces/{ports[0]['id']}/")
    assert (live["cable"], live["cable_peer"]) == (inside["cable"], inside["cable_peer"])
