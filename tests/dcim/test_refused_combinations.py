"""Refusals by rules of sites, locations, racks, devices and their ports: the field of the error, and its message."""

from __future__ import annotations

from typing import Any

import pytest

from netinv_testing import Api, Unique
from tests.support.cabling_fixtures import Plant

DEVICES, INTERFACES, LOCATIONS, RACKS, SITES, TYPES = (
    f"/api/dcim/{name}/" for name in ("devices", "interfaces", "locations", "racks", "sites", "device-types")
)
RESERVATIONS, KINDS, VLANS = "/api/dcim/rack-reservations/", "/api/dcim/location-types/", "/api/ipam/vlans/"
CLUSTERS = "/api/virtualization/clusters/"


@pytest.fixture
def plant(api: Api, unique: Unique) -> Plant:
    return Plant(api, unique)


def refuses(api: Api, path: str, body: dict[str, Any], field: str, message: str) -> None:
    """Asserts that a write is refused for the value of one field; a path of an object is changed."""
    write = api.post if path.endswith("s/") else api.patch
    errors = write(path, body, status=400)
    assert list(errors) == [field] and message in errors[field][0]


def test_places_of_sites_and_racks(api: Api, make: Any, unique: Unique, plant: Plant) -> None:
    site = {"name": unique(), "status": "active"}
    for name, value in (("latitude", -90.5), ("latitude", 91), ("longitude", 180.5)):
        refuses(api, SITES, {**site, name: value}, name, "Ensure this value is between -")
    other = make(SITES, status="active")["id"]
    group, rack = make("/api/dcim/rack-groups/", site=other)["id"], {"name": unique(), "status": "active"}
    refuses(api, RACKS, {**rack, "site": plant.site, "group": group}, "__all__", "must belong to parent site")
    rack = make(RACKS, site=plant.site, status="active", u_height=4)
    user = api.get("/api/users/users/", {"limit": 1})["results"][0]["id"]
    reserved = {"rack": rack["id"], "user": user, "description": "x"}
    api.post(RESERVATIONS, {**reserved, "units": [1, 2]})
    refuses(api, RESERVATIONS, {**reserved, "units": [2, 3]}, "units", "have already been reserved: 2")
    refuses(api, RESERVATIONS, {**reserved, "units": [4, 5]}, "units", "Invalid unit(s) for 4U rack: 5")


def test_locations_nest_as_their_types_say(api: Api, make: Any, unique: Unique, plant: Plant) -> None:
    building, hall = make(KINDS, nestable=True), make(KINDS)
    room = make(KINDS, parent=building["id"])
    whole = make(LOCATIONS, location_type=building["id"], site=plant.site, status="active")
    wing = make(LOCATIONS, location_type=building["id"], parent=whole["id"], status="active")
    lobby = make(LOCATIONS, location_type=hall["id"], site=plant.site, status="active")
    make(LOCATIONS, location_type=room["id"], parent=wing["id"], status="active")
    body = {"name": unique(), "status": "active"}
    for kind, place, field, message in (
        (building, {}, "site", "must have an associated Site."),
        (building, {"parent": whole["id"], "site": plant.site}, "site", "must not have an associated Site."),
        (hall, {"parent": whole["id"]}, "parent", "must not have a parent Location."),
        (room, {}, "parent", "must have a parent Location."),
        (room, {"parent": lobby["id"]}, "parent", f"can only have a Location of type {building['name']}"),
    ):
        errors = api.post(LOCATIONS, {**body, "location_type": kind["id"], **place}, status=400)
        assert message in errors[field][0]
    refuses(api, room["url"], {"parent": hall["id"]}, "parent", "its parent cannot be changed")
    refuses(api, building["url"], {"nestable": False}, "nestable", "it must stay nestable")


def test_what_belongs_to_a_device(api: Api, make: Any, unique: Unique, plant: Plant) -> None:
    made = {"name": unique(), **plant.hardware}
    platform = make("/api/dcim/platforms/", manufacturer=make("/api/dcim/manufacturers/")["id"])["id"]
    chassis, group = make("/api/dcim/virtual-chassis/"), make("/api/dcim/device-redundancy-groups/", status="active")
    kind = make(KINDS, nestable=True, content_types=["dcim.rack", "dcim.device"])["id"]
    here, there = (make(LOCATIONS, location_type=kind, site=plant.site, status="active")["id"] for _ in range(2))
    rack = make(RACKS, site=plant.site, location=there, status="active")["id"]
    elsewhere = make(RACKS, site=make(SITES, status="active")["id"], status="active")["id"]
    for fields, field, message in (
        ({"rack": elsewhere}, "rack", "does not belong to site"),
        ({"rack": rack, "location": here}, "rack", "does not belong to location"),
        ({"platform": platform}, "platform", "The assigned platform is limited to"),
        ({"virtual_chassis": chassis["id"]}, "vc_position", "must have its position defined."),
        ({"device_redundancy_group_priority": 1}, "device_redundancy_group_priority", "Must assign a redundancy group"),
        ({"local_context_data": [1]}, "local_context_data", "JSON data must be in object form."),
    ):
        refuses(api, DEVICES, {**made, **fields}, field, message)
    inside = {"device_redundancy_group": group["id"], "device_redundancy_group_priority": 1}
    assert api.post(DEVICES, {**made, **inside})["device_redundancy_group_priority"] == 1
    refuses(api, chassis["url"], {"master": plant.device()}, "master", "is not assigned to this virtual chassis.")


def test_what_is_installed_in_a_bay(api: Api, unique: Unique, plant: Plant) -> None:
    maker = api.get(f"{TYPES}{plant.hardware['device_type']}/")["manufacturer"]["id"]
    parent, child = (
        api.post(TYPES, {"manufacturer": maker, "model": unique(), "subdevice_role": role, "u_height": height})
        for role, height in (("parent", 1), ("child", 0))
    )
    outer, blade, other = plant.device(device_type=parent["id"]), plant.device(device_type=child["id"]), plant.device()
    bays = api.post("/api/dcim/device-bays/", [{"device": outer, "name": name} for name in "ab"])
    api.patch(bays[0]["url"], {"installed_device": blade})
    refuses(api, bays[1]["url"], {"installed_device": blade}, "installed_device", "is already installed in a")
    refuses(api, bays[1]["url"], {"installed_device": other}, "installed_device", "is not a child device type.")
    refuses(api, bays[1]["url"], {"installed_device": outer}, "__all__", "into itself.")
    api.post("/api/dcim/device-bay-templates/", {"device_type": parent["id"], "name": "a"})
    refuses(api, parent["url"], {"subdevice_role": ""}, "subdevice_role", "Must delete all device bay templates")


def test_interfaces_and_what_they_stand_on(api: Api, make: Any, plant: Plant) -> None:
    device, chassis = plant.device(), make("/api/dcim/virtual-chassis/")["id"]
    near, far = plant.end(device=device).id, plant.end().id
    member, stranger = (plant.device(virtual_chassis=chassis, vc_position=1), plant.device())
    lag, virtual = (plant.end(device=device, type=kind).id for kind in ("lag", "virtual"))
    for owner, fields, field, message in (
        (device, {"type": "1000base-t", "parent_interface": near}, "parent_interface", "Only virtual interfaces may"),
        (device, {"type": "virtual", "lag": lag}, "lag", "Virtual interfaces cannot have a parent LAG interface."),
        (device, {"type": "virtual", "parent_interface": virtual}, "parent_interface", "may not be parents"),
        (device, {"type": "1000base-t", "lag": near}, "lag", "is not of the type Link Aggregation Group"),
        (device, {"type": "1000base-t", "bridge": far}, "bridge", "belongs to a different device"),
        (member, {"type": "1000base-t", "bridge": plant.end(device=stranger).id}, "bridge", "is not part of virtual"),
    ):
        body = {"device": owner, "name": plant.unique(), "status": "active", **fields}
        refuses(api, INTERFACES, body, field, message)
    for name, message in (("parent_interface", "its own parent"), ("bridge", "bridged to itself")):
        refuses(api, f"{INTERFACES}{virtual}/", {name: virtual}, name, message)


def test_vlans_of_interfaces(api: Api, make: Any, plant: Plant) -> None:
    here, there = (
        api.post(VLANS, {"vid": 5, "name": plant.unique(), "site": site, "status": "active"})["id"]
        for site in (plant.site, make(SITES, status="active")["id"])
    )
    path = plant.end().path
    for fields, field, message in (
        ({"untagged_vlan": here}, "untagged_vlan", "Mode must be set when specifying untagged_vlan"),
        ({"mode": "access", "tagged_vlans": [here]}, "tagged_vlans", "Mode must be set to tagged"),
        ({"mode": "access", "untagged_vlan": there}, "untagged_vlan", "must belong to the same site"),
        ({"mode": "tagged", "tagged_vlans": [here, there]}, "tagged_vlans", "must belong to the same site"),
    ):
        refuses(api, path, fields, field, message)
    assert len(api.patch(path, {"mode": "tagged", "tagged_vlans": [here]})["tagged_vlans"]) == 1
    refuses(api, path, {"mode": "access"}, "tagged_vlans", "Clear tagged_vlans to set mode to access")
    refuses(api, path, {"mode": None}, "tagged_vlans", "Clear tagged_vlans to set mode to blank")


def test_hosts_are_where_their_cluster_is(api: Api, make: Any, plant: Plant) -> None:
    kind, elsewhere = make("/api/virtualization/cluster-types/")["id"], make(SITES, status="active")["id"]
    cluster = make(CLUSTERS, type=kind, site=plant.site)
    api.patch(f"{DEVICES}{plant.device()}/", {"cluster": cluster["id"]})
    refuses(api, cluster["url"], {"site": elsewhere}, "site", "1 devices are assigned as hosts for this cluster")
    body = {"name": plant.unique(), **plant.hardware, "site": elsewhere, "cluster": cluster["id"]}
    refuses(api, DEVICES, body, "cluster", "The assigned cluster belongs to a different site")
