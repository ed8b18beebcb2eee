"""Journeys in a browser: many objects at once, pickers, sessions that end, undo."""

from __future__ import annotations

from typing import Any

import pytest

from netinv_testing import Api, Service
from netinv_testing.client import PASSWORD
from tests.support.chromium import path_with_ids, press

pytestmark = [pytest.mark.browser, pytest.mark.any_database]


def tenants(api: Api, prefix: str, count: int) -> list[dict[str, Any]]:
    """New tenants whose names begin with a prefix."""
    bodies = [{"name": f"{prefix} {number}", "slug": f"{prefix.lower()}-{number}"} for number in range(count)]
    created: list[dict[str, Any]] = api.post("/api/tenancy/tenants/", bodies)
    return created


def descriptions(api: Api, prefix: str) -> list[str]:
    """The descriptions of these tenants."""
    results = api.get("/api/tenancy/tenants/", {"name__isw": prefix, "limit": 50})["results"]
    return [item["description"] for item in results]


def test_selected_objects_are_changed_together_after_a_preview_and_undone(page: Any, demo_service: Service) -> None:
    api = demo_service.api
    tenants(api, "Bulk", 3)
    page.goto("/tenancy/tenants/?name__isw=Bulk")
    page.get_by_label("Select all rows of this page").check()
    page.get_by_role("button", name="Edit").first.click()
    page.locator("#field-description").fill("changed together")
    page.get_by_role("button", name="Preview the changes").click()
    page.get_by_role("button", name="Apply").wait_for()
    assert descriptions(api, "Bulk") == ["", "", ""]
    page.get_by_role("button", name="Apply").click()
    page.locator("[data-notice]").wait_for()
    assert descriptions(api, "Bulk") == ["changed together"] * 3
    page.locator("[data-notice]").get_by_role("button", name="Undo").click()
    page.locator("[data-notice]").wait_for()
    assert descriptions(api, "Bulk") == ["", "", ""]


def test_a_preview_that_takes_long_says_that_it_is_on_its_way(page: Any, demo_service: Service) -> None:
    """The answer is held back until the page has said so."""
    tenants(demo_service.api, "Slow", 2)
    page.goto("/tenancy/tenants/?name__isw=Slow")
    page.get_by_label("Select all rows of this page").check()
    page.get_by_role("button", name="Edit").first.click()
    page.locator("#field-description").fill("changed slowly")
    held: list[Any] = []
    page.route("**/edit/*", lambda route: held.append(route))  # noqa: PLW0108  it takes arguments by their number
    page.expose_function("said", lambda text: (said.append(text), held.pop().continue_()))
    page.evaluate(
        "new MutationObserver(() => said(document.querySelector('.waiting').innerText)).observe(document.body, {childList: true})"
    )
    said: list[str] = []
    page.get_by_role("button", name="Preview the changes").click()
    page.get_by_role("button", name="Apply").wait_for()
    assert [text.strip() for text in said] == ["On its way …"]
    assert not page.locator(".waiting").count()


def test_all_that_match_are_renamed(page: Any, demo_service: Service) -> None:
    api = demo_service.api
    tenants(api, "Rename", 3)
    page.goto("/tenancy/tenants/?name__isw=Rename")
    page.get_by_label("Select all rows of this page").check()
    page.get_by_role("button", name="Rename").first.click()
    page.get_by_label("Find").fill("Rename")
    page.get_by_label("Replace").fill("Renamed")
    page.get_by_role("button", name="Preview").click()
    page.get_by_role("button", name="Apply").click()
    page.locator("[data-notice]").wait_for()
    assert api.get("/api/tenancy/tenants/", {"name__isw": "Renamed"})["count"] == 3


def test_what_was_typed_survives_the_end_of_the_session(chromium: Any, address: str, demo_service: Service) -> None:
    account = demo_service.user(superuser=True, password=PASSWORD)
    context = chromium.new_context(base_url=address)
    page = context.new_page()
    page.goto("/login/?next=/tenancy/tenants/add/")
    page.fill("#username", account.username)
    page.fill("#password", PASSWORD)
    page.press("#password", "Enter")
    page.fill("#field-name", "Typed before the end")
    context.clear_cookies()
    page.get_by_role("button", name="Create", exact=True).click()
    page.get_by_text("What you entered is kept").wait_for()
    page.fill("#username", account.username)
    page.fill("#password", PASSWORD)
    page.press("#password", "Enter")
    page.wait_for_url("**/tenancy/tenants/*-*/")
    assert page.locator("h1").inner_text().startswith("Typed before the end")
    context.close()


def test_a_picker_searches_and_takes_the_choice(page: Any, demo_service: Service) -> None:
    api, word = demo_service.api, demo_service.unique()
    places = [{"name": f"{word} {side}", "slug": f"{word}-{side}", "status": "active"} for side in ("north", "south")]
    site, other = api.post("/api/dcim/sites/", places)
    groups = [{"name": f"Row of {place['name']}", "site": place["id"]} for place in (site, other)]
    api.post("/api/dcim/rack-groups/", groups)
    page.goto("/dcim/racks/add/")
    page.locator("#field-name").fill(f"{word} picked")
    page.get_by_role("combobox", name="Site", exact=True).fill(f"{word} n")
    page.get_by_role("option", name=site["name"]).click()
    page.get_by_role("combobox", name="Group", exact=True).fill(f"Row of {word}")
    page.get_by_role("option", name=f"Row of {site['name']}").wait_for()
    assert page.get_by_role("option", name="Row of").count() == 1  # those of the other site do not fit
    press(page, "Enter")
    page.locator("#field-status").select_option("active")
    page.get_by_role("button", name="Create", exact=True).click()
    page.wait_for_url("**/dcim/racks/*-*/")
    rack = api.get("/api/dcim/racks/", {"name": f"{word} picked"})["results"][0]
    assert (rack["site"]["id"], rack["group"]["display"]) == (site["id"], groups[0]["name"])


def test_a_list_is_kept_as_a_view(page: Any) -> None:
    page.goto("/dcim/racks/?status=active&ordering=-name")
    page.locator("summary", has_text="Views").click()
    page.get_by_label("Save these filters, order and columns as").fill("Active racks")
    page.locator("form[action$='_view/']").get_by_role("button", name="Save").last.click()
    page.goto("/dcim/racks/")
    page.locator("summary", has_text="Views").click()
    page.get_by_role("link", name="Active racks").click()
    page.wait_for_url("**status=active**")
    assert "ordering=-name" in page.url


def test_the_notice_after_a_deletion_undoes_it(page: Any, demo_service: Service) -> None:
    api = demo_service.api
    (tenant,) = tenants(api, "Deleted", 1)
    page.goto(f"/tenancy/tenants/{tenant['id']}/delete/")
    page.locator("main form button.danger").click()
    page.locator("[data-notice]").get_by_role("button", name="Undo").click()
    page.locator("[data-notice]").wait_for()
    assert api.get(f"/api/tenancy/tenants/{tenant['id']}/")["name"] == tenant["name"]


def test_an_import_names_the_faulty_cell_and_applies_when_it_is_mended(page: Any, demo_service: Service) -> None:
    api = demo_service.api
    page.goto("/tenancy/tenants/import/")
    page.get_by_label("Rows").fill(
        "name,slug,group\nImported one,imported-one,\nImported two,imported-two,no-such-group\n"
    )
    page.get_by_role("button", name="Preview").click()
    page.locator("text=no-such-group >> visible=true").first.wait_for()
    assert api.get("/api/tenancy/tenants/", {"name__isw": "Imported"})["count"] == 0
    page.goto("/tenancy/tenants/import/")
    page.get_by_label("Rows").fill("name,slug\nImported one,imported-one\nImported two,imported-two\n")
    page.get_by_role("button", name="Preview").click()
    page.get_by_role("button", name="Import", exact=True).click()
    page.locator("[data-notice]").wait_for()
    assert api.get("/api/tenancy/tenants/", {"name__isw": "Imported"})["count"] == 2


def test_what_a_pattern_stands_for_is_shown_while_it_is_typed(page: Any, demo_service: Service) -> None:
    page.goto(path_with_ids(demo_service, "/dcim/interfaces/add/?device={dcim.device}"))
    page.fill("#field-name", "ge-0/0/[0-47]")
    page.locator("output", has_text="48: ge-0/0/0, ge-0/0/1, ge-0/0/2 … ge-0/0/47").wait_for()
    page.fill("#field-name", "ge-0/0/[7-4]")
    page.locator("output", has_text="The range 7-4 has to rise.").wait_for()
    page.fill("#field-name", "ge-0/0/7")
    page.locator("output").wait_for(state="detached")


def test_the_free_units_follow_the_chosen_face(page: Any, demo_service: Service) -> None:
    page.goto(path_with_ids(demo_service, "/dcim/devices/add/?rack={dcim.rack}"))
    page.fill("#field-name", "kept")
    offered = page.locator("#field-position option")
    front = offered.count()
    with page.expect_response(lambda response: response.request.method == "POST"):
        page.select_option("#field-face", "rear")
    page.wait_for_function("() => document.querySelectorAll('#field-position option').length > 1")
    assert front > 1 and offered.count() > 1 and page.input_value("#field-name") == "kept"


def test_a_new_template_is_tried_beside_its_form(page: Any, demo_service: Service) -> None:
    """The script replaces the part only; the Enter key in it does not save."""
    tenants(demo_service.api, "Trial", 2)
    page.goto("/extras/computed-fields/add/")
    page.locator("#field-label").fill("Trial")
    page.locator("#field-content_type").select_option("tenancy.tenant")
    page.locator("#field-template").fill("{{ obj.nmae }}")
    part = page.locator("#part-try")
    part.get_by_role("button", name="Try it").click()
    part.locator("mark").wait_for()
    assert "Line 1: tenant has no attribute 'nmae'. Did you mean 'name'?" in part.inner_text()
    page.locator("#field-template").fill("Hello {{ obj.name }}")
    part.get_by_label("Find another").fill("Trial 1")
    part.get_by_label("Find another").press("Enter")
    part.get_by_text("Hello Trial 1").wait_for()
    assert page.url.endswith("/extras/computed-fields/add/")
    assert page.locator("#field-label").input_value() == "Trial"
    assert demo_service.api.get("/api/extras/computed-fields/", {"label": "Trial"})["count"] == 0


def test_the_input_of_a_colour_tells_none_from_black(page: Any) -> None:
    page.goto("/extras/tags/add/")
    text, picker = page.locator("#field-color"), page.get_by_label("Choose a colour")
    shown = []
    for value in ("", "000000", "aa00", "aa0000"):
        text.fill(value)
        shown.append((picker.input_value(), "unset" in (picker.get_attribute("class") or "")))
    assert shown == [("#000000", True), ("#000000", False), ("#000000", True), ("#aa0000", False)]
    picker.fill("#00ff00")
    assert text.input_value() == "#00ff00"
