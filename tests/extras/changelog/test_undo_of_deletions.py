"""The undo of a deletion after the surroundings changed: rules hold for what comes back, as for what is created."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import pytest

from netinv_testing import Api, Service
from netinv_testing.samples import Samples

CHANGES = "/api/extras/object-changes/"
New = Callable[..., Any]


class Case(NamedTuple):
    """An object that is deleted, what changes meanwhile, and the field that is refused when it is to come back."""

    deleted: Any
    change: Callable[[], Any]
    field: str


def _vlan_of_device(new: New, api: Api, mode: str, members: Callable[[str], Any], field: str) -> Case:
    host, site = new("dcim.device", rack=None, location=None, cluster=None), new("dcim.site")
    vlan = new("ipam.vlan", site=host["site"]["id"], location=None, group=None)
    port = new("dcim.interface", device=host["id"], mode=mode, lag=None, parent_interface=None, **members(vlan["id"]))
    return Case(port, lambda: api.patch(host["url"], {"site": site["id"]}), field)


def untagged(new: New, api: Api) -> Case:
    """An interface with a VLAN of the site that its device has left."""
    return _vlan_of_device(new, api, "access", lambda key: {"untagged_vlan": key}, "untagged_vlan")


def tagged(new: New, api: Api) -> Case:
    """The same with a tagged VLAN."""
    return _vlan_of_device(new, api, "tagged", lambda key: {"tagged_vlans": [key]}, "tagged_vlans")


def of_machine(new: New, api: Api) -> Case:
    """An interface of a VM with a VLAN of the site that its cluster has left."""
    cluster, site = new("virtualization.cluster", location=None), new("dcim.site")
    vlan = new("ipam.vlan", site=cluster["site"]["id"] if cluster["site"] else None, location=None, group=None)
    machine = new("virtualization.virtualmachine", cluster=cluster["id"])
    port = new("virtualization.vminterface", virtual_machine=machine["id"], mode="access", untagged_vlan=vlan["id"])
    api.patch(cluster["url"], {"site": vlan["site"]["id"] if vlan["site"] else None})
    return Case(port, lambda: api.patch(vlan["url"], {"site": site["id"]}), "untagged_vlan")


def bay(new: New, api: Api) -> Case:
    """A bay with a device that is no child any more."""
    outer = new("dcim.device", device_type=new("dcim.devicetype", subdevice_role="parent")["id"])
    child = new("dcim.devicetype", subdevice_role="child", u_height=0)
    inner = new("dcim.device", device_type=child["id"], site=outer["site"]["id"], rack=None, location=None)
    filled = new("dcim.devicebay", device=outer["id"], installed_device=inner["id"])
    other = new("dcim.devicetype", subdevice_role="", u_height=0)
    return Case(filled, lambda: api.patch(inner["url"], {"device_type": other["id"]}), "installed_device")


def item(new: New, api: Api) -> Case:
    """An inventory item whose parent has moved to another device."""
    parent, device = new("dcim.inventoryitem", parent=None), new("dcim.device")
    part = new("dcim.inventoryitem", device=parent["device"]["id"], parent=parent["id"])
    return Case(part, lambda: api.patch(parent["url"], {"device": device["id"]}), "parent")


def machine_interface(new: New, api: Api) -> Case:
    """An interface of a VM whose parent has moved to another VM."""
    parent, machine = new("virtualization.vminterface"), new("virtualization.virtualmachine")
    port = new(
        "virtualization.vminterface", virtual_machine=parent["virtual_machine"]["id"], parent_interface=parent["id"]
    )
    return Case(port, lambda: api.patch(parent["url"], {"virtual_machine": machine["id"]}), "parent_interface")


def relationship(new: New, api: Api) -> Case:
    """A VLAN that needs an object of a relationship by now."""
    vlan = new("ipam.vlan")
    name = f"of {vlan['id'][:8]}"
    ends = {"source_type": "dcim.site", "destination_type": "ipam.vlan", "required_on": "destination"}
    slug = f"of_{vlan['id'][:8]}"
    body = {"name": name, "slug": slug, "type": "one-to-many", "destination_filter": {"name": [vlan["name"]]}, **ends}
    return Case(vlan, lambda: api.post("/api/extras/relationships/", body), "relationships")


@pytest.fixture
def new(service: Service) -> New:
    """``new(label, …)``: a new object."""
    return lambda label, **members: Samples(service).make(service.registry[label], **members)


def undo(api: Api, key: str, status: int) -> Any:
    """The answer to the undo of the deletion of an object."""
    (change,) = api.get(CHANGES, {"changed_object_id": key, "action": "delete"})["results"]
    return api.post(f"{CHANGES}{change['id']}/revert/", status=status)


@pytest.mark.parametrize("setup", [untagged, tagged, of_machine, bay, item, machine_interface, relationship])
def test_what_a_rule_refuses_by_now_does_not_come_back(
    service: Service, api: Api, new: New, setup: Callable[[New, Api], Case]
) -> None:
    """It does as long as nothing has changed."""
    case = setup(new, api)
    key = case.deleted["id"]
    api.delete(case.deleted["url"])
    undo(api, key, 200)
    api.delete(case.deleted["url"])
    case.change()
    (change,) = api.get(CHANGES, {"changed_object_id": key, "action": "delete", "limit": 1})["results"]
    answer = api.post(f"{CHANGES}{change['id']}/revert/", status=409)
    assert case.field in {reason["field"] for item in answer["objects"] for reason in item["reasons"]}
    api.get(case.deleted["url"], status=404)


def test_a_device_moves_along_into_a_bay_that_comes_back(api: Api, new: New) -> None:
    """As into a new one."""
    outer = new("dcim.device", device_type=new("dcim.devicetype", subdevice_role="parent")["id"])
    child, site = new("dcim.devicetype", subdevice_role="child", u_height=0), new("dcim.site")
    inner = new("dcim.device", device_type=child["id"], site=outer["site"]["id"], rack=None, location=None)
    filled = new("dcim.devicebay", device=outer["id"], installed_device=inner["id"])
    api.delete(filled["url"])
    api.patch(inner["url"], {"site": site["id"], "rack": None, "location": None})
    undo(api, filled["id"], 200)
    assert api.get(inner["url"])["site"]["id"] == outer["site"]["id"]
