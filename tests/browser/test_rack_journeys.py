"""Journeys in a browser: devices that are moved in the planner of racks, by mouse and by keys alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import expect

from netinv_testing import Service
from tests.support.chromium import PHONE_WIDTH, WIDTH, press
from tests.support.racks import PATH, Room

pytestmark = [pytest.mark.browser, pytest.mark.any_database]


@pytest.fixture
def room(demo_service: Service, unique: Callable[[], str]) -> Room:
    api = demo_service.api

    def make(path: str, **fields: Any) -> Any:
        name = unique()
        return api.post(path, {"name": name, "slug": name, **fields})

    return Room(api, make, unique)


@pytest.fixture
def devices(room: Room) -> list[Any]:
    """Two devices, one above the other, in the first of two racks."""
    first, _ = room.rack(), room.rack()
    return [room.device(first, 9), room.device(first, 10)]


def place(service: Service, device: Any) -> tuple[str, int]:
    """The name of the rack and the unit of a device."""
    shown = service.api.get(f"/api/dcim/devices/{device['id']}/")
    return shown["rack"]["display"], shown["position"]


def of(page: Any, device: Any) -> Any:
    """A device in the drawings."""
    return page.locator(f'#results [data-device="{device["id"]}"]')


def lines(page: Any) -> list[str]:
    """The planned moves."""
    return [" ".join(line.split()) for line in page.locator(".plan li").all_inner_texts()]


def drag(page: Any, source: Any, target: Any, *, down: float = 0) -> None:
    """Drags an element onto another one, so many pixels below the middle of it."""
    start, end = source.bounding_box(), target.bounding_box()
    page.mouse.move(start["x"] + 30, start["y"] + start["height"] / 2)
    page.mouse.down()
    page.mouse.move(end["x"] + 30, end["y"] + end["height"] / 2 + down, steps=6)
    page.mouse.up()


def test_devices_are_dragged_exchanged_and_applied_at_once(
    page: Any, demo_service: Service, room: Room, devices: list[Any]
) -> None:
    low, high = devices
    page.goto(room.path)
    page.get_by_role("link", name="Plan moves").click()
    of(page, low).wait_for()
    drag(page, of(page, low), of(page, high))
    page.locator(".plan li.invalid").wait_for()
    assert page.get_by_role("button", name="Apply 1 move").is_disabled()
    drag(page, of(page, high), of(page, low), down=18)
    page.get_by_role("button", name="Apply 2 moves").wait_for()
    assert page.locator(".plan .invalid").count() == 0
    assert place(demo_service, low)[1] == 9  # nothing is written yet
    page.set_viewport_size({"width": WIDTH, "height": 400})
    apply = page.get_by_role("button", name="Apply 2 moves")
    expect(apply).to_be_in_viewport(ratio=1)  # with as many moves as there may be
    apply.click()
    page.locator("[data-notice]").wait_for()
    assert (place(demo_service, low)[1], place(demo_service, high)[1]) in [(10, 8), (10, 9)]
    page.locator("[data-notice]").get_by_role("button", name="Undo").click()
    page.locator("[data-notice]").wait_for()
    assert (place(demo_service, low)[1], place(demo_service, high)[1]) == (9, 10)


def test_a_device_is_moved_by_keys_alone(page: Any, demo_service: Service, room: Room) -> None:
    """One of two units: its position is the lower of them."""
    rack, _ = room.rack(), room.rack()
    low = room.device(rack, 9, 2)
    page.goto(f"{room.path}&_plan=1")
    of(page, low).focus()
    for count in (1, 2):
        press(page, "ArrowDown")
        page.get_by_text(f"U{9 - count} front").wait_for()
        page.wait_for_function("id => document.activeElement.dataset.device === id", arg=low["id"])
    press(page, "ArrowRight")
    page.wait_for_function(
        "rack => !location.search.includes(rack)", arg=low["rack"]["id"]
    )  # the move is to another rack
    (line,) = lines(page)
    assert line.endswith("U7 front")
    button = page.get_by_role("button", name="Apply 1 move")
    button.focus()
    press(page, "Enter")
    page.locator("[data-notice]").wait_for()
    name, unit = place(demo_service, low)
    assert unit == 7 and name != low["rack"]["display"]


def test_the_planner_begins_at_the_first_device_and_a_key_leads_to_its_button(
    page: Any, demo_service: Service, room: Room
) -> None:
    """No key but those of the journey: one to plan, one for each step, two to apply."""
    first, second = room.rack(), room.rack()
    devices = [room.device(first, unit) for unit in (10, 9)]
    page.goto(room.path)
    press(page, "a")
    page.wait_for_function("() => document.activeElement.dataset.device")
    assert page.evaluate("document.activeElement === document.querySelector('#results [data-device]')")
    devices.sort(key=lambda device: device["id"] != page.evaluate("document.activeElement.dataset.device"))
    for device in devices:
        page.wait_for_function("id => document.activeElement.dataset.device === id", arg=device["id"])
        press(page, "ArrowRight")
        page.locator(f'#results g[data-rack="{second["id"]}"] [data-device="{device["id"]}"]:focus').wait_for()
        if device is devices[0]:
            press(page, "j")  # not the next one of the other rack
    press(page, "s")
    page.wait_for_function("() => document.activeElement.textContent === 'Apply 2 moves'")
    press(page, "Enter")
    page.locator("[data-notice]").wait_for()
    assert sorted(place(demo_service, device) for device in devices) == [
        (second["display"], 9),
        (second["display"], 10),
    ]


def test_the_address_of_a_plan_shows_it_to_others(page: Any, new_page: Any, room: Room, devices: list[Any]) -> None:
    low, _ = devices
    page.goto(f"{room.path}&_plan=1")
    of(page, low).click()
    page.locator(".target").first.wait_for()
    page.locator("#results button[name=_move]").last.click()
    page.get_by_role("button", name="Apply 1 move").wait_for()
    other = new_page(scripts=False)
    other.goto(page.url.partition(PATH)[1] + page.url.partition(PATH)[2])
    assert lines(other) == lines(page)


def test_a_finger_scrolls_from_any_device_and_drags_the_chosen_one(
    new_page: Callable[..., Any], room: Room, devices: list[Any]
) -> None:
    low, high = devices
    page = new_page(width=PHONE_WIDTH, touch=True)
    page.goto(f"{room.path}&_plan=1")
    of(page, high).scroll_into_view_if_needed()
    swipe(page, of(page, high), 300)
    before = scrolled(page)
    swipe(page, of(page, high), -120)
    page.wait_for_function("before => scrollY > before + 60", arg=before)
    assert page.locator(".dragging").count() == 0 and lines(page) == []
    of(page, low).tap()
    page.locator(f'#results [data-device="{low["id"]}"][aria-current]').wait_for()
    of(page, low).scroll_into_view_if_needed()
    before = scrolled(page)
    assert swipe(page, of(page, low), 54) == before
    page.get_by_role("button", name="Apply 1 move").wait_for()
    (line,) = lines(page)
    assert line.endswith("U6 front")


def scrolled(page: Any) -> float:
    """The pixels by which the page is scrolled, once it is at rest and drawn."""
    rest = "await new Promise(done => setTimeout(() => requestAnimationFrame(() => requestAnimationFrame(done)), 150))"
    found: float = page.evaluate(
        f"async () => {{ let last; do {{ last = scrollY; {rest} }} while (scrollY !== last); return last }}"
    )
    return found


def swipe(page: Any, source: Any, down: int) -> float:
    """Moves a finger so many pixels down, from an element; returns how far the page is scrolled before it is lifted."""
    box, touches = source.bounding_box(), page.context.new_cdp_session(page)

    def send(kind: str, *points: Any) -> None:
        touches.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": list(points)})

    x, y = box["x"] + 30, box["y"] + box["height"] / 2
    send("touchStart", {"x": x, "y": y})
    for step in range(1, 11):
        send("touchMove", {"x": x, "y": y + down * step / 10})
    before: float = page.evaluate("scrollY")
    send("touchEnd")
    return before


@pytest.mark.parametrize("width", (WIDTH, PHONE_WIDTH))
def test_both_faces_of_a_rack_are_legible_beside_each_other(
    new_page: Callable[..., Any], room: Room, devices: list[Any], width: int
) -> None:
    page = new_page(width=width)
    page.goto(f"{room.path}&_face=both")
    drawing = page.locator(".rack svg").first.bounding_box()
    assert drawing["width"] >= 300 and drawing["x"] + drawing["width"] <= width


def test_a_long_tray_scrolls_in_itself_and_stays_where_it_is(page: Any, demo_service: Service, room: Room) -> None:
    rack = room.rack()
    waiting = [room.device(rack, None) for _ in range(30)]
    page.goto(f"{room.path}&_plan=1")
    tray = page.get_by_role("region", name="Devices that are not mounted")
    racks = page.locator("#results svg[role=group]")
    assert tray.locator("[data-device]").count() == len(waiting)
    assert tray.evaluate("(part) => part.scrollHeight > part.clientHeight + 100")
    last = tray.locator("[data-device]").last
    last.scroll_into_view_if_needed()
    assert 0 < racks.first.bounding_box()["y"] < 500  # the racks are still in view
    before = tray.evaluate("(part) => part.scrollTop")
    drag(page, last, racks.first)
    page.get_by_role("button", name="Apply 1 move").wait_for()
    assert tray.evaluate("(part) => part.scrollTop") > before - 60


def test_a_device_is_mounted_from_the_tray_by_arrow_keys(page: Any, demo_service: Service, room: Room) -> None:
    rack, other = room.rack(), room.rack()
    first, second = room.device(rack, None), room.device(rack, None, 2)
    page.goto(f"{room.path}&_plan=1")
    page.get_by_text("Arrow keys:").wait_for()
    page.locator(f'.tray [data-device="{first["id"]}"]').focus()
    press(page, "ArrowDown")
    assert page.evaluate("document.activeElement.dataset.device") == second["id"]
    press(page, "ArrowRight")
    page.wait_for_function("() => document.activeElement.name === '_move'")
    button, unit_box = (page.locator(f"foreignObject:has(:focus){part}").bounding_box() for part in (" > button", ""))
    assert button["height"] <= unit_box["height"] + 0.5, "the frame of the focus would be cut off"
    for key, unit, there in (("ArrowDown", 8, rack), ("ArrowRight", 8, other), ("ArrowUp", 9, other)):
        press(page, key)
        value = page.evaluate("document.activeElement.value")
        assert value == f"{second['id']}:{there['id']}:{unit}:front", key
    press(page, "Enter")
    page.get_by_role("button", name="Apply 1 move").wait_for()
    page.wait_for_function("id => document.activeElement.dataset.device === id", arg=second["id"])
    press(page, "ArrowDown")  # as any mounted device
    page.get_by_text("U8 front").wait_for()
    button = page.get_by_role("button", name="Apply 1 move")
    button.focus()
    press(page, "Enter")
    page.locator("[data-notice]").wait_for()
    assert place(demo_service, second) == (other["display"], 8)
