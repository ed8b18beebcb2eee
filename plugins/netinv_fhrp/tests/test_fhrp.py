"""First-hop redundancy groups: addresses, members, pages, and their import."""

from __future__ import annotations

from typing import Any

import pytest

from netinv_testing import Api, Case, Service, Unique
from netinv_web.testing import Browser
from tests.support.dumps import item, named

GROUPS, MEMBERS = "/api/plugins/fhrp/fhrp-groups/", "/api/plugins/fhrp/fhrp-group-assignments/"
INTERFACES, ADDRESSES = "/api/dcim/interfaces/", "/api/ipam/ip-addresses/"


@pytest.fixture
def interface(service: Service) -> Any:
    """An interface of a device."""
    return Case(service, "dcim.interface").make()


@pytest.fixture
def make_group(api: Api, unique: Unique) -> Any:
    """``make_group(…)``: a group of VRRP."""
    return lambda **other: api.post(GROUPS, {"name": unique(), "protocol": "vrrp3", "group_id": 10, **other})


@pytest.fixture
def add(api: Api) -> Any:
    """``add(group, interface, 100)``: the interface becomes a member."""

    def post(group: Any, interface: Any, priority: int = 100, status: int = 201) -> Any:
        body = {"group": group["id"], "interface_type": "dcim.interface", "interface_id": interface["id"]}
        return api.post(MEMBERS, {**body, "priority": priority}, status=status)

    return post


def test_a_group_has_addresses_and_hides_its_key(api: Api, make_group: Any, unique: Unique) -> None:
    address = api.post(ADDRESSES, {"address": f"{unique.ipv6()}::1/64", "status": "active"})
    group = make_group(ip_addresses=[address["id"]], auth_type="md5", auth_key="very secret")
    assert group["display"] == f"{group['name']} (VRRPv3: 10)"
    assert "very secret" not in str(api.get(f"{GROUPS}{group['id']}/"))
    assert [found["id"] for found in api.get(ADDRESSES, {"fhrp_groups": group["id"]})["results"]] == [address["id"]]
    assert list(api.post(GROUPS, {"group_id": 1, "protocol": ""}, status=400)) == ["protocol"]


def test_an_interface_is_a_member_of_a_group_once(make_group: Any, interface: Any, add: Any) -> None:
    group = make_group()
    assert add(group, interface)["interface"]["id"] == interface["id"]
    add(group, interface, status=400)
    assert list(add(group, interface, 256, status=400)) == ["priority"]


def test_members_go_with_their_interface_and_their_group(
    api: Api, service: Service, make_group: Any, interface: Any, add: Any
) -> None:
    group = make_group()
    member, other = add(group, interface), add(group, Case(service, "dcim.interface").make())
    api.delete(f"{INTERFACES}{interface['id']}/")
    api.get(f"{MEMBERS}{member['id']}/", status=404)
    api.delete(f"{GROUPS}{group['id']}/")
    api.get(f"{MEMBERS}{other['id']}/", status=404)


def test_an_interface_has_a_tab_of_its_groups(service: Service, make_group: Any, interface: Any, add: Any) -> None:
    group = make_group()
    add(group, interface)
    browser = Browser(service, service.admin)
    assert group["name"] in browser.get(f"/dcim/interfaces/{interface['id']}/fhrp-groups/").text


def test_groups_of_a_netbox_dump_are_imported(api: Api, load_dump: Any, unique: Unique) -> None:
    name, network = unique(), unique.ipv6()
    report = load_dump(
        named("dcim.site", 1, name, status="active"),
        named("dcim.manufacturer", 1, name),
        item("dcim.devicetype", 1, manufacturer=1, model=name, slug=name.lower(), u_height=1),
        named("dcim.devicerole", 1, name, color="aa1409"),
        item("dcim.device", 1, name=name, site=1, device_type=1, device_role=1, status="active"),
        item("dcim.interface", 1, device=1, name="eth0", type="virtual", enabled=True),
        item("ipam.ipaddress", 1, address=f"{network}::1/64", status="active", role="vrrp",
             assigned_object_type=["ipam", "fhrpgroup"], assigned_object_id=1),
        item("ipam.fhrpgroup", 1, name=name, group_id=7, protocol="vrrp2", auth_type="", auth_key="secret",
             description=""),
        item("ipam.fhrpgroupassignment", 1, group=1, interface_type=["dcim", "interface"], interface_id=1,
             priority=90),
    )  # fmt: skip
    assert report.counts()["ipam.fhrpgroup"] == report.counts()["ipam.fhrpgroupassignment"] == {"created": 1}
    assert report.left_out == {("ipam.fhrpgroup", "auth_key", "secrets are not imported"): 1}
    (group,) = api.get(GROUPS, {"name": name})["results"]
    assert [address["address"] for address in group["ip_addresses"]] == [f"{network}::1/64"]
    (member,) = api.get(MEMBERS, {"group": group["id"]})["results"]
    assert (member["interface"]["name"], member["priority"]) == ("eth0", 90)
