"""Journeys in a browser: many objects at once, pickers, sessions that end, undo."""

from __future__ import annotations

from typing import Any

import pytest

from netinv_testing import Api, Service
from netinv_testing.client import PASSWORD

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
    api = demo_service.api
    site = api.get("/api/dcim/sites/", {"limit": 1, "offset": 3})["results"][0]
    page.goto("/dcim/racks/add/")
    page.locator("#field-name").fill("Picked rack")
    picker = page.get_by_role("combobox", name="Site")
    picker.fill(site["name"][:6])
    page.get_by_role("option", name=site["name"]).first.click()
    page.locator("#field-status").select_option("active")
    page.get_by_role("button", name="Create", exact=True).click()
    page.wait_for_url("**/dcim/racks/*-*/")
    rack = api.get("/api/dcim/racks/", {"name": "Picked rack"})["results"][0]
    assert rack["site"]["id"] == site["id"]


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
    page.get_by_text("no-such-group").first.wait_for()
    assert api.get("/api/tenancy/tenants/", {"name__isw": "Imported"})["count"] == 0
    page.goto("/tenancy/tenants/import/")
    page.get_by_label("Rows").fill("name,slug\nImported one,imported-one\nImported two,imported-two\n")
    page.get_by_role("button", name="Preview").click()
    page.get_by_role("button", name="Import", exact=True).click()
    page.locator("[data-notice]").wait_for()
    assert api.get("/api/tenancy/tenants/", {"name__isw": "Imported"})["count"] == 2
