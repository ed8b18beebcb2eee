"""Long imports, which the worker runs: with the permissions of the user, all or none, followed and cancelled on a
page.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from netinv_testing import Api, Service
from netinv_testing.client import PASSWORD
from netinv_web.testing import Browser, BrowserPage
from tests.support.importing import preview
from tests.support.jobs import RESULTS, work
from tests.support.runs import browser, service

__all__ = ["browser", "service"]
TENANTS, CHANGES = "/api/tenancy/tenants/", "/api/extras/object-changes/"
Unique = Callable[[], str]
SETTINGS = {"netinv.import_background_rows": "2"}  # that a request imports


@pytest.fixture
def word(unique: Unique) -> str:
    """A word that no other object has."""
    return unique()


def rows(word: str, count: int = 3) -> str:
    """The rows of new tenants."""
    return "name,slug\n" + "".join(f"{word} {number},{word}-{number}\n" for number in range(count))


def started(browser: Browser, text: str, **members: str) -> BrowserPage:
    """The page of an import that was previewed and asked for."""
    answer = preview(browser, text, **members).form().submit("_step")
    assert answer.headers["Location"].startswith("/tenancy/tenants/import/")
    return answer.follow()


def count(api: Api, word: str) -> int:
    """The number of tenants of a test."""
    number: int = api.get(TENANTS, {"slug__isw": word})["count"]
    return number


@pytest.mark.night
def test_a_long_import_is_run_by_the_worker_and_its_page_leads_to_the_result(
    service: Service, browser: Browser, api: Api, word: str
) -> None:
    """The part that a script reloads says the same; the file is gone after the end."""
    page = started(browser, rows(word))
    assert "Pending" in page.words and count(api, word) == 0
    part = page.html.select_one("[data-poll]")["data-poll"]
    work(service)
    assert "Tenants: 3 created." in browser.get(part).words
    done = browser.get(page.request.path)
    assert "Tenants: 3 created." in done.words and not done.html.select("[data-poll]")
    assert count(api, word) == 3
    history = next(link for link in done.links() if "request_id=" in link)
    assert word in browser.get(history).words
    (result,) = [item for item in api.get(RESULTS)["results"] if item["id"] in page.request.path]
    assert result["job_kwargs"] is None
    with service.unit_of_work() as uow:
        stored = uow.execute(service.registry["extras.jobresult"].table.select()).mappings().all()
    assert {row["arguments"] for row in stored} == {""}


@pytest.mark.night
def test_changes_are_those_of_the_user_in_one_request(service: Service, api: Api, word: str) -> None:
    user = service.user(("view add", "tenancy.tenant"), password=PASSWORD)
    started(Browser(service, user), rows(word))
    work(service)
    ids = [item["id"] for item in api.get(TENANTS, {"slug__isw": word})["results"]]
    changes = [api.get(CHANGES, {"changed_object_id": key})["results"][0] for key in ids]
    assert {change["user_name"] for change in changes} == {user.username}
    assert len(ids) == 3 and len({change["request_id"] for change in changes}) == 1


def test_permissions_are_those_of_the_user_when_it_runs(service: Service, api: Api, word: str) -> None:
    """Jobs of users may do anything; this one no more than the user."""
    user = service.user(("view add", "tenancy.tenant"), password=PASSWORD)
    browser = Browser(service, user)
    page = started(browser, rows(word))
    for permission in api.get("/api/users/permissions/", {"user": user.username})["results"]:
        api.patch(permission["url"], {"constraints": {"slug": f"{word}-0"}})
    work(service)
    shown = browser.get(page.request.path)
    assert "Nothing was imported" in shown.words and shown.html.select("li"), shown.words
    assert count(api, word) == 0


def test_what_changed_since_the_preview_refuses_all_rows_with_the_number_of_the_row(
    service: Service, browser: Browser, api: Api, word: str
) -> None:
    page = started(browser, rows(word))
    api.post(TENANTS, {"name": f"{word} 1", "slug": f"{word}-1"})
    work(service)
    shown = browser.get(page.request.path)
    assert "Nothing was imported" in shown.words and "Row 3:" in shown.words
    assert "Traceback" not in shown.words and count(api, word) == 1


def test_a_waiting_import_is_cancelled(service: Service, browser: Browser, api: Api, word: str) -> None:
    page = started(browser, rows(word))
    answer = page.form().submit("_step", value="cancel")
    assert "The import was cancelled" in answer.follow().words
    work(service)
    assert count(api, word) == 0
    browser.get(page.request.path, status=404)


def test_an_import_that_has_ended_is_not_cancelled(service: Service, browser: Browser, api: Api, word: str) -> None:
    page = started(browser, rows(word))
    work(service)
    assert "3 created" in page.form().submit("_step", value="cancel").follow().words
    assert count(api, word) == 3


def test_nobody_else_sees_or_cancels_an_import(service: Service, browser: Browser, word: str) -> None:
    user = service.user(("view add", "tenancy.tenant"), password=PASSWORD)
    page = started(Browser(service, user), rows(word))
    browser.get(page.request.path, status=404)
    browser.post(page.request.path, {"_step": "cancel"}, status=404)
    browser.get("/tenancy/tenants/import/nonsense/", status=404)
    work(service)


def test_rows_with_a_key_change_what_exists(service: Service, browser: Browser, api: Api, word: str) -> None:
    api.post(TENANTS, {"name": f"{word} 0", "slug": f"{word}-0"})
    text = rows(word).replace("slug\n", "slug,description\n").replace("-0\n", "-0,new\n")
    text = "\n".join(line if line.count(",") == 2 else f"{line}," for line in text.splitlines())
    page = started(browser, text, match="true")
    work(service)
    assert "2 created and 1 updated" in browser.get(page.request.path).words
    assert api.get(TENANTS, {"slug": f"{word}-0"})["results"][0]["description"] == "new"


def test_a_short_import_is_written_in_its_request(browser: Browser, api: Api, word: str) -> None:
    answer = preview(browser, rows(word, 2)).form().submit("_step")
    assert "2 created" in answer.follow().words and count(api, word) == 2


def test_without_a_background_a_long_import_is_written_in_its_request(
    browser: Browser, api: Api, word: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("netinv_web.exchange.import_run.background_of", lambda registry: None)
    answer = preview(browser, rows(word)).form().submit("_step")
    assert "3 created" in answer.follow().words and count(api, word) == 3


def test_the_job_is_not_run_by_requests(service: Service, api: Api) -> None:
    job = api.get("/api/extras/jobs/", {"job_class_name": "RunTask"})["results"][0]
    api.patch(job["url"], {"enabled": True})
    answer = api.post(f"{job['url']}run/", {"data": {"task": "x:y", "arguments": "{}"}}, status=403)
    assert answer["detail"] == "This job is run by the service itself."
