"""Applying a device type to its devices: what the plan says, what it leaves, and what it writes."""

from __future__ import annotations

from typing import Any

import pytest

from netinv_dcim.components import type_plans
from netinv_testing import Api, Service, Unique
from tests.support.typed_devices import CHANGES, DEVICES, KINDS, TYPES, Hardware, told


@pytest.fixture
def hardware(api: Api, unique: Unique) -> Hardware:
    """Device types and devices."""
    return Hardware(api, unique)


def applied(api: Api, type_: str, dry_run: bool = False, **body: Any) -> dict[str, Any]:
    """The plan that the action carries out, or would."""
    answer = api.post(f"{TYPES}{type_}/apply/" + ("?dry_run=true" if dry_run else ""), body, status=200)
    plan: dict[str, Any] = answer["result"] if dry_run else answer
    return plan


def actions(plan: dict[str, Any]) -> list[tuple[str, str, str]]:
    """The kind, name and action of each row."""
    return [(row["kind"].removeprefix("dcim."), row["name"], row["action"]) for row in plan["rows"]]


def test_devices_get_what_they_lack_in_every_kind(api: Api, hardware: Hardware) -> None:
    type_ = hardware.type()
    devices = hardware.devices(type_, 3)
    hardware.add("-templates", {"device_type": type_}, "1", "2")
    planned = applied(api, type_, dry_run=True)
    assert planned["counts"] == {"add": 3 * 2 * len(KINDS), "change": 0, "rename": 0, "remove": 0, "keep": 0}
    assert told(api, devices[0])
    assert applied(api, type_)["rows"] == planned["rows"]
    for device in devices:
        assert told(api, device) == []
        assert hardware.components("front-ports", device)["2"]["rear_port"]["name"] == "2"
        assert hardware.components("power-outlets", device)["2"]["power_port"]["name"] == "2"
    assert applied(api, type_)["rows"] == []


@pytest.mark.parametrize(("kind", "field", "value", "of_type", "of_device"), CHANGES)
def test_a_component_takes_what_its_template_has(
    api: Api, hardware: Hardware, kind: str, field: str, value: Any, of_type: Any, of_device: Any
) -> None:
    type_ = hardware.type("1", "2")
    device, other = hardware.devices(type_, 2)
    hardware.change(device, kind, field, value)
    plan = applied(api, type_)
    assert (KINDS[kind][0].removeprefix("dcim."), "1", "change") in actions(plan)
    assert next(row for row in plan["rows"] if row["action"] == "change")["fields"][field] == {
        "type": of_type,
        "device": of_device,
    }
    assert {row["device"]["id"] for row in plan["rows"]} == {device}
    assert told(api, device) == told(api, other) == []


@pytest.mark.parametrize("kind", KINDS)
def test_additional_components_are_removed_and_those_in_use_kept(api: Api, hardware: Hardware, kind: str) -> None:
    """The content types that use them are told; they are removed when that is chosen."""
    type_ = hardware.type("1")
    free, used = hardware.devices(type_, 2)
    for device in (free, used):
        hardware.add("", {"device": device, "status": "active"}, "x")
    users = _use(api, hardware, kind, used)
    plan = applied(api, type_)
    label = KINDS[kind][0]
    kept = [row for row in plan["rows"] if row["device"]["id"] == used and row["action"] == "keep"]
    assert [(row["kind"], row["name"], row["used_by"]) for row in kept if row["kind"] == label] == [(label, "x", users)]
    assert told(api, free) == [] and [item["name"] for item in told(api, used)] == ["x"] * len(kept)
    plan = applied(api, type_, choices=[{"action": "apply"}])
    assert plan["counts"]["keep"] == 0 and told(api, used) == []


def _use(api: Api, hardware: Hardware, kind: str, device: str) -> list[str]:
    """Uses the component x of a kind; the content types of what uses it then."""
    key = hardware.components(kind, device)["x"]["id"]
    if kind == "device-bays":
        inner = hardware.api.post(TYPES, {"manufacturer": hardware.maker, "model": hardware.unique(), "u_height": 0})
        api.patch(inner["url"], {"subdevice_role": "child"})
        api.patch(f"/api/dcim/{kind}/{key}/", {"installed_device": hardware.device(inner["id"])})
        return ["dcim.device"]
    peers = {"console-ports": "console-server-ports", "console-server-ports": "console-ports"}
    peers |= {"power-ports": "power-outlets", "power-outlets": "power-ports"}
    peer = peers.get(kind, "interfaces")
    other = hardware.device(hardware.type("1"))
    ends = {"a": (KINDS[kind][0], key), "b": (KINDS[peer][0], hardware.components(peer, other)["1"]["id"])}
    body = {
        f"termination_{side}_{name}": end[at] for side, end in ends.items() for at, name in enumerate(("type", "id"))
    }
    api.post("/api/dcim/cables/", {**body, "status": "connected"})
    if kind != "interfaces":
        return ["dcim.cable"]
    address = {"address": f"{hardware.unique.ipv6()}::1/64", "status": "active"}
    api.post("/api/ipam/ip-addresses/", {**address, "assigned_object_type": KINDS[kind][0], "assigned_object_id": key})
    child = {"device": device, "name": "x.1", "type": "virtual", "status": "active", "parent_interface": key}
    api.post("/api/dcim/interfaces/", child)
    return ["dcim.cable", "dcim.interface", "ipam.ipaddress"]


def test_a_rear_port_goes_with_its_front_ports_unless_one_stays(api: Api, hardware: Hardware) -> None:
    type_ = hardware.type("1")
    device = hardware.device(type_)
    hardware.add("", {"device": device, "status": "active"}, "x")
    front = hardware.components("front-ports", device)["x"]
    keep = {"action": "keep", "kind": "dcim.frontport", "name": "x"}
    plan = applied(api, type_, dry_run=True, choices=[keep])
    rear = next(row for row in plan["rows"] if row["kind"] == "dcim.rearport")
    assert rear["action"] == "keep" and rear["used_by"] == ["dcim.frontport"]
    templates = hardware.templates("front-ports", type_)
    api.patch(templates["1"]["url"], {"rear_port_position": 4})
    body = {
        "device_type": type_,
        "name": "x",
        "type": "lc",
        "rear_port": hardware.templates("rear-ports", type_)["1"]["id"],
    }
    api.post("/api/dcim/front-port-templates/", body)
    plan = applied(api, type_, choices=[{"action": "keep", "kind": "dcim.poweroutlet"}])
    assert ("frontport", "x", "change") in actions(plan) and ("rearport", "x", "remove") in actions(plan)
    assert ("powerport", "x", "keep") in actions(plan) and ("poweroutlet", "x", "keep") in actions(plan)
    assert hardware.components("front-ports", device)["x"]["id"] == front["id"]
    assert {item["name"] for item in told(api, device)} == {"x"} and len(told(api, device)) == 2


def test_the_mapping_of_ports_in_use_is_kept_and_their_other_values_are_not(api: Api, hardware: Hardware) -> None:
    type_ = hardware.type("1", "2")
    device, peer = hardware.device(type_), hardware.device(hardware.type("1"))
    port = hardware.components("front-ports", device)["1"]
    other = hardware.components("interfaces", peer)["1"]
    ends = {"termination_a_type": "dcim.frontport", "termination_a_id": port["id"]}
    ends |= {"termination_b_type": "dcim.interface", "termination_b_id": other["id"]}
    api.post("/api/dcim/cables/", {**ends, "status": "connected"})
    api.patch(hardware.templates("front-ports", type_)["1"]["url"], {"label": "L"})
    assert actions(applied(api, type_)) == [("frontport", "1", "change")]
    api.patch(hardware.templates("front-ports", type_)["1"]["url"], {"rear_port_position": 3})
    (row,) = applied(api, type_)["rows"]
    assert (row["action"], row["used_by"]) == ("keep", ["dcim.cable"])
    choice = {"action": "apply", "kind": "dcim.frontport", "name": "1", "device": device}
    assert applied(api, type_, choices=[choice])["counts"]["change"] == 1
    assert told(api, device) == []


def test_ports_exchange_their_positions_and_a_rear_port_gets_fewer(api: Api, hardware: Hardware) -> None:
    type_ = hardware.type("1")
    fronts = hardware.templates("front-ports", type_)
    rear = hardware.templates("rear-ports", type_)["1"]
    body = {"device_type": type_, "name": "2", "type": "lc", "rear_port": rear["id"], "rear_port_position": 4}
    second = api.post("/api/dcim/front-port-templates/", body)
    device = hardware.device(type_)
    places = [{"id": second["id"], "rear_port_position": 1}, {"id": fronts["1"]["id"], "rear_port_position": 2}]
    api.patch("/api/dcim/front-port-templates/", places)
    api.patch(rear["url"], {"positions": 2})
    assert len(applied(api, type_)["rows"]) == 3
    assert told(api, device) == []


def test_a_renamed_component_keeps_its_cable_and_takes_what_its_template_has(api: Api, hardware: Hardware) -> None:
    """Where the device lacks the new name; elsewhere what happens by itself."""
    type_ = hardware.type("1", "2")
    device, other, third = hardware.devices(type_, 3)
    api.delete(hardware.components("interfaces", third)["1"]["url"])
    before = hardware.components("interfaces", device)["1"]
    ends = {"termination_a_type": "dcim.interface", "termination_a_id": before["id"]}
    ends |= {
        "termination_b_type": "dcim.interface",
        "termination_b_id": hardware.components("interfaces", other)["1"]["id"],
    }
    cable = api.post("/api/dcim/cables/", {**ends, "status": "connected"})
    api.patch(hardware.templates("interfaces", type_)["1"]["url"], {"name": "et-0/0/0", "type": "10gbase-t"})
    rename = {"action": "rename", "kind": "dcim.interface", "name": "1", "new_name": "et-0/0/0"}
    plan = applied(api, type_, choices=[rename])
    assert plan["counts"] == {"add": 1, "change": 0, "rename": 2, "remove": 0, "keep": 0}
    row = next(row for row in plan["rows"] if row["device"]["id"] == device)
    assert row["new_name"] == "et-0/0/0" and row["fields"] == {"type": {"type": "10gbase-t", "device": "1000base-t"}}
    after = hardware.components("interfaces", device)["et-0/0/0"]
    assert after["id"] == before["id"] and after["cable"]["id"] == cable["id"]
    assert told(api, device) == told(api, other) == told(api, third) == []


def test_front_ports_follow_a_rear_port_that_is_renamed(api: Api, hardware: Hardware) -> None:
    type_ = hardware.type("1")
    device = hardware.device(type_)
    api.patch(hardware.templates("rear-ports", type_)["1"]["url"], {"name": "R"})
    front = {"name": "F", "rear_port_position": 2}
    api.patch(hardware.templates("front-ports", type_)["1"]["url"], front)
    choices = [
        {"action": "rename", "kind": "dcim.rearport", "name": "1", "new_name": "R"},
        {"action": "rename", "kind": "dcim.frontport", "name": "1", "new_name": "F"},
    ]
    before = hardware.components("rear-ports", device)["1"]["id"]
    assert applied(api, type_, choices=choices)["counts"]["rename"] == 2
    assert told(api, device) == [] and hardware.components("rear-ports", device)["R"]["id"] == before


def test_the_last_choice_about_a_component_counts(api: Api, hardware: Hardware) -> None:
    type_ = hardware.type()
    one, two = hardware.devices(type_, 2)
    hardware.add("-templates", {"device_type": type_}, "1")
    wide, narrow = {"action": "keep"}, {"action": "apply", "kind": "dcim.interface", "device": one}
    plan = applied(api, type_, dry_run=True, choices=[wide, narrow])
    assert plan["counts"]["add"] == 1 and plan["counts"]["keep"] == 2 * len(KINDS) - 1
    assert applied(api, type_, dry_run=True, choices=[narrow, wide])["counts"]["add"] == 0
    assert applied(api, type_, devices=[two])["counts"]["add"] == len(KINDS)
    assert told(api, two) == [] and len(told(api, one)) == len(KINDS)


def test_devices_are_moved_to_another_type_and_made_like_it_at_once(api: Api, hardware: Hardware) -> None:
    """Components of equal name stay, with their ids; others are removed, those in use kept."""
    old, new = hardware.type("1", "2"), hardware.type("1", "3")
    devices = hardware.devices(old, 2)
    before = hardware.components("interfaces", devices[0])
    end = {"assigned_object_type": "dcim.interface", "assigned_object_id": before["2"]["id"]}
    api.post("/api/ipam/ip-addresses/", {"address": "198.18.40.1/24", "status": "active", **end})
    body = {"devices": devices, "move": True}
    path = f"{TYPES}{new}/apply/"
    assert api.post(path, {"devices": devices}, status=400)["devices"][0].startswith("No device of this type")
    dry = api.post(path, body, query={"dry_run": "true"}, status=200)["result"]["counts"]
    assert api.get(f"{DEVICES}{devices[0]}/")["device_type"]["id"] == old
    answer = api.post(path, body, status=200)
    assert answer["counts"] == dry and dry["add"] == 2 * len(KINDS)
    after = hardware.components("interfaces", devices[0])
    assert {name: after[name]["id"] for name in ("1", "2")} == {name: before[name]["id"] for name in ("1", "2")}
    assert set(after) == {"1", "2", "3"} and set(hardware.components("interfaces", devices[1])) == {"1", "3"}
    assert {api.get(f"{DEVICES}{device}/")["device_type"]["id"] for device in devices} == {new}
    change = api.get("/api/extras/object-changes/", {"request_id": answer["request_id"], "limit": 1})["results"][0]
    api.post(f"/api/extras/object-changes/{change['id']}/revert/?request=true", {}, status=200)
    assert set(hardware.components("interfaces", devices[1])) == {"1", "2"}
    assert {api.get(f"{DEVICES}{device}/")["device_type"]["id"] for device in devices} == {old}


def test_a_move_that_a_rule_refuses_names_the_device(api: Api, hardware: Hardware, make_user: Any) -> None:
    old, new = hardware.type("1"), hardware.type("1")
    (device,) = hardware.devices(old, 1)
    api.patch(f"{TYPES}{new}/", {"u_height": 2})
    rack = api.post("/api/dcim/racks/", {"name": hardware.unique(), "site": hardware.place["site"], "status": "active"})
    shown = api.patch(f"{DEVICES}{device}/", {"rack": rack["id"], "position": 42, "face": "front"})
    body = {"devices": [device], "move": True}
    (told,) = api.post(f"{TYPES}{new}/apply/", body, status=400)["devices"]
    assert told.startswith(f"{shown['display']}: ")
    reader = make_user(("view", "dcim.devicetype"), ("view", "dcim.device")).api
    reader.post(f"{TYPES}{new}/apply/", body, status=403)
    (other,) = hardware.devices(old, 1)
    path = f"{TYPES}{new}/apply/"
    for constraint in (None, {"id": other}):  # whoever may not view the device is not told its name
        named = [("change", "dcim.device", *filter(None, [constraint])), ("view", "dcim.device", {"id": other})]
        for permissions in (named[:1], named):
            api_of = make_user(("view", "dcim.devicetype"), *permissions).api
            assert shown["display"] not in str(api_of.send("POST", path, body, status=(400, 403, 404)).json)


def test_an_application_is_undone_as_one_request(api: Api, hardware: Hardware) -> None:
    type_ = hardware.type("1")
    device = hardware.device(type_)
    hardware.add("", {"device": device, "status": "active"}, "x")
    hardware.add("-templates", {"device_type": type_}, "2")
    before = told(api, device)
    plan = applied(api, type_)
    changes = api.get("/api/extras/object-changes/", {"request_id": plan["request_id"], "limit": 0})
    assert changes["count"] == len(plan["rows"]) and told(api, device) == []
    api.post(f"/api/extras/object-changes/{changes['results'][0]['id']}/revert/?request=true", {}, status=200)
    assert [(item["kind"], item["name"], item["state"]) for item in told(api, device)] == [
        (item["kind"], item["name"], item["state"]) for item in before
    ]


BAD: list[tuple[Any, str, str]] = [
    ({"devices": "all"}, "devices", "Expected a list"),
    ({"devices": ["x"]}, "devices", "“x” is not a valid UUID."),
    ({"devices": [None]}, "devices", "is not a valid UUID."),
    ({"devices": ["00000000-0000-4000-8000-000000000000"]}, "devices", "No device of this type has the id"),
    ({"devices": None}, "devices", "This field may not be null."),
    ({"device": ["00000000-0000-4000-8000-000000000000"]}, "device", "Unknown field."),
    (
        {"choices": [{"action": "keep", "device": "00000000-0000-4000-8000-000000000000"}]},
        "choices",
        "No device of this type has the id",
    ),
    ({"choices": {}}, "choices", "Expected a list"),
    ({"choices": [1]}, "choices", "Expected a dictionary"),
    ({"choices": [{}]}, "action", "Choose from apply, keep, rename."),
    ({"choices": [{"action": []}]}, "action", "Choose from apply, keep, rename."),
    ({"choices": [{"action": "keep", "kind": "dcim.site"}]}, "kind", "Choose from dcim.consoleport"),
    ({"choices": [{"action": "keep", "kind": []}]}, "kind", "Choose from dcim.consoleport"),
    ({"choices": [{"action": "keep", "name": 1}]}, "name", "Not a valid string."),
    ({"choices": [{"action": "keep", "device": "1"}]}, "device", "Must be a valid UUID."),
    ({"choices": [{"action": "keep", "new_name": "2"}]}, "new_name", "It belongs to the action rename."),
    ({"choices": [{"action": "rename", "kind": "dcim.interface"}]}, "new_name", "This field is required."),
    ({"choices": [{"action": "keep", "names": "1"}]}, "names", "Unknown member."),
    ({"move": True}, "devices", "This field is required."),
    ({"move": True, "devices": ["x"]}, "devices", "“x” is not a valid UUID."),
    ({"move": "yes", "devices": []}, "move", "Must be a valid boolean."),
    ([], "non_field_errors", "Expected a dictionary"),
]


@pytest.mark.parametrize(("body", "field", "words"), BAD)
def test_bad_input_is_refused_with_the_field(api: Api, hardware: Hardware, body: Any, field: str, words: str) -> None:
    answer = api.post(f"{TYPES}{hardware.type()}/apply/", body, status=400)
    assert f"'{field}'" in str(answer) and words in str(answer)


def test_what_a_rule_refuses_is_told_with_the_component_and_nothing_is_written(api: Api, hardware: Hardware) -> None:
    type_ = hardware.type("1")
    device = hardware.device(type_)
    hardware.add("-templates", {"device_type": type_}, "2")
    api.patch(hardware.templates("rear-ports", type_)["1"]["url"], {"positions": 2})
    api.patch(hardware.components("front-ports", device)["1"]["url"], {"rear_port_position": 3})
    keep = {"action": "keep", "kind": "dcim.frontport", "name": "1"}
    answer = api.post(f"{TYPES}{type_}/apply/", {"choices": [keep]}, status=400)
    name = api.get(f"{DEVICES}{device}/")["display"]
    assert answer["non_field_errors"][0].startswith(f"Rear port 1 of {name}: ")
    assert len(told(api, device)) == len(KINDS) + 2


def test_what_is_refused_of_several_kinds_is_told_of_all(api: Api, hardware: Hardware, unique: Any) -> None:
    """Not of those that refer to what is refused, which would follow from it."""
    type_ = hardware.type("1")
    device = hardware.device(type_)
    hardware.add("-templates", {"device_type": type_}, "2")
    requires = {"requires": {"label": "labelled"}, "message": "Label it."}
    rules = [
        api.post("/api/extras/validation-rules/", {"name": unique(), "content_type": f"dcim.{model}", **requires})
        for model in ("consoleport", "interface", "rearport")
    ]
    before = told(api, device)
    answer = api.post(f"{TYPES}{type_}/apply/", {}, status=400)
    for rule in rules:
        api.delete(rule["url"])
    name = api.get(f"{DEVICES}{device}/")["display"]
    messages = answer["non_field_errors"]
    assert [message.partition(f" of {name}: ")[0] for message in messages] == [
        "Console port 2",
        "Interface 2",
        "Rear port 2",
    ]
    assert all("Label it." in message for message in messages)
    assert told(api, device) == before


def test_the_number_of_statements_does_not_grow_with_devices(
    service: Service, hardware: Hardware, statements: Any
) -> None:
    api, numbers = service.api, []
    for count in (1, 8):
        type_ = hardware.type("1")
        for device in hardware.devices(type_, count):
            hardware.add("", {"device": device, "status": "active"}, "x", "y")
        hardware.add("-templates", {"device_type": type_}, "2")
        api.patch(hardware.templates("interfaces", type_)["1"]["url"], {"label": "L"})
        rename = {"action": "rename", "kind": "dcim.interface", "name": "x", "new_name": "2"}
        with statements() as found:
            applied(api, type_, choices=[rename])
        numbers.append(len(found))
    assert numbers[0] == numbers[1]


def test_only_what_the_user_may_write_is_written(api: Api, hardware: Hardware, make_user: Any) -> None:
    """And devices that they may not view are left."""
    type_ = hardware.type()
    one, two = hardware.devices(type_, 2)
    hardware.add("-templates", {"device_type": type_}, "1")
    viewed = ["dcim.devicetype", "dcim.interfacetemplate", "dcim.interface"]
    reader = make_user(("view", [*viewed, "dcim.device"])).api
    reader.post(f"{TYPES}{type_}/apply/", {}, status=403)
    writer = make_user(("view", viewed), ("view", "dcim.device", {"id": one}), ("add", "dcim.interface")).api
    assert actions(applied(writer, type_)) == [("interface", "1", "add")]
    assert [*hardware.components("interfaces", one)] == ["1"] and hardware.components("interfaces", two) == {}
    writer.post(f"{TYPES}{type_}/apply/", {"devices": [two]}, status=400)
    make_user(("view", "dcim.device")).api.post(f"{TYPES}{type_}/apply/", {}, status=403)
    hidden = make_user(("view", "dcim.devicetype", {"model": "other"})).api
    hidden.post(f"{TYPES}{type_}/apply/", {}, status=404)


def test_a_template_that_is_deleted_meanwhile_is_left_out(
    service: Service, hardware: Hardware, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By another transaction, after the differences are read and before the templates are."""
    api, type_ = service.api, hardware.type("1")
    device = hardware.device(type_)
    api.patch(hardware.templates("interfaces", type_)["1"]["url"], {"label": "L"})
    hardware.add("-templates", {"device_type": type_}, "2")
    read = type_plans.templates_of

    def without_interfaces(uow: Any, key: Any) -> Any:
        return {place: item for place, item in read(uow, key).items() if place[0].component.__name__ != "Interface"}

    monkeypatch.setattr(type_plans, "templates_of", without_interfaces)
    rename = {"action": "rename", "kind": "dcim.interface", "name": "1", "new_name": "2"}
    assert applied(api, type_, choices=[rename])["counts"]["add"] == len(KINDS) - 1
    assert {item["kind"] for item in told(api, device)} == {"dcim.interface"}
