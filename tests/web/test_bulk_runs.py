"""Bulk edits and deletions of many objects, which the worker applies after their preview."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from netinv_testing import Api, Service
from netinv_web.testing import Browser, BrowserPage
from tests.support.jobs import work
from tests.support.runs import browser, service

__all__ = ["browser", "service"]
TENANTS = "/api/tenancy/tenants/"
EDIT, DELETE, RENAME, GRID = (f"/tenancy/tenants/{name}/" for name in ("edit", "delete", "rename", "grid"))
Unique = Callable[[], str]
MAX = 2  # objects that a request changes
SETTINGS = {"netinv.bulk_background_objects": str(MAX)}


@pytest.fixture
def tenants(api: Api, unique: Unique) -> list[Any]:
    """More tenants than a request changes."""
    names = [unique() for _ in range(MAX + 1)]
    created: list[Any] = api.post(TENANTS, [{"name": name, "slug": name} for name in names])
    return created


def selected(browser: Browser, path: str, tenants: list[Any]) -> BrowserPage:
    """The page of a bulk change of some tenants."""
    return browser.post(path, [("pk", item["id"]) for item in tenants], status=200)


def edited(browser: Browser, tenants: list[Any], text: str) -> BrowserPage:
    """The page of the run of an edit that was previewed and agreed to."""
    form = selected(browser, EDIT, tenants).form()
    form["description"] = text
    answer = form.submit("_step", status=200).form().submit("_step")
    assert answer.headers["Location"].startswith("/tenancy/tenants/bulk/")
    return answer.follow()


def descriptions(api: Api, tenants: list[Any]) -> set[str]:
    """The descriptions of these tenants that there are."""
    return {api.get(item["url"])["description"] for item in tenants}


def test_an_edit_is_applied_by_the_worker(service: Service, browser: Browser, api: Api, tenants: list[Any]) -> None:
    run = edited(browser, tenants, "one purpose")
    assert "Pending" in run.words and descriptions(api, tenants) == {""}
    work(service)
    assert "3 tenants were changed." in browser.get(run.request.path).words
    assert descriptions(api, tenants) == {"one purpose"}


def test_a_deletion_is_applied_by_the_worker(service: Service, browser: Browser, api: Api, tenants: list[Any]) -> None:
    run = selected(browser, DELETE, tenants).form().submit("_step").follow()
    work(service)
    assert "3 tenants were deleted." in browser.get(run.request.path).words
    assert api.get(TENANTS, {"id": [item["id"] for item in tenants]})["count"] == 0


def test_new_names_are_given_by_the_worker(service: Service, browser: Browser, api: Api, tenants: list[Any]) -> None:
    form = selected(browser, RENAME, tenants).form()
    form["find"], form["replace"] = "t", "renamed-t"
    answer = form.submit("_step", status=200).form().submit("_step")
    assert answer.headers["Location"].startswith("/tenancy/tenants/bulk/")
    work(service)
    assert "3 tenants were changed." in answer.follow().words
    assert all(api.get(item["url"])["name"].startswith("renamed-t") for item in tenants)


def test_the_cells_of_a_grid_are_changed_by_the_worker(
    service: Service, browser: Browser, api: Api, tenants: list[Any]
) -> None:
    form = selected(browser, GRID, tenants).form()
    for item in tenants:
        form[f"{item['id']}:description"] = "in cells"
    answer = form.submit("_step", value="preview", status=200).form().submit("_step")
    assert answer.headers["Location"].startswith("/tenancy/tenants/bulk/")
    work(service)
    assert descriptions(api, tenants) == {"in cells"}


def test_a_preview_tries_the_first_of_very_many(
    service: Service, browser: Browser, api: Api, tenants: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("netinv_web.bulk.preview.MAX_PREVIEWED", MAX)
    form = selected(browser, EDIT, tenants).form()
    form["description"] = "all of them"
    page = form.submit("_step", status=200)
    assert "The first 2 were tried, 1 more were not." in page.words and len(page.html.select("tbody tr")) == MAX
    page.form().submit("_step", status=303)
    work(service)
    assert descriptions(api, tenants) == {"all of them"}


def test_a_waiting_change_is_cancelled(service: Service, browser: Browser, api: Api, tenants: list[Any]) -> None:
    run = edited(browser, tenants, "never")
    assert "nothing was changed" in run.form().submit("_step", value="cancel").follow().words
    work(service)
    assert descriptions(api, tenants) == {""}


def test_an_object_that_is_gone_refuses_all(service: Service, browser: Browser, api: Api, tenants: list[Any]) -> None:
    run = edited(browser, tenants, "all or none")
    api.delete(tenants[0]["url"])
    work(service)
    assert "Nothing was changed." in browser.get(run.request.path).words
    assert descriptions(api, tenants[1:]) == {""}


def test_few_objects_are_changed_in_the_request(browser: Browser, api: Api, tenants: list[Any]) -> None:
    form = selected(browser, EDIT, tenants[:MAX]).form()
    form["description"] = "at once"
    answer = form.submit("_step", status=200).form().submit("_step")
    assert answer.headers["Location"] == "/tenancy/tenants/"
    assert descriptions(api, tenants[:MAX]) == {"at once"}
