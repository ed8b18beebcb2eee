"""Journeys in a browser: values of lists that are changed in their place, and in the grid."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from netinv_testing import Service
from tests.support.chromium import press

pytestmark = [pytest.mark.browser, pytest.mark.any_database]
SITES = "/api/dcim/sites/"


@pytest.fixture
def sites(demo_service: Service, unique: Callable[[], str]) -> list[dict[str, Any]]:
    """Three new sites with one word in their names."""
    word = unique()
    bodies = [{"name": f"{word} {number}", "slug": f"{word}-{number}", "status": "active"} for number in range(3)]
    made: list[dict[str, Any]] = demo_service.api.post(SITES, bodies)
    return made


def list_of(sites: list[dict[str, Any]], columns: str, path: str = "/dcim/sites/") -> str:
    """The address of a list of these sites."""
    return f"{path}?name__isw={sites[0]['slug'].rpartition('-')[0]}&_columns={columns}"


def test_cells_of_a_list_are_changed_in_their_place_by_keys(page: Any, demo_service: Service, sites: list[Any]) -> None:
    page.goto(list_of(sites, "status,facility,region"))
    page.locator("tbody tr").first.locator("td").nth(1).focus()
    press(page, "ArrowRight")
    press(page, "ArrowDown")
    press(page, "F2")
    page.locator(".inline-form input[name=facility]").wait_for()
    page.keyboard.type("x" * 51)
    press(page, "Escape")
    assert page.locator(".inline-form").count() == 0
    press(page, "Enter")
    page.locator(".inline-form input[name=facility]").wait_for()
    page.keyboard.type("DC 9")
    press(page, "Enter")
    page.locator("[data-notice]").wait_for()
    assert page.evaluate("document.activeElement.textContent") == "DC 9"
    assert demo_service.api.get(f"{SITES}{sites[1]['id']}/")["facility"] == "DC 9"
    page.locator("[data-notice]").get_by_role("button", name="Undo").click()
    page.locator("[data-notice]").wait_for()
    assert "/dcim/sites/?name__isw" in page.url
    assert demo_service.api.get(f"{SITES}{sites[1]['id']}/")["facility"] == ""


def test_a_refused_value_and_a_conflict_are_shown_at_the_cell(
    page: Any, demo_service: Service, sites: list[Any]
) -> None:
    page.goto(list_of(sites, "facility,region"))
    name = page.locator("tbody tr").nth(2).locator("th")
    name.dblclick(position={"x": 2, "y": 2})
    page.locator(".inline-form input[name=name]").fill(sites[0]["name"])
    press(page, "Enter")
    page.locator("th .field-error").wait_for()
    press(page, "Escape")
    facility = page.locator("tbody tr").first.locator("td").nth(1)
    facility.dblclick()
    page.locator(".inline-form input[name=facility]").fill("mine")
    demo_service.api.patch(f"{SITES}{sites[0]['id']}/", {"facility": "theirs"})
    press(page, "Enter")
    page.get_by_label("Yours, as entered here").wait_for()
    page.get_by_role("button", name="Save", exact=True).click()
    page.locator("[data-notice]").wait_for()
    assert facility.inner_text() == "mine"


def test_a_reference_is_searched_in_the_cell(page: Any, demo_service: Service, sites: list[Any]) -> None:
    region = demo_service.api.get("/api/dcim/regions/", {"limit": 1})["results"][0]
    page.goto(list_of(sites, "region,facility"))
    cell = page.locator("tbody tr").first.locator("td").nth(1)
    cell.dblclick()
    page.get_by_role("combobox", name="Region").fill(region["name"])
    page.get_by_role("option", name=region["name"]).first.click()
    page.get_by_role("button", name="Save", exact=True).click()
    page.locator("[data-notice]").wait_for()
    assert cell.inner_text().endswith(region["name"])
    assert demo_service.api.get(f"{SITES}{sites[0]['id']}/")["region"]["id"] == region["id"]


def test_the_picker_of_a_filter_searches_in_the_part_that_is_fetched(page: Any, demo_service: Service) -> None:
    tenant = demo_service.api.get("/api/tenancy/tenants/", {"limit": 1})["results"][0]
    page.goto("/dcim/devices/")
    page.locator("summary", has_text="Filter").first.click()
    page.locator("#filter-name").select_option("tenant")
    page.get_by_role("button", name="Next").click()
    page.get_by_role("combobox", name="Value").fill(tenant["name"])
    page.get_by_role("option", name=tenant["name"]).first.click()
    page.get_by_role("button", name="Apply").first.click()
    page.locator(".chip", has_text="Tenant").wait_for()
    assert f"tenant={tenant['id']}" in page.url


PASTE = """([name, text]) => {
  const data = new DataTransfer();
  data.setData("text/plain", text);
  const input = document.querySelector(`[name="${name}"]`).closest("td").querySelector("input:not([type=hidden], [hidden]), select:not([hidden])");
  input.dispatchEvent(new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true }));
}"""


def test_a_grid_is_filled_by_keys_alone(page: Any, demo_service: Service, sites: list[Any]) -> None:
    region = demo_service.api.get("/api/dcim/regions/", {"limit": 1})["results"][0]
    page.goto(list_of(sites, "facility,region,status,comments"))
    page.get_by_role("link", name="Grid").focus()
    press(page, "Enter")
    page.locator("form[data-grid]").wait_for()
    page.locator(f"[name='{sites[0]['id']}:name']").focus()
    press(page, "Tab")
    page.keyboard.type("A1")
    press(page, "Enter")
    page.keyboard.type("A2")
    press(page, "ArrowDown")
    page.keyboard.type("A3")
    press(page, "Escape", "ArrowUp", "ArrowRight")
    page.keyboard.type(region["name"])
    page.get_by_role("option", name=region["name"]).first.wait_for()
    press(page, "Enter", "ArrowRight")
    press(page, "P")  # a list of choices takes letters together for a second only
    press(page, "ArrowRight")
    page.keyboard.type("one")
    press(page, "Alt+Enter")
    page.keyboard.type("two")
    page.get_by_text("5 cells changed.").wait_for()
    press(page, "Control+Enter")
    page.get_by_role("button", name="Apply").wait_for()
    page.get_by_role("button", name="Apply").focus()
    press(page, "Enter")
    page.locator("[data-notice]").wait_for()
    now = [demo_service.api.get(f"{SITES}{site['id']}/") for site in sites]
    assert [site["facility"] for site in now] == ["A1", "A2", ""]
    assert (now[1]["region"]["id"], now[1]["status"]["value"]) == (region["id"], "planned")
    assert now[1]["comments"] == "one\ntwo"


def test_a_block_of_a_spreadsheet_is_pasted_into_the_grid(page: Any, demo_service: Service, sites: list[Any]) -> None:
    region = demo_service.api.get("/api/dcim/regions/", {"limit": 1})["results"][0]
    path = list_of(sites, "facility,status,region,asn", "/dcim/sites/grid/")
    page.goto(path)
    rows = [f'"Hall ""1"""\tplanned\t{region["name"]}\t65001', "Hall 2\tno such\tNowhere at all\t\t beyond", ""]
    page.evaluate(PASTE, [f"{sites[1]['id']}:facility", "\r\n".join(rows)])
    status = page.locator("[data-grid-status]")
    assert status.inner_text() == "6 cells changed. 7 filled, 1 cannot take their text, 1 beyond the grid left out."
    assert page.locator("td[data-refused]").count() == 1
    assert page.locator("[role=listbox]:visible").count() == 0
    page.get_by_role("button", name="Preview the changes").click()
    error = page.locator("td.invalid .field-error")
    error.wait_for()
    shown = page.locator("td.invalid input[role=combobox]")
    assert shown.input_value() == "Nowhere at all"
    shown.focus()
    press(page, "Control+a", "Delete", "Tab")
    page.get_by_role("button", name="Preview the changes").click()
    page.get_by_role("button", name="Apply").click()
    page.locator("[data-notice]").wait_for()
    now = [demo_service.api.get(f"{SITES}{site['id']}/") for site in sites]
    assert [(site["facility"], site["asn"]) for site in now] == [("", None), ('Hall "1"', 65001), ("Hall 2", None)]
    assert now[1]["region"]["id"] == region["id"] and now[2]["status"]["value"] == "active"
