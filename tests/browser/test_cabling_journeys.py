"""Journeys in a browser: cabling by the page that connects ports, by mouse and by keys alone, in counted actions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from netinv_testing import Service
from tests.support.cabling_fixtures import PATHS, End, Plant
from tests.support.chromium import PHONE_WIDTH, WIDTH, press

REARS = PATHS["dcim.rearport"]
pytestmark = [pytest.mark.browser, pytest.mark.any_database]


@pytest.fixture
def plant(demo_service: Service, unique: Callable[[], str]) -> Plant:
    return Plant(demo_service.api, unique)


def named(service: Service, device: str) -> str:
    """The name of a device."""
    return str(service.api.get(f"/api/dcim/devices/{device}/")["name"])


def device_of(service: Service, end: Any) -> str:
    return str(service.api.get(end.path)["device"]["id"])


def pick(page: Any, name: str) -> None:
    """Types the name of a device into the picker that has the focus, and takes the first that is found: 2 actions."""
    page.wait_for_function("() => document.activeElement.role === 'combobox'")
    page.keyboard.type(name)
    page.locator(".picker-popup li[data-active]", has_text=name).wait_for()
    press(page, "Enter")
    page.wait_for_function("() => document.activeElement.name === 'b'")


def test_three_cables_through_two_panels_take_ten_actions(page: Any, demo_service: Service, plant: Plant) -> None:
    near, first, second, far = plant.end(), plant.panel(), plant.panel(), plant.end()
    page.goto(f"/dcim/interfaces/{near.id}/")
    page.locator(f'a[href*="{near.id}"][href*="/connect/"]').first.evaluate("link => link.click()")  # action 1
    for device in (first.device, second.device):
        pick(page, named(demo_service, device))  # 2 actions each
        page.get_by_role("button", name="Connect and go on").click()  # and 1
        page.locator("[data-notice]").wait_for()
    pick(page, named(demo_service, device_of(demo_service, far)))  # actions 8 and 9
    page.get_by_role("button", name="Connect", exact=True).click()  # action 10
    page.wait_for_url(f"**/{second.fronts[0].id}/")
    assert plant.leads_to(near) == (far, True)


def test_three_cables_through_two_panels_take_ten_presses(page: Any, demo_service: Service, plant: Plant) -> None:
    """A text that is typed counts as one."""
    near, first, second, far = plant.end(), plant.panel(), plant.panel(), plant.end()
    page.goto(f"/dcim/interfaces/{near.id}/")
    press(page, "a")  # press 1
    for device in (first.device, second.device):
        pick(page, named(demo_service, device))  # 2 presses each
        press(page, "Shift+Enter")  # and 1
        page.locator("[data-notice]").wait_for()
    pick(page, named(demo_service, device_of(demo_service, far)))  # presses 8 and 9
    press(page, "Enter")  # press 10
    page.wait_for_url(f"**/{second.fronts[0].id}/")
    assert plant.leads_to(near) == (far, True)


def test_a_panel_is_inserted_by_keys_alone(page: Any, demo_service: Service, plant: Plant) -> None:
    a, b, panel = plant.end(), plant.end(), plant.panel()
    cable = plant.cable(a, b).removesuffix("/").rpartition("/")[2]
    page.goto(f"/dcim/cables/insert-panel/?pk={cable}")
    page.wait_for_function("() => document.activeElement.role === 'combobox'")
    name = named(demo_service, panel.device)
    page.keyboard.type(name)
    page.locator(".picker-popup li[data-active]", has_text=name).wait_for()
    press(page, "Enter")
    page.wait_for_function("() => document.activeElement.name === 'to'")
    press(page, "Enter")
    page.locator("[data-notice]", has_text="now leads through").wait_for()
    assert plant.leads_to(a) == (b, True) and peers(demo_service, [b]) != [a.id]


def test_a_port_is_connected_by_keys_alone(page: Any, demo_service: Service, plant: Plant) -> None:
    near, far = plant.end(), plant.ends("dcim.interface", 3)
    page.goto(f"/dcim/cables/connect/?a={near.label}:{near.id}")
    pick(page, named(demo_service, device_of(demo_service, far[0])))
    press(page, "ArrowDown")
    press(page, "Enter")
    page.locator("[data-notice]").wait_for()
    assert demo_service.api.get(near.path)["cable_peer"]["id"] == far[1].id
    page.locator("[data-notice]").get_by_role("button", name="Undo").click()
    page.locator("main button.danger").click()
    page.locator("[data-notice]", has_not_text="is connected to").wait_for()
    assert demo_service.api.get(near.path)["cable"] is None


COVERING = """() => {
  const field = document.activeElement, { left, top, width, height } = field.getBoundingClientRect();
  const above = document.elementFromPoint(left + Math.min(8, width / 2), top + height / 2);
  return above && !field.contains(above) && !above.contains(field) ? `${field.name} ${above.className}` : "";
}"""


LOW = """() => {
  const field = document.activeElement.getBoundingClientRect(), bar = document.querySelector(".connect > .form-actions");
  return Math.max(0, field.bottom - bar.getBoundingClientRect().top);
}"""  # pixels of the focused field that the bar covers


@pytest.mark.parametrize("width", (WIDTH, PHONE_WIDTH))
def test_no_focus_is_below_the_bar_of_buttons(
    new_page: Callable[..., Any], demo_service: Service, plant: Plant, width: int
) -> None:
    page, near, far = new_page(width=width), plant.end(), plant.ends("dcim.interface", 24)
    page.goto(f"/dcim/cables/connect/?a={near.label}:{near.id}")
    page.wait_for_function("() => document.activeElement.role === 'combobox'")
    assert not page.evaluate(LOW)
    pick(page, named(demo_service, device_of(demo_service, far[0])))
    covered = []
    while page.evaluate("document.activeElement.name") != "status":
        press(page, "Tab")
        covered.append(page.evaluate(COVERING))
    assert len(covered) > 4 and not any(covered)


PLACE = """() => [...document.querySelectorAll('.ports')].filter(list => list.scrollHeight > list.clientHeight).map(list => {
  const box = list.getBoundingClientRect(), line = list.querySelector(':checked').closest('label').getBoundingClientRect();
  return Math.abs((line.top + line.bottom) / 2 - (box.top + box.bottom) / 2);
})"""


def test_a_chosen_port_is_in_the_middle_of_its_list(page: Any, demo_service: Service, plant: Plant) -> None:
    ports = plant.ends("dcim.interface", 48)
    page.goto(f"/dcim/cables/connect/?a={ports[24].label}:{ports[24].id}")
    page.wait_for_function(f"() => ({PLACE})().every(pixels => pixels < 2)")
    assert len(page.evaluate(PLACE)) == 1 and page.evaluate("scrollY") == 0


def panel_of(service: Service, plant: Plant, number: int) -> tuple[str, list[Any]]:
    """The name of a panel, and its rear ports."""
    device = plant.device()
    bodies = [{"device": device, "name": f"R{place}", "type": "lc"} for place in range(1, number + 1)]
    return named(service, device), [End("dcim.rearport", item["id"]) for item in service.api.post(REARS, bodies)]


def add(page: Any, side: str, name: str) -> None:
    """Adds a device to a side of the workbench: 3 actions."""
    page.locator(f'.picker:has([name="_add_{side}"]) [role=combobox]').click()
    page.keyboard.type(name)
    page.locator(".picker-popup li[data-active]", has_text=name).wait_for()
    press(page, "Enter")
    page.locator(".side h3", has_text=name).wait_for()


def peers(service: Service, ends: list[Any]) -> list[Any]:
    if not ends:
        return []
    path = ends[0].path.rpartition(ends[0].id)[0]
    shown = service.api.get(path, {"id": [end.id for end in ends], "limit": len(ends)})["results"]
    peer_of = {item["id"]: item["cable_peer"] and item["cable_peer"]["id"] for item in shown}
    return [peer_of[end.id] for end in ends]


def test_two_panels_with_48_ports_are_cabled_in_ten_actions(page: Any, demo_service: Service, plant: Plant) -> None:
    (one, left), (two, right) = (panel_of(demo_service, plant, 48) for _ in range(2))
    page.goto("/")
    page.locator(".rail summary", has_text="Cabling").click()  # action 1
    page.get_by_role("link", name="Cabling workbench").click()  # action 2
    add(page, "left", one)  # actions 3 to 5
    add(page, "right", two)  # actions 6 to 8
    page.get_by_role("button", name="In order").click()  # action 9
    page.get_by_role("button", name="Connect 48").click()  # action 10
    page.locator("[data-notice]", has_text="48 cables were created.").wait_for()
    assert peers(demo_service, left) == [end.id for end in right]


def test_the_focus_of_the_workbench_is_at_the_next_step(page: Any, demo_service: Service, plant: Plant) -> None:
    (one, _), (two, _) = (panel_of(demo_service, plant, 4) for _ in range(2))
    page.goto("/dcim/cabling/")
    for side, name in (("left", one), ("right", two)):
        page.wait_for_function(
            "side => document.activeElement.closest('.picker')?.querySelector(`[name=_add_${side}]`)", arg=side
        )
        page.keyboard.type(name)
        page.locator(".picker-popup li[data-active]", has_text=name).wait_for()
        press(page, "Enter")
    page.wait_for_function("() => document.activeElement.textContent === 'In order'")
    press(page, "Enter")
    page.wait_for_function("() => document.activeElement.textContent === 'Connect 4'")
    press(page, "Enter")
    page.locator("[data-notice]", has_text="4 cables were created.").wait_for()


# Ports that take more than one line.
BROKEN = "() => [...document.querySelectorAll('.port')].filter((port) => port.offsetHeight > 36).map((port) => port.textContent)"


@pytest.mark.parametrize("width", (WIDTH, PHONE_WIDTH))
def test_each_port_of_the_workbench_takes_a_line(
    new_page: Callable[..., Any], demo_service: Service, plant: Plant, width: int
) -> None:
    page, one = new_page(width=width), plant.device(name="rtm-b02-sw1")
    ends = [plant.end(device=one, name=f"ge-0/0/{number}") for number in range(3)]
    plant.end(device=one, name="Vlan10", type="virtual")
    panel = plant.panel(3, name="rtm-p1")
    plant.cables((ends[0], panel.fronts[0]))
    page.goto(f"/dcim/cabling/?left=dcim.device:{one}&right=dcim.device:{panel.device}")
    page.locator(".port", has_text="connected to rtm-p1").wait_for()
    assert page.locator(".port").count() == 6 and page.evaluate(BROKEN) == []
    page.get_by_text("1 is not listed: Cables cannot be terminated to Virtual interfaces.").wait_for()
    page.get_by_role("button", name="In order").click()
    page.get_by_role("button", name="Connect 2").wait_for()
    assert page.evaluate(BROKEN) == []


def test_ports_are_paired_by_dragging_and_by_keys(page: Any, demo_service: Service, plant: Plant) -> None:
    left, right = (plant.ends("dcim.interface", 4) for _ in range(2))
    hosts = [device_of(demo_service, ends[0]) for ends in (left, right)]
    page.goto(f"/dcim/cabling/?left=dcim.device:{hosts[0]}&right=dcim.device:{hosts[1]}")

    def port(end: Any) -> Any:
        return page.locator(f'[data-port="{end.id.replace("-", "")}"]')

    start, end = port(left[0]).bounding_box(), port(right[2]).bounding_box()
    page.mouse.move(start["x"] + 60, start["y"] + 8)
    page.mouse.down()
    page.mouse.move(end["x"] + 60, end["y"] + 8, steps=6)
    page.mouse.up()
    page.get_by_role("button", name="Connect 1").wait_for()
    port(left[1]).locator("input").focus()
    press(page, "Space")
    press(page, "ArrowDown")
    press(page, "ArrowRight")
    press(page, "ArrowDown")
    press(page, "Enter")
    page.get_by_role("button", name="Connect 2").wait_for()
    assert peers(demo_service, left) == [None] * 4
    page.get_by_role("button", name="Connect 2").click()
    page.locator("[data-notice]").wait_for()
    assert peers(demo_service, left) == [right[2].id, None, right[1].id, None]
    page.locator("[data-notice]").get_by_role("button", name="Undo").click()
    page.locator("main button.danger").click()
    page.locator("[data-notice]", has_not_text="created").wait_for()
    assert peers(demo_service, left) == [None] * 4


def test_a_panel_is_inserted_from_the_page_of_a_cable(page: Any, demo_service: Service, plant: Plant) -> None:
    a, b, panel = plant.end(), plant.end(), plant.panel()
    cable = plant.cable(a, b).removeprefix("/api")
    page.goto(cable)
    page.get_by_text("Actions", exact=False).first.click()
    page.get_by_role("link", name="Insert a panel").click()
    page.locator(".picker [role=combobox]").click()
    page.keyboard.type(named(demo_service, panel.device))
    page.locator(".picker-popup li[data-active]", has_text=named(demo_service, panel.device)).wait_for()
    press(page, "Enter")
    page.locator(".planned ins").nth(1).wait_for()
    page.locator("button.primary", has_text="Insert a panel").click()
    page.locator("[data-notice]", has_text="now leads through").wait_for()
    assert peers(demo_service, [a]) == [panel.fronts[0].id] and plant.leads_to(a) == (b, True)
    page.locator("[data-notice]").get_by_role("button", name="Undo").click()
    page.locator("main button.danger").click()
    page.locator("[data-notice]", has_not_text="now leads").wait_for()
    assert peers(demo_service, [a]) == [b.id]
