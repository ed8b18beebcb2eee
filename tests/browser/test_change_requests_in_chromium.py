"""Change requests in a real browser: their page and the bar, in light and dark, on a desk and on a phone."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe

from netinv_testing import Service
from tests.support.chromium import PHONE_WIDTH, WIDTH, press

pytestmark = [pytest.mark.browser, pytest.mark.any_database]

REQUESTS, SITES = "/api/extras/change-requests/", "/api/dcim/sites/"


@pytest.fixture(scope="session")
def change_request(demo_service: Service) -> Any:
    """A submitted change request of another user, with a conflict, comments and several changes."""
    author, api = demo_service.user(superuser=True).api, demo_service.api
    body = {
        "title": "Lisbon gets a second router, and its racks another role",
        "description": "As in the meeting.\nTwo.",
    }
    made = author.post(REQUESTS, body)
    inside = {"X-Change-Request": made["id"]}
    first, second = api.get(SITES, {"limit": 2})["results"]
    comments = "The building is closed at night; call the guard first. " * 3
    author.patch(f"{SITES}{first['id']}/", {"facility": "DC 7", "comments": comments}, headers=inside)
    for number in range(3):
        author.post(SITES, {"name": f"Proposed {number}", "status": "active", "asn": 64512 + number}, headers=inside)
    tag = api.get("/api/extras/tags/", {"limit": 1})["results"][0]
    gone = api.post(SITES, {"name": "Proposed to be gone", "status": "active", "facility": "DC 1"})
    author.delete(f"{SITES}{gone['id']}/", headers=inside)
    author.patch(f"{SITES}{second['id']}/", {"tags": [tag["id"]], "description": "Moved"}, headers=inside)
    rack, cable = (api.get(f"/api/dcim/{name}/", {"limit": 1})["results"][0] for name in ("racks", "cables"))
    author.patch(f"/api/dcim/racks/{rack['id']}/", {"facility_id": "R7"}, headers=inside)
    author.patch(f"/api/dcim/cables/{cable['id']}/", {"label": "Trunk 7"}, headers=inside)
    about = {"object_type": "dcim.site", "object_id": first["id"], "field": "facility"}
    api.post(f"{REQUESTS}{made['id']}/comment/", {"text": "Is it *DC 7*?", **about}, status=200)
    author.post(f"{REQUESTS}{made['id']}/submit/", {"text": "Please look at the racks first."}, status=200)
    demo_service.user(superuser=True).api.post(
        f"{REQUESTS}{made['id']}/comment/", {"text": "What about Porto?\nIt has the same racks."}, status=200
    )
    return {**made, "path": f"/extras/change-requests/{made['id']}/", "site": f"/dcim/sites/{first['id']}/"}


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [WIDTH, PHONE_WIDTH])
def test_axe_finds_nothing_on_its_page_and_inside(
    new_page: Callable[..., Any], change_request: Any, screenshots: Path, width: int, dark: bool
) -> None:
    page = new_page(width=width, dark=dark)
    found: list[str] = []

    def check(name: str) -> None:
        page.wait_for_load_state("networkidle")
        page.screenshot(path=screenshots / f"change-request-{name}-{width}-{dark}.png", full_page=True)
        for violation in Axe().run(page).response["violations"]:
            found.append(f"{name}: {violation['id']} {[node['target'] for node in violation['nodes'][:3]]}")
        overflow = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        if overflow > 0:
            found.append(f"{name}: {overflow} pixels wider than the window")

    page.goto(change_request["path"])
    page.locator("#panel-pictures img").first.scroll_into_view_if_needed()
    assert page.locator("#panel-pictures img").count() == 4
    check("page")
    page.get_by_role("link", name="Comment on Facility of").first.click()
    page.wait_for_function("() => document.activeElement.name === 'text'", timeout=5000)
    check("comment")
    page.get_by_role("link", name="Cancel").click()
    page.get_by_role("button", name="Enter").click()
    check("entered")
    for name, path in (
        ("site", change_request["site"]),
        ("new-and-deleted", "/dcim/sites/?q=Proposed"),
        ("changed", "/dcim/sites/?facility=DC+7"),
        ("form", f"{change_request['site']}edit/"),
        ("refused", "/extras/statuses/add/"),
    ):
        page.goto(path)
        assert page.locator(".banner").get_by_role("link", name="Review").is_visible()
        check(name)
    page.get_by_role("button", name="Leave").click()
    page.goto(change_request["site"])
    assert page.locator(".banner").count() == 0
    assert found == [], "\n".join(found)


def test_the_keyboard_reaches_what_waits_first(page: Any, change_request: Any) -> None:
    page.goto(change_request["path"])
    page.locator("#panel-next-steps textarea").focus()
    for name in ("Approve", "Reject", "Merge", "Enter", "Close"):
        press(page, "Tab")
        assert page.evaluate("document.activeElement.textContent") == name


@pytest.mark.parametrize("scripts", [True, False])
def test_a_form_is_proposed(new_page: Callable[..., Any], change_request: Any, scripts: bool) -> None:
    page = new_page(scripts=scripts)
    page.goto("/tenancy/tenants/add/")
    page.fill("#field-name", f"Tenant {scripts}")
    page.get_by_role("button", name="Propose").click()
    if "add" in page.url:  # there are open ones of this user by now
        page.get_by_role("button", name="A new change request").click()
    assert page.locator("h1").inner_text() == f"Add Tenant Tenant {scripts}"
    assert "Proposed" in page.locator("[data-notice]").inner_text()
    page.goto(f"/tenancy/tenants/?q=Tenant+{scripts}")
    assert page.locator("table.list tbody tr").count() == 0
