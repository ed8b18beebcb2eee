"""Journeys in a browser by keyboard alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from netinv_testing import Service
from tests.support.chromium import path_with_ids, press

pytestmark = [pytest.mark.browser, pytest.mark.any_database]


def heading(page: Any, text: str) -> None:
    """Waits for the page with a heading."""
    page.wait_for_function("text => document.querySelector('h1')?.textContent.includes(text)", arg=text)


def test_the_palette_finds_a_device_and_opens_it(page: Any, demo_service: Service) -> None:
    device = demo_service.api.get("/api/dcim/devices/", {"limit": 1})["results"][0]
    page.goto("/")
    press(page, "/")
    page.keyboard.type(device["name"])
    page.locator("[role=option]", has_text=device["name"]).first.wait_for()
    option = page.locator("[role=option]")
    for _ in range(option.count()):
        press(page, "ArrowDown")
        active = page.locator("[role=option][aria-selected=true]")
        if active.inner_text().strip().startswith(device["name"]):
            break
    press(page, "Enter")
    heading(page, device["name"])


def test_the_palette_runs_a_command(page: Any) -> None:
    page.goto("/dcim/devices/")
    press(page, "Control+k")
    page.keyboard.type("add to racks")
    press(page, "ArrowDown", "Enter")
    heading(page, "Add rack")


def test_keys_lead_to_pages_and_a_dialog_lists_them(page: Any) -> None:
    page.goto("/")
    press(page, "g", "d")
    heading(page, "Devices")
    press(page, "g", "p")
    heading(page, "Prefixes")
    press(page, "?")
    page.get_by_role("dialog", name="Keys").wait_for()
    press(page, "Escape")
    page.get_by_role("dialog", name="Keys").wait_for(state="hidden")


def test_rows_are_visited_selected_and_opened(page: Any) -> None:
    page.goto("/dcim/sites/")
    second = page.locator("tbody th a").nth(1).inner_text()
    press(page, "j", "j", "x")
    assert page.locator("tbody input:checked").count() == 1
    press(page, "Enter")
    heading(page, second)


def test_a_key_leads_from_selected_rows_to_their_actions(page: Any) -> None:
    page.goto("/dcim/devices/?name__ic=acc")
    press(page, "s")
    assert not page.evaluate("document.activeElement.closest('#selection')"), "nothing is selected"
    press(page, "j", "x", "j", "x", "s")
    for _ in range(20):
        if "another type" in page.evaluate("document.activeElement.textContent"):
            break
        press(page, "Tab")
    press(page, "Enter")
    heading(page, "Move 2 devices to another type")
    page.keyboard.type("AX1024")
    page.locator("[role=option]").first.wait_for()
    press(page, "ArrowDown", "Enter", "Tab", "Enter")
    page.wait_for_url("**/apply/**")
    heading(page, "AX1024")


def test_the_visited_row_has_the_focus_wherever_it_was(page: Any) -> None:
    page.goto("/dcim/sites/")
    names = page.locator("tbody th a").all_inner_texts()
    page.locator("#list summary", has_text="Filter").first.focus()
    press(page, "j")
    assert page.evaluate("document.activeElement.textContent") == names[0]
    press(page, "Tab", "j")  # from another cell of the row
    assert page.evaluate("document.activeElement.textContent") == names[1]
    press(page, "Enter")
    heading(page, names[1])


def test_tenants_are_renamed_by_keys_alone(page: Any, demo_service: Service, unique: Callable[[], str]) -> None:
    """The summary of a preview has the focus, so that the next key leads to *Apply*."""
    word = unique()
    names = [f"{word} {place}" for place in ("a", "b")]
    demo_service.api.post("/api/tenancy/tenants/", [{"name": name, "slug": name.replace(" ", "-")} for name in names])
    page.goto(f"/tenancy/tenants/?name__isw={word}")
    page.locator("[data-select-all]").focus()
    press(page, "Space", "s")
    for _ in range(10):
        if page.evaluate("document.activeElement.textContent").strip() == "Rename":
            break
        press(page, "Tab")
    press(page, "Enter")
    heading(page, "Rename 2 tenants")
    page.keyboard.type(word)
    press(page, "Tab")
    page.keyboard.type(f"{word} renamed")
    press(page, "Enter")
    heading(page, "preview")
    assert page.evaluate("document.activeElement.textContent").startswith("2 would change")
    press(page, "Tab", "Enter")
    page.locator("[data-notice]", has_text="2 tenants were renamed.").wait_for()
    assert demo_service.api.get("/api/tenancy/tenants/", {"name__isw": f"{word} renamed"})["count"] == 2


@pytest.mark.parametrize(("path", "key"), [("/dcim/sites/", "f"), ("/dcim/sites/{dcim.site}/", ".")])
def test_a_menu_closes_by_escape_and_when_the_focus_leaves_it(
    page: Any, demo_service: Service, path: str, key: str
) -> None:
    page.goto(path_with_ids(demo_service, path))
    menu = page.locator("details.dropdown[open]")
    press(page, key)
    menu.wait_for()
    press(page, "Escape")
    menu.wait_for(state="detached")
    assert page.evaluate("document.activeElement.tagName") == "SUMMARY"
    press(page, "Enter")
    menu.wait_for()
    for _ in range(menu.locator("a, button, input, select").count() + 1):
        press(page, "Tab")
    menu.wait_for(state="detached")


@pytest.mark.parametrize("way", ["click", "focus"])
def test_what_is_typed_in_the_header_is_searched_while_it_is_typed(page: Any, demo_service: Service, way: str) -> None:
    addresses = demo_service.api.get("/api/ipam/ip-addresses/", {"limit": 1})["results"]
    text = addresses[0]["address"].partition("/")[0]
    page.goto("/")
    getattr(page.locator("header [role=search] input"), way)()
    page.keyboard.type(text)
    page.locator("[role=option]", has_text=text).first.wait_for()
    assert page.locator("dialog.palette input[type=search]").input_value() == text
    press(page, "Escape", "Escape")  # the first empties the input
    page.locator("dialog.palette").wait_for(state="hidden")
    assert page.evaluate("document.activeElement.id") == "search-box"


def test_a_site_is_created_edited_and_deleted(page: Any, demo_service: Service) -> None:
    page.goto("/dcim/sites/")
    press(page, "c")
    heading(page, "Add site")
    page.wait_for_function("() => document.activeElement.id === 'field-name'")
    page.keyboard.type("Keyboard site")
    page.locator("#field-status").focus()
    page.keyboard.type("Active")
    page.locator("#field-name").focus()
    press(page, "Enter")
    heading(page, "Keyboard site")
    press(page, "e")
    heading(page, "Edit Keyboard site")
    page.locator("#field-facility").focus()
    page.keyboard.type("DC-K")
    press(page, "Enter")
    page.wait_for_url("**/dcim/sites/*-*/")
    site = demo_service.api.get("/api/dcim/sites/", {"name": "Keyboard site"})["results"][0]
    assert (site["facility"], site["status"]["value"]) == ("DC-K", "active")
    page.get_by_role("link", name="Delete", exact=True).focus()
    press(page, "Enter")
    page.locator("main form button.danger").focus()
    press(page, "Enter")
    page.wait_for_url("**/dcim/sites/")
    assert demo_service.api.get("/api/dcim/sites/", {"name": "Keyboard site"})["count"] == 0


def test_an_error_puts_the_focus_on_its_summary_which_leads_to_the_field(page: Any) -> None:
    page.goto("/ipam/prefixes/add/")
    page.locator("#field-status").focus()
    page.keyboard.type("Active")
    page.locator("#field-prefix").focus()
    page.keyboard.type("10.0.0.300/24")
    press(page, "Enter")
    page.locator("#error-summary").wait_for()
    page.wait_for_function("() => document.activeElement.id === 'error-summary'")
    press(page, "Tab", "Enter")
    assert page.evaluate("document.activeElement.id") == "field-prefix"
    assert page.locator("#field-prefix").input_value() == "10.0.0.300/24"


def test_quick_search_narrows_the_list_while_typing(page: Any, demo_service: Service) -> None:
    name = f"{demo_service.unique()} yard"
    site = demo_service.api.post("/api/dcim/sites/", {"name": name, "status": "active"})
    page.goto("/dcim/sites/?per_page=1&page=2")
    page.locator("#list-search").focus()
    page.keyboard.type(site["name"])
    page.wait_for_url(lambda url: f"q={site['name'].replace(' ', '+')}" in url)  # parts of it are searched before
    page.locator("#list th a", has_text=name).wait_for()  # on the first page of what is found
    assert "&page=2" not in page.url


def test_a_request_is_sent_from_the_browsable_api(page: Any, demo_service: Service) -> None:
    page.goto("/api/tenancy/tenants/")
    editor = page.locator("details", has=page.locator("#body-POST"))
    editor.locator("summary").focus()
    press(page, "Enter")
    page.locator("#body-POST").focus()
    press(page, "Control+a")
    page.keyboard.insert_text('{"name": "From the API", "slug": "from-the-api"}')
    editor.get_by_role("button", name="Send POST").focus()
    press(page, "Enter")
    page.get_by_text("201 Created").first.wait_for()
    assert demo_service.api.get("/api/tenancy/tenants/", {"slug": "from-the-api"})["count"] == 1


def test_a_request_is_sent_from_the_form_of_the_browsable_api(page: Any, demo_service: Service) -> None:
    page.goto("/api/tenancy/tenants/")
    form = page.locator("#api-form")
    form.locator("summary").focus()
    press(page, "Enter")
    form.locator("input[name=name]").focus()
    page.keyboard.insert_text("From a form")
    form.get_by_role("button", name="Send POST").focus()
    press(page, "Enter")
    page.get_by_text("201 Created").first.wait_for()
    assert demo_service.api.get("/api/tenancy/tenants/", {"name": "From a form"})["count"] == 1
