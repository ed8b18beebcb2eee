"""The page of rack elevations: drawings of many racks, with the filters of the list of racks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from netinv_testing import Account, Api, Service
from netinv_testing.client import PASSWORD
from netinv_web.testing import Browser
from tests.support.racks import PATH, Room

MAX_STATEMENTS = 12


@pytest.fixture
def room(api: Api, make: Any, unique: Any) -> Room:
    return Room(api, make, unique)


def racks_on(page: Any) -> list[str]:
    """The names of the racks on a page, in their order."""
    return [rack.text.strip() for rack in page.html.select(".rack h3")]


def test_racks_stand_beside_each_other_with_their_devices(browser: Browser, room: Room) -> None:
    first, second = room.rack(), room.rack()
    device = room.device(first, 3)
    room.device(second, 1, 2)
    page = browser.get(room.path, status=200)
    assert racks_on(page) == sorted([first["display"], second["display"]])
    assert f"/dcim/devices/{device['id']}/" in page.links()
    titles = [title.text.split("\n") for title in page.html.select(".rack a title")]
    assert [device["name"], "U3"] in [lines[:2] for lines in titles]
    assert [section.get("aria-label") for section in page.html.select(".rack-group")] == [room.site["name"]]


def test_the_filters_of_the_list_of_racks_apply(browser: Browser, room: Room, make: Any) -> None:
    role = make("/api/dcim/rack-roles/")
    first = room.rack(role=role["id"])
    room.rack()
    assert racks_on(browser.get(f"{room.path}&role={role['slug']}")) == [first["display"]]
    assert racks_on(browser.get(f"{room.path}&q={first['name']}")) == [first["display"]]
    assert "Select a valid choice" in browser.get(f"{PATH}?site=nowhere", status=200).words


def test_the_list_of_racks_leads_to_the_elevations_with_its_filters(browser: Browser, room: Room) -> None:
    room.rack()
    filters = room.path.partition("?")[2]
    page = browser.get(f"/dcim/racks/?{filters}&ordering=-name&page=1")
    (link,) = [str(item["href"]) for item in page.html.select("main a[href]") if item["href"].startswith(PATH)]
    assert link == room.path
    (back,) = [str(item["href"]) for item in browser.get(link).html.select("main a[href]") if "List" in item.text]
    assert back == f"/dcim/racks/?{filters}"


def test_both_faces_show_deep_devices_twice(browser: Browser, room: Room) -> None:
    rack = room.rack()
    deep, shallow = room.device(rack, 1, deep=True), room.device(rack, 5)

    def drawn(face: str) -> list[list[str]]:
        page = browser.get(f"{room.path}&_face={face}")
        return [
            [link["href"].split("/")[-2] for link in drawing.select("a")]
            for drawing in page.html.select(".rack g[role]")
        ]

    assert drawn("front") == [[deep["id"], shallow["id"]]]
    assert drawn("rear") == [[deep["id"]]]
    assert drawn("both") == [[deep["id"], shallow["id"]], [deep["id"]]]


def test_the_faces_are_named_above_them(browser: Browser, room: Room) -> None:
    """Below 42 units the words would be out of sight."""
    rack = room.rack()
    names = browser.get(f"{room.path}&_face=both").html.select_one(".rack .faces")
    assert [name.text for name in names.select("span")] == ["Front", "Rear"]
    assert names.find_next_sibling("svg") and not names.find_previous_sibling("svg")
    figures = browser.get(f"/dcim/racks/{rack['id']}/").html.select("figure")
    assert [[part.name for part in figure.find_all(["figcaption", "img"])] for figure in figures] == [
        ["figcaption", "img"],
        ["figcaption", "img"],
    ]


def test_racks_are_grouped_as_asked(browser: Browser, room: Room, make: Any) -> None:
    role = make("/api/dcim/rack-roles/")
    room.rack(role=role["id"])
    room.rack()
    page = browser.get(f"{room.path}&_by=role")
    assert [section.get("aria-label") for section in page.html.select(".rack-group")] == [role["name"], "No role"]


@pytest.mark.parametrize("query", ["_face=top", "_by=color", "_pictures=yes"])
def test_other_values_of_its_parameters_are_refused(browser: Browser, query: str) -> None:
    assert "is not a valid choice" in browser.get(f"{PATH}?{query}", status=400).words


def test_units_count_devices_and_reservations_once(browser: Browser, api: Api, room: Room) -> None:
    rack = room.rack(10)
    room.device(rack, 1, 2, deep=True)
    user = api.get("/api/users/users/?limit=1")["results"][0]["id"]
    body = {"rack": rack["id"], "units": [2, 3], "user": user, "description": "kept"}
    api.post("/api/dcim/rack-reservations/", body)
    page = browser.get(room.path)
    assert [meter["aria-label"] for meter in page.html.select(".share meter")] == ["Units: 3 of 10 units"]
    assert "Reserved: kept" in [title.text.split("\n")[0] for title in page.html.select(".rack g title")]


def test_power_is_what_ports_on_the_feeds_draw(browser: Browser, api: Api, room: Room, unique: Any) -> None:
    rack = room.rack()
    panel = api.post("/api/dcim/power-panels/", {"name": unique(), "site": room.site["id"]})["id"]
    feed = {"power_panel": panel, "rack": rack["id"], "status": "active", "voltage": 100, "max_utilization": 100}
    feeds = [api.post("/api/dcim/power-feeds/", {**feed, "name": unique(), "amperage": 10})["id"] for _ in range(2)]
    strip, server = room.device(rack, 1), room.device(rack, 2)
    ports = "/api/dcim/power-ports/"
    inlet = api.post(ports, {"device": strip["id"], "name": "in"})["id"]
    outlet = {"device": strip["id"], "name": "out", "power_port": inlet}
    outlet_id = api.post("/api/dcim/power-outlets/", outlet)["id"]
    drawing = [
        api.post(ports, {"device": server["id"], "name": f"p{watts}", "allocated_draw": watts})["id"]
        for watts in (150, 400)
    ]
    ends = [
        ("dcim.powerfeed", feeds[0], "dcim.powerport", inlet),
        ("dcim.poweroutlet", outlet_id, "dcim.powerport", drawing[0]),
        ("dcim.powerfeed", feeds[1], "dcim.powerport", drawing[1]),
    ]
    for a_type, a_id, b_type, b_id in ends:
        sides = {"termination_a_type": a_type, "termination_a_id": a_id}
        sides |= {"termination_b_type": b_type, "termination_b_id": b_id}
        api.post("/api/dcim/cables/", {**sides, "status": "connected"})
    labels = [meter["aria-label"] for meter in browser.get(room.path).html.select(".share meter")]
    assert labels[1:] == ["Power: 550 of 2,000 W"]


def test_hidden_devices_feeds_and_reservations_are_not_named(
    service: Service, browser: Browser, api: Api, room: Room, make_user: Callable[..., Account]
) -> None:
    rack = room.rack()
    seen, hidden = room.device(rack, 1), room.device(rack, 4)
    user = make_user(("view", "dcim.rack"), ("view", "dcim.site"), password=PASSWORD)
    service.permit("view", "dcim.device", {"id": seen["id"]}, users=[user.id])
    page = Browser(service, user).get(room.path, status=200)
    assert hidden["name"] not in page.text and seen["name"] in page.text
    titles = [title.text.split("\n") for title in page.html.select(".rack g title")]
    assert ["Occupied", "U4"] in titles


def test_racks_that_the_user_may_not_view_are_absent(
    service: Service, room: Room, make_user: Callable[..., Account]
) -> None:
    shown, hidden = room.rack(), room.rack()
    user = make_user(password=PASSWORD)
    reader = Browser(service, user)
    reader.get(PATH, status=403)
    service.permit("view", "dcim.rack", {"id": shown["id"]}, users=[user.id])
    page = reader.get(PATH, status=200)
    assert racks_on(page) == [shown["display"]] and hidden["name"] not in page.text


def test_statements_do_not_grow_with_the_number_of_racks(service: Service, browser: Browser, room: Room) -> None:
    counts = []
    for number in (1, 8):
        for _ in range(number):
            room.device(room.rack(), 1)
        browser.get(room.path)
        with service.statements() as statements:
            browser.get(room.path)
        counts.append(len(statements))
    assert counts[0] == counts[1] <= MAX_STATEMENTS


def test_hostile_names_stay_text(browser: Browser, room: Room, api: Api) -> None:
    rack = room.rack()
    device = room.device(rack, 1)
    api.patch(f"/api/dcim/devices/{device['id']}/", {"name": '"><script>alert(1)</script>'})
    page = browser.get(room.path)
    assert not page.html.select(".rack script") and '"><script>alert(1)' in page.html.select_one(".rack a title").text
