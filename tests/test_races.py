"""What happens when many ask at once, over real sockets and connections."""

from __future__ import annotations

import concurrent.futures
from collections.abc import Callable
from typing import Any

import requests
from test_client import served

from netinv_core.contract import Service, Unique

CLIENTS = 64


def at_once(work: Callable[[int], Any], times: int = CLIENTS) -> list[Any]:
    """The results of ``times`` calls made at the same time."""
    with concurrent.futures.ThreadPoolExecutor(times) as pool:
        return list(pool.map(work, range(times)))


def test_everyone_gets_an_address_of_their_own(service: Service, unique: Unique) -> None:
    """64 clients ask one prefix for an address; then it is exhausted, and says so without a body."""
    vrf = service.api.post("/api/ipam/vrfs/", {"name": unique()})
    prefix = service.api.post("/api/ipam/prefixes/", {"prefix": "192.0.2.0/26", "status": "active", "vrf": vrf["id"], "is_pool": True})
    headers = {"Authorization": f"Token {service.api.token}"}
    with served(service.app) as address:
        url = f"{address}/api/ipam/prefixes/{prefix['id']}/available-ips/"
        answers = at_once(lambda number: requests.post(url, json={"status": "active"}, headers=headers, timeout=120))
        assert {answer.status_code for answer in answers} == {201}
        assert len({answer.json()["address"] for answer in answers}) == CLIENTS
        refused = requests.post(url, json={"status": "active"}, headers=headers, timeout=30)
        assert (refused.status_code, refused.content) == (204, b"")


def test_changes_of_different_fields_both_stay(service: Service, unique: Unique) -> None:
    """PATCH writes what was sent and nothing else."""
    site = service.api.post("/api/dcim/sites/", {"name": unique(), "status": "active"})
    fields = ["facility", "description", "physical_address", "shipping_address", "contact_name", "comments"]
    headers = {"Authorization": f"Token {service.api.token}"}
    with served(service.app) as address:
        url = f"{address}/api/dcim/sites/{site['id']}/"
        at_once(lambda number: requests.patch(url, json={fields[number]: f"by {number}"}, headers=headers, timeout=60), len(fields))
    found = service.api.get(f"/api/dcim/sites/{site['id']}/")
    assert [found[name] for name in fields] == [f"by {number}" for number in range(len(fields))]


def test_one_name_is_given_once(service: Service, unique: Unique) -> None:
    """Of many who create the same name at once, one succeeds and the others are told why not."""
    name, headers = unique(), {"Authorization": f"Token {service.api.token}"}
    with served(service.app) as address:
        url = f"{address}/api/tenancy/tenants/"
        answers = at_once(lambda number: requests.post(url, json={"name": name, "slug": name.lower()}, headers=headers, timeout=60), 16)
    assert sorted(answer.status_code for answer in answers) == [201] + [400] * 15
    assert all("already exists" in answer.text for answer in answers if answer.status_code == 400)
