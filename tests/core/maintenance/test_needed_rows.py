"""Rows that the service needs and that are gone: ``netinv check`` names them, a start adds them, no request fails."""

from __future__ import annotations

import logging
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest
import sqlalchemy as sa
from sqlalchemy.engine import Engine

from netinv_admin import checks, migrate
from netinv_core import start_check
from netinv_core.findings import PROBLEM
from netinv_core.http.methods import METHODS
from netinv_ipam.taken_space import PIECE
from netinv_testing import Case, Service
from netinv_testing.client import PASSWORD
from netinv_web.paths import page_path
from netinv_web.testing import Browser
from tests.support.databases import migrated_database

DELETED = {  # statements, by the words of the finding
    "core_configuration_version lacks 1 row": ["core_configuration_version"],
    "core_change_numbering lacks 1 row": ["core_change_numbering"],
    "core_upkeep lacks 1 row": ["core_upkeep"],
    "core_lock_stripe lacks 1024 rows": ["core_lock_stripe"],
    "core_content_type lacks 1 row: dcim.site": ["core_content_type WHERE app_label = 'dcim' AND model = 'site'"],
    "core_content_type lacks": ["core_content_type"],
    "packages need the statuses active, ": ["extras_status_type", "extras_status"],
}
REQUESTS = "/api/extras/change-requests/"
FEED, TENANTS, TAGS = "/api/extras/object-changes/feed/", "/api/tenancy/tenants/", "/api/extras/tags/"


@pytest.fixture
def database(tmp_path: Path, database_template: str) -> Iterator[Engine]:
    """A migrated database of the test."""
    with migrated_database(tmp_path, database_template) as engine:
        yield engine


def delete(database: Engine, rows: list[str]) -> None:
    """Deletes rows beside the service."""
    with database.begin() as connection:
        for part in rows:
            connection.execute(sa.text(f"DELETE FROM {part}"))


def problems(service: Service) -> dict[str, str]:
    """The problems that the self-check finds with rows, with their remedies."""
    found = checks.run(service.engine, service.registry, "netinv.ini")
    return {item.message: item.remedy for item in found if item.level == PROBLEM and item.check in ("rows", "statuses")}


def walk(service: Service) -> None:
    """Reads and describes every list, by the API and in a browser."""
    browser = Browser(service, service.admin)
    for endpoint in service.registry.endpoints.values():
        service.api.get(endpoint.path, {"limit": 5})
        service.api.options(endpoint.path)
        browser.get(page_path(endpoint))


@pytest.mark.parametrize("words", DELETED)
def test_rows_that_are_gone_are_a_problem_and_a_start_adds_them(database: Engine, words: str) -> None:
    service = Service(database)
    assert problems(service) == {}
    first = service.api.post(TENANTS, {"name": "First", "slug": "first"})
    cursor = service.api.get(FEED)["cursor"]
    delete(database, DELETED[words])
    (found,) = problems(service).items()
    assert found[0].startswith(words) and " migrate`" in found[1]
    if "statuses" in words:  # users may delete statuses, so that only a migration adds them
        migrate.upgrade(database, service.registry)
    else:
        start_check.check(database, service.registry)
    assert problems(service) == {}
    again = Service(database)
    again.api.patch(first["url"], {"description": "Second"})
    site = Case(again, "dcim.site").make()
    later = again.api.get(FEED, {"after": cursor})["results"]
    assert [item["changed_object_id"] for item in later][:1] == [first["id"]]
    assert site["id"] in [item["changed_object_id"] for item in later]


@pytest.mark.parametrize(
    ("rows", "level"),
    [("core_content_type WHERE model = 'site'", logging.INFO), ("core_upkeep", logging.WARNING)],
)
def test_only_rows_that_were_there_are_told_as_gone(
    database: Engine, caplog: pytest.LogCaptureFixture, rows: str, level: int
) -> None:
    """The content type of a new model never was."""
    service = Service(database)
    delete(database, [rows])
    with caplog.at_level(logging.INFO, logger="netinv_core.needed_rows"):
        start_check.check(database, service.registry)
    (record,) = [item for item in caplog.records if item.name == "netinv_core.needed_rows"]
    assert (record.levelno, "were gone" in record.getMessage()) == (level, level == logging.WARNING)


@pytest.mark.night
def test_no_request_fails_before_the_next_start(database: Engine) -> None:
    service = Service(database)
    first = service.api.post(TENANTS, {"name": "First", "slug": "first"})
    aside = {"X-Change-Request": service.api.post(REQUESTS, {"title": "Second"})["id"]}
    service.api.patch(first["url"], {"comments": "aside"}, headers=aside)
    prefix = service.api.post("/api/ipam/prefixes/", {"prefix": "198.18.0.0/16", "status": "active"})
    free = f"{prefix['url']}available-ips/"
    service.api.post(free, [{"status": "active"}] * (PIECE + 1))  # a long run, which a process remembers
    for rows in ("core_change_numbering", "core_lock_stripe", "core_upkeep", "core_configuration_version"):
        for number in range(2):
            delete(database, [rows])
            service.api.patch(first["url"], {"description": f"{rows} {number}"})
            assert service.api.get(first["url"], headers=aside)["comments"] == "aside"
            service.api.get(f"{TENANTS}{uuid.uuid4()}/", {"as_of": "2020-01-01T00:00:00Z"}, status=404)
            service.api.get(free, {"limit": 1})
            service.api.post(free, {"status": "active"})
            service.api.send("GET", "/metrics", version=None, status=200)
        changes = [item["changed_object_id"] for item in service.api.get(FEED, {"limit": 1000})["results"]]
        assert changes.count(first["id"]) > 2
        delete(database, [rows])
        walk(service)


@pytest.mark.night
def test_content_types_that_a_process_does_not_know_fail_no_list(database: Engine) -> None:
    """Another process has added them since this one started, or they are gone."""
    tag = Service(database).api.post(TAGS, {"name": "t", "slug": "t", "content_types": ["dcim.site", "dcim.rack"]})
    delete(database, ["core_content_type WHERE model = 'rack'"])
    service = Service(database)
    assert service.api.get(tag["url"])["content_types"] == ["dcim.site", "dcim.rack"]
    assert set(service.api.options(TAGS)["actions"]) <= set(METHODS)
    walk(service)


def test_without_the_version_of_the_configuration_a_revoked_permission_ends_at_once(database: Engine) -> None:
    service = Service(database)
    delete(database, ["core_configuration_version"])
    reader = service.user(password=PASSWORD)
    permission = service.permit("view", "tenancy.tenant", users=[reader.id])
    reader.api.get(TENANTS)
    service.api.delete(permission["url"])
    reader.api.get(TENANTS, status=403)
