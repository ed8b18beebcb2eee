"""Pictures of what a change request changes: racks and paths of cables, as they are and as they would be."""

from __future__ import annotations

from typing import Any

import pytest

from netinv_testing import Api, Service, Unique
from netinv_testing.client import PASSWORD
from netinv_web.testing import Browser
from tests.support.cabling_fixtures import CABLES, End, Plant
from tests.support.racks import Room

REQUESTS, DEVICES, RACKS = "/api/extras/change-requests/", "/api/dcim/devices/", "/api/dcim/racks/"
Made = dict[str, Any]


@pytest.fixture
def change_request(api: Api, unique: Unique) -> Made:
    """An open change request, with the header that names it and the paths of its page and its pictures."""
    made = api.post(REQUESTS, {"title": unique()})
    page = f"/extras/change-requests/{made['id']}/"
    return {**made, "inside": {"X-Change-Request": made["id"]}, "path": page, "pictures": f"{page}?_show=all"}


@pytest.fixture
def room(api: Api, make: Any, unique: Unique) -> Room:
    """Racks at a site."""
    return Room(api, make, unique)


@pytest.fixture
def plant(api: Api, unique: Unique) -> Plant:
    """Devices with ports."""
    return Plant(api, unique)


def pictures(page: Any) -> dict[str, str]:
    """The paths of the pictures of a page by their texts."""
    return {image["alt"]: image["src"] for image in page.html.select("#panel-pictures img")}


def move(api: Api, change_request: Made, device: Made, **values: Any) -> None:
    """Changes a device in the change request."""
    api.patch(f"{DEVICES}{device['id']}/", values, headers=change_request["inside"])


def test_the_racks_of_a_moved_device_before_and_after(
    api: Api, browser: Browser, room: Room, change_request: Made
) -> None:
    old, new = room.rack(), room.rack()
    device = room.device(old, 3)
    move(api, change_request, device, rack=new["id"], position=5)
    found = pictures(browser.get(change_request["pictures"]))
    assert list(found) == [
        f"Front of rack {rack['display']}, {word}" for rack in (old, new) for word in ("as it is", "as it would be")
    ]
    drawn = [device["name"] in browser.get(path).body.decode() for path in found.values()]
    assert drawn == [True, False, False, True]


def test_the_pictures_are_the_same_for_who_entered_the_change_request(
    api: Api, browser: Browser, room: Room, change_request: Made
) -> None:
    rack = room.rack()
    device = room.device(rack, 3)
    move(api, change_request, device, position=None, face=None)
    browser.get(change_request["path"]).form(action=f"{change_request['path']}enter/").submit()
    found = pictures(browser.get(change_request["pictures"]))
    assert [device["name"] in browser.get(path).body.decode() for path in found.values()] == [True, False]
    browser.post("/extras/leave-change-request/", {})


def test_a_path_before_and_after(api: Api, browser: Browser, plant: Plant, change_request: Made) -> None:
    a, b = plant.ends("dcim.interface", 2)
    label = plant.unique()
    api.post(CABLES, plant.body(a, b, label=label), headers=change_request["inside"])
    found = pictures(browser.get(change_request["pictures"]))
    before, after = found.values()
    assert all(name.startswith("Path through ") for name in found)
    assert label not in browser.get(before).body.decode()
    assert label in browser.get(after).body.decode()


def row_of(plant: Plant) -> tuple[list[tuple[End, End]], list[str]]:
    """The pairs of ends of a path of three cables, through two panels; and labels for the cables."""
    near, far = plant.ends("dcim.interface", 2)
    one, two = plant.panel(), plant.panel()
    return [(near, one.fronts[0]), (one.rear, two.rear), (two.fronts[0], far)], [plant.unique() for _ in range(3)]


@pytest.mark.night
def test_changed_cables_of_one_path_have_one_picture(
    api: Api, browser: Browser, plant: Plant, change_request: Made
) -> None:
    """Cables with other labels, deleted and new ones: each time one picture before and one after."""
    ends, labels = row_of(plant)
    cables = [api.post(CABLES, plant.body(*pair)) for pair in ends]
    for cable, label in zip(cables, labels, strict=True):
        api.patch(f"{CABLES}{cable['id']}/", {"label": label}, headers=change_request["inside"])
    found = pictures(browser.get(change_request["pictures"]))
    assert [name.rpartition(", ")[2] for name in found] == ["as it is", "as it would be"]
    drawn = [browser.get(path).body.decode() for path in found.values()]
    assert [[label in drawing for label in labels] for drawing in drawn] == [[False] * 3, [True] * 3]
    for cable in cables:
        api.delete(f"{CABLES}{cable['id']}/", headers=change_request["inside"])
    assert len(pictures(browser.get(change_request["pictures"]))) == 2


@pytest.mark.night
def test_new_cables_of_one_path_have_one_picture(
    api: Api, browser: Browser, plant: Plant, change_request: Made
) -> None:
    """Also where one of them is there already: that is the picture before."""
    ends, labels = row_of(plant)
    there = api.post(CABLES, plant.body(*ends[2], label=labels[2]))
    for pair, label in zip(ends[:2], labels, strict=False):
        api.post(CABLES, plant.body(*pair, label=label), headers=change_request["inside"])
    api.patch(f"{CABLES}{there['id']}/", {"color": "ff0000"}, headers=change_request["inside"])
    before, after = (
        browser.get(path).body.decode() for path in pictures(browser.get(change_request["pictures"])).values()
    )
    assert [label in before for label in labels] == [False, False, True]
    assert all(label in after for label in labels)


@pytest.mark.night
def test_cables_of_two_paths_have_two_pictures(
    service: Service, api: Api, browser: Browser, plant: Plant, change_request: Made
) -> None:
    """The number of statements is that of one path."""
    counts = []
    for _ in range(2):
        for pair in row_of(plant)[0]:
            api.post(CABLES, plant.body(*pair), headers=change_request["inside"])
        browser.get(change_request["pictures"])
        with service.statements() as statements:
            page = browser.get(change_request["pictures"])
        counts.append((len(pictures(page)), len(statements)))
    assert [count for count, _ in counts] == [2, 4]
    assert counts[0][1] == counts[1][1]


def test_what_is_new_has_no_picture_before_and_what_is_deleted_none_after(
    api: Api, browser: Browser, room: Room, change_request: Made
) -> None:
    gone = room.rack()
    body = {"name": room.unique(), "site": room.site["id"], "status": "active", "u_height": 4}
    new = api.post(RACKS, body, headers=change_request["inside"])
    api.delete(f"{RACKS}{gone['id']}/", headers=change_request["inside"])
    page = browser.get(change_request["pictures"])
    assert sorted(pictures(page)) == sorted(
        [f"Front of rack {new['display']}, as it would be", f"Front of rack {gone['display']}, as it is"]
    )
    assert "As it is: nothing to show" in page.html.select_one("#panel-pictures").get_text()


def test_there_are_none_for_other_changes(api: Api, browser: Browser, room: Room, change_request: Made) -> None:
    move(api, change_request, room.device(room.rack(), 3), comments="looked at")
    assert not browser.get(change_request["pictures"]).html.select("#panel-pictures")


def test_the_first_racks_are_shown_and_the_others_linked(
    api: Api, browser: Browser, room: Room, change_request: Made
) -> None:
    racks = [room.rack() for _ in range(6)]
    for rack in racks:
        api.patch(f"{RACKS}{rack['id']}/", {"u_height": 12}, headers=change_request["inside"])
    page = browser.get(change_request["pictures"])
    assert len(pictures(page)) == 8
    links = page.html.select("#panel-pictures a")
    assert [link["aria-label"] for link in links] == [
        f"Front of rack {rack['display']}, {word}" for rack in racks[4:] for word in ("as it is", "as it would be")
    ]
    for link in links:
        assert browser.get(link["href"]).content_type == "image/svg+xml"


def test_with_conflicts_there_is_only_what_is(api: Api, browser: Browser, room: Room, change_request: Made) -> None:
    device = room.device(room.rack(), 3)
    move(api, change_request, device, position=5)
    api.patch(f"{DEVICES}{device['id']}/", {"position": 7})
    page = browser.get(change_request["pictures"])
    assert [name.rpartition(", ")[2] for name in pictures(page)] == ["as it is"]
    assert "There are conflicts" in page.html.select_one("#panel-pictures").get_text()


def test_a_reader_sees_pictures_of_what_they_may_view(
    service: Service, api: Api, room: Room, change_request: Made
) -> None:
    seen, hidden = room.rack(), room.rack()
    for rack in (seen, hidden):
        move(api, change_request, room.device(rack, 3), position=5)
    common = ("view", "extras.changerequest"), ("view", "dcim.device")
    limited = service.user(*common, ("view", "dcim.rack", {"name": seen["name"]}), password=PASSWORD)
    names = pictures(Browser(service, limited).get(change_request["pictures"]))
    assert list(names) == [f"Front of rack {seen['display']}, {word}" for word in ("as it is", "as it would be")]
    blind = service.user(("view", "extras.changerequest"), ("view", "dcim.rack"), password=PASSWORD)
    assert not pictures(Browser(service, blind).get(change_request["pictures"]))


@pytest.mark.night
def test_the_number_of_statements_does_not_grow_with_the_pictures(
    service: Service, api: Api, browser: Browser, room: Room, change_request: Made
) -> None:
    counts = []
    for count in (1, 6):
        for _ in range(count):
            move(api, change_request, room.device(room.rack(), 3), position=5)
        browser.get(change_request["pictures"])
        with service.statements() as statements:
            browser.get(change_request["pictures"])
        counts.append(len(statements))
    assert counts[0] == counts[1]


def test_only_a_read_asks_for_the_inventory_as_it_is(api: Api, room: Room, change_request: Made) -> None:
    path = f"{RACKS}{room.rack()['id']}/"
    assert api.get(path, {"change_request": "none"})["u_height"] == 10
    api.patch(f"{path}?change_request=none", {"u_height": 12}, status=400)
    api.send("GET", f"{path}?change_request=none", headers=change_request["inside"], status=400)
    assert api.get(path)["u_height"] == 10
