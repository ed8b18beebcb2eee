"""Rules that similar models share, by example: interfaces of devices and of VMs, racks and VLANs in groups, parts of
devices.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from netinv_core.write import save
from netinv_testing import Api, Service, Unique
from tests.support.cabling_fixtures import Plant

DEVICES, ITEMS = "/api/dcim/devices/", "/api/dcim/inventory-items/"
SITES, LOCATIONS = "/api/dcim/sites/", "/api/dcim/locations/"
VLANS, GROUPS = "/api/ipam/vlans/", "/api/ipam/vlan-groups/"
CLUSTERS, MACHINES = "/api/virtualization/clusters/", "/api/virtualization/virtual-machines/"
INTERFACES = "/api/virtualization/interfaces/"


@pytest.fixture
def machine(make: Any) -> Callable[..., Any]:
    """``machine(site)``: a virtual machine of a new cluster at a site, with an interface."""
    kind = make("/api/virtualization/cluster-types/")

    def make_machine(site: Any = None) -> Any:
        cluster = make(CLUSTERS, type=kind["id"], site=site)
        found = make(MACHINES, cluster=cluster["id"], status="active")
        return make(INTERFACES, name="eth0", virtual_machine=found["id"], status="active")

    return make_machine


@pytest.fixture
def hosts(api: Api, unique: Unique) -> list[Any]:
    """Two devices."""
    plant = Plant(api, unique)
    return [api.post(DEVICES, {"name": unique(), **plant.hardware}) for _ in range(2)]


@pytest.mark.parametrize("field", ["parent_interface", "bridge"])
def test_a_vm_interface_stands_on_one_of_its_own_machine(
    api: Api, make: Any, machine: Callable[..., Any], field: str
) -> None:
    one, other = machine(), machine()
    assert field in api.patch(one["url"], {field: other["id"]}, status=400)
    below = make(INTERFACES, name="eth1", virtual_machine=one["virtual_machine"]["id"], status="active")
    api.patch(below["url"], {field: one["id"]})
    away = {"virtual_machine": other["virtual_machine"]["id"]}
    assert below["display"] in str(api.patch(one["url"], away | {"name": "eth7"}, status=400))
    both = [{"id": one["id"], "name": "eth7", **away}, {"id": below["id"], "name": "eth8", **away}]
    assert [item["virtual_machine"]["id"] for item in api.patch(INTERFACES, both)] == [away["virtual_machine"]] * 2


def test_the_vlans_of_a_vm_interface_are_of_the_site_of_its_machine(
    api: Api, make: Any, machine: Callable[..., Any]
) -> None:
    here, there = (make(SITES, status="active") for _ in range(2))
    interface = machine(here["id"])
    near, far, everywhere = (make(VLANS, vid=7, status="active", site=site) for site in (here["id"], there["id"], None))
    for vlan in (near, everywhere):
        api.patch(interface["url"], {"mode": "access", "untagged_vlan": vlan["id"]})
    assert "untagged_vlan" in api.patch(interface["url"], {"untagged_vlan": far["id"]}, status=400)
    api.patch(interface["url"], {"untagged_vlan": near["id"]})
    assert interface["display"] in str(api.patch(near["url"], {"site": there["id"]}, status=400))


def test_the_parent_of_an_inventory_item_is_on_its_device_and_parts_move_with_it(
    api: Api, make: Any, hosts: list[Any]
) -> None:
    one, other = (host["id"] for host in hosts)
    card = make(ITEMS, device=one)
    optic = make(ITEMS, device=one, parent=card["id"])
    laser = make(ITEMS, device=one, parent=optic["id"])
    elsewhere = make(ITEMS, device=other)
    assert list(api.patch(elsewhere["url"], {"parent": card["id"]}, status=400)) == ["parent"]
    assert list(api.patch(laser["url"], {"device": other}, status=400)) == ["parent"]
    api.patch(card["url"], {"device": other})
    assert [api.get(item["url"])["device"]["id"] for item in (card, optic, laser)] == [other] * 3
    both = [{"id": item["id"], "device": one} for item in (optic, card)]
    api.patch(ITEMS, both)
    assert [api.get(item["url"])["device"]["id"] for item in (card, optic, laser)] == [one] * 3


def test_a_vlan_is_within_the_location_of_its_group(api: Api, make: Any) -> None:
    site = make(SITES, status="active")["id"]
    labels = ["ipam.vlan", "ipam.vlangroup"]
    outer = make("/api/dcim/location-types/", content_types=labels)
    inner = make("/api/dcim/location-types/", content_types=labels, parent=outer["id"])
    building, other = (make(LOCATIONS, location_type=outer["id"], site=site, status="active") for _ in range(2))
    room = make(LOCATIONS, location_type=inner["id"], parent=building["id"], status="active")
    group = make(GROUPS, site=site, location=building["id"])
    fields = {"vid": 7, "status": "active", "site": site, "group": group["id"]}
    vlan = make(VLANS, **fields, location=room["id"])
    error = api.patch(vlan["url"], {"location": other["id"]}, status=400)
    assert error == {
        "group": [f'The assigned group belongs to a location that does not include location "{other["name"]}".']
    }
    assert vlan["name"] in str(api.patch(group["url"], {"location": other["id"]}, status=400))
    api.patch(vlan["url"], {"location": None})


def test_a_device_in_a_bay_is_where_the_device_around_it_is(api: Api, make: Any, unique: Unique) -> None:
    here, there = (make(SITES, status="active")["id"] for _ in range(2))
    maker = make("/api/dcim/manufacturers/")["id"]
    role = make("/api/dcim/device-roles/")["id"]

    def device(kind: str, site: str) -> Any:
        model = {"manufacturer": maker, "model": unique(), "subdevice_role": kind, "u_height": 0}
        type_ = api.post("/api/dcim/device-types/", model)["id"]
        body = {"device_type": type_, "device_role": role, "site": site, "status": "active"}
        return make(DEVICES, **body)

    outer, blade = device("parent", there), device("child", here)
    rack = make("/api/dcim/racks/", site=there, status="active")["id"]
    api.patch(outer["url"], {"rack": rack})
    bay = make("/api/dcim/device-bays/", device=outer["id"])
    api.patch(bay["url"], {"installed_device": blade["id"]})
    moved = api.get(blade["url"])
    assert (moved["site"]["id"], moved["rack"]["id"]) == (there, rack)
    errors = api.patch(blade["url"], {"site": here, "rack": None}, status=400)
    assert outer["display"] in errors["site"][0] and outer["display"] in errors["rack"][0]
    both = [{"id": item["id"], "site": here, "rack": None} for item in (blade, outer)]
    assert [item["site"]["id"] for item in api.patch(DEVICES, both)] == [here, here]
    api.patch(bay["url"], {"installed_device": None})
    api.patch(blade["url"], {"site": there})
    assert api.get(outer["url"])["site"]["id"] == here


def test_imports_keep_what_other_services_accept(
    service: Service, api: Api, make: Any, hosts: list[Any], machine: Callable[..., Any]
) -> None:
    here, there = (make(SITES, status="active")["id"] for _ in range(2))
    vlan = make(VLANS, vid=9, status="active", site=there)["id"]
    interface, other = machine(here), machine()
    parent = make(ITEMS, device=hosts[0]["id"])["id"]
    member = {"virtual_machine": interface["virtual_machine"]["id"], "name": "eth9", "status": "active"}
    kept = [
        ("dcim.inventoryitem", {"device": hosts[1]["id"], "name": "Fan", "parent": parent}),
        ("virtualization.vminterface", {**member, "parent_interface": other["id"]}),
        ("virtualization.vminterface", {**member, "name": "eth8", "mode": "access", "untagged_vlan": vlan}),
    ]
    for label, body in kept:
        path = service.registry[label].path
        assert api.post(path, body, status=400)
        with service.unit_of_work() as uow:
            uow.importing = True
            [made] = save.create(uow, uow.registry[label], [body])
        assert api.patch(f"{path}{made['id']}/", {"description": "Imported"})
