"""Journeys in a browser: lists, objects and forms of the inventory."""

from __future__ import annotations

from typing import Any

import pytest

from netinv_testing import Service
from tests.support.chromium import press

pytestmark = [pytest.mark.browser, pytest.mark.any_database]


def test_a_list_is_filtered_by_chips_and_the_browser_goes_back(page: Any) -> None:
    page.goto("/dcim/devices/")
    total = page.locator("h1 .count").inner_text()
    page.locator("summary", has_text="As text").click()
    page.get_by_label("Filters as text").fill("status:active")
    page.get_by_role("button", name="Apply").click()
    page.get_by_role("link", name="Remove the filter Status").wait_for()
    assert "status=active" in page.url
    page.get_by_role("link", name="Remove the filter Status").click()
    page.wait_for_url("**/dcim/devices/")
    assert page.locator("h1 .count").inner_text() == total
    page.go_back()
    page.get_by_role("link", name="Remove the filter Status").wait_for()


def test_a_header_sorts_the_list(page: Any) -> None:
    page.goto("/dcim/sites/?name__ic=office")  # other tests have sites with other names
    page.locator("thead").get_by_role("link", name="Name").click()
    page.wait_for_url("**ordering=**")
    page.locator("thead").get_by_role("link", name="Name").click()
    page.wait_for_url("**ordering=-**")
    names = page.locator("tbody th").all_inner_texts()
    assert len(names) > 3 and names == sorted(names, key=str.casefold, reverse=True)


def test_next_leads_through_the_list_one_came_from(page: Any) -> None:
    page.goto("/dcim/sites/")
    second = page.locator("tbody th a").nth(1).inner_text()
    page.locator("tbody th a").first.click()
    page.wait_for_url("**/dcim/sites/*/")
    press(page, "]")
    page.wait_for_function("name => document.querySelector('h1').textContent.trim() === name", arg=second)


def test_the_next_address_of_a_prefix_is_allocated(page: Any, demo_service: Service) -> None:
    api = demo_service.api
    prefix = api.post("/api/ipam/prefixes/", {"prefix": "198.18.7.0/29", "status": "active"})
    page.goto(f"/ipam/prefixes/{prefix['id']}/")
    page.locator("form", has_text="Next address").get_by_role("button", name="Allocate").click()
    page.wait_for_url("**/edit/**")
    assert page.locator("#field-address").input_value() == "198.18.7.1/29"
    page.locator("#field-dns_name").fill("browser.example.com")
    page.get_by_role("button", name="Save", exact=True).click()
    page.wait_for_url("**/ipam/ip-addresses/*/")
    found = api.get("/api/ipam/ip-addresses/", {"address": "198.18.7.1"})["results"]
    assert [item["dns_name"] for item in found] == ["browser.example.com"]


def test_two_editors_change_different_fields_and_both_changes_stay(
    page: Any, new_page: Any, demo_service: Service
) -> None:
    api = demo_service.api
    tenant = api.post("/api/tenancy/tenants/", {"name": "Two editors", "slug": "two-editors"})
    path = f"/tenancy/tenants/{tenant['id']}/"
    page.goto(f"{path}edit/")
    other = new_page()
    other.goto(f"{path}edit/")
    other.get_by_label("Description").fill("from the other editor")
    other.get_by_role("button", name="Save", exact=True).click()
    other.wait_for_url(f"**{path}")
    page.get_by_label("Comments").fill("from this editor")
    page.get_by_role("button", name="Save", exact=True).click()
    page.wait_for_url(f"**{path}")
    saved = api.get(f"/api/tenancy/tenants/{tenant['id']}/")
    assert (saved["description"], saved["comments"]) == ("from the other editor", "from this editor")


def test_a_token_is_made_shown_once_and_used(page: Any, demo_service: Service, address: str) -> None:
    page.goto("/user/api-tokens/")
    page.get_by_role("link", name="Add token").click()
    page.locator("#field-description").fill("journey")
    page.locator("main form button.primary").click()
    page.locator("main [data-copy]").first.wait_for()
    key = page.locator("main [data-copy]").first.inner_text().strip()
    assert len(key) == 40
    answer = page.request.get("/api/dcim/sites/", headers={"Authorization": f"Token {key}", "Cookie": ""})
    assert answer.status == 200
    page.goto("/user/api-tokens/")
    assert key not in page.content()


def test_dark_is_kept_as_a_preference(new_page: Any) -> None:
    page = new_page()
    page.goto("/user/preferences/")
    page.get_by_label("Theme").select_option("dark")
    page.get_by_role("button", name="Save").click()
    page.goto("/dcim/sites/")
    assert page.locator("html").get_attribute("data-theme") == "dark"
    page.goto("/user/preferences/")
    page.get_by_label("Theme").select_option("system")
    page.get_by_role("button", name="Save").click()
