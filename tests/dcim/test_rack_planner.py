"""The planner of racks: moves collected in the address of the page of elevations, tried, and applied at once."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from typing import Any

import pytest

from netinv_dcim.web import rack_plan
from netinv_testing import Account, Api, Service
from netinv_testing.client import PASSWORD
from netinv_web.testing import Browser
from tests.support.racks import Room

MAX_STATEMENTS = 60
NOBODY = "00000000-0000-4000-8000-000000000000"


@pytest.fixture
def room(api: Api, make: Any, unique: Any) -> Room:
    return Room(api, make, unique)


def move(device: Any, rack: Any, unit: int | None = None, face: str = "front") -> str:
    """The parameter of a move."""
    place = f":{unit}:{face}" if unit else ""
    return f"&_move={device['id']}:{rack['id']}{place}"


def placed(api: Api, device: Any) -> tuple[Any, Any, Any]:
    """The rack, unit and face of a device."""
    shown = api.get(f"/api/dcim/devices/{device['id']}/")
    return shown["rack"]["id"], shown["position"], (shown["face"] or {}).get("value")


def apply(page: Any) -> Any:
    """Sends the form that applies a plan, and returns the page that it leads to."""
    return page.form(page.html.select_one(".plan form[method=post]")["action"]).submit(status=303).follow()


def drawn(page: Any) -> dict[str, int]:
    """The lowest units of the devices that are drawn, by id."""
    return {link["data-device"]: int(link["data-unit"]) for link in page.html.select(".rack [data-unit]")}


def test_a_plan_shows_racks_as_they_would_be_and_changes_nothing(browser: Browser, api: Api, room: Room) -> None:
    first, second = room.rack(), room.rack()
    device, other = room.device(first, 3), room.device(first, 5)
    page = browser.get(f"{room.path}{move(device, second, 7)}", status=200)
    assert drawn(page) == {device["id"]: 7, other["id"]: 5}
    line = page.html.select_one(".plan li").text
    assert f"{first['display']} U3 front" in line and f"{second['display']} U7 front" in line
    assert placed(api, device) == (first["id"], 3, "front")


def test_applying_makes_all_moves_with_one_undo(browser: Browser, api: Api, room: Room) -> None:
    first, second = room.rack(), room.rack()
    one, two = room.device(first, 1), room.device(second, 2)
    page = browser.get(f"{room.path}{move(one, second, 2)}{move(two, first, 1, 'rear')}")
    assert not page.html.select(".plan .field-error")
    done = apply(page)
    assert "2 devices were moved." in done.words and "_move" not in done.request.query_string
    assert placed(api, one) == (second["id"], 2, "front")
    assert placed(api, two) == (first["id"], 1, "rear")
    undo = done.html.select_one("[data-notice] form")
    browser.post(undo["action"], {item["name"]: item["value"] for item in undo.select("input")})
    assert placed(api, one) == (first["id"], 1, "front")


@pytest.mark.night
def test_a_refused_move_says_why_and_the_others_are_shown(browser: Browser, api: Api, room: Room) -> None:
    rack = room.rack(10)
    one, two, three = room.device(rack, 1), room.device(rack, 2), room.device(rack, 3)
    query = f"{room.path}{move(one, rack, 2)}{move(three, rack, 9)}"
    page = browser.get(query, status=200)
    refused = [line.text for line in page.html.select(".plan li.invalid")]
    assert len(refused) == 1 and one["name"] in refused[0] and "occupied" in refused[0]
    assert drawn(page) == {one["id"]: 1, two["id"]: 2, three["id"]: 9}
    assert page.html.select_one(".plan form[method=post] button").has_attr("disabled")
    answer = browser.post(query, []).follow()
    assert "No device was moved." in answer.words
    assert placed(api, three) == (rack["id"], 3, "front")


def test_refused_moves_come_first_and_say_once_that_the_place_is_taken(browser: Browser, room: Room) -> None:
    rack = room.rack(10)
    one, _, three = room.device(rack, 1), room.device(rack, 2), room.device(rack, 3)
    page = browser.get(f"{room.path}{move(three, rack, 9)}{move(one, rack, 2)}")
    first = page.html.select_one(".plan ol > li")
    assert "invalid" in first["class"] and one["name"] in first.text
    assert first.text.count("occupied") == 1 and "unique set" not in first.text


def test_a_refused_move_names_what_is_in_the_way_and_marks_it(browser: Browser, api: Api, room: Room) -> None:
    rack = room.rack(10)
    tall, other = room.device(rack, 1, 2), room.device(rack, 6)
    page = browser.get(f"{room.path}{move(tall, rack, 5)}")
    assert f"In the way: {other['name']} in U6." in page.html.select_one(".plan li.invalid").text
    marked = page.html.select_one(".rack .obstructed").parent
    assert f"In the way of {tall['name']}" in marked.find("title").text
    button = marked.find("button")
    assert button["data-device"] == other["id"] and f"In the way of {tall['name']}" in button["aria-label"]
    assert len(page.html.select(".rack .obstructed")) == 1


def test_a_device_in_the_way_that_the_user_may_not_view_is_not_named(
    service: Service, room: Room, make_user: Callable[..., Account]
) -> None:
    rack = room.rack(10)
    seen, hidden = room.device(rack, 1), room.device(rack, 4)
    user = make_user(("view", "dcim.rack"), ("view", "dcim.site"), password=PASSWORD)
    for action in ("view", "change"):
        service.permit(action, "dcim.device", {"id": seen["id"]}, users=[user.id])
    page = Browser(service, user).get(f"{room.path}{move(seen, rack, 4)}")
    assert "In the way: a device that you may not view in U4." in page.html.select_one(".plan li.invalid").text
    assert "hidden" in page.html.select_one(".rack .obstructed")["class"] and hidden["name"] not in page.text


def test_a_device_is_taken_out_and_waits_beside_the_racks(
    browser: Browser, api: Api, room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    rack = room.rack()
    device, waiting = room.device(rack, 1), room.device(rack, None)
    page = browser.get(f"{room.path}{move(device, rack)}")
    assert drawn(page) == {}
    assert {link["data-device"] for link in page.html.select(".tray [data-device]")} == {device["id"], waiting["id"]}
    assert "These are the first" not in page
    apply(page)
    assert placed(api, device) == (rack["id"], None, None)
    monkeypatch.setattr(rack_plan, "MAX_LISTED", 1)
    page = browser.get(f"{room.path}&_plan=1")
    assert len(page.html.select(".tray [data-device]")) == 1
    assert "These are the first 1." in page


def pressed(browser: Browser, page: Any, button: Any) -> Any:
    """The page after a button of the plan's form."""
    form = page.html.select_one("#plan-moves")
    hidden = [(item["name"], item["value"]) for item in form.select("input")]
    return browser.get(form["action"], [*hidden, (button["name"], button["value"])], status="*")


def test_the_units_that_a_chosen_device_fits_into_are_buttons(browser: Browser, room: Room) -> None:
    rack = room.rack(6)
    device = room.device(rack, 1, 2)
    room.device(rack, 4)
    page = browser.get(f"{room.path}&_plan=1")
    page = pressed(browser, page, page.html.select_one(f".rack [data-device='{device['id']}']"))
    units = page.html.select(".rack button[name=_move]")
    assert [unit["aria-label"] for unit in units] == [f"Mount {device['name']} in U{unit}" for unit in (1, 2, 5)]
    chosen = page.html.select_one(".rack [aria-current]")
    assert not pressed(browser, page, chosen).html.select(".rack [aria-current]")
    page = pressed(browser, page, units[-1])
    assert drawn(page)[device["id"]] == 5
    page = pressed(browser, page, page.html.select_one(f".rack [data-device='{device['id']}']"))
    page = pressed(browser, page, page.html.select(".rack button[name=_move]")[0])
    assert drawn(page)[device["id"]] == 1 and len(page.html.select(".plan ol > li")) == 1
    page = pressed(browser, page, page.html.select_one(".plan ol button")).follow()
    assert drawn(page)[device["id"]] == 1 and not page.html.select(".plan ol > li")


def test_the_moves_of_a_plan_are_in_its_page_a_few_times_however_many_racks_it_has(
    browser: Browser, room: Room
) -> None:
    racks = [room.rack() for _ in range(3)]
    devices = [room.device(rack, unit) for rack in racks for unit in (1, 2)]
    moves = "".join(move(device, racks[0], 20 + number) for number, device in enumerate(devices))
    few, many = (
        browser.get(f"{path}{moves}&_select={devices[0]['id']}").text.count(f":{racks[0]['id']}:20:front")
        for path in (f"{room.path}&id={racks[0]['id']}", room.path)
    )
    assert 0 < many <= few + 1


def test_the_form_of_the_chosen_device_adds_a_move(browser: Browser, room: Room) -> None:
    rack = room.rack()
    device = room.device(rack, 1)
    page = browser.get(f"{room.path}&_plan=1&_select={device['id']}")
    form = next(form for form in page.forms.values() if "_unit" in form.fields)
    form["_unit"] = "8"
    assert drawn(form.submit(status=303).follow())[device["id"]] == 8
    form["_unit"] = ""
    assert drawn(form.submit(status=303).follow()) == {}


def test_a_plan_is_not_applied_while_the_move_of_a_chosen_device_is_not_planned(browser: Browser, room: Room) -> None:
    """The values of its form would be lost."""
    rack = room.rack()
    one, two = room.device(rack, 1), room.device(rack, 2)
    page = browser.get(f"{room.path}{move(one, rack, 8)}&_select={two['id']}")
    assert page.html.select_one(".plan form[method=post] button.primary").has_attr("disabled")
    assert f"Plan the move of {two['name']} first, or cancel it." in page.words
    form = next(form for form in page.forms.values() if "_unit" in form.fields)
    form["_unit"] = "9"
    assert "2 devices were moved." in apply(form.submit(status=303).follow()).words


@pytest.mark.night
def test_the_form_of_the_chosen_device_begins_with_its_place(browser: Browser, room: Room) -> None:
    room.rack()
    rack, other = room.rack(), room.rack()
    device, waiting = room.device(rack, 4), room.device(rack, None)

    def place(path: str) -> tuple[str, str, str]:
        forms = browser.get(f"{room.path}&_plan=1{path}").forms.values()
        form = next(form for form in forms if "_unit" in form.fields)
        return form["_rack"].value, form["_unit"].value, form["_to"].value

    assert place(f"&_select={device['id']}") == (rack["id"], "4", "front")
    assert place(f"&_select={device['id']}{move(device, other, 7, 'rear')}") == (other["id"], "7", "rear")
    assert place(f"&_select={waiting['id']}") == (rack["id"], "", "front")


def feeds(api: Api, room: Room, racks: list[Any]) -> list[Any]:
    """A feed of 1,000 W in each of the racks."""
    panel = api.post("/api/dcim/power-panels/", {"name": room.unique(), "site": room.site["id"]})["id"]
    feed = {"power_panel": panel, "status": "active", "voltage": 100, "amperage": 10, "max_utilization": 100}
    made = api.post("/api/dcim/power-feeds/", [{**feed, "name": room.unique(), "rack": rack["id"]} for rack in racks])
    return list(made)


def plug(api: Api, port: Any, supply: Any, kind: str = "dcim.powerfeed") -> None:
    """Connects a power port."""
    ends = {"termination_a_type": "dcim.powerport", "termination_a_id": port["id"]}
    ends |= {"termination_b_type": kind, "termination_b_id": supply["id"]}
    api.post("/api/dcim/cables/", {**ends, "status": "connected"})


def power_port(api: Api, device: Any, draw: int | None = None) -> Any:
    """A power port of a device."""
    return api.post("/api/dcim/power-ports/", {"device": device["id"], "name": "a", "allocated_draw": draw})


def forecast(page: Any) -> dict[str, str]:
    """The forecast of a plan for racks after its moves, by name."""
    names, shares = page.html.select(".plan .forecast dt"), page.html.select(".plan .forecast dd")
    return {name.text: " ".join(share.text.split()) for name, share in zip(names, shares, strict=True)}


def utilization(api: Api, rack: Any) -> Any:
    """The power of a rack as the API tells it, in percent."""
    return api.get(f"/api/dcim/racks/{rack['id']}/?include=utilization")["utilization"]["power"]["percent"]


def test_the_plan_shows_the_utilization_of_racks_after_its_moves(browser: Browser, api: Api, room: Room) -> None:
    """As the racks themselves have it: a device without a cable draws nothing where it is."""
    first, second = room.rack(), room.rack()
    feed, _ = feeds(api, room, [first, second])
    cabled, loose = room.device(first, 1), room.device(first, 2)
    plug(api, power_port(api, cabled, 250), feed)
    power_port(api, loose, 100)
    assert utilization(api, first) == 25
    page = browser.get(f"{room.path}{move(cabled, second, 1)}{move(loose, second, 2)}")
    assert forecast(page) == {
        first["display"]: "Units 0 % Power 0 % -250 W",
        second["display"]: "Units 20 % Power 35 % +350 W",
    }
    assert len(page.html.select(".plan .forecast meter")) == 4
    assert "Power 35 %" in page.words  # the drawing of the rack says the same


def test_the_power_of_a_plan_follows_the_outlets(browser: Browser, api: Api, room: Room) -> None:
    """A power distribution unit without a draw of its own draws what is on its outlets, and less when that moves."""
    first, second = room.rack(), room.rack()
    feed, _ = feeds(api, room, [first, second])
    unit, one, two = (room.device(first, number) for number in (1, 2, 3))
    inlet = power_port(api, unit)
    plug(api, inlet, feed)
    for device, name, draw in ((one, "1", 300), (two, "2", 100)):
        outlet = api.post("/api/dcim/power-outlets/", {"device": unit["id"], "name": name, "power_port": inlet["id"]})
        plug(api, power_port(api, device, draw), outlet, "dcim.poweroutlet")
    assert utilization(api, first) == 40
    page = browser.get(f"{room.path}{move(one, second, 1)}")
    assert forecast(page)[first["display"]] == "Units 20 % Power 10 % -300 W"
    assert forecast(page)[second["display"]] == "Units 10 % Power 30 % +300 W"
    everything = browser.get(f"{room.path}{move(one, second, 1)}{move(two, second, 2)}{move(unit, second, 3)}")
    assert forecast(everything)[second["display"]] == "Units 30 % Power 40 % +400 W"


def test_a_refused_move_adds_no_power(browser: Browser, api: Api, room: Room) -> None:
    first, second = room.rack(), room.rack()
    feeds(api, room, [first, second])
    device, other = room.device(first, 1), room.device(second, 1)
    power_port(api, device, 250)
    page = browser.get(f"{room.path}{move(device, second, 1)}")
    assert page.html.select(".plan li.invalid") and forecast(page) == {}
    assert other["name"] in page.html.select_one(".plan li.invalid").text


def test_a_device_moves_to_the_site_of_its_rack(browser: Browser, api: Api, room: Room, make: Any, unique: Any) -> None:
    rack = room.rack()
    site = make("/api/dcim/sites/", status="active")
    body = {"name": unique(), "site": site["id"], "status": "active"}
    other = api.post("/api/dcim/racks/", body)
    device = room.device(rack, 1)
    browser.post(f"{room.path}{move(device, other, 4)}", [], status=303)
    assert api.get(f"/api/dcim/devices/{device['id']}/")["site"]["id"] == site["id"]


@pytest.mark.parametrize("text", ["x", NOBODY, f"{NOBODY}:{NOBODY}:0:front", f"{NOBODY}:{NOBODY}:1:top"])
def test_what_is_no_move_is_refused(browser: Browser, room: Room, text: str) -> None:
    assert "is not a move" in browser.get(f"{room.path}&_move={text}", status=400).words


def test_moves_of_what_does_not_exist_and_too_many_are_refused(browser: Browser, room: Room) -> None:
    rack = room.rack()
    nothing = {"id": uuid.uuid4()}
    assert "does not exist" in browser.get(f"{room.path}{move(nothing, rack, 1)}", status=400).words
    many = "".join(move({"id": uuid.uuid4()}, rack, 1) for _ in range(101))
    assert "at most 100 moves" in browser.get(f"{room.path}{many}", status=400).words


def test_planning_takes_the_permission_to_change_devices(
    service: Service, api: Api, room: Room, make_user: Callable[..., Account]
) -> None:
    rack = room.rack()
    device, hidden = room.device(rack, 1), room.device(rack, 2)
    reads = [("view", "dcim.rack"), ("view", "dcim.site"), ("view", "dcim.device")]
    reader = Browser(service, make_user(*reads, password=PASSWORD))
    assert "_plan" not in reader.get(room.path).text
    reader.get(f"{room.path}&_plan=1", status=403)
    reader.post(f"{room.path}{move(device, rack, 5)}", [], status=403)
    user = make_user(*reads[:2], password=PASSWORD)
    for action in ("view", "change"):
        service.permit(action, "dcim.device", {"id": device["id"]}, users=[user.id])
    planner = Browser(service, user)
    assert drawn(planner.get(f"{room.path}{move(device, rack, 5)}")) == {device["id"]: 5}
    planner.get(f"{room.path}{move(hidden, rack, 6)}", status=400)
    assert placed(api, device) == (rack["id"], 1, "front")


@pytest.mark.night
def test_statements_do_not_grow_with_the_moves(service: Service, browser: Browser, room: Room) -> None:
    rack = room.rack(40)
    devices = [room.device(rack, unit) for unit in range(1, 9)]
    counts = []
    for number in (2, 8):
        query = room.path + "".join(move(device, rack, 20 + n) for n, device in enumerate(devices[:number]))
        browser.get(query)
        with service.statements() as statements:
            browser.get(query, status=200)
        counts.append(len(statements))
    assert counts[0] == counts[1] <= MAX_STATEMENTS


@pytest.mark.night
def test_a_rack_leads_to_its_planner(browser: Browser, room: Room) -> None:
    rack = room.rack()
    (path,) = [path for path in browser.get(f"/dcim/racks/{rack['id']}/").links() if "_plan=1" in path]
    page = browser.get(path)
    assert [item.text.strip() for item in page.html.select(".rack h3")] == [rack["display"]]
    assert page.html.h1.get_text().startswith("Rack planner")
    assert page.html.title.get_text().startswith("Rack planner")
