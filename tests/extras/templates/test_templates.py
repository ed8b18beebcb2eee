"""Component templates of every kind: their rules, and the devices that are made by them."""

from __future__ import annotations

from typing import Any

import pytest

from netinv_testing import Api
from netinv_testing.checks.query_counts import CREATE_ONE

CREATE_EQUIPPED = 40  # statements for devices that get components of every kind
DEVICES = "/api/dcim/devices/"
TYPES = "/api/dcim/device-types/"
KINDS = [
    "console-port",
    "console-server-port",
    "power-port",
    "power-outlet",
    "interface",
    "rear-port",
    "front-port",
    "device-bay",
]
NAMED = ("view", ["dcim.devicetype", "dcim.devicerole", "dcim.site"])


def of(kind: str) -> str:
    """The path of the templates of a kind."""
    return f"/api/dcim/{kind}-templates/"


def components(api: Api, kind: str, device: Any) -> list[Any]:
    """The components of a kind that a device has, in order."""
    found: list[Any] = api.get(f"/api/dcim/{kind}s/", {"device_id": device["id"], "limit": 0})["results"]
    return found


@pytest.fixture
def make_type(make: Any, unique: Any) -> Any:
    """``make_type(…)``: a device type without templates."""
    return lambda **fields: make(TYPES, model=unique(), manufacturer=make("/api/dcim/manufacturers/")["id"], **fields)


@pytest.fixture
def add(api: Api) -> Any:
    """``add(kind, device_type, name, …)``: a template of a kind."""
    return lambda kind, device_type, name, status=201, **fields: api.post(
        of(kind), {"device_type": device_type["id"], "name": name, **fields}, status=status
    )


@pytest.fixture
def place(make: Any) -> dict[str, Any]:
    """What every device names beside its type."""
    return {
        "device_role": make("/api/dcim/device-roles/")["id"],
        "site": make("/api/dcim/sites/", status="active")["id"],
        "status": "active",
    }


@pytest.fixture
def body(place: dict[str, Any], unique: Any) -> Any:
    """``body(device_type, …)``: a body for a device."""
    return lambda kind, **fields: {"name": unique(), "device_type": kind["id"], **place, **fields}


@pytest.fixture
def equipped(make_type: Any, add: Any) -> Any:
    """A device type with templates of every kind."""
    kind = make_type(subdevice_role="parent")
    add("console-port", kind, "con10", label="CON", type="rj-45", description="front")
    add("console-port", kind, "con2")
    add("console-server-port", kind, "tty1", type="de-9")
    add("power-port", kind, "psu1", type="iec-60320-c14", maximum_draw=500, allocated_draw=300)
    second = add("power-port", kind, "psu2", type="iec-60320-c14")
    add("power-outlet", kind, "out1", type="iec-60320-c13", power_port=second["id"], feed_leg="B")
    add("power-outlet", kind, "out2")
    add("interface", kind, "eth0", type="1000base-t", mgmt_only=True)
    rear = add("rear-port", kind, "rear1", type="lc", positions=2)
    add("front-port", kind, "front1", type="lc", rear_port=rear["id"], rear_port_position=2)
    add("front-port", kind, "front2", type="lc", rear_port=rear["id"])
    add("device-bay", kind, "bay1", label="B1")
    return kind


def test_a_new_device_has_components_of_every_kind_as_the_templates_say(api: Api, equipped: Any, body: Any) -> None:
    device = api.post(DEVICES, body(equipped))
    names = {kind: [shown["name"] for shown in components(api, kind, device)] for kind in KINDS}
    assert names == {
        "console-port": ["con2", "con10"],
        "console-server-port": ["tty1"],
        "power-port": ["psu1", "psu2"],
        "power-outlet": ["out1", "out2"],
        "interface": ["eth0"],
        "rear-port": ["rear1"],
        "front-port": ["front1", "front2"],
        "device-bay": ["bay1"],
    }
    console, power = components(api, "console-port", device)[1], components(api, "power-port", device)[0]
    assert (console["label"], console["type"], console["description"]) == (
        "CON",
        {"value": "rj-45", "label": "RJ-45"},
        "front",
    )
    assert (power["maximum_draw"], power["allocated_draw"]) == (500, 300)
    assert components(api, "console-port", device)[0]["type"] is None
    assert components(api, "interface", device)[0]["mgmt_only"] is True


def test_each_devices_components_are_joined_to_its_own(api: Api, equipped: Any, body: Any) -> None:
    for device in api.post(DEVICES, [body(equipped), body(equipped)]):
        inlets = {shown["name"]: shown["id"] for shown in components(api, "power-port", device)}
        fed, unfed = components(api, "power-outlet", device)
        assert (fed["power_port"]["id"], fed["feed_leg"]["value"], unfed["power_port"]) == (inlets["psu2"], "B", None)
        (rear,) = components(api, "rear-port", device)
        fronts = [
            (shown["name"], shown["rear_port"]["id"], shown["rear_port_position"])
            for shown in components(api, "front-port", device)
        ]
        assert fronts == [("front1", rear["id"], 2), ("front2", rear["id"], 1)]


def test_everything_made_is_recorded_after_the_device_itself_in_the_same_request(
    api: Api, make_user: Any, equipped: Any, body: Any
) -> None:
    user = make_user(("add view", "dcim.device"), NAMED)
    device = user.api.post(DEVICES, body(equipped))
    (made,) = api.get("/api/extras/object-changes/", {"changed_object_id": device["id"]})["results"]
    changes = api.get("/api/extras/object-changes/", {"request_id": made["request_id"], "limit": 0})["results"]
    assert {change["user_name"] for change in changes} == {user.username} and {
        change["action"]["value"] for change in changes
    } == {"create"}
    recorded = sorted(change["changed_object_id"] for change in changes)
    assert recorded == sorted(
        [device["id"], *[shown["id"] for kind in KINDS for shown in components(api, kind, device)]]
    )
    for change in changes:
        shown = api.get(change["changed_object"]["url"])
        assert change["object_data"]["name"] == shown["name"]


def test_templates_made_or_changed_later_leave_devices_as_they_are(
    api: Api, equipped: Any, add: Any, body: Any
) -> None:
    device = api.post(DEVICES, body(equipped))
    before = {kind: components(api, kind, device) for kind in KINDS}
    add("console-port", equipped, "con3")
    (rear,) = api.get(of("rear-port"), {"devicetype_id": equipped["id"]})["results"]
    api.patch(rear["url"], {"positions": 4, "name": "other"})
    for kind in ("front-port", "device-bay"):
        for template in api.get(of(kind), {"devicetype_id": equipped["id"]})["results"]:
            api.delete(template["url"])
    assert {kind: components(api, kind, device) for kind in KINDS} == before


@pytest.mark.parametrize("count", [1, 12])
def test_devices_with_components_of_every_kind_are_made_within_the_budget(
    api: Api, equipped: Any, add: Any, make: Any, make_type: Any, body: Any, statements: Any, count: int
) -> None:
    tag, bare = make("/api/extras/tags/", content_types=["dcim.device"])["id"], make_type()
    api.post(DEVICES, body(equipped))
    with statements() as for_one:
        api.post(DEVICES, body(equipped, tags=[tag]))
    assert len(for_one) <= CREATE_EQUIPPED, "\n".join(for_one)
    for number in range(20):
        add("console-server-port", equipped, f"more{number}")
    with statements() as for_many:
        api.post(DEVICES, [body(equipped, tags=[tag]) for _ in range(count)])
    assert len(for_many) == len(for_one), "\n".join(for_many)
    with statements() as without:
        api.post(DEVICES, [body(bare) for _ in range(count)])
    assert len(without) <= CREATE_ONE, "\n".join(without)


def test_what_was_just_made_is_told_apart_from_what_was_there(api: Api, equipped: Any, body: Any) -> None:
    """Names are unique within a device: those of other devices, and of the same batch, are no obstacle."""
    first = api.post(DEVICES, body(equipped))
    again = api.post(DEVICES, [body(equipped), body(equipped)])
    assert [len(components(api, "console-port", device)) for device in (first, *again)] == [2, 2, 2]
    error = api.post("/api/dcim/console-ports/", {"device": first["id"], "name": "con2"}, status=400)
    assert error == {"non_field_errors": ["The fields device, name must make a unique set."]}


def test_a_front_port_is_on_a_position_of_a_rear_port_of_its_type(api: Api, add: Any, make_type: Any) -> None:
    kind, other = make_type(), make_type()
    rear = add("rear-port", kind, "rear", type="lc", positions=2)
    error = add("front-port", other, "front", type="lc", rear_port=rear["id"], status=400)
    assert error == {"__all__": ["Rear port (rear) must belong to the same device type"]}
    error = add("front-port", kind, "front", type="lc", rear_port=rear["id"], rear_port_position=3, status=400)
    assert error == {"__all__": ["Invalid rear port position (3); rear port rear has only 2 positions"]}
    front = add("front-port", kind, "front", type="lc", rear_port=rear["id"], rear_port_position=2)
    error = add("front-port", kind, "second", type="lc", rear_port=rear["id"], rear_port_position=2, status=400)
    assert error == {"non_field_errors": ["The fields rear_port, rear_port_position must make a unique set."]}
    error = api.patch(rear["url"], {"positions": 1}, status=400)
    assert error == {"positions": ["A front port template is on position 2 of this rear port template."]}
    api.patch(front["url"], {"rear_port_position": 1})
    assert api.patch(rear["url"], {"positions": 1})["positions"] == 1


def test_an_outlet_is_fed_by_a_power_port_of_its_type(api: Api, add: Any, make_type: Any) -> None:
    kind, other = make_type(), make_type()
    inlet = add("power-port", kind, "psu", label="P")
    error = add("power-outlet", other, "out", power_port=inlet["id"], status=400)
    assert error == {"__all__": ["Parent power port (psu (P)) must belong to the same device type"]}
    outlet = add("power-outlet", kind, "out", power_port=inlet["id"])
    api.delete(inlet["url"])
    assert api.get(outlet["url"])["power_port"] is None


def test_only_parents_have_device_bays_and_remain_parents_while_they_do(api: Api, add: Any, make_type: Any) -> None:
    kind, parent = make_type(), make_type(subdevice_role="parent")
    error = add("device-bay", kind, "bay", status=400)
    assert error == {
        "__all__": [f'Subdevice role of device type ({kind["model"]}) must be set to "parent" to allow device bays.']
    }
    bay = add("device-bay", parent, "bay")
    for role in ("", "child"):
        error = api.patch(f"{TYPES}{parent['id']}/", {"subdevice_role": role, "u_height": 0}, status=400)
        assert error["subdevice_role"] == [
            "Must delete all device bay templates associated with this device before declassifying it as a parent device."
        ]
    api.patch(f"{TYPES}{parent['id']}/", {"u_height": 2})
    api.delete(bay["url"])
    assert api.patch(f"{TYPES}{parent['id']}/", {"subdevice_role": ""})["subdevice_role"] is None


def test_a_rear_port_template_stays_with_its_front_ports_so_that_devices_of_the_type_can_be_made(
    api: Api, add: Any, make_type: Any, body: Any
) -> None:
    kind, other = make_type(), make_type()
    rear = add("rear-port", kind, "rear", type="lc")
    add("front-port", kind, "front", type="lc", rear_port=rear["id"])
    error = api.patch(rear["url"], {"device_type": other["id"]}, status=400)
    assert error == {"device_type": ["Front port template front: Rear port (rear) must belong to the same device type"]}
    api.post(DEVICES, body(kind))


def test_device_types_are_found_by_the_templates_they_have(api: Api, add: Any, make_type: Any, equipped: Any) -> None:
    bare, panel = make_type(), make_type()
    add("rear-port", panel, "rear", type="lc")

    def found(**query: Any) -> set[str]:
        listed = api.get(TYPES, {"id": [bare["id"], panel["id"], equipped["id"]], **query})["results"]
        return {shown["id"] for shown in listed}

    for kind in KINDS:
        name = kind.replace("-", "_")
        having = {equipped["id"], panel["id"]} if kind == "rear-port" else {equipped["id"]}
        for parameter in (f"has_{name}_templates", *[f"{name}s"] * (kind not in ("rear-port", "front-port"))):
            assert found(**{parameter: "true"}) == having
            assert found(**{parameter: "false"}) == {bare["id"], panel["id"], equipped["id"]} - having
        template = api.get(of(kind), {"devicetype_id": equipped["id"]})["results"][0]
        assert found(**{f"{name}_templates": template["id"]}) == {equipped["id"]}
    assert found(pass_through_ports="true") == {panel["id"], equipped["id"]}
    assert found(pass_through_ports="false") == {bare["id"]}


def test_templates_are_found_by_what_they_are_joined_to(api: Api, equipped: Any) -> None:
    mine = {"devicetype_id": equipped["id"]}
    (rear,), (front, _) = (api.get(of(kind), mine)["results"] for kind in ("rear-port", "front-port"))
    assert api.get(of("front-port"), {"rear_port_template": rear["id"]})["count"] == 2
    assert [shown["id"] for shown in api.get(of("rear-port"), {"front_port_templates": front["id"]})["results"]] == [
        rear["id"]
    ]
    assert api.get(of("power-outlet"), {"power_port_template": "psu2", **mine})["count"] == 1
    assert [
        shown["name"] for shown in api.get(of("power-port"), {"has_power_outlet_templates": "true", **mine})["results"]
    ] == ["psu2"]
    assert [
        shown["name"] for shown in api.get(of("power-port"), {"power_outlet_templates": "out1", **mine})["results"]
    ] == ["psu2"]
