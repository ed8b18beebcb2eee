"""Journeys in a browser: the table of a device's ports, by mouse and by keys, and an address for a port."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from netinv_testing import Service, Unique
from tests.support.cabling_fixtures import End, Plant
from tests.support.chromium import press

pytestmark = [pytest.mark.browser, pytest.mark.any_database]


@pytest.fixture
def plant(demo_service: Service, unique: Unique) -> Plant:
    """A cable plant beside the demo inventory."""
    return Plant(demo_service.api, unique)


@pytest.fixture
def ports(plant: Plant) -> list[End]:
    """Two interfaces of one device."""
    device = plant.device()
    return [plant.end(device=device, name=name) for name in ("eth0", "eth1")]


# Headers that end behind the edge of the table, and ends of cables that are cut.
CUT = """() => {
  const edge = document.querySelector(".table-scroll").getBoundingClientRect().right;
  const headers = [...document.querySelectorAll(".list thead th")].filter((cell) => cell.getBoundingClientRect().right > edge);
  const ends = [...document.querySelectorAll(".list .end")].filter((end) => end.scrollWidth > end.clientWidth);
  return [...headers, ...ends].map((part) => part.textContent);
}"""


def test_tables_of_ports_fit_at_1280_pixels_with_the_other_ends(page: Any, demo_service: Service, plant: Plant) -> None:
    api, device = demo_service.api, plant.device(name="rtm-b02-leaf-a")
    bodies = [{"vid": vid, "name": "Hypervisors", "status": "active", "site": plant.site} for vid in range(100, 106)]
    first, *others = [made["id"] for made in api.post("/api/ipam/vlans/", bodies)]
    vlans = {"mode": "tagged", "untagged_vlan": first, "tagged_vlans": others}
    port = plant.end(
        device=device, name="Ethernet1/49", type="100gbase-x-qsfp28", **vlans, mac_address="02:4E:01:00:01:90"
    )
    plant.end(device=device, name="Ethernet1/50", description="uplink of the second row")
    address = {"status": "active", "assigned_object_type": port.label, "assigned_object_id": port.id}
    for text in ("10.240.241.242/31", "2001:db8:1:ff00::16/128"):
        api.post("/api/ipam/ip-addresses/", {**address, "address": text})
    panel, far = plant.panel(name="rtm-b02-panel"), plant.panel(name="rtm-b-panel01")
    spine = plant.end(device=plant.device(name="rtm-b-spine01"), name="Ethernet1/3")
    plant.cables((port, panel.fronts[0]), (panel.rear, far.rear), (far.fronts[0], spine))
    for path in (f"{device}/interfaces", f"{panel.device}/front-ports", f"{panel.device}/rear-ports"):
        page.goto(f"/dcim/devices/{path}/")
        assert page.locator(".list .end").count(), path
        assert set(page.evaluate(CUT)) <= {"MAC address", "Description"}, path


def tab_of(demo_service: Service, ports: list[End]) -> str:
    return f"/dcim/devices/{demo_service.api.get(ports[0].path)['device']['id']}/interfaces/"


def test_selected_ports_are_connected_by_the_mouse(
    page: Any, demo_service: Service, plant: Plant, ports: list[End]
) -> None:
    """Two cables from a table of ports take nine actions."""
    far = plant.ends("dcim.interface", 3, other := plant.device())
    page.goto(tab_of(demo_service, ports))
    page.get_by_label("Select all rows of this page").check()
    page.get_by_role("button", name="Connect", exact=True).click()
    page.get_by_text("Only the selected ports are listed.").wait_for()
    page.wait_for_function("() => document.activeElement.role === 'combobox'")
    name = demo_service.api.get(f"/api/dcim/devices/{other}/")["name"]
    page.keyboard.type(name)
    page.locator(".picker-popup li[data-active]", has_text=name).wait_for()
    press(page, "Enter")
    page.get_by_role("button", name="In order").click()
    page.get_by_role("button", name="Connect 2").click()
    page.locator("[data-notice]", has_text="2 cables were created.").wait_for()
    assert [demo_service.api.get(port.path)["cable_peer"]["id"] for port in ports] == [end.id for end in far[:2]]


def test_the_focus_is_behind_the_field_that_a_link_fills(page: Any, demo_service: Service, ports: list[End]) -> None:
    page.goto(tab_of(demo_service, ports))
    page.get_by_role("link", name="Add interface").click()
    page.wait_for_function("() => document.activeElement.name === 'name'")
    page.goto("/dcim/interfaces/add/")
    page.wait_for_function("() => document.activeElement.closest('.picker')?.querySelector('[name=device]')")
    page.goto(f"/dcim/interfaces/{ports[0].id}/edit/")
    page.wait_for_function("() => document.activeElement.closest('.picker')?.querySelector('[name=device]')")


CIRCUIT_END = """() => {
  const edge = document.querySelector(".table-scroll").getBoundingClientRect().right;
  const headers = [...document.querySelectorAll(".list thead th")].filter((cell) => cell.getBoundingClientRect().right <= edge);
  return headers.map((header) => header.textContent.trim());
}"""  # headers that are in sight


def test_the_other_end_of_a_circuit_is_in_sight_at_1280_pixels(page: Any) -> None:
    page.goto("/circuits/circuit-terminations/")
    assert {"Connected to", "Cable"} <= set(page.evaluate(CIRCUIT_END))


def test_ports_are_selected_and_disabled_by_the_mouse(page: Any, demo_service: Service, ports: list[End]) -> None:
    tab = tab_of(demo_service, ports)
    page.goto(tab)
    page.get_by_label("Select all rows of this page").check()
    page.get_by_role("button", name="Disable").click()
    page.locator("[data-notice]").wait_for()
    assert tab in page.url
    assert [demo_service.api.get(port.path)["enabled"] for port in ports] == [False, False]


def test_a_cell_of_a_table_with_folded_columns_is_changed_by_keys(
    page: Any, demo_service: Service, ports: list[End]
) -> None:
    demo_service.api.patch(ports[1].path, {"description": "spare"})
    page.goto(tab_of(demo_service, ports))
    page.evaluate("window.kept = true")
    headers = page.locator("thead th").all_inner_texts()
    page.locator("tbody tr").first.locator("td, th").nth(1 + headers.index("Description")).focus()
    press(page, "F2")
    page.locator(".inline-form input[name=description]").wait_for()
    page.keyboard.type("uplink")
    press(page, "Enter")
    page.locator("[data-notice]").wait_for()
    assert demo_service.api.get(ports[0].path)["description"] == "uplink"
    assert page.locator("tbody tr").first.get_by_text("uplink").count() == 1
    assert page.evaluate("window.kept") is True


def test_the_next_free_address_takes_two_clicks(
    page: Any, demo_service: Service, plant: Plant, ports: list[End], unique: Callable[[], str]
) -> None:
    vrf = demo_service.api.post("/api/ipam/vrfs/", {"name": unique()})["id"]
    body = {"prefix": "10.50.0.0/29", "status": "active", "vrf": vrf, "site": plant.site}
    demo_service.api.post("/api/ipam/prefixes/", body)
    page.goto(f"/dcim/interfaces/{ports[0].id}/")
    page.get_by_role("link", name="Assign address").click()
    page.get_by_role("button", name="10.50.0.1/29").click()
    page.locator("[data-notice]").wait_for()
    assert "10.50.0.1/29" in page.locator("#panel-addresses").inner_text()


def test_empty_tabs_are_reached_by_keys(page: Any, demo_service: Service, ports: list[End]) -> None:
    page.goto(tab_of(demo_service, ports))
    page.locator(".tabs summary").focus()
    press(page, "Enter")
    page.get_by_role("link", name="Rear ports 0").focus()
    press(page, "Enter")
    page.wait_for_url("**/rear-ports/")
    assert page.locator(".tabs [aria-current]").inner_text().startswith("Rear ports")
