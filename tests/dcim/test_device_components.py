"""Components of devices: ports of all kinds, bays with what is installed in them, and inventory items."""

from __future__ import annotations

from typing import Any

import pytest

from netinv_testing import Api
from netinv_testing.checks.query_counts import LIST

DEVICES = "/api/dcim/devices/"
BAYS = "/api/dcim/device-bays/"
ITEMS = "/api/dcim/inventory-items/"
OUTLETS = "/api/dcim/power-outlets/"
FRONT, REAR = "/api/dcim/front-ports/", "/api/dcim/rear-ports/"
KINDS = [
    "console-ports",
    "console-server-ports",
    "power-ports",
    "power-outlets",
    "interfaces",
    "front-ports",
    "rear-ports",
    "device-bays",
    "inventory-items",
]
# What some kinds ask for beside a device and a name
MORE = {
    "interfaces": {"type": "virtual", "status": "active"},
    "rear-ports": {"type": "lc", "positions": 1024},
    "front-ports": {"type": "lc"},
}


@pytest.fixture
def make_type(make: Any, unique: Any) -> Any:
    """``make_type(…)``: a device type."""
    return lambda **fields: make(
        "/api/dcim/device-types/", model=unique(), manufacturer=make("/api/dcim/manufacturers/")["id"], **fields
    )


@pytest.fixture
def make_device(make: Any, make_type: Any) -> Any:
    """``make_device(…)``: a device at a site of all such devices, of a type that houses others unless it is told."""
    kind, role, site = (
        make_type(subdevice_role="parent"),
        make("/api/dcim/device-roles/"),
        make("/api/dcim/sites/", status="active"),
    )
    common = {"device_type": kind["id"], "device_role": role["id"], "site": site["id"], "status": "active"}
    return lambda **fields: make(DEVICES, **{**common, **fields})


@pytest.fixture
def make_blade(make_type: Any, make_device: Any) -> Any:
    """``make_blade(…)``: a device of a type that is installed in others, at the site of ``make_device``."""
    kind = make_type(subdevice_role="child", u_height=0)
    return lambda **fields: make_device(device_type=kind["id"], **fields)


@pytest.fixture
def add(api: Api) -> Any:
    """``add(kind, device, ["a", "b"], …)``: components, in one request; front ports share a new rear port unless they
    are told.
    """

    def post(kind: str, device: Any, names: list[str], **fields: Any) -> Any:
        bodies = [{"device": device["id"], "name": name, **MORE.get(kind, {}), **fields} for name in names]
        if kind == "front-ports" and "rear_port" not in fields:
            (rear,) = post("rear-ports", device, [f"behind {names[0]}"])
            bodies = [
                {**body, "rear_port": rear["id"], "rear_port_position": number} for number, body in enumerate(bodies, 1)
            ]
        return api.post(f"/api/dcim/{kind}/", bodies)

    return post


def names(api: Api, path: str, **query: Any) -> list[str]:
    """The names in a list, in its order."""
    return [shown["name"] for shown in api.get(path, {"limit": 0, **query})["results"]]


@pytest.mark.parametrize("kind", KINDS)
def test_components_are_found_by_their_device_and_sort_naturally(
    kind: str, api: Api, make_device: Any, add: Any
) -> None:
    device, other = make_device(), make_device()
    add(kind, other, ["p1"])
    (labelled,) = add(kind, device, ["p10"], label="ten")
    add(kind, device, ["p2"])
    assert labelled["display"] == "p10 (ten)"
    for query in ({"device": device["name"]}, {"device_id": device["id"]}):
        assert [name for name in names(api, f"/api/dcim/{kind}/", **query) if name.startswith("p")] == ["p2", "p10"]
    assert names(api, f"/api/dcim/{kind}/", device=device["name"], q="TEN") == (
        ["p10"] if kind != "inventory-items" else []
    )
    assert "p1" in names(api, f"/api/dcim/{kind}/", site=other["site"]["slug"])


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "inventory-items"])
def test_a_device_has_one_component_of_a_kind_by_a_name(kind: str, api: Api, make_device: Any, add: Any) -> None:
    device = make_device()
    add(kind, device, ["a"])
    rear = {"rear_port": add("rear-ports", device, ["r"])[0]["id"]} if kind == "front-ports" else {}
    error = api.post(
        f"/api/dcim/{kind}/", {"device": device["id"], "name": "a", **MORE.get(kind, {}), **rear}, status=400
    )
    assert error == {"non_field_errors": ["The fields device, name must make a unique set."]}


@pytest.mark.parametrize("kind", KINDS)
def test_a_device_goes_with_its_components_and_each_is_recorded(
    kind: str, api: Api, make_device: Any, add: Any
) -> None:
    device = make_device()
    made = add(kind, device, ["a", "b"])
    api.delete(device["url"])
    for shown in made:
        api.get(shown["url"], status=404)
        (change,) = api.get("/api/extras/object-changes/", {"changed_object_id": shown["id"], "action": "delete"})[
            "results"
        ]
        assert change["object_data"]["name"] == shown["name"]


@pytest.mark.parametrize("kind", KINDS)
def test_a_thousand_components_take_as_many_statements_as_one(
    kind: str, make_device: Any, add: Any, statements: Any
) -> None:
    device = make_device()
    with statements() as for_one:
        add(kind, device, ["a"])
    with statements() as for_many:
        add(kind, device, [f"b{number}" for number in range(1000)])
    assert len(for_many) == len(for_one), "\n".join(for_many)


def test_devices_are_found_by_what_components_they_have(api: Api, make_device: Any, add: Any) -> None:
    device, without = make_device(), make_device()
    for kind in KINDS:
        add(kind, device, ["a"])

    def found(**query: Any) -> list[str]:
        return [shown["id"] for shown in api.get(DEVICES, {"id": [device["id"], without["id"]], **query})["results"]]

    words = [kind.replace("-", "_") for kind in KINDS]
    whether = [
        "console_ports",
        "console_server_ports",
        "power_ports",
        "power_outlets",
        "interfaces",
        "pass_through_ports",
        "device_bays",
    ]
    for parameter in [*whether, *[f"has_{word}" for word in words]]:
        assert found(**{parameter: "true"}) == [device["id"]], parameter
        assert found(**{parameter: "false"}) == [without["id"]], parameter


# -- interfaces


def test_an_interface_with_a_cable_has_a_socket(api: Api, make_device: Any, add: Any) -> None:
    device = make_device()
    wired, other = add("interfaces", device, ["eth0", "eth1"], type="1000base-t")
    (lag,) = add("interfaces", device, ["ae0"], type="lag")

    def ends(one: Any, two: Any) -> dict[str, str]:
        named = {"a": one, "b": two}
        types = {f"termination_{side}_type": "dcim.interface" for side in named}
        return {
            **types,
            **{f"termination_{side}_id": shown["id"] for side, shown in named.items()},
            "status": "connected",
        }

    no_socket = "Cables cannot be terminated to Link Aggregation Group (LAG) interfaces"
    assert api.post("/api/dcim/cables/", ends(wired, lag), status=400) == {"termination_b_id": [no_socket]}
    api.post("/api/dcim/cables/", ends(wired, other))
    reason = "Virtual and wireless interfaces cannot be connected to another interface or circuit. Disconnect the interface or choose a suitable type."
    for kind in ("virtual", "lag", "ieee802.11ac"):
        assert api.patch(wired["url"], {"type": kind}, status=400) == {"type": [reason]}
    assert api.patch(wired["url"], {"type": "10gbase-t"})["type"]["value"] == "10gbase-t"


# -- power


def test_no_more_power_is_allocated_than_a_port_draws_at_most(api: Api, make_device: Any, add: Any) -> None:
    device = make_device()
    (port,) = add("power-ports", device, ["psu"], maximum_draw=100, allocated_draw=100)
    assert api.patch(port["url"], {"allocated_draw": 101}, status=400) == {
        "allocated_draw": ["Allocated draw cannot exceed the maximum draw (100W)."]
    }
    assert api.patch(port["url"], {"maximum_draw": None, "allocated_draw": 101})["allocated_draw"] == 101


def test_an_outlet_is_fed_by_a_port_of_its_device(api: Api, make_device: Any, add: Any) -> None:
    device, other = make_device(), make_device()
    (inlet,) = add("power-ports", device, ["inlet"], label="A")
    (outlet,) = add("power-outlets", device, ["out"], power_port=inlet["id"], feed_leg="B")
    assert (outlet["power_port"]["display"], outlet["feed_leg"]) == ("inlet (A)", {"value": "B", "label": "B"})
    refused = {"__all__": ["Parent power port (inlet (A)) must belong to the same device"]}
    assert api.patch(outlet["url"], {"device": other["id"]}, status=400) == refused
    assert api.post(OUTLETS, {"device": other["id"], "name": "out", "power_port": inlet["id"]}, status=400) == refused
    assert names(api, "/api/dcim/power-ports/", power_outlets=outlet["id"]) == ["inlet"]
    api.delete(inlet["url"])
    assert api.get(outlet["url"])["power_port"] is None


# -- front and rear ports


def test_a_front_port_leads_to_a_position_of_a_rear_port_of_its_device(api: Api, make_device: Any, add: Any) -> None:
    device, other = make_device(), make_device()
    (rear,) = add("rear-ports", device, ["rear"], label="R", positions=2)
    (front,) = add("front-ports", device, ["front"], rear_port=rear["id"], rear_port_position=2)
    assert front["rear_port"] == {
        name: rear[name] for name in ("display", "id", "url", "name", "label", "created", "last_updated")
    }
    body = {"name": "another", "type": "lc", "rear_port": rear["id"]}

    def refused(**fields: Any) -> Any:
        return api.post(FRONT, {**body, **fields}, status=400)

    assert refused(device=other["id"]) == {"rear_port": ["Rear port (rear (R)) must belong to the same device"]}
    too_high = "Invalid rear port position (3): Rear port rear has only 2 positions"
    assert refused(device=device["id"], rear_port_position=3) == {"rear_port_position": [too_high]}
    taken = "The fields rear_port, rear_port_position must make a unique set."
    assert refused(device=device["id"], rear_port_position=2) == {"non_field_errors": [taken]}


def test_a_rear_port_keeps_positions_for_its_front_ports_and_takes_them_along(
    api: Api, make_device: Any, add: Any
) -> None:
    device = make_device()
    (rear,) = add("rear-ports", device, ["rear"], positions=3)
    fronts = [add("front-ports", device, [f"f{n}"], rear_port=rear["id"], rear_port_position=n)[0] for n in (1, 2)]
    fewer = "The number of positions cannot be less than the number of mapped front ports (2)"
    assert api.patch(rear["url"], {"positions": 1}, status=400) == {"positions": [fewer]}
    assert api.patch(rear["url"], {"positions": 2})["positions"] == 2
    api.delete(rear["url"])
    assert [api.send("GET", front["url"]).status_int for front in fronts] == [404, 404]


# -- device bays


def test_only_devices_that_house_others_have_bays(api: Api, make_device: Any, make_type: Any, add: Any) -> None:
    kind = make_type()
    plain = make_device(device_type=kind["id"])
    refused = {"__all__": [f"This type of device ({kind['model']}) does not support device bays."]}
    assert api.post(BAYS, {"device": plain["id"], "name": "bay"}, status=400) == refused
    (bay,) = add("device-bays", make_device(), ["bay"])
    assert api.patch(bay["url"], {"device": plain["id"]}, status=400) == refused


def test_a_device_is_installed_in_one_bay_and_not_in_its_own(
    api: Api, make_device: Any, make_blade: Any, add: Any
) -> None:
    chassis, blade = make_device(), make_blade()
    one, other = add("device-bays", chassis, ["1", "2"], label="B")
    assert api.patch(one["url"], {"installed_device": chassis["id"]}, status=400) == {
        "__all__": ["Cannot install a device into itself."]
    }
    api.patch(one["url"], {"installed_device": blade["id"]})
    already = {"installed_device": ["Cannot install the specified device; device is already installed in 1 (B)"]}
    assert api.patch(other["url"], {"installed_device": blade["id"]}, status=400) == already
    moved = [{"id": one["id"], "installed_device": None}, {"id": other["id"], "installed_device": blade["id"]}]
    assert [shown["installed_device"] and shown["installed_device"]["id"] for shown in api.patch(BAYS, moved)] == [
        None,
        blade["id"],
    ]
    second = make_blade()["id"]
    api.post(BAYS, [{"device": chassis["id"], "name": name, "installed_device": second} for name in "ab"], status=400)


def test_a_device_shows_what_it_is_installed_in(api: Api, make_device: Any, make_blade: Any, add: Any) -> None:
    chassis, blade = make_device(), make_blade()
    assert blade["parent_device"] is None
    (bay,) = add("device-bays", chassis, ["1"], installed_device=blade["id"])
    brief = {path: api.get(path, {"brief": 1}) for path in (chassis["url"], bay["url"])}
    assert api.get(blade["url"])["parent_device"] == {**brief[chassis["url"]], "device_bay": brief[bay["url"]]}
    api.delete(blade["url"])
    assert api.get(bay["url"])["installed_device"] is None


def test_a_list_of_installed_devices_is_within_its_budget(
    api: Api, make_device: Any, make_blade: Any, add: Any, statements: Any
) -> None:
    chassis = make_device()
    blades = [make_blade() for _ in range(20)]
    for number, blade in enumerate(blades):
        add("device-bays", chassis, [str(number)], installed_device=blade["id"])
    with statements() as found:
        shown = api.get(DEVICES, {"id": [blade["id"] for blade in blades]})["results"]
    assert {device["parent_device"]["name"] for device in shown} == {chassis["name"]}
    assert len(found) <= LIST, "\n".join(found)


def test_an_installed_device_goes_where_its_device_goes(
    api: Api, make: Any, make_device: Any, make_blade: Any, add: Any
) -> None:
    site = make("/api/dcim/sites/", status="active")["id"]
    rack = make("/api/dcim/racks/", status="active", site=site)["id"]
    chassis, blades = make_device(), [make_blade() for _ in range(2)]
    for number, blade in enumerate(blades):
        add("device-bays", chassis, [str(number)], installed_device=blade["id"])
    api.patch(chassis["url"], {"site": site, "rack": rack})
    for device in blades:
        shown = api.get(device["url"])
        assert (shown["site"]["id"], shown["rack"]["id"]) == (site, rack)
        (change, *_) = api.get("/api/extras/object-changes/", {"changed_object_id": device["id"]})["results"]
        assert change["action"]["value"] == "update"


def test_what_is_mounted_by_itself_is_not_installed(api: Api, make: Any, make_device: Any, add: Any) -> None:
    rack = make("/api/dcim/racks/", status="active", site=make_device()["site"]["id"])["id"]
    mounted = make_device(rack=rack, position=1, face="front")
    (bay,) = add("device-bays", make_device(), ["1"])
    [message] = api.patch(bay["url"], {"installed_device": mounted["id"]}, status=400)["installed_device"]
    assert message.endswith("is not a child device type.")


def test_an_installed_device_moves_with_the_rack_around_it(
    api: Api, make: Any, make_device: Any, make_blade: Any, add: Any
) -> None:
    blade = make_blade()
    rack = make("/api/dcim/racks/", status="active", site=blade["site"]["id"])
    add("device-bays", make_device(rack=rack["id"]), ["1"], installed_device=blade["id"])
    site = make("/api/dcim/sites/", status="active")["id"]
    api.patch(rack["url"], {"site": site})
    assert api.get(blade["url"])["site"]["id"] == site


# -- inventory items


def test_items_nest_below_each_other_and_go_together(api: Api, make_device: Any, add: Any) -> None:
    device = make_device()
    (card,) = add("inventory-items", device, ["card"])
    (optic,) = add("inventory-items", device, ["optic"], parent=card["id"])
    assert (card["_depth"], optic["_depth"], optic["parent"]) == (0, 1, card["id"])
    assert api.patch(card["url"], {"parent": optic["id"]}, status=400) == {
        "__all__": ["A node cannot be made a descendant of itself."]
    }
    twice = {"device": device["id"], "name": "optic", "parent": card["id"]}
    assert api.post(ITEMS, twice, status=400) == {
        "non_field_errors": ["The fields device, parent, name must make a unique set."]
    }
    assert names(api, ITEMS, device=device["name"], has_child_items="true") == ["card"]
    api.delete(card["url"])
    api.get(optic["url"], status=404)


def test_items_are_listed_tree_by_tree_also_where_devices_have_the_same(api: Api, make_device: Any, add: Any) -> None:
    site = make_device()["site"]["slug"]
    for device in (make_device(), make_device()):
        fans = add("inventory-items", device, ["fan 10", "fan 2", "fan 2"])
        for number, fan in enumerate(fans):
            add("inventory-items", device, [f"blade of {number}"], parent=fan["id"])
    found = names(api, ITEMS, site=site)
    for of_one in (found[:6], found[6:]):
        assert of_one[::2] == ["fan 2", "fan 2", "fan 10"]
        assert (of_one[5], {of_one[1], of_one[3]}) == ("blade of 0", {"blade of 1", "blade of 2"})


def test_groups_of_one_name_at_two_sites_count_what_is_their_own(api: Api, make: Any) -> None:
    sites = [make("/api/dcim/sites/", status="active")["id"] for _ in "ab"]
    groups = [make("/api/dcim/rack-groups/", name="Row 1", site=site) for site in sites]
    for count, site, group in zip((1, 2), sites, groups, strict=True):
        for _ in range(count):
            make("/api/dcim/racks/", status="active", site=site, group=group["id"])
    assert [api.get(group["url"])["rack_count"] for group in groups] == [1, 2]


def test_a_manufacturer_counts_its_items_and_stays_while_there_are_any(
    api: Api, make: Any, make_device: Any, add: Any
) -> None:
    maker = make("/api/dcim/manufacturers/")
    (item,) = add("inventory-items", make_device(), ["fan"], manufacturer=maker["id"], asset_tag="")
    assert item["asset_tag"] is None
    assert api.get(maker["url"])["inventoryitem_count"] == 1
    api.delete(maker["url"], status=409)


def test_an_unknown_device_is_a_bad_choice(api: Api) -> None:
    single = {"device": ["Select a valid choice. That choice is not one of the available choices."]}
    assert api.get(ITEMS, {"device": "nowhere"}, status=400) == single
    assert api.get(OUTLETS, {"device": "nowhere"}, status=400) == {
        "device": ["Select a valid choice. nowhere is not one of the available choices."]
    }
