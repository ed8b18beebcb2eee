"""Journeys in a browser of those who run the service: webhooks, jobs, permissions."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from netinv_extras.jobs import models as job_models
from netinv_extras.jobs import runner
from netinv_extras.webhooks.worker import deliver_now
from netinv_testing import Service
from netinv_testing.client import PASSWORD
from tests.support.receivers import Receiver

pytestmark = [pytest.mark.browser, pytest.mark.any_database]


@pytest.fixture
def waiting_job(demo_service: Service) -> Iterator[Any]:
    """An enabled job that waits until a file is there."""
    with demo_service.unit_of_work() as uow:
        job_models.refresh(uow)
    (job,) = demo_service.api.get("/api/extras/jobs/", {"job_class_name": "Linger"})["results"]
    yield demo_service.api.patch(job["url"], {"enabled": True})
    runner.runner(demo_service.engine, demo_service.registry).stop(0)


def test_a_failed_delivery_is_found_and_retried_until_it_is_sent(page: Any, demo_service: Service) -> None:
    api = demo_service.api
    with Receiver(503) as receiver:
        body = {"content_types": ["tenancy.tenantgroup"], "type_create": True, "payload_url": receiver.url}
        webhook = api.post("/api/extras/webhooks/", {"name": "Tickets", **body})
        api.post("/api/tenancy/tenant-groups/", {"name": "Told of", "slug": "told-of"})
        deliver_now(demo_service.engine, demo_service.registry, 20)
        page.goto("/")
        page.locator("#attention li", has_text="webhook").get_by_role("link").click()
        row = page.locator("tbody tr", has_text="Told of")
        assert "503" in row.inner_text()
        row.get_by_role("checkbox").check()
        page.get_by_role("button", name="Retry selected").click()
        page.locator("[data-notice]").wait_for()
        receiver.answer = 200
        deliver_now(demo_service.engine, demo_service.registry, 20)
        assert len(receiver.wait(2)) == 2
        page.goto(f"/extras/webhook-deliveries/queue/?webhook_id={webhook['id']}")
        assert "Succeeded" in page.locator("tbody tr", has_text="Told of").inner_text()
        api.delete(webhook["url"])


def test_a_job_is_run_from_its_form_and_its_log_appears_while_it_runs(
    page: Any, demo_service: Service, waiting_job: Any, tmp_path: Path
) -> None:
    gate = tmp_path / "gate"
    page.goto(f"/extras/jobs/{waiting_job['id']}/")
    page.get_by_role("link", name="Run").click()
    page.locator("#field-var-gate").fill(str(gate))
    page.locator("main form button.primary").click()
    page.wait_for_url("**/extras/job-results/*/")
    runner.runner(demo_service.engine, demo_service.registry).poll()
    log = page.get_by_role("log")
    log.get_by_text("here we are").wait_for()
    assert "Running" in log.inner_text()
    page.evaluate("document.querySelector('#job-log tbody tr').kept = true")
    gate.touch()
    log.get_by_text("Completed").wait_for()
    assert log.get_by_text("waited").count() == 1
    assert page.evaluate("document.querySelector('#job-log tbody tr').kept")  # screen readers read out only new rows


def test_a_permission_of_one_region_shows_its_sites_and_no_others(
    page: Any, chromium: Any, address: str, demo_service: Service
) -> None:
    api = demo_service.api
    region = next(item for item in api.get("/api/dcim/regions/", {"limit": 0})["results"] if item["site_count"])
    sites = api.get("/api/dcim/sites/", {"limit": 0})["results"]
    inside = {site["name"] for site in sites if site["region"] and site["region"]["id"] == region["id"]}
    user = demo_service.user(password=PASSWORD)
    page.goto("/users/permissions/add/")
    page.locator("#field-name").fill("Sites of one region")
    page.get_by_label("Site", exact=True).check()
    page.get_by_label("View", exact=True).check()
    page.get_by_label("Field of row 1").fill("region__slug")
    page.get_by_label("Value of row 1").fill(region["slug"])
    page.get_by_role("combobox", name="Users").fill(user.username)
    page.get_by_role("option", name=user.username).click()
    page.get_by_role("button", name="Create", exact=True).click()
    page.wait_for_url("**/users/permissions/*-*/")
    context = chromium.new_context(base_url=address)
    own = context.new_page()
    own.goto("/login/?next=/dcim/sites/")
    own.fill("#username", user.username)
    own.fill("#password", PASSWORD)
    own.press("#password", "Enter")
    own.wait_for_url("**/dcim/sites/")
    assert set(own.locator("tbody th").all_inner_texts()) == inside
    assert "Racks" not in own.locator(".rail summary").all_inner_texts()
    context.close()
