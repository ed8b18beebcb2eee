"""Primary addresses of devices and virtual machines: each its own, and no one else's."""

from __future__ import annotations

from typing import Any

import pytest

from netinv_testing import Api

ADDRESSES = "/api/ipam/ip-addresses/"
CHASSIS = "/api/dcim/virtual-chassis/"
DEVICES = "/api/dcim/devices/"
INTERFACES = "/api/dcim/interfaces/"
MACHINES = "/api/virtualization/virtual-machines/"
NICS = "/api/virtualization/interfaces/"


@pytest.fixture
def make_device(make: Any, unique: Any) -> Any:
    """``make_device(…)``: a device with an interface and its address, as ``(device, interface, address)``."""
    kind = make("/api/dcim/device-types/", model=unique(), manufacturer=make("/api/dcim/manufacturers/")["id"])
    place = {
        "site": make("/api/dcim/sites/", status="active")["id"],
        "device_role": make("/api/dcim/device-roles/")["id"],
    }

    def post(**fields: Any) -> tuple[Any, Any, Any]:
        device = make(DEVICES, device_type=kind["id"], status="active", **place, **fields)
        interface = make(INTERFACES, device=device["id"], type="virtual", status="active")
        return device, interface, make(ADDRESSES, **assigned(interface, "dcim.interface"))

    return post


@pytest.fixture
def make_machine(make: Any) -> Any:
    """``make_machine()``: a virtual machine with an interface and its address, as ``(machine, interface, address)``."""
    cluster = make("/api/virtualization/clusters/", type=make("/api/virtualization/cluster-types/")["id"])

    def post() -> tuple[Any, Any, Any]:
        machine = make(MACHINES, cluster=cluster["id"], status="active")
        nic = make(NICS, virtual_machine=machine["id"], status="active")
        return machine, nic, make(ADDRESSES, **assigned(nic, "virtualization.vminterface"))

    return post


def assigned(interface: Any, label: str, address: str = "198.18.90.1/24") -> dict[str, Any]:
    """A body for an address on an interface."""
    return {
        "address": address,
        "status": "active",
        "assigned_object_type": label,
        "assigned_object_id": interface["id"],
    }


def test_the_address_of_another_is_not_ones_own_whoever_it_is_primary_for(
    api: Api, make_device: Any, make_machine: Any
) -> None:
    for makes, short in ((make_device, "device"), (make_machine, "VM")):
        (one, _, address), (other, _, _) = makes(), makes()
        message = f"The specified IP address ({address['address']}) is not assigned to this {short}."
        assert api.patch(other["url"], {"primary_ip4": address["id"]}, status=400) == {"primary_ip4": [message]}
        assert api.patch(one["url"], {"primary_ip4": address["id"]})["primary_ip4"]["id"] == address["id"]
        assert api.patch(other["url"], {"primary_ip4": address["id"]}, status=400) == {"primary_ip4": [message]}


def test_an_address_is_primary_once(api: Api, make: Any, make_device: Any) -> None:
    (master, _, _), (member, _, address) = make_device(), make_device()
    chassis = make(CHASSIS, master=master["id"])
    api.patch(member["url"], {"virtual_chassis": chassis["id"], "vc_position": 2})
    api.patch(master["url"], {"primary_ip4": address["id"]})
    message = "Device with this Primary ip4 already exists."
    assert api.patch(member["url"], {"primary_ip4": address["id"]}, status=400) == {"primary_ip4": [message]}
    both = [{"id": device["id"], "primary_ip4": address["id"]} for device in (member, master)]
    assert api.patch(DEVICES, both, status=400)


def test_a_device_is_master_of_one_chassis(api: Api, make: Any, make_device: Any) -> None:
    device, _, _ = make_device()
    make(CHASSIS, master=device["id"])
    message = "Virtual chassis with this Master already exists."
    assert api.post(CHASSIS, {"name": "c", "master": device["id"]}, status=400) == {"master": [message]}


def test_a_primary_address_stays_with_what_it_is_primary_for(api: Api, make_device: Any, make_machine: Any) -> None:
    for makes, way, title in ((make_device, "interface", "device"), (make_machine, "vminterface", "virtual machine")):
        (one, _, address), (_, elsewhere, _) = makes(), makes()
        api.patch(one["url"], {"primary_ip4": address["id"]})
        message = f"IP address is primary for {title} {one['name']} but not assigned to it!"
        for change in (
            {"assigned_object_type": None, "assigned_object_id": None},
            {"assigned_object_id": elsewhere["id"]},
        ):
            assert api.patch(address["url"], change, status=400) == {way: [message]}
        api.patch(one["url"], {"primary_ip4": None})
        api.patch(address["url"], {"assigned_object_id": elsewhere["id"]})


def test_an_interface_of_a_machine_does_not_stand_on_itself(api: Api, make_machine: Any) -> None:
    _, nic, _ = make_machine()
    assert api.patch(nic["url"], {"parent_interface": nic["id"]}, status=400) == {
        "parent_interface": ["An interface cannot be its own parent."]
    }
    assert api.patch(nic["url"], {"bridge": nic["id"]}, status=400) == {
        "bridge": ["An interface cannot be bridged to itself."]
    }


def test_members_are_asked_for_by_lags_only(api: Api, make: Any, make_device: Any) -> None:
    device, plain, _ = make_device()
    lag = make(INTERFACES, device=device["id"], type="lag", status="active")
    member = make(INTERFACES, device=device["id"], type="1000base-t", status="active", lag=lag["id"])
    assert [shown["id"] for shown in api.get(INTERFACES, {"lag_id": lag["id"]})["results"]] == [member["id"]]
    message = f"Select a valid choice. {plain['id']} is not one of the available choices."
    assert api.get(INTERFACES, {"lag_id": plain["id"]}, status=400) == {"lag_id": [message]}
    assert api.get(INTERFACES, {"lag": plain["id"]})["count"] == 0
