"""Virtual device contexts: identifiers, interfaces, primary addresses, pages, and their import."""

from __future__ import annotations

from typing import Any

import pytest

from netinv_testing import Api, Case, Service, Unique
from netinv_web.testing import Browser
from tests.support.dumps import item, named

CONTEXTS = "/api/plugins/device_contexts/virtual-device-contexts/"
INTERFACES, ADDRESSES = "/api/dcim/interfaces/", "/api/ipam/ip-addresses/"


@pytest.fixture
def make_interface(service: Service) -> Any:
    """``make_interface(…)``: an interface, of a new device unless one is given."""
    return lambda **members: Case(service, "dcim.interface").make(**members)


@pytest.fixture
def interface(make_interface: Any) -> Any:
    """An interface of a new device."""
    return make_interface()


@pytest.fixture
def make_context(api: Api, unique: Unique) -> Any:
    """``make_context(device, …)``: an active context of a device."""

    def post(device: Any, status: int = 201, **other: Any) -> Any:
        body = {"name": unique(), "device": device["id"], "status": "active", **other}
        return api.post(CONTEXTS, body, status=status)

    return post


@pytest.fixture
def make_address(api: Api, unique: Unique) -> Any:
    """``make_address(interface)``: an IPv6 address of an interface."""

    def post(interface: Any = None) -> Any:
        place = {"assigned_object_type": "dcim.interface", "assigned_object_id": interface["id"]} if interface else {}
        return api.post(ADDRESSES, {"address": f"{unique.ipv6()}::1/64", "status": "active", **place})

    return post


def test_name_and_identifier_are_unique_on_a_device(interface: Any, make_interface: Any, make_context: Any) -> None:
    device = interface["device"]
    made = make_context(device, identifier=1)
    make_context(device, identifier=1, status=400)
    make_context(device, name=made["name"], status=400)
    assert list(make_context(device, identifier=32768, status=400)) == ["identifier"]
    make_context(make_interface()["device"], name=made["name"], identifier=1)
    assert [make_context(device)["identifier"] for _ in range(2)] == [None, None]


def test_interfaces_are_of_the_device(api: Api, interface: Any, make_interface: Any, make_context: Any) -> None:
    device, other = interface["device"], make_interface()
    made = make_context(device, interfaces=[interface["id"]])
    assert [found["id"] for found in made["interfaces"]] == [interface["id"]]
    reason = {"interfaces": ["The interfaces must belong to the device."]}
    assert make_context(device, interfaces=[interface["id"], other["id"]], status=400) == reason
    assert api.patch(f"{CONTEXTS}{made['id']}/", {"device": other["device"]["id"]}, status=400) == reason
    moved = api.patch(
        f"{CONTEXTS}{made['id']}/", {"device": other["device"]["id"], "interfaces": [other["id"]]}, status=200
    )
    assert moved["device"]["id"] == other["device"]["id"]
    found = api.get(INTERFACES, {"device_contexts": made["id"]})["results"]
    assert [one["id"] for one in found] == [other["id"]]


def test_primary_addresses_are_on_interfaces_of_the_device(
    api: Api, interface: Any, make_interface: Any, make_context: Any, make_address: Any
) -> None:
    device, address = interface["device"], make_address(interface)
    made = make_context(device, primary_ip6=address["id"])
    assert made["primary_ip6"]["id"] == address["id"]
    assert list(make_context(device, primary_ip6=address["id"], status=400)) == ["primary_ip6"]
    for wrong in (make_address(), make_address(make_interface())):
        assert make_context(device, primary_ip6=wrong["id"], status=400) == {
            "primary_ip6": [f"{wrong['address']} is not assigned to an interface of the device."]
        }
    wrong = make_address(interface)
    assert make_context(device, primary_ip4=wrong["id"], status=400) == {
        "primary_ip4": [f"{wrong['address']} is not an IPv4 address."]
    }
    refused = api.patch(f"{ADDRESSES}{address['id']}/", {"assigned_object_id": make_interface()["id"]}, status=400)
    assert made["name"] in str(refused)
    api.delete(f"{ADDRESSES}{address['id']}/")
    assert api.get(f"{CONTEXTS}{made['id']}/")["primary_ip6"] is None


def test_rules_take_as_many_statements_for_many_contexts_as_for_one(
    api: Api, unique: Unique, make_interface: Any, make_address: Any, statements: Any
) -> None:
    def bodies(count: int) -> list[Any]:
        interfaces = [make_interface() for _ in range(count)]
        return [
            {
                "name": unique(),
                "device": one["device"]["id"],
                "status": "active",
                "interfaces": [one["id"]],
                "primary_ip6": make_address(one)["id"],
            }
            for one in interfaces
        ]

    api.post(CONTEXTS, bodies(1))
    few, several = bodies(1), bodies(5)
    with statements() as one:
        api.post(CONTEXTS, few)
    with statements() as many:
        api.post(CONTEXTS, several)
    assert len(many) == len(one)


def test_contexts_go_with_the_device(api: Api, interface: Any, make_context: Any) -> None:
    made = make_context(interface["device"], interfaces=[interface["id"]])
    api.delete(f"{INTERFACES}{interface['id']}/")
    assert api.get(f"{CONTEXTS}{made['id']}/")["interfaces"] == []
    api.delete(f"/api/dcim/devices/{interface['device']['id']}/")
    api.get(f"{CONTEXTS}{made['id']}/", status=404)


def test_devices_and_interfaces_have_a_tab_of_contexts(service: Service, interface: Any, make_context: Any) -> None:
    made = make_context(interface["device"], interfaces=[interface["id"]])
    browser = Browser(service, service.admin)
    for page in (f"/dcim/devices/{interface['device']['id']}/", f"/dcim/interfaces/{interface['id']}/"):
        shown = browser.get(f"{page}device-contexts/")
        assert made["name"] in shown.text
        assert shown.html.find("a", href=lambda path: path and "virtual-device-contexts/add/?device=" in path)


def test_contexts_of_a_netbox_dump_are_imported(api: Api, load_dump: Any, unique: Unique) -> None:
    name, network = unique(), unique.ipv6()
    report = load_dump(
        named("dcim.site", 1, name, status="active"),
        named("dcim.manufacturer", 1, name),
        item("dcim.devicetype", 1, manufacturer=1, model=name, slug=name.lower(), u_height=1),
        named("dcim.devicerole", 1, name, color="aa1409"),
        item("dcim.device", 1, name=name, site=1, device_type=1, role=1, status="active"),
        item("dcim.interface", 1, device=1, name="eth0", type="virtual", enabled=True, vdcs=[1]),
        item("ipam.ipaddress", 1, address=f"{network}::1/64", status="active",
             assigned_object_type=["dcim", "interface"], assigned_object_id=1),
        item("dcim.virtualdevicecontext", 1, device=1, name="tenant-a", identifier=7, status="planned", tenant=None,
             primary_ip4=None, primary_ip6=1, description="first", comments=""),
    )  # fmt: skip
    assert report.counts()["dcim.virtualdevicecontext"] == {"created": 1}
    (made,) = api.get(CONTEXTS, {"device": name})["results"]
    assert (made["name"], made["identifier"], made["status"]["value"]) == ("tenant-a", 7, "planned")
    assert [one["name"] for one in made["interfaces"]] == ["eth0"]
    assert made["primary_ip6"]["address"] == f"{network}::1/64"
    (interface,) = api.get(INTERFACES, {"device": name})["results"]
    assert "netbox_vdcs" not in interface["custom_fields"]
