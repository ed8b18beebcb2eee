"""Undo by a button: what it shows before it asks, and undos that the worker runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from netinv_testing import Api, Service
from netinv_testing.client import PASSWORD
from netinv_undo.reverting import MAX_PART
from netinv_web.testing import Browser, BrowserPage
from tests.support.jobs import RESULTS, work
from tests.support.runs import browser, service

__all__ = ["browser", "service"]
REGIONS, CHANGES, UNDO = "/api/dcim/regions/", "/api/extras/object-changes/", "/extras/undo/"
Unique = Callable[[], str]
MAX = 5  # changes that are undone in a request
SETTINGS = {"netinv.undo_background_changes": str(MAX)}
MAX_STATEMENTS = 70


def regions(api: Api, unique: Unique, count: int, parent: str | None = None) -> list[Any]:
    """Regions made by one request."""
    names = [unique() for _ in range(count)]
    created: list[Any] = api.post(REGIONS, [{"name": name, "slug": name, "parent": parent} for name in names])
    return created


def request_of(api: Api, item: Any) -> str:
    """The id of the request that created an object."""
    return str(api.get(CHANGES, {"changed_object_id": item["id"], "action": "create"})["results"][0]["request_id"])


def asked(browser: Browser, api: Api, item: Any, status: int = 200) -> BrowserPage:
    """The page that asks whether to undo the request that created an object."""
    return browser.post(UNDO, {"request": request_of(api, item), "next": "/dcim/regions/"}, status=status)


def agreed(page: BrowserPage) -> Any:
    """The answer to the question; a notice of an earlier undo has a form for the same page."""
    form = next(form for form in page.forms.values() if "_step" in form.fields)
    return form.submit("_step", status=303)


def left(api: Api, items: list[Any]) -> int:
    """The number of these objects that exist."""
    return int(api.get(REGIONS, {"id": [item["id"] for item in items]})["count"])


@pytest.mark.night
def test_an_undo_that_deletes_shows_what_goes_along_and_asks(browser: Browser, api: Api, unique: Unique) -> None:
    created = regions(api, unique, 2)
    page = asked(browser, api, created[0])
    assert "Undo 2 changes?" in page.words and "Deleted, with what goes along: 2 Regions" in page.words
    assert left(api, created) == 2
    following = agreed(page)
    assert following.headers["Location"] == "/dcim/regions/" and left(api, created) == 0


@pytest.mark.night
def test_what_belongs_to_a_created_object_is_named(browser: Browser, api: Api, unique: Unique) -> None:
    """A site that was added to the region later is set back; the page says so before."""
    (region,) = regions(api, unique, 1)
    name = unique()
    api.post("/api/dcim/sites/", {"name": name, "slug": name, "status": "active", "region": region["id"]})
    page = asked(browser, api, region)
    assert name in page.words and "changed because of the others: 1 Site" in page.words


def test_reasons_against_it_are_told_before_it_is_asked_for(browser: Browser, api: Api, unique: Unique) -> None:
    (region,) = regions(api, unique, 1)
    api.patch(region["url"], {"description": "changed since"})
    page = asked(browser, api, region, 409)
    assert page.html.h1.text == "This cannot be undone" and region["name"] in page.words


def test_a_single_change_is_undone_at_once(browser: Browser, api: Api, unique: Unique) -> None:
    (region,) = regions(api, unique, 1)
    api.patch(region["url"], {"description": "new"})
    change = api.get(CHANGES, {"changed_object_id": region["id"], "action": "update"})["results"][0]
    browser.post(UNDO, {"change": change["id"]}, status=303)
    assert api.get(region["url"])["description"] == ""


@pytest.mark.night
def test_many_changes_are_undone_by_the_worker(service: Service, browser: Browser, api: Api, unique: Unique) -> None:
    created = regions(api, unique, MAX + 1)
    page = asked(browser, api, created[0])
    assert f"{MAX + 1} Regions" in page.words and "in the background" in page.words
    run = agreed(page).follow()
    assert "Pending" in run.words and left(api, created) == MAX + 1
    part = run.html.select_one("[data-poll]")["data-poll"]
    work(service)
    assert f"The changes of {MAX + 1} objects were undone." in browser.get(part).words
    assert left(api, created) == 0
    done = browser.get(run.request.path)
    assert not done.html.select("[data-poll]") and [link for link in done.links() if "request_id=" in link]


@pytest.mark.night
def test_a_long_undo_tells_how_far_it_is(service: Service, browser: Browser, api: Api, unique: Unique) -> None:
    created = regions(api, unique, MAX_PART + 1)
    run = agreed(asked(browser, api, created[0]))
    work(service)
    key = run.headers["Location"].rstrip("/").rpartition("/")[2]
    told = [item["message"] for item in api.get(f"{RESULTS}{key}/logs/")]
    steps = [f"{done} of {MAX_PART + 1}" for done in (0, MAX_PART, MAX_PART + 1)]
    assert [text for text in told if text in steps] == steps and left(api, created[:1]) == 0


@pytest.mark.night
def test_a_waiting_undo_is_cancelled(service: Service, browser: Browser, api: Api, unique: Unique) -> None:
    created = regions(api, unique, MAX + 1)
    run = agreed(asked(browser, api, created[0])).follow()
    assert "nothing was undone" in run.form().submit("_step", value="cancel").follow().words
    work(service)
    assert left(api, created) == MAX + 1
    browser.get(run.request.path, status=404)


@pytest.mark.night
def test_a_refused_undo_in_the_background_tells_the_reasons(
    service: Service, browser: Browser, api: Api, unique: Unique
) -> None:
    created = regions(api, unique, MAX + 1)
    api.patch(created[2]["url"], {"description": "changed since"})
    run = agreed(asked(browser, api, created[0])).follow()
    work(service)
    shown = browser.get(run.request.path).words
    assert "Nothing was undone." in shown and created[2]["name"] in shown
    assert left(api, created) == MAX + 1


@pytest.mark.night
def test_a_run_is_known_to_its_user_alone(service: Service, browser: Browser, api: Api, unique: Unique) -> None:
    created = regions(api, unique, MAX + 1)
    run = agreed(asked(browser, api, created[0])).headers["Location"]
    other = service.user(("view", "extras.objectchange"), password=PASSWORD)
    Browser(service, other).get(run, status=404)
    work(service)


def test_what_the_user_may_not_delete_is_not_undone(service: Service, api: Api, unique: Unique) -> None:
    created = regions(api, unique, 2)
    user = service.user(("view", "extras.objectchange"), ("view", "dcim.region"), password=PASSWORD)
    reader = Browser(service, user)
    reader.post(UNDO, {"request": request_of(api, created[0])}, status=403)
    reader.post(UNDO, {"request": request_of(api, created[0]), "_step": "apply"}, status=403)
    assert left(api, created) == 2


def test_statements_do_not_grow_with_the_changes(service: Service, browser: Browser, api: Api, unique: Unique) -> None:
    counts = []
    for number in (2, MAX):
        created = regions(api, unique, number)
        asked(browser, api, created[0])
        with service.statements() as statements:
            asked(browser, api, created[0])
        counts.append(len(statements))
    assert counts[0] == counts[1] <= MAX_STATEMENTS
