"""Interfaces and addresses of devices, across a virtual chassis for its master."""

from __future__ import annotations

from typing import Any

import pytest

from netinv_testing import Api, Samples, Service
from netinv_testing.checks.query_counts import LIST

INTERFACES, ADDRESSES = "/api/dcim/interfaces/", "/api/ipam/ip-addresses/"


@pytest.fixture
def stack(service: Service, api: Api, unique: Any) -> dict[str, Any]:
    """A master and a member of a virtual chassis, and a device apart, each with two ports and their addresses."""
    samples, made = Samples(service), {}
    for name in ("master", "member", "apart"):
        device = samples.make(service.registry["dcim.device"])
        made[name] = api.patch(device["url"], {"name": unique()})
    chassis = api.post("/api/dcim/virtual-chassis/", {"name": unique(), "master": made["master"]["id"]})
    api.patch(made["member"]["url"], {"virtual_chassis": chassis["id"], "vc_position": 2})
    for number, device in enumerate(made.values()):
        for place, name in enumerate(("data", "management")):
            body = {"device": device["id"], "name": name, "type": "1000base-t", "status": "active"}
            port = api.post(INTERFACES, {**body, "mgmt_only": name == "management"})
            assigned = {"assigned_object_type": "dcim.interface", "assigned_object_id": port["id"]}
            api.post(ADDRESSES, {"address": f"198.51.100.{10 * number + place}/32", "status": "active", **assigned})
    return made


def _ports(api: Api, **query: Any) -> set[tuple[str, str]]:
    return {(port["device"]["name"], port["name"]) for port in api.get(INTERFACES, query)["results"]}


def _hosts(api: Api, **query: Any) -> set[tuple[str, str]]:
    found = [address["assigned_object"] for address in api.get(ADDRESSES, query)["results"]]
    return {(port["device"]["name"], port["name"]) for port in found}


def test_a_master_has_the_ports_of_members_but_those_for_management(api: Api, stack: dict[str, Any]) -> None:
    own = {name: {(stack[name]["name"], port) for port in ("data", "management")} for name in stack}
    expected = {
        "master": own["master"] | {(stack["member"]["name"], "data")},
        "member": own["member"],
        "apart": own["apart"],
    }
    for name, ports in expected.items():
        for listed in (_ports, _hosts):
            assert listed(api, device_id=stack[name]["id"]) == listed(api, device=stack[name]["name"]) == ports
    several = expected["master"] | expected["apart"]
    assert _ports(api, device=[stack["master"]["name"], stack["apart"]["name"]]) == several
    both = own["master"] | own["member"]
    assert _ports(api, device_id=[stack[name]["id"] for name in ("master", "member")]) == both
    for device in ("master", "member"):
        assert _ports(api, device_with_common_vc=stack[device]["id"]) == both
    assert _ports(api, device_with_common_vc=stack["apart"]["id"]) == own["apart"]


def test_devices_that_do_not_exist_have_none(api: Api, stack: dict[str, Any], unique: Any) -> None:
    nothing = "00000000-0000-4000-8000-000000000000"
    for listed in (_ports, _hosts):
        assert listed(api, device_id=nothing) == listed(api, device=unique()) == set()
    assert _ports(api, device_with_common_vc=nothing) == set()
    assert list(api.get(INTERFACES, {"device_id": "x"}, status=400)) == ["device_id"]


def test_ports_of_devices_that_a_user_may_not_view_are_not_found(service: Service, stack: dict[str, Any]) -> None:
    ports, master = ("view", "dcim.interface"), {"name": stack["master"]["name"]}
    named = {(stack["master"]["name"], port) for port in ("data", "management")}
    everything = service.user(ports, ("view", "dcim.device"), ("view", "dcim.virtualchassis")).api
    assert len(_ports(everything, device_id=stack["master"]["id"])) == 3
    limited = service.user(ports, ("view", "dcim.device", master), ("view", "dcim.virtualchassis")).api
    assert _ports(limited, device_id=stack["master"]["id"]) == named
    assert _ports(limited, device=stack["member"]["name"]) == set()
    assert _ports(service.user(ports).api, device_id=stack["master"]["id"]) == set()


def test_a_dynamic_group_has_the_ports_of_a_chassis(api: Api, stack: dict[str, Any], unique: Any) -> None:
    """Its filter is stored, and applied within the statements of other lists."""
    body = {"name": unique(), "slug": unique(), "content_type": "dcim.interface"}
    group = api.post("/api/extras/dynamic-groups/", {**body, "filter": {"device": [stack["master"]["name"]]}})
    members = api.get(f"{group['url']}members/")["results"]
    found = {(port["device"]["name"], port["name"]) for port in members}
    assert found == _ports(api, device=stack["master"]["name"]) and len(found) == 3


def test_filters_by_device_are_within_the_budget(api: Api, stack: dict[str, Any], statements: Any) -> None:
    for path in (INTERFACES, ADDRESSES):
        with statements() as found:
            api.get(path, {"device": [device["name"] for device in stack.values()]})
        assert len(found) <= LIST, "\n".join(found)
