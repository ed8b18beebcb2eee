"""Journeys in a browser: lists that fold, cut long names, and show long tables in parts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from netinv_testing import Service
from tests.support.chromium import PHONE_WIDTH, press

pytestmark = [pytest.mark.browser, pytest.mark.any_database]
VISIBLE_COLUMNS = """() => {
  const edge = document.querySelector(".table-scroll").getBoundingClientRect().right;
  return [...document.querySelectorAll(".list thead th")].filter((cell) => cell.getBoundingClientRect().right <= edge).map((cell) => cell.innerText);
}"""


def test_eight_columns_of_devices_are_visible_at_1280_pixels(page: Any, demo_service: Service) -> None:
    page.goto("/dcim/devices/?name__nisw=WWWW")  # the longest names are those of tests/browser/test_layout.py
    seen = page.evaluate(VISIBLE_COLUMNS)
    assert [text.partition("\n")[0] for text in seen[:8]] == [
        "Name",
        "Status",
        "Primary IP",
        "Site",
        "Rack",
        "Device role",
        "Device type",
        "Tenant",
    ]


def test_the_primary_addresses_of_devices_are_whole_and_on_one_line(page: Any, demo_service: Service) -> None:
    page.goto("/dcim/devices/?name=bos-fw01&name=bos-rtr01")
    cells = page.locator("#results td.uncut")
    assert [text.endswith("/128") for text in cells.all_inner_texts()] == [True, True]
    for cell in cells.all():
        assert cell.evaluate(
            "(cell) => cell.scrollWidth <= cell.clientWidth && cell.querySelector('a').getClientRects().length == 1"
        )


def test_bars_of_utilization_are_not_cut(page: Any, demo_service: Service) -> None:
    page.goto("/dcim/racks/")
    cells = page.locator("#results td:has(> .shares)")
    widths = cells.evaluate_all("(cells) => cells.map((cell) => cell.scrollWidth - cell.clientWidth)")
    assert widths
    assert max(widths) <= 0


def test_the_navigation_and_the_counts_fold_and_stay_so(page: Any, demo_service: Service) -> None:
    page.goto("/dcim/devices/")
    wide = page.locator("#navigation").bounding_box()["width"]
    page.get_by_role("button", name="Narrow").click()
    page.locator(".facets > summary").click()
    page.locator(".facet").first.wait_for()
    page.goto("/dcim/sites/")
    page.locator(".facet").first.wait_for()
    assert page.locator("#navigation").bounding_box()["width"] < wide / 3
    page.locator("#navigation summary", has_text="IPAM").click()
    page.get_by_role("link", name="Prefixes", exact=True).click()
    page.wait_for_url("**/ipam/prefixes/**")
    page.get_by_role("button", name="Narrow").press("Enter")
    page.locator(".facets > summary").press("Enter")
    page.wait_for_function("() => !document.cookie.includes('facets')")  # the event follows the key
    page.goto("/dcim/sites/")
    assert page.locator("#navigation").bounding_box()["width"] == wide
    assert not page.locator(".facet").count()


def test_all_rows_of_a_long_list_are_shown_and_edited(page: Any, demo_service: Service) -> None:
    page.goto("/dcim/devices/?per_page=220&_columns=status,serial")
    page.wait_for_function("() => !document.querySelector('tbody[data-later]')")
    rows = page.locator("#results tbody tr")
    assert rows.count() == 220
    last = rows.nth(219)
    last.scroll_into_view_if_needed()
    last.locator("td").nth(2).dblclick(position={"x": 4, "y": 4})
    page.locator(".inline-form input[name=serial]").wait_for()


def test_a_double_click_on_a_reference_edits_it_and_a_click_follows_it(page: Any, demo_service: Service) -> None:
    page.goto("/dcim/devices/?per_page=5&_columns=site,status")
    cell = page.locator("#results tbody tr").first.locator("td").nth(1)
    name = cell.inner_text()
    begin = {"x": 4, "y": 4}  # a long name is cut, and the middle of its link is not in the cell
    cell.locator("a").dblclick(position=begin)
    page.get_by_role("combobox", name="Site").wait_for()
    press(page, "Escape")
    cell.locator("a").click(position=begin)
    page.wait_for_url("**/dcim/sites/**")
    assert name in page.locator("h1").inner_text()


def test_a_cut_name_is_the_tooltip_of_its_cell(page: Any, demo_service: Service) -> None:
    page.goto("/dcim/devices/?_columns=status,primary_ip,site,rack,device_role,device_type,tenant,location,comments")
    cell = page.locator("#results tbody tr").first.locator("td").nth(6)
    cell.hover()
    assert cell.get_attribute("title") == cell.evaluate("(cell) => cell.textContent.trim()")


def test_all_rows_are_selected_on_a_phone_by_key(new_page: Callable[..., Any]) -> None:
    page = new_page(width=PHONE_WIDTH)
    page.goto("/dcim/devices/")
    every = page.get_by_role("checkbox", name="Select all rows of this page")
    boxes = page.locator('tbody input[name="pk"]')
    assert page.get_by_text("Select all", exact=True).is_visible()
    every.focus()
    press(page, "Space")
    assert page.locator('tbody input[name="pk"]:checked').count() == boxes.count() > 1
    first = boxes.first
    edge, other = every.bounding_box(), first.bounding_box()
    assert abs(edge["x"] - other["x"]) < 4, "it is above the others"
    first.uncheck()
    assert every.evaluate("(box) => box.indeterminate")
    every.focus()
    press(page, "Space")
    press(page, "Space")
    assert page.locator('tbody input[name="pk"]:checked').count() == 0


def test_shift_and_a_click_choose_the_rows_in_between(page: Any) -> None:
    page.goto("/dcim/devices/")
    boxes = page.locator('tbody input[name="pk"]')

    def chosen() -> list[int]:
        found: list[int] = boxes.evaluate_all("all => all.flatMap((box, place) => (box.checked ? [place] : []))")
        return found

    boxes.nth(1).click()
    boxes.nth(4).click(modifiers=["Shift"])
    assert chosen() == [1, 2, 3, 4]
    assert page.locator("[data-selected-count]").inner_text() == "4"
    boxes.nth(2).click()
    boxes.nth(3).click(modifiers=["Shift"])  # takes them off, as the row that was clicked
    assert chosen() == [1, 4]
    boxes.nth(8).click()
    boxes.nth(6).click(modifiers=["Shift"])  # upwards
    assert chosen() == [1, 4, 6, 7, 8]
