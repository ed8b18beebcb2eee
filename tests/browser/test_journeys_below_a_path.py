"""Journeys in a browser with a service below a path: its scripts fetch, link and redirect below the path."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from netinv_extras.jobs import models as job_models
from netinv_extras.jobs import runner
from netinv_testing import Service, Unique
from netinv_testing.client import PASSWORD
from tests.support.chromium import press
from tests.support.http_server import served

pytestmark = [pytest.mark.browser, pytest.mark.any_database]
MOUNT = "/tools/netinv"
SITES = "/api/dcim/sites/"


@pytest.fixture
def below(chromium: Any, demo_service: Service) -> Iterator[Any]:
    """A page of an administrator of a service that a server has mounted; all its requests are below the path."""
    elsewhere: list[str] = []

    def mounted(environ: dict[str, Any], start_response: Any) -> Any:
        path = environ["PATH_INFO"]
        if not path.startswith(f"{MOUNT}/"):
            elsewhere.append(path)
            start_response("404 Not Found", [("Content-Type", "text/plain")])
            return [b"not below the mount point"]
        return demo_service.app({**environ, "SCRIPT_NAME": MOUNT, "PATH_INFO": path[len(MOUNT) :]}, start_response)

    with served(mounted) as address:
        context = chromium.new_context(base_url=address, locale="en-GB", reduced_motion="reduce")
        page = context.new_page()
        page.set_default_timeout(20_000)
        page.goto(f"{MOUNT}/login/")
        page.fill("#username", demo_service.admin.username)
        page.fill("#password", PASSWORD)
        page.press("#password", "Enter")
        page.wait_for_url(f"{address}{MOUNT}/")
        yield page
        context.close()
    assert elsewhere == []


def test_menus_keys_and_the_palette_lead_below_the_path(below: Any) -> None:
    below.locator(".rail summary", has_text="Tenants").click()
    below.locator(".rail details[open] a", has_text="Tenants").click()
    below.wait_for_url(f"**{MOUNT}/tenancy/tenants/")
    below.locator("tbody th a").first.click()
    below.locator("h1").wait_for()
    assert urlsplit(below.url).path.startswith(f"{MOUNT}/tenancy/tenants/")
    press(below, "g")
    press(below, "d")
    below.wait_for_url(f"**{MOUNT}/dcim/devices/")
    press(below, "/")
    below.keyboard.type("add to racks")
    press(below, "ArrowDown")
    press(below, "Enter")
    below.wait_for_url(f"**{MOUNT}/dcim/racks/add/")


def test_a_reference_is_searched_and_an_object_created(below: Any, demo_service: Service, unique: Unique) -> None:
    name = unique()
    site = demo_service.api.post(SITES, {"name": f"{name} yard", "status": "active"})
    below.goto(f"{MOUNT}/dcim/racks/add/")
    below.locator("#field-name").fill(name)
    below.get_by_role("combobox", name="Site").fill(site["name"])
    below.get_by_role("option", name=site["name"]).first.click()
    below.locator("#field-status").select_option("active")
    below.get_by_role("button", name="Create", exact=True).click()
    below.wait_for_url(f"**{MOUNT}/dcim/racks/*-*/")
    assert demo_service.api.get("/api/dcim/racks/", {"name": name})["results"][0]["site"]["id"] == site["id"]


def test_a_cell_is_changed_in_its_place_and_undone(below: Any, demo_service: Service, unique: Unique) -> None:
    site = demo_service.api.post(SITES, {"name": unique(), "status": "active"})
    below.goto(f"{MOUNT}/dcim/sites/?name={site['name']}&_columns=facility,region,description")
    below.locator("tbody td").nth(1).dblclick()
    below.locator(".inline-form input[name=facility]").fill("DC 9")
    press(below, "Enter")
    below.locator("[data-notice]").wait_for()
    assert demo_service.api.get(f"{SITES}{site['id']}/")["facility"] == "DC 9"
    below.locator("[data-notice]").get_by_role("button", name="Undo").click()
    below.wait_for_url(f"**{MOUNT}/dcim/sites/?name=**")
    assert demo_service.api.get(f"{SITES}{site['id']}/")["facility"] == ""


def test_selected_objects_are_changed_together(below: Any, demo_service: Service, unique: Unique) -> None:
    word = unique()
    demo_service.api.post(SITES, [{"name": f"{word} {number}", "status": "active"} for number in range(3)])
    below.goto(f"{MOUNT}/dcim/sites/?name__isw={word}")
    below.get_by_label("Select all rows of this page").check()
    below.get_by_role("button", name="Edit").first.click()
    below.locator("#field-facility").fill("together")
    below.get_by_role("button", name="Preview the changes").click()
    below.get_by_role("button", name="Apply").click()
    below.locator("[data-notice]").wait_for()
    changed = demo_service.api.get(SITES, {"name__isw": word})["results"]
    assert [site["facility"] for site in changed] == ["together"] * 3


def test_counts_and_parts_of_a_page_are_fetched(below: Any) -> None:
    below.goto(f"{MOUNT}/dcim/devices/")
    below.locator(".facets > summary").click()
    below.locator("#facets li a").first.click()
    below.locator(".chip").first.wait_for()
    assert urlsplit(below.url).path == f"{MOUNT}/dcim/devices/"


def test_the_log_of_a_job_appears_while_it_runs(below: Any, demo_service: Service, tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    with demo_service.unit_of_work() as uow:
        job_models.refresh(uow)
    (job,) = demo_service.api.get("/api/extras/jobs/", {"job_class_name": "Linger"})["results"]
    demo_service.api.patch(job["url"], {"enabled": True})
    below.goto(f"{MOUNT}/extras/jobs/{job['id']}/")
    below.get_by_role("link", name="Run").click()
    below.locator("#field-var-gate").fill(str(gate))
    below.locator("main form button.primary").click()
    below.wait_for_url(f"**{MOUNT}/extras/job-results/*/")
    jobs = runner.runner(demo_service.engine, demo_service.registry)
    jobs.poll()
    below.get_by_role("log").get_by_text("here we are").wait_for()
    gate.touch()
    below.get_by_role("log").get_by_text("Completed").wait_for()
    jobs.stop(0)
