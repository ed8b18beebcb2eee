"""Long texts that users stored: pages do a bounded amount of work for them."""

from __future__ import annotations

import cProfile
from typing import Any

import pytest

from netinv_testing import Service, Unique
from netinv_web.objects.markdown import MAX_PAGE_LENGTH, MAX_SHOWN_LENGTH
from netinv_web.testing import Browser

pytestmark = pytest.mark.any_database
SITES = "/api/dcim/sites/"
MEGABYTE = 1_000_000
HISTORY_CALLS = 100_000  # of functions for ten changes: 25,000; a copy of a document has one for each of 260,000 values
TOO_LONG = "too long to be shown as Markdown"


@pytest.fixture
def browser(service: Service) -> Browser:
    """The administrator's browser."""
    return Browser(service, service.admin)


@pytest.fixture
def make_site(service: Service, unique: Unique) -> Any:
    """Makes sites by the API."""

    def make(**values: Any) -> Any:
        return service.api.post(SITES, {"name": unique(), "slug": unique(), "status": "active", **values})

    return make


@pytest.mark.parametrize("text", ["[", "**a ", "> ", "![", "[a](", "<", "`", "|a", "- ", "("])
def test_a_text_beyond_the_limit_is_shown_as_it_was_written(browser: Browser, make_site: Any, text: str) -> None:
    site = make_site(comments=text * (MEGABYTE // len(text)))
    prose = browser.get(f"/dcim/sites/{site['id']}/").html.select_one("div.prose")
    assert TOO_LONG in prose.p.text
    assert prose.pre.text == (text * MAX_SHOWN_LENGTH)[:MAX_SHOWN_LENGTH]


def test_a_page_converts_a_bounded_number_of_characters_and_keeps_the_result(
    service: Service, browser: Browser, make_site: Any, unique: Unique
) -> None:
    site = make_site()
    for _ in range(2):
        text = f"*{unique()}* {'x' * (MAX_PAGE_LENGTH * 2 // 3)}"
        service.api.post(f"{SITES}{site['id']}/notes/", {"note": text})
    page = f"/dcim/sites/{site['id']}/notes/"
    assert len(browser.get(page).html.select("div.prose em")) == 1
    assert len(browser.get(page).html.select("div.prose em")) == 2  # one is kept, so the page has room for the other


@pytest.mark.parametrize(("before", "after"), [("[", "]"), ("ab ", "ba "), ("a ", "a b "), ("(", "(a")])
def test_the_change_of_a_long_text_is_shown_shortened(
    service: Service, browser: Browser, make_site: Any, before: str, after: str
) -> None:
    site = make_site(comments=before * (MEGABYTE // len(before)))
    service.api.patch(site["url"], {"comments": after * (MEGABYTE // len(after))})
    page = browser.get(f"/dcim/sites/{site['id']}/changelog/")
    assert len(page.text) < 100_000
    assert page.html.select_one("main del").text.endswith("…")


def test_words_far_from_each_other_are_compared(service: Service, browser: Browser, make_site: Any) -> None:
    words = [f"word{number}" for number in range(5000)]
    site = make_site(comments=" ".join(words))
    words[10], words[4990] = "first", "last"
    service.api.patch(site["url"], {"comments": " ".join(words)})
    difference = browser.get(f"/dcim/sites/{site['id']}/changelog/").html.select_one(".text-diff")
    assert [mark.text for mark in difference.select("del, ins")] == ["word10", "first", "word4990", "last"]


def test_a_document_below_a_long_key_does_not_multiply_it(
    service: Service, browser: Browser, unique: Unique, make_site: Any
) -> None:
    key = "k" * 100_000
    context = {"name": unique(), "data": {key: {str(number): number for number in range(1000)}}}
    made = service.api.post("/api/extras/config-contexts/", {**context, "is_active": False})
    page = browser.get(f"/extras/config-contexts/{made['id']}/changelog/")
    assert "k" * 300 in page.text
    assert len(page.text) < 300_000


@pytest.mark.night
def test_a_large_document_costs_little_in_the_history_of_other_fields(service: Service, unique: Unique) -> None:
    """Documents are compared without copies of them."""
    data = {"numbers": list(range(140_000)), "lists": {str(number): [number] for number in range(60_000)}}
    body = {"name": unique(), "data": data, "is_active": False}
    path = service.api.post("/api/extras/config-contexts/", body)["url"]
    for number in range(10):
        service.api.patch(path, {"description": f"change {number}"})
    with cProfile.Profile() as profile:
        entries = service.api.get(f"{path}history/", {"limit": 10})["results"]
    assert [[change["field"] for change in entry["changes"]] for entry in entries] == [["description"]] * 10
    assert sum(entry.callcount for entry in profile.getstats()) < HISTORY_CALLS
