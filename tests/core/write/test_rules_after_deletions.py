"""Deletions that set a reference to null: refused where the object would break a rule without it, or followed up."""

from __future__ import annotations

from typing import Any

import pytest

from netinv_testing import Api, Unique
from tests.support.cabling_fixtures import Plant

DEVICES, PORTS, CHASSIS = "/api/dcim/devices/", "/api/dcim/interfaces/", "/api/dcim/virtual-chassis/"
ADDRESSES, GROUPS = "/api/ipam/ip-addresses/", "/api/dcim/device-redundancy-groups/"


@pytest.fixture
def hosts(api: Api, unique: Unique) -> list[Any]:
    """Two devices."""
    plant = Plant(api, unique)
    return [api.post(DEVICES, {"name": unique(), **plant.hardware}) for _ in range(2)]


@pytest.fixture
def chassis(api: Api, make: Any, hosts: list[Any]) -> Any:
    """A virtual chassis of the two devices, with the first as its master."""
    made = make(CHASSIS)
    for place, host in enumerate(hosts):
        api.patch(host["url"], {"virtual_chassis": made["id"], "vc_position": place + 1})
    api.patch(made["url"], {"master": hosts[0]["id"]})
    return made


def port_of(api: Api, host: Any, name: str = "eth0", **fields: Any) -> Any:
    return api.post(PORTS, {"device": host["id"], "name": name, "type": "1000base-t", "status": "active"} | fields)


def address_at(api: Api, port: Any, text: str, **fields: Any) -> Any:
    end = {"assigned_object_type": "dcim.interface", "assigned_object_id": port["id"]} if port else {}
    return api.post(ADDRESSES, {"address": text, "status": "active"} | end | fields)


def refused(api: Api, url: str, *names: str) -> None:
    """Deletes an object, which is refused with these names; nothing has changed."""
    count = api.get("/api/extras/object-changes/", {"limit": 1})["count"]
    detail = api.delete(url, status=409)["detail"]
    assert all(name in detail for name in names), detail
    assert api.get("/api/extras/object-changes/", {"limit": 1})["count"] == count
    api.get(url)


@pytest.mark.parametrize(("field", "kind"), [("lag", "lag"), ("parent_interface", "1000base-t"), ("bridge", "bridge")])
def test_a_chassis_stays_while_an_interface_stands_on_one_of_another_member(
    api: Api, hosts: list[Any], chassis: Any, field: str, kind: str
) -> None:
    base = port_of(api, hosts[0], "base", type=kind)
    own = "virtual" if field == "parent_interface" else "1000base-t"
    above = port_of(api, hosts[1], type=own, **{field: base["id"]})
    api.patch(chassis["url"], {"master": None})
    refused(api, chassis["url"], hosts[1]["name"], above["display"])
    api.delete(above["url"])
    api.delete(chassis["url"])
    assert api.get(hosts[1]["url"])["vc_position"] is None


def test_a_chassis_stays_while_the_primary_address_of_its_master_is_on_another_member(
    api: Api, hosts: list[Any], chassis: Any
) -> None:
    address = address_at(api, port_of(api, hosts[1]), "198.18.71.1/24")
    api.patch(hosts[0]["url"], {"primary_ip4": address["id"]})
    refused(api, chassis["url"], hosts[0]["name"], "198.18.71.1/24")
    api.patch(chassis["url"], {"master": None}, status=400)
    api.patch(hosts[0]["url"], {"primary_ip4": None})
    api.patch(chassis["url"], {"master": None})
    api.delete(chassis["url"])


@pytest.mark.parametrize("what", ["address", "interface"])
def test_the_inside_of_a_primary_address_stays(api: Api, hosts: list[Any], what: str) -> None:
    port = port_of(api, hosts[0])
    inside = address_at(api, port, "198.18.72.1/24")
    outside = address_at(api, None, "203.0.113.72/32", nat_inside=inside["id"])
    api.patch(hosts[0]["url"], {"primary_ip4": outside["id"]})
    refused(api, {"address": inside, "interface": port}[what]["url"], hosts[0]["name"], "203.0.113.72/32")
    api.patch(hosts[0]["url"], {"primary_ip4": None})
    api.delete(inside["url"])
    assert api.get(outside["url"])["nat_inside"] is None


def test_priorities_end_with_their_redundancy_group(api: Api, make: Any, hosts: list[Any]) -> None:
    group = make(GROUPS, status="active", failover_strategy="active-active")
    of_group = {"device_redundancy_group": group["id"], "device_redundancy_group_priority": 10}
    api.patch(hosts[0]["url"], of_group)
    api.delete(group["url"])
    device = api.get(hosts[0]["url"])
    assert (device["device_redundancy_group"], device["device_redundancy_group_priority"]) == (None, None)
    changes = api.get("/api/extras/object-changes/", {"changed_object_id": device["id"]})["results"]
    assert changes[0]["action"]["value"] == "update" and "device_redundancy_group_priority" in str(changes[0])


def test_what_the_user_may_not_view_is_not_named(api: Api, hosts: list[Any], chassis: Any, make_user: Any) -> None:
    base = port_of(api, hosts[0], "base", type="lag")
    port_of(api, hosts[1], "hidden", lag=base["id"])
    api.patch(chassis["url"], {"master": None})
    detail = make_user(("view delete", "dcim.virtualchassis")).api.delete(chassis["url"], status=409)["detail"]
    assert "hidden" not in detail and hosts[1]["name"] not in detail
