"""Primary addresses of devices and virtual machines: what they depend on cannot be changed under them."""

from __future__ import annotations

from typing import Any

import pytest

from netinv_testing import Api

ADDRESSES = "/api/ipam/ip-addresses/"
DEVICES = "/api/dcim/devices/"
INTERFACES = "/api/dcim/interfaces/"
MACHINES = "/api/virtualization/virtual-machines/"
NICS = "/api/virtualization/interfaces/"


@pytest.fixture
def make_device(make: Any, unique: Any) -> Any:
    """``make_device()``: a device with an interface whose address is primary: ``(device, interface, address)``."""
    kind = make("/api/dcim/device-types/", model=unique(), manufacturer=make("/api/dcim/manufacturers/")["id"])
    place = {
        "site": make("/api/dcim/sites/", status="active")["id"],
        "device_role": make("/api/dcim/device-roles/")["id"],
        "device_type": kind["id"],
    }

    def post(api: Api) -> tuple[Any, Any, Any]:
        device = make(DEVICES, status="active", **place)
        interface = make(INTERFACES, device=device["id"], type="1000base-t", status="active")
        return device, interface, primary(api, make, device, interface, "dcim.interface")

    return post


@pytest.fixture
def make_machine(make: Any) -> Any:
    """``make_machine()``: a virtual machine with an interface whose address is primary."""
    cluster = make("/api/virtualization/clusters/", type=make("/api/virtualization/cluster-types/")["id"])

    def post(api: Api) -> tuple[Any, Any, Any]:
        machine = make(MACHINES, cluster=cluster["id"], status="active")
        nic = make(NICS, virtual_machine=machine["id"], status="active")
        return machine, nic, primary(api, make, machine, nic, "virtualization.vminterface")

    return post


def primary(api: Api, make: Any, owner: Any, interface: Any, label: str) -> Any:
    """The primary address of ``owner``, on an interface."""
    assignment = {"assigned_object_type": label, "assigned_object_id": interface["id"]}
    address = make(ADDRESSES, address="198.18.91.1/24", status="active", **assignment)
    api.patch(owner["url"], {"primary_ip4": address["id"]})
    return address


@pytest.mark.parametrize(("kind", "field"), [("make_device", "device"), ("make_machine", "virtual_machine")])
def test_an_interface_with_a_primary_address_does_not_move(
    request: pytest.FixtureRequest, api: Api, kind: str, field: str
) -> None:
    make_owner = request.getfixturevalue(kind)
    owner, interface, address = make_owner(api)
    other, _, _ = make_owner(api)
    answer = api.patch(interface["url"], {field: other["id"]}, status=400)
    assert list(answer) == [field]
    assert answer[field][0].endswith(
        f"({address['address']}) is not assigned to this {'device' if field == 'device' else 'VM'}."
    )
    assert api.put(owner["url"], api.get(owner["url"]))["primary_ip4"]["id"] == address["id"]
    api.patch(owner["url"], {"primary_ip4": None})
    api.patch(interface["url"], {field: other["id"]})


@pytest.mark.parametrize("kind", ["make_device", "make_machine"])
def test_a_primary_address_keeps_its_version(request: pytest.FixtureRequest, api: Api, kind: str) -> None:
    owner, _, address = request.getfixturevalue(kind)(api)
    answer = api.patch(address["url"], {"address": "2001:db8::1/64"}, status=400)
    assert "is not an IPv4 address." in str(answer)
    api.patch(address["url"], {"address": "198.18.91.2/24"})
    assert api.get(owner["url"])["primary_ip4"]["address"] == "198.18.91.2/24"


@pytest.mark.parametrize("change", [{"assigned_object_type": None, "assigned_object_id": None}])
@pytest.mark.parametrize("kind", ["make_device", "make_machine"])
def test_a_primary_address_stays_assigned(
    request: pytest.FixtureRequest, api: Api, kind: str, change: dict[str, Any]
) -> None:
    owner, _, address = request.getfixturevalue(kind)(api)
    api.patch(address["url"], change, status=400)
    assert api.get(owner["url"])["primary_ip4"]["id"] == address["id"]


@pytest.mark.parametrize("kind", ["make_device", "make_machine"])
def test_the_address_inside_the_nat_of_a_primary_one_stays_assigned(
    request: pytest.FixtureRequest, api: Api, make: Any, kind: str
) -> None:
    owner, _, inside = request.getfixturevalue(kind)(api)
    outside = make(ADDRESSES, address="203.0.113.1/24", status="active", nat_inside=inside["id"])
    api.patch(owner["url"], {"primary_ip4": outside["id"]})
    loose = {"assigned_object_type": None, "assigned_object_id": None}
    assert "is not assigned to this" in str(api.patch(inside["url"], loose, status=400))


@pytest.mark.parametrize("kind", ["make_device", "make_machine"])
def test_a_deleted_interface_takes_the_primary_address_with_it(
    request: pytest.FixtureRequest, api: Api, kind: str
) -> None:
    owner, interface, _ = request.getfixturevalue(kind)(api)
    api.delete(interface["url"])
    assert api.get(owner["url"])["primary_ip4"] is None


def test_a_master_keeps_its_primary_address_on_a_member(api: Api, make: Any, make_device: Any) -> None:
    master, _, _ = make_device(api)
    member, interface, address = make_device(api)
    api.patch(member["url"], {"primary_ip4": None})
    chassis = make("/api/dcim/virtual-chassis/", master=master["id"])
    api.patch(member["url"], {"virtual_chassis": chassis["id"], "vc_position": 2})
    api.patch(master["url"], {"primary_ip4": address["id"]})
    refused = [
        (member["url"], {"virtual_chassis": None, "vc_position": None}),
        (chassis["url"], {"master": None}),
        (interface["url"], {"mgmt_only": True}),
    ]
    for url, change in refused:
        assert f"({address['address']}) is not assigned to this device." in str(api.patch(url, change, status=400))
    other = make("/api/dcim/virtual-chassis/")
    api.patch(master["url"], {"virtual_chassis": other["id"], "vc_position": 7}, status=400)


@pytest.mark.parametrize("length", [1, 2, 3])
def test_nat_has_no_cycles(api: Api, make: Any, length: int) -> None:
    made: list[Any] = []
    for number in range(length):
        inside = {"nat_inside": made[-1]["id"]} if made else {}
        made.append(make(ADDRESSES, address=f"198.18.92.{number + 1}/24", status="active", **inside))
    answer = api.patch(made[0]["url"], {"nat_inside": made[-1]["id"]}, status=400)
    assert answer["nat_inside"][0].startswith("This would close a cycle")
