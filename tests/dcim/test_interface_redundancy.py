"""Interface redundancy groups, and the interfaces in them with their priorities."""

from __future__ import annotations

from typing import Any

import pytest

from netinv_testing import Api

ASSOCIATIONS = "/api/dcim/interface-redundancy-group-associations/"
GROUPS = "/api/dcim/interface-redundancy-groups/"
INTERFACES = "/api/dcim/interfaces/"


@pytest.fixture
def device(make: Any, unique: Any) -> Any:
    """A device."""
    kind = make("/api/dcim/device-types/", model=unique(), manufacturer=make("/api/dcim/manufacturers/")["id"])
    place = {
        "site": make("/api/dcim/sites/", status="active")["id"],
        "device_role": make("/api/dcim/device-roles/")["id"],
    }
    return make("/api/dcim/devices/", device_type=kind["id"], status="active", **place)


@pytest.fixture
def make_interface(make: Any, device: Any) -> Any:
    """``make_interface(…)``: an interface of the device."""
    return lambda **fields: make(INTERFACES, device=device["id"], type="virtual", status="active", **fields)


@pytest.fixture
def group(make: Any) -> Any:
    """A group."""
    return make(GROUPS, status="active", protocol="vrrp")


@pytest.fixture
def join(api: Api, group: Any) -> Any:
    """``join(interface, priority)``: the interface in the group."""
    return lambda interface, priority: api.post(
        ASSOCIATIONS, {"interface_redundancy_group": group["id"], "interface": interface["id"], "priority": priority}
    )


def names(api: Api, path: str, **query: Any) -> list[str]:
    """The names of what a list shows."""
    return [shown["name"] for shown in api.get(path, query)["results"]]


def test_a_group_lists_its_interfaces_the_first_in_line_before_the_others(
    api: Api, group: Any, device: Any, make_interface: Any, join: Any
) -> None:
    assert group["interfaces"] == []
    first, second = make_interface(), make_interface(label="uplink")
    low, high = join(first, 90), join(second, 110)
    assert low["display"] == f"{group['name']}: {device['name']} {first['name']}: 90"
    assert high["display"] == f"{group['name']}: {device['name']} {second['name']} (uplink): 110"
    brief = [{name: made[name] for name in ("display", "id", "url", "priority")} for made in (high, low)]
    assert api.get(group["url"])["interfaces"] == brief
    assert api.get(ASSOCIATIONS, {"interface_redundancy_group": group["name"], "brief": 1})["results"] == brief


def test_an_interface_is_in_a_group_once(api: Api, group: Any, make_interface: Any, join: Any) -> None:
    interface = make_interface()
    join(interface, 1)
    again = {"interface_redundancy_group": group["id"], "interface": interface["id"], "priority": 2}
    message = "The fields interface_redundancy_group, interface must make a unique set."
    assert api.post(ASSOCIATIONS, again, status=400) == {"non_field_errors": [message]}


def test_interfaces_are_found_by_their_groups(
    api: Api, group: Any, device: Any, make_interface: Any, join: Any
) -> None:
    inside, outside = make_interface(), make_interface()
    join(inside, 1)
    own = {"device_id": device["id"]}
    assert names(api, INTERFACES, interface_redundancy_groups=group["name"]) == [inside["name"]]
    assert names(api, INTERFACES, interface_redundancy_groups=group["id"]) == [inside["name"]]
    assert names(api, INTERFACES, interface_redundancy_groups__n=group["id"], **own) == [outside["name"]]
    assert names(api, INTERFACES, interface_redundancy_groups="null", **own) == [outside["name"]]
    assert api.get(ASSOCIATIONS, {"interface": inside["name"]})["count"] == 1


def test_permissions_reach_the_interfaces_of_a_group(
    api: Api, group: Any, make_interface: Any, join: Any, make: Any, make_user: Any
) -> None:
    interface = make_interface()
    join(interface, 1)
    other = make(GROUPS, status="active", protocol="hsrp")
    user = make_user(("view", "dcim.interfaceredundancygroup", {"interfaces__name": interface["name"]}))
    assert names(user.api, GROUPS, id=[group["id"], other["id"]]) == [group["name"]]


def test_a_group_goes_with_its_virtual_address(api: Api, make: Any, make_interface: Any) -> None:
    address = api.post("/api/ipam/ip-addresses/", {"address": "198.18.77.1/24", "status": "active"})
    group = make(GROUPS, status="active", protocol="hsrp", virtual_ip=address["id"])
    assert group["virtual_ip"]["address"] == "198.18.77.1/24"
    entry = api.post(
        ASSOCIATIONS, {"interface_redundancy_group": group["id"], "interface": make_interface()["id"], "priority": 1}
    )
    for value in (address["id"], "198.18.77.1/24", "198.18.77.1"):
        assert names(api, GROUPS, virtual_ip=value) == [group["name"]]
    assert names(api, GROUPS, virtual_ip="198.18.77.2") == []
    api.delete(address["url"])
    for gone in (group, entry):
        api.get(gone["url"], status=404)
        assert (
            api.get("/api/extras/object-changes/", {"changed_object_id": gone["id"], "action": "delete"})["count"] == 1
        )


def test_an_association_goes_with_its_interface_and_leaves_the_group(
    api: Api, group: Any, make_interface: Any, join: Any
) -> None:
    interface = make_interface()
    entry = join(interface, 1)
    api.delete(interface["url"])
    api.get(entry["url"], status=404)
    assert api.get(group["url"])["interfaces"] == []


def test_an_association_takes_no_tags(api: Api, make_interface: Any, join: Any, unique: Any) -> None:
    entry = join(make_interface(), 1)
    tag = api.post(
        "/api/extras/tags/", {"name": unique(), "slug": unique(), "content_types": ["dcim.interfaceredundancygroup"]}
    )
    assert "tags" not in entry
    assert "tags" not in api.patch(entry["url"], {"tags": []})
    assert api.patch(entry["url"], {"tags": [tag["id"]]}, status=400) == {
        "tags": [[f"Related object not found using the provided ID: {tag['id']}"]]
    }
    assert api.patch(entry["url"], {"tags": "zz"}, status=400)["tags"] == {
        "non_field_errors": ['Expected a list of items but got type "str".']
    }


def test_a_group_shows_the_data_of_custom_fields_as_it_is_kept(api: Api, group: Any) -> None:
    assert not any(group["_custom_field_data"].values())  # fields of other tests may apply, without values
    assert api.patch(group["url"], {"_custom_field_data": {"a": [1]}})["_custom_field_data"] == {"a": [1]}
    assert api.patch(group["url"], {"_custom_field_data": []}, status=400) == {
        "_custom_field_data": ["Value must be a JSON object."]
    }
    (change,) = api.get("/api/extras/object-changes/", {"changed_object_id": group["id"], "action": "update"})[
        "results"
    ]
    assert "_custom_field_data" not in change["object_data"]


def test_a_group_knows_the_instant_it_was_made(group: Any) -> None:
    assert "T" in group["created"] and group["created"].endswith("Z")
