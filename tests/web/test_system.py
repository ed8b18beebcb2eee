"""System pages: for superusers, without secrets; installed plugins for all."""

from __future__ import annotations

import datetime
import uuid
from collections.abc import Callable
from typing import Any

import pytest
import sqlalchemy as sa

from netinv_core.models.base import now, table_of
from netinv_core.packages import FailedPackage
from netinv_core.tasks.workers import WorkerProcess
from netinv_testing import Account, Service
from netinv_testing.client import PASSWORD, SECRET
from netinv_web.system import shown_setting
from netinv_web.testing import Browser

MakeUser = Callable[..., Account]


def test_superusers_see_versions_packages_and_background_work(service: Service) -> None:
    page = Browser(service, service.admin).get("/system/", status=200)
    panels = {panel.h2.text: panel for panel in page.html.select(".panel")}
    status = service.api.get("/api/status/")
    assert status["netinv-version"] in panels["Service"].text
    assert all(name in panels["Applications"].text for name in status["installed-apps"])
    assert "All revisions are applied." in panels["Database"].text
    assert "Queued" in panels["Webhooks"].text
    assert "max_page_size" in panels["Settings"].text
    assert SECRET not in page


def test_workers_are_listed_with_the_time_they_were_seen(service: Service) -> None:
    table, moment = table_of(WorkerProcess), now() - datetime.timedelta(minutes=5)
    with service.unit_of_work() as uow:
        words = {"process": 4711, "started": moment, "task": "deliver"}
        uow.execute(
            sa.insert(table),
            [
                {"id": uuid.uuid4(), "host": host, "seen": seen, **words}
                for host, seen in (("here", now()), ("there", moment))
            ],
        )
    page = Browser(service, service.admin).get("/system/")
    rows = {row.th.text: " ".join(row.text.split()) for row in page.html.select("tbody tr")}
    assert "4711" in rows["here"] and "deliver" in rows["here"] and "gone" not in rows["here"]
    assert "gone" in rows["there"]
    with service.unit_of_work() as uow:
        uow.execute(sa.delete(table))


def test_a_package_that_failed_is_named_with_the_reason(service: Service) -> None:
    broken = FailedPackage("netinv_bad", "netinv-bad", "ImportError: <b>no module</b>")
    service.registry.broken.append(broken)
    try:
        browser = Browser(service, service.admin)
        for path in ("/system/", "/plugins/installed-plugins/"):
            page = browser.get(path, status=200)
            assert "ImportError: <b>no module</b>" in page.html.text
    finally:
        service.registry.broken.remove(broken)


@pytest.mark.parametrize(
    ("name", "value", "text"),
    [
        ("secret", "s3cret", "********"),
        (
            "database_url",
            "postgresql://user:pw@db:5432/netinv?password=pw",
            "postgresql://********@db:5432/netinv?********",
        ),
        ("queue_url", "redis://:pw@host/0", "redis://********@host/0"),
        ("secret_file", "/run/secret", "/run/secret"),
        ("base_url", "http://[", "********"),
        ("allowed_hosts", ("a", "b"), "a, b"),
        ("max_page_size", 1000, "1000"),
        ("hsts_seconds", 0, "0"),
        ("embedded_worker", False, "False"),
        ("plugins_dir", "", ""),
    ],
)
def test_settings_are_shown_without_secrets(name: str, value: Any, text: str) -> None:
    assert shown_setting(name, value) == text


def test_the_system_page_is_for_superusers_alone(service: Service, make_user: MakeUser) -> None:
    reader = Browser(service, make_user(("view", list(service.registry.endpoints)), password=PASSWORD))
    reader.get("/system/", status=403)
    assert "/system/" not in [link["href"] for link in reader.get("/user/profile/").html.select("nav a")]
    assert Browser(service).get("/system/", status=303).headers["Location"].startswith("/login/")


def test_the_address_of_nautobots_administration_leads_to_the_system_page(service: Service) -> None:
    browser = Browser(service, service.admin)
    assert browser.get("/admin/", status=303).headers["Location"] == "/system/"
    links = [link["href"] for link in browser.get("/user/profile/").html.select("nav a")]
    assert "/system/" in links


def test_installed_plugins_are_listed_for_everybody(service: Service, make_user: MakeUser) -> None:
    page = Browser(service, make_user(password=PASSWORD)).get("/plugins/installed-plugins/", status=200)
    plugins = service.api.get("/api/plugins/installed-plugins/")
    assert [row.th.text for row in page.html.select("tbody tr")] == [plugin["name"] for plugin in plugins]
