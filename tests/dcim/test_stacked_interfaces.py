"""Interfaces that stand on others: what they refer to cannot be changed under them."""

from __future__ import annotations

from typing import Any

import pytest

from netinv_core.testing import Api

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
