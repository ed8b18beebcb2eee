"""Differences between devices and their types: the action, the filter and the pages, and who is told of them."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest

from netinv_dcim.components.differences import counts, differences
from netinv_testing import Account, Api, Service, Unique
from netinv_testing.client import PASSWORD
from netinv_web.testing import Browser
from tests.support.typed_devices import (
    CHANGES,
    DEVICES,
    KINDS,
    LABELS,
    TEMPLATE_LABELS,
    Hardware,
    told,
)

MakeUser = Callable[..., Account]


@pytest.fixture
def hardware(api: Api, unique: Unique) -> Hardware:
    """Device types and devices."""
    return Hardware(api, unique)


def short(api: Api, device: str) -> list[tuple[str, str, str]]:
    """The kind, name and state of each difference of a device."""
    return [(item["kind"], item["name"], item["state"]) for item in told(api, device)]


def differing(api: Api, devices: list[str], value: str = "true") -> set[str]:
    """Those of the devices that the filter finds."""
    found = api.get(DEVICES, {"id": devices, "differs_from_type": value, "limit": 0})["results"]
    return {item["id"] for item in found}


def test_a_new_device_is_as_its_type(api: Api, hardware: Hardware) -> None:
    devices = [hardware.device(hardware.type("1", "2")), hardware.device(hardware.type())]
    assert [told(api, device) for device in devices] == [[], []]
    assert differing(api, devices) == set() and differing(api, devices, "false") == set(devices)


@pytest.mark.parametrize(("kind", "field", "value", "of_type", "of_device"), CHANGES)
def test_a_component_that_is_not_as_its_template(
    api: Api, hardware: Hardware, kind: str, field: str, value: Any, of_type: Any, of_device: Any
) -> None:
    """With the values of both, and of references the names."""
    type_ = hardware.type("1", "2")
    device, other = hardware.devices(type_, 2)
    changed = hardware.change(device, kind, field, value)
    (found,) = [item for item in told(api, device) if item["state"] == "different"]
    assert found.pop("fields").pop(field) == {"type": of_type, "device": of_device}
    template = hardware.templates(kind, type_)["1"]
    assert found == {
        "kind": KINDS[kind][0],
        "name": "1",
        "state": "different",
        "template_id": template["id"],
        "component_id": changed["id"],
    }
    assert differing(api, [device, other]) == {device}


@pytest.mark.parametrize("kind", KINDS)
def test_missing_and_additional_components(api: Api, hardware: Hardware, kind: str) -> None:
    """In the order of their names; a renamed one is both."""
    label, needed = KINDS[kind]
    type_ = hardware.type("1", "2", "10")
    lacking, having, renamed, other = devices = hardware.devices(type_, 4)
    template = hardware.templates(kind, type_)["10"]
    for device in (lacking, renamed):
        component = hardware.components(kind, device)["10"]
        if device == lacking:
            api.delete(component["url"])
        else:
            api.patch(component["url"], {"name": "3"})
    reference = {"rear_port": hardware.components("rear-ports", having)["1"]["id"], "rear_port_position": 2}
    body = {"device": having, "name": "new", **needed, **(reference if kind == "front-ports" else {})}
    status = {"status": "active"} if kind == "interfaces" else {}
    made = api.post(f"/api/dcim/{kind}/", body | status)
    (missing,) = [item for item in told(api, lacking) if item["kind"] == label]
    assert missing == {
        "kind": label,
        "name": "10",
        "state": "missing",
        "fields": {},
        "template_id": template["id"],
        "component_id": None,
    }
    (additional,) = told(api, having)
    assert additional == {
        **missing,
        "name": "new",
        "state": "additional",
        "template_id": None,
        "component_id": made["id"],
    }
    found = [item for item in short(api, renamed) if item[0] == label]
    assert found == [(label, "3", "additional"), (label, "10", "missing")]
    assert differing(api, devices) == {lacking, having, renamed}
    assert differing(api, devices, "false") == {other}


def test_what_goes_with_a_deleted_component_differs_too(api: Api, hardware: Hardware) -> None:
    device = hardware.device(hardware.type("1"))
    for kind in ("power-ports", "rear-ports"):
        api.delete(hardware.components(kind, device)["1"]["url"])
    assert short(api, device) == [
        ("dcim.powerport", "1", "missing"),
        ("dcim.poweroutlet", "1", "different"),
        ("dcim.rearport", "1", "missing"),
        ("dcim.frontport", "1", "missing"),
    ]
    assert told(api, device)[1]["fields"] == {"power_port": {"type": "1", "device": None}}


def test_what_is_of_the_device_alone_is_no_difference(api: Api, hardware: Hardware) -> None:
    """Descriptions, states and addresses, virtual interfaces, and parts without templates."""
    device = hardware.device(hardware.type("1"))
    for type_ in ("virtual", "bridge", "lag"):
        api.post("/api/dcim/interfaces/", {"device": device, "name": type_, "type": type_, "status": "active"})
    own = {"description": "to the roof", "enabled": False, "mtu": 9000, "mac_address": "00:11:22:33:44:55"}
    api.patch(hardware.components("interfaces", device)["1"]["url"], own)
    api.post("/api/dcim/inventory-items/", {"device": device, "name": "fan"})
    assert told(api, device) == [] and differing(api, [device]) == set()


def test_differences_follow_the_templates_and_the_type_of_the_device(api: Api, hardware: Hardware) -> None:
    type_, other = hardware.type("1"), hardware.type("2")
    device = hardware.device(type_)
    api.patch(hardware.templates("interfaces", type_)["1"]["url"], {"name": "9"})
    assert short(api, device) == [("dcim.interface", "1", "additional"), ("dcim.interface", "9", "missing")]
    api.patch(f"{DEVICES}{device}/", {"device_type": other})
    assert sorted(short(api, device)) == sorted(
        (label, name, state) for label in LABELS for name, state in (("1", "additional"), ("2", "missing"))
    )


def test_names_are_compared_by_each_character(api: Api, hardware: Hardware) -> None:
    """By case, accents and blanks, as names are unique."""
    type_ = hardware.type("Eth 1", "é")
    device = hardware.device(type_)
    for name, changed in (("Eth 1", "eth 1"), ("é", "e\u0301")):
        api.patch(hardware.components("interfaces", device)[name]["url"], {"name": changed})
    states = {state for _, _, state in short(api, device)}
    assert len(told(api, device)) == 4 and states == {"missing", "additional"}


def test_differing_devices_are_found_in_nested_lists(api: Api, hardware: Hardware) -> None:
    """Those of GraphQL, and by the filters of a dynamic group."""
    one = hardware.devices(hardware.type("1"), 2)[0]
    api.delete(hardware.components("interfaces", one)["1"]["url"])
    site = hardware.place["site"]
    query = f'{{ site(id: "{site}") {{ devices(differs_from_type: true) {{ id }} }} }}'
    answer = api.post("/api/graphql/", {"query": query}, status=200)
    assert answer["data"]["site"]["devices"] == [{"id": one}]
    name = hardware.unique()
    body = {"name": name, "slug": name, "content_type": "dcim.device"}
    group = api.post("/api/extras/dynamic-groups/", {**body, "filter": {"differs_from_type": True, "site_id": [site]}})
    assert [item["id"] for item in api.get(f"{group['url']}members/")["results"]] == [one]


def test_a_filter_takes_a_boolean(api: Api, hardware: Hardware) -> None:
    api.get(DEVICES, {"differs_from_type": "perhaps"}, status=400)
    api.get(f"{DEVICES}00000000-0000-4000-8000-000000000000/type-differences/", status=404)
    device = hardware.device(hardware.type("1"))
    api.delete(hardware.components("interfaces", device)["1"]["url"])
    assert api.get(DEVICES, {"id": device, "differs_from_type__n": "true"})["count"] == 0
    assert api.get(DEVICES, {"id": device, "differs_from_type": ["true", "true"]})["count"] == 1


# -- a random inventory, compared with what Python finds


def value_of(item: Any, field: str) -> Any:
    value = item[field]
    if isinstance(value, dict):
        return value["value"] if "value" in value else value["name"]
    return "" if value is None and field in ("type", "feed_leg") else value


def compared(hardware: Hardware, type_: str, device: str) -> set[tuple[str, str, str, str]]:
    """The kind, name, state and fields of what differs, by the lists of templates and components."""
    found: set[tuple[str, str, str, str]] = set()
    for kind, (label, _) in KINDS.items():
        templates, components = hardware.templates(kind, type_), hardware.components(kind, device)
        for name in templates.keys() | components.keys():
            sides = templates.get(name), components.get(name)
            if sides[0] is None or sides[1] is None:
                found.add((label, name, "missing" if sides[1] is None else "additional", ""))
                continue
            names = {field for _, field, *_ in CHANGES} & sides[0].keys()
            unlike = [field for field in sorted(names) if value_of(sides[0], field) != value_of(sides[1], field)]
            if unlike:
                found.add((label, name, "different", ",".join(unlike)))
    return found


def shuffled(hardware: Hardware, device: str, chance: random.Random) -> None:
    """Deletes, renames, changes and adds components of a device at random."""
    api = hardware.api
    for kind, field, value, *_ in chance.sample(CHANGES, 3):
        components = [*hardware.components(kind, device).values()]
        if not components or field in ("rear_port", "power_port", "rear_port_position", "allocated_draw"):
            continue
        api.patch(chance.choice(components)["url"], {field: value})
    for kind in chance.sample([*KINDS], 2):
        components = [*hardware.components(kind, device).values()]
        if components and chance.random() < 0.5:
            api.delete(chance.choice(components)["url"])
        elif components:
            api.patch(chance.choice(components)["url"], {"name": chance.choice(["1", "7", "x"])}, status=(200, 400))
    outlets, ports = (hardware.components(kind, device) for kind in ("power-outlets", "power-ports"))
    if outlets and ports and chance.random() < 0.5:
        chosen = chance.choice([*ports.values()])["id"]
        api.patch(chance.choice([*outlets.values()])["url"], {"power_port": chosen})


def test_the_filter_the_counts_and_the_action_agree_on_a_random_inventory(service: Service, hardware: Hardware) -> None:
    chance, api = random.Random(4), service.api
    types = [hardware.type("1", "2", "3"), hardware.type("2", "3"), hardware.type()]
    placed = {device: type_ for type_ in types for device in hardware.devices(type_, 5)}
    for device in [*placed][::2]:
        shuffled(hardware, device, chance)
    for device in [*placed][1::5]:
        placed[device] = chance.choice(types)
        api.patch(f"{DEVICES}{device}/", {"device_type": placed[device]})
    wanted = {device: compared(hardware, type_, device) for device, type_ in placed.items()}
    for device, found in wanted.items():
        shown = told(api, device)
        assert {
            (item["kind"], item["name"], item["state"], ",".join(sorted(item["fields"]))) for item in shown
        } == found
    assert {device for device, found in wanted.items() if found} == differing(api, [*placed])
    assert {device for device, found in wanted.items() if not found} == differing(api, [*placed], "false")
    with service.unit_of_work() as uow:
        keys = [uow.registry["dcim.device"].parse_key(device) for device in placed]
        numbers, batch = counts(uow, keys), differences(uow, keys)
    assert {str(key): number for key, number in numbers.items()} == {
        device: len(found) for device, found in wanted.items() if found
    }
    assert {str(key): len(items) for key, items in batch.items()} == {str(key): n for key, n in numbers.items()}


def test_the_number_of_statements_does_not_grow_with_devices(
    service: Service, hardware: Hardware, statements: Any
) -> None:
    api, type_ = service.api, hardware.type("1", "2")
    devices = hardware.devices(type_, 20)
    api.patch(f"{DEVICES}{devices[0]}/", {"serial": "1"})
    api.patch(hardware.templates("interfaces", type_)["1"]["url"], {"name": "9"})
    lengths = []
    for keys in (devices[:1], devices):
        with statements() as found:
            assert api.get(DEVICES, {"id": keys, "differs_from_type": "true"})["count"] == len(keys)
        lengths.append(len(found))
    assert lengths[0] == lengths[1]
    with statements() as plain:
        api.get(DEVICES, {"id": devices, "has_primary_ip": "false"})
    assert lengths[1] == len(plain)
    with service.unit_of_work() as uow:
        keys = [uow.registry["dcim.device"].parse_key(device) for device in devices]
        differences(uow, keys[:1])
        for function in (differences, counts):
            with statements() as found:
                assert len(function(uow, keys)) == len(keys)
            assert len(found) == 1
        assert differences(uow, []) == counts(uow, []) == {}


# -- permissions


def reader(make_user: MakeUser, *without: str) -> Api:
    """A user who may view devices, their types, and all components and templates but some."""
    labels = ["dcim.device", "dcim.devicetype", *LABELS, *TEMPLATE_LABELS]
    return make_user(("view", [label for label in labels if label not in without])).api


def test_components_and_templates_that_a_user_may_not_view_are_not_told(
    api: Api, hardware: Hardware, make_user: MakeUser
) -> None:
    type_ = hardware.type("1")
    device = hardware.device(type_)
    api.delete(hardware.components("interfaces", device)["1"]["url"])
    api.delete(hardware.components("console-ports", device)["1"]["url"])
    both = [("dcim.consoleport", "1", "missing"), ("dcim.interface", "1", "missing")]
    assert short(reader(make_user), device) == both
    for hidden in ("dcim.interface", "dcim.interfacetemplate"):
        assert short(reader(make_user, hidden), device) == both[:1]
        without = reader(make_user, hidden, "dcim.consoleporttemplate")
        assert told(without, device) == [] and differing(without, [device]) == set()
        assert differing(without, [device], "false") == {device}
    for alone in (make_user(("view", "dcim.device")).api, reader(make_user, "dcim.devicetype")):
        assert told(alone, device) == [] and differing(alone, [device]) == set()
    api.get(f"{DEVICES}{device}/type-differences/", token=None, status=(401, 403))
    reader(make_user, "dcim.device").get(f"{DEVICES}{device}/type-differences/", status=403)


@pytest.fixture
def limited(service: Service, make_user: MakeUser) -> Callable[..., Api]:
    """``limited("dcim.interface", {…})``: a user who may view these objects of one content type, and all others."""

    def make(label: str, constraints: dict[str, Any]) -> Api:
        labels = ["dcim.device", "dcim.devicetype", *LABELS, *TEMPLATE_LABELS]
        others = [other for other in labels if other != label]
        return make_user(("view", others), ("view", label, constraints)).api

    return make


def test_a_difference_with_a_hidden_side_is_not_told(api: Api, hardware: Hardware, limited: Callable[..., Api]) -> None:
    """Neither as what is different, nor as what is missing or additional."""
    type_ = hardware.type("1", "2")
    device = hardware.device(type_)
    changed = hardware.components("interfaces", device)["1"]
    api.patch(changed["url"], {"type": "virtual"})
    for label, key in (
        ("dcim.interface", changed["id"]),
        ("dcim.interfacetemplate", hardware.templates("interfaces", type_)["1"]["id"]),
        ("dcim.devicetype", type_),
    ):
        sees, blind = limited(label, {"id": key}), limited(label, {"id": device})
        assert short(sees, device) == [("dcim.interface", "1", "different")]
        assert differing(sees, [device]) == {device}
        assert told(blind, device) == [] and differing(blind, [device]) == set()
    for constraints, sees_it in (({"device__id": device}, True), ({"lag__isnull": False}, False)):
        sees = limited("dcim.interface", constraints)
        assert bool(told(sees, device)) == sees_it and differing(sees, [device]) == ({device} if sees_it else set())
    limited("dcim.device", {"id": type_}).get(f"{DEVICES}{device}/type-differences/", status=404)


@pytest.mark.parametrize(
    ("kind", "field", "of"),
    [("front-ports", "rear_port", "rear-ports"), ("power-outlets", "power_port", "power-ports")],
)
def test_a_reference_to_what_is_hidden_is_not_compared(
    api: Api, hardware: Hardware, limited: Callable[..., Api], kind: str, field: str, of: str
) -> None:
    type_ = hardware.type("1", "2")
    device = hardware.device(type_)
    one, other = (hardware.components(of, device)[name] for name in ("1", "2"))
    if kind == "front-ports":
        api.delete(hardware.components(kind, device)["2"]["url"])
    api.patch(hardware.components(kind, device)["1"]["url"], {field: other["id"]})
    label = KINDS[of][0]
    template = hardware.templates(of, type_)["2"]["id"]
    sees = limited(label, {"id": other["id"]})
    (found,) = [item for item in told(sees, device) if item["state"] == "different"]
    assert found["fields"] == {field: {"type": "1", "device": "2"}}
    for blind in (limited(label, {"id": one["id"]}), limited(f"{label}template", {"id": template})):
        assert [item for item in told(blind, device) if item["state"] == "different"] == []
        assert bool(told(blind, device)) == bool(differing(blind, [device]))


# -- pages


def panel(browser: Browser, path: str) -> Any:
    """The panel of a device or a device type with what a script loads after the page; ``None`` without one."""
    return browser.get(f"{path}?_show=all").html.select_one("#panel-type-differences")


def words(part: Any) -> str:
    return " ".join(part.get_text(" ").split()).replace(" ,", ",").replace(" .", ".").replace(" ;", ";")


def test_a_device_shows_where_it_differs(browser: Browser, api: Api, hardware: Hardware) -> None:
    device = hardware.device(hardware.type("1", "2"))
    path = f"/dcim/devices/{device}/"
    assert panel(browser, path) is None
    interfaces = hardware.components("interfaces", device)
    api.patch(interfaces["1"]["url"], {"type": "10gbase-t", "label": "<b>", "mgmt_only": True})
    api.delete(interfaces["2"]["url"])
    made = api.post("/api/dcim/console-ports/", {"device": device, "name": "<i>"})
    shown = panel(browser, path)
    name = api.get(f"{DEVICES}{device}/")["device_type"]["display"]
    assert words(shown.p) == f"3 differences from {name} : 1 missing, 1 additional, 1 different. Make it like its type"
    rows = [[words(cell) for cell in row.select("th, td")] for row in shown.select("tbody tr")]
    of_type, of_device = "1000BASE-T (1GE)", "10GBASE-T (10GE)"
    changed = f"Label: – → <b>; Type: {of_type} → {of_device}; Management only: No → Yes"
    assert rows == [
        ["<i>", "Console port", "Additional", "–"],
        ["1", "Interface", "Different", changed],
        ["2", "Interface", "Missing", "–"],
    ]
    links = [link["href"] for link in shown.select("tbody a")]
    assert links[:2] == [f"/dcim/console-ports/{made['id']}/", f"/dcim/interfaces/{interfaces['1']['id']}/"]
    for address in links:
        browser.get(address, status=200)


def test_a_type_says_how_many_of_its_devices_differ(browser: Browser, api: Api, hardware: Hardware) -> None:
    type_ = hardware.type("1")
    devices, path = hardware.devices(type_, 3), f"/dcim/device-types/{type_}/"
    assert panel(browser, path) is None
    for number, device in enumerate(devices[:2], 1):
        api.delete(hardware.components("interfaces", device)["1"]["url"])
        shown = panel(browser, path)
        said = "1 device differs" if number == 1 else "2 devices differ"
        offer = "Apply the type to " + ("it" if number == 1 else "them")
        assert words(shown) == f"Devices that differ {said} from this type. {offer}"
    rows = browser.get(shown.a["href"]).html.select("table.list tbody tr th a")
    assert {row["href"].split("/")[-2] for row in rows} == set(devices[:2])


def test_a_list_of_devices_has_a_column_on_demand(
    browser: Browser, api: Api, hardware: Hardware, statements: Any
) -> None:
    type_ = hardware.type("1")
    devices = hardware.devices(type_, 3)
    for kind in ("interfaces", "power-outlets"):
        api.delete(hardware.components(kind, devices[0])["1"]["url"])
    query = {"device_type_id": type_}
    assert "Differs from type" not in words(browser.get("/dcim/devices/", query).html.select_one("table.list thead"))
    with statements() as plain:
        browser.get("/dcim/devices/", {**query, "_columns": "status"})
    with statements() as found:
        page = browser.get("/dcim/devices/", {**query, "_columns": "status,differs"}).html
    assert len(found) == len(plain) + 1
    rows = {row.th.a["href"].split("/")[-2]: row for row in page.select("table.list tbody tr")}
    texts = {key: [found.get_text() for found in row.select("a[href*=differences]")] for key, row in rows.items()}
    assert texts == {devices[0]: ["2"], devices[1]: [], devices[2]: []}


def test_pages_tell_no_more_than_the_reader_may_view(
    service: Service, api: Api, hardware: Hardware, make_user: MakeUser
) -> None:
    type_ = hardware.type("1")
    device = hardware.device(type_)
    api.delete(hardware.components("interfaces", device)["1"]["url"])
    paths = [f"/dcim/devices/{device}/", f"/dcim/device-types/{type_}/"]
    labels = ["dcim.device", "dcim.devicetype", "dcim.interface"]
    for more, told_of in (("dcim.interfacetemplate", True), ("dcim.consoleport", False)):
        user = make_user(("view", [*labels, more]), password=PASSWORD)
        assert [panel(Browser(service, user), path) is not None for path in paths] == [told_of, told_of]
    types_only = make_user(("view", "dcim.devicetype"), password=PASSWORD)
    assert panel(Browser(service, types_only), paths[1]) is None
