"""Interfaces that stand on others: what they refer to cannot be changed under them."""

from __future__ import annotations

from typing import Any

import pytest

from netinv_testing import Api

DEVICES = "/api/dcim/devices/"
INTERFACES = "/api/dcim/interfaces/"


@pytest.fixture
def place(make: Any, unique: Any) -> dict[str, Any]:
    """Fields of a device."""
    kind = make("/api/dcim/device-types/", model=unique(), manufacturer=make("/api/dcim/manufacturers/")["id"])
    return {
        "site": make("/api/dcim/sites/", status="active")["id"],
        "device_role": make("/api/dcim/device-roles/")["id"],
        "device_type": kind["id"],
        "status": "active",
    }


@pytest.fixture
def make_interface(make: Any) -> Any:
    """``make_interface(device, …)``: an interface of a device."""
    return lambda device, **fields: make(
        INTERFACES, device=device["id"], status="active", **{"type": "1000base-t"} | fields
    )


@pytest.fixture
def hosts(make: Any, place: Any) -> list[Any]:
    """Two devices."""
    return [make(DEVICES, **place) for _ in range(2)]


KINDS = [("lag", "lag", "1000base-t"), ("bridge", "1000base-t", "1000base-t"), ("parent_interface", "lag", "virtual")]


@pytest.mark.parametrize(("field", "below", "above"), KINDS)
def test_an_interface_does_not_leave_those_that_stand_on_it(
    api: Api, hosts: Any, make_interface: Any, field: str, below: str, above: str
) -> None:
    one, other = hosts
    target = make_interface(one, type=below)
    member = make_interface(one, type=above, **{field: target["id"]})
    answer = api.patch(target["url"], {"device": other["id"]}, status=400)
    assert list(answer) == ["device"]
    assert answer["device"][0].startswith(f"Interface {member['display']}: The selected ")
    assert api.put(member["url"], member)[field]["id"] == target["id"]


@pytest.mark.parametrize(("field", "below", "above"), KINDS)
def test_interfaces_move_together_in_one_batch(
    api: Api, hosts: Any, make_interface: Any, field: str, below: str, above: str
) -> None:
    one, other = hosts
    target = make_interface(one, type=below)
    member = make_interface(one, type=above, **{field: target["id"]})
    api.patch(INTERFACES, [{"id": item["id"], "device": other["id"]} for item in (member, target)])
    assert api.get(member["url"])["device"]["id"] == other["id"]


def test_only_lags_have_members_and_stay_lags(api: Api, hosts: Any, make_interface: Any) -> None:
    host, _ = hosts
    plain, lag = make_interface(host), make_interface(host, type="lag")
    refused = {"device": host["id"], "name": "x", "type": "1000base-t", "status": "active", "lag": plain["id"]}
    message = f"The selected LAG interface ({plain['name']}) is not of the type Link Aggregation Group (LAG)."
    assert api.post(INTERFACES, refused, status=400) == {"lag": [message]}
    member = make_interface(host, lag=lag["id"])
    answer = api.patch(lag["url"], {"type": "1000base-t"}, status=400)
    assert answer["type"][0].startswith(f"Interface {member['display']}: ")


def test_a_member_with_a_lag_elsewhere_does_not_leave_its_chassis(
    api: Api, make: Any, hosts: Any, make_interface: Any
) -> None:
    one, other = hosts
    chassis = make("/api/dcim/virtual-chassis/")
    for position, host in enumerate(hosts, 1):
        api.patch(host["url"], {"virtual_chassis": chassis["id"], "vc_position": position})
    lag = make_interface(one, type="lag")
    member = make_interface(other, lag=lag["id"])
    for host in hosts:
        answer = api.patch(host["url"], {"virtual_chassis": None, "vc_position": None}, status=400)
        assert answer["virtual_chassis"][0].startswith(f"Interface {member['display']}: ")


@pytest.mark.parametrize(("field", "kind"), [("lag", "lag"), ("bridge", "1000base-t")])
@pytest.mark.parametrize("length", [2, 3])
def test_interfaces_do_not_stand_on_themselves(
    api: Api, hosts: Any, make_interface: Any, field: str, kind: str, length: int
) -> None:
    made: list[Any] = []
    for _ in range(length):
        made.append(make_interface(hosts[0], type=kind, **({field: made[-1]["id"]} if made else {})))
    answer = api.patch(made[0]["url"], {field: made[-1]["id"]}, status=400)
    assert answer[field][0].startswith("This would close a cycle")
    free = [make_interface(hosts[0], type=kind) for _ in range(length)]
    ring = [{"id": item["id"], field: free[number - 1]["id"]} for number, item in enumerate(free)]
    api.patch(INTERFACES, ring, status=400)


PORTS = [
    ("rear-ports", "front-ports", "rear_port", {"type": "8p8c"}, {"type": "8p8c"}),
    ("power-ports", "power-outlets", "power_port", {}, {}),
]


@pytest.mark.parametrize(("below", "above", "field", "of_below", "of_above"), PORTS)
@pytest.mark.parametrize("templates", [False, True])
def test_a_port_does_not_leave_those_that_refer_to_it(
    api: Api,
    make: Any,
    unique: Any,
    place: Any,
    hosts: Any,
    below: str,
    above: str,
    field: str,
    of_below: dict[str, Any],
    of_above: dict[str, Any],
    templates: bool,
) -> None:
    owner, suffix = ("device_type", "-templates") if templates else ("device", "")
    maker = make("/api/dcim/manufacturers/")
    kinds = [make("/api/dcim/device-types/", model=unique(), manufacturer=maker["id"]) for _ in range(2)]
    one, other = kinds if templates else hosts
    below, above = (f"/api/dcim/{name[:-1]}{suffix}s/".replace("-templatess", "-templates") for name in (below, above))
    target = make(below, **{owner: one["id"]}, **of_below)
    made = make(above, **{owner: one["id"], field: target["id"]}, **of_above)
    answer = api.patch(target["url"], {owner: other["id"]}, status=400)
    assert made["display"] in answer[owner][0]
    api.patch(made["url"], {"description": "new"})


def test_an_interface_does_not_take_vlans_to_another_site(
    api: Api, make: Any, place: Any, hosts: Any, make_interface: Any
) -> None:
    elsewhere = make(DEVICES, **place | {"site": make("/api/dcim/sites/", status="active")["id"]})
    vlan = make("/api/ipam/vlans/", vid=7, status="active", site=place["site"])
    tagged = make_interface(hosts[0], mode="tagged", tagged_vlans=[vlan["id"]])
    answer = api.patch(tagged["url"], {"device": elsewhere["id"]}, status=400)
    assert list(answer) == ["tagged_vlans"]
    api.patch(tagged["url"], {"device": hosts[1]["id"]})
