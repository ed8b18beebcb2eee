"""Review rules in a real browser: their pages, forms without *Save*, and the queues above change requests."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe

from netinv_testing import Account, Service
from netinv_testing.client import PASSWORD
from tests.support.chromium import PHONE_WIDTH, WIDTH

pytestmark = [pytest.mark.browser, pytest.mark.any_database]

RULES, REQUESTS, SITES = "/api/extras/review-rules/", "/api/extras/change-requests/", "/api/dcim/sites/"


@pytest.fixture(scope="session")
def writer(demo_service: Service) -> Account:
    """A user who may write sites and propose."""
    allowed = ("view add change approve", "extras.changerequest"), ("view add change delete", "dcim.site")
    return demo_service.user(*allowed, ("view", "extras.objectchange"), password=PASSWORD)


@pytest.fixture
def under_rules(demo_service: Service, writer: Account) -> Iterator[Any]:
    """A site under two rules, one of which is about fields, and a change request of it."""
    api, word = demo_service.api, demo_service.unique()
    site = api.post(SITES, {"name": f"{word} Lisbon", "status": "active"})
    group = api.post("/api/users/groups/", {"name": f"{word} Network"})
    body = {"content_types": ["dcim.site"], "constraints": {"name__startswith": word}}
    whole = api.post(RULES, {**body, "name": f"{word} core sites", "approvals": 2, "groups": [group["id"]]})
    fields = {"field_names": ["asn", "status"], "enabled": False}
    part = api.post(RULES, {**body, "name": f"{word} numbers of sites", **fields})
    made = writer.api.post(REQUESTS, {"title": f"{word} another building"})
    inside = {"X-Change-Request": made["id"]}
    writer.api.patch(f"{SITES}{site['id']}/", {"facility": "DC 7", "asn": 64512}, headers=inside)
    writer.api.post(f"{REQUESTS}{made['id']}/submit/", {}, status=200)
    api.patch(f"{SITES}{site['id']}/", {"description": "At once"})
    yield {"site": site["id"], "rule": whole["id"], "request": made["id"]}
    for rule in (whole, part):
        api.delete(f"{RULES}{rule['id']}/")


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [WIDTH, PHONE_WIDTH])
def test_axe_finds_nothing_on_pages_of_rules(
    new_page: Callable[..., Any], writer: Account, under_rules: Any, screenshots: Path, width: int, dark: bool
) -> None:
    page = new_page(width=width, dark=dark)
    found: list[str] = []

    def check(name: str) -> None:
        page.wait_for_load_state("networkidle")
        page.screenshot(path=screenshots / f"review-rules-{name}-{width}-{dark}.png", full_page=True)
        for violation in Axe().run(page).response["violations"]:
            found.append(f"{name}: {violation['id']} {[node['target'] for node in violation['nodes'][:3]]}")
        overflow = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        if overflow > 0:
            found.append(f"{name}: {overflow} pixels wider than the window")

    rule, site = f"/extras/review-rules/{under_rules['rule']}/", f"/dcim/sites/{under_rules['site']}/"
    for name, path in (
        ("list", "/extras/review-rules/"),
        ("rule", rule),
        ("rule-form", f"{rule}edit/"),
        ("request", f"/extras/change-requests/{under_rules['request']}/"),
        ("queues", "/extras/change-requests/?open=true"),
        ("history", f"{site}changelog/"),
    ):
        page.goto(path)
        check(name)
    page.context.clear_cookies()
    page.goto("/login/")
    page.fill("#username", writer.username)
    page.fill("#password", PASSWORD)
    page.press("#password", "Enter")
    page.wait_for_url("**/")
    for name in ("edit", "delete"):
        page.goto(f"{site}{name}/")
        assert page.get_by_role("button", name="Save").count() == 0
        check(name)
    page.goto("/dcim/sites/add/")
    page.fill("#field-name", f"{page.locator('#field-name').input_value()}{under_rules['site']}")
    assert page.get_by_role("button", name="Create", exact=True).is_visible()
    assert found == [], "\n".join(found)
