"""The search page and the results of the command palette, without scripts."""

from __future__ import annotations

from typing import Any

import pytest

from netinv_search import stages
from netinv_testing import Account, Api, Service, Unique
from netinv_web.testing import Browser

TENANTS, SITES = "/api/tenancy/tenants/", "/api/dcim/sites/"
PASSWORD = "a password for the search"


@pytest.fixture
def browser(service: Service, make_user: Any) -> Browser:
    """The browser of a user who may view tenants and the site that a test names ``visible``."""
    account: Account = make_user(
        ("view", "tenancy.tenant"), ("view", "dcim.site", {"facility": "visible"}), password=PASSWORD
    )
    return Browser(service, account)


def test_the_search_box_leads_to_groups_with_links_to_objects_and_lists(
    browser: Browser, api: Api, unique: Unique
) -> None:
    word = unique()
    tenants = api.post(TENANTS, [{"name": f"{word} {number}"} for number in range(21)])
    form = next(form for form in browser.get("/").forms.values() if form.action == "/search/")
    form["q"] = word
    page = form.submit(status=200)
    heading = page.html.select_one("main section h2 a")
    assert heading.text == "Tenants"
    assert "21" in browser.get(heading["href"]).html.h1.text
    links = [link["href"] for link in page.html.select("main section li a")]
    assert len(links) == 20
    assert f"/tenancy/tenants/{tenants[0]['id']}/" in links
    assert browser.get(links[0], status=200).html.h1.text.startswith(word)


def test_an_exact_single_result_is_opened_only_when_asked(browser: Browser, api: Api, unique: Unique) -> None:
    name = unique()
    tenant, _ = api.post(TENANTS, [{"name": name}, {"name": f"{name} longer"}])
    path = f"/tenancy/tenants/{tenant['id']}/"
    for text in (name, tenant["id"]):
        assert browser.get("/search/", {"q": text}, status=200).html.select_one(f"main a[href='{path}']")
        assert browser.get("/search/", {"q": text, "_jump": "1"}, status=303).headers["Location"] == path
    browser.get("/search/", {"q": name[:-1], "_jump": "1"}, status=200)


def test_the_only_object_that_is_found_is_opened_and_so_is_the_one_with_all_words(
    browser: Browser, api: Api, unique: Unique, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stages, "SCANNED_ROWS", 10**6)  # however many tenants other tests leave
    word = unique()
    tenants = api.post(TENANTS, [{"name": f"Gdańsk {word}"}, {"name": f"Gdańsk {word} harbour"}])
    for text, tenant in ((f"{word} gdansk", tenants[0]), (f"harbour {word}", tenants[1]), (f"{word} har", tenants[1])):
        answer = browser.get("/search/", {"q": text, "_jump": "1"}, status=303)
        assert answer.headers["Location"] == f"/tenancy/tenants/{tenant['id']}/", text


def test_the_palette_gets_options_without_the_frame_of_a_page(browser: Browser, api: Api, unique: Unique) -> None:
    name = f"<b>{unique()}"
    api.post(TENANTS, {"name": name, "slug": unique()})
    part = browser.get("/search/", {"_part": "palette", "q": name}, status=200)
    assert [option.text for option in part.html.select("[role=group][aria-label=Tenants] a[role=option]")] == [name]
    assert not part.html.select("html, nav, b")
    assert not browser.get("/search/", {"_part": "palette", "q": f"{unique()} nothing"}, status=200).html.select("a")


def test_only_what_one_may_view_is_shown(browser: Browser, api: Api, unique: Unique) -> None:
    word = unique()
    api.post(SITES, {"name": f"{word} hidden", "status": "active"})
    visible = api.post(SITES, {"name": f"{word} open", "status": "active", "facility": "visible"})
    for part in ("", "palette"):
        links = browser.get("/search/", {"q": word, "_part": part}).html.select("main li a, [role=option]")
        assert [link["href"] for link in links] == [f"/dcim/sites/{visible['id']}/"]


def test_without_a_result_the_page_says_what_can_be_typed(browser: Browser, unique: Unique) -> None:
    for text in ("", f"{unique()} nothing"):
        page = browser.get("/search/", {"q": text}, status=200)
        assert "in:devices" in page and "vlan 120" in page
        assert ("Nothing was found" in page) is bool(text)


@pytest.mark.parametrize("text", ["x" * 201, "in:nothing x", "a\x00b"])
def test_a_bad_text_is_answered_with_the_reason(browser: Browser, text: str) -> None:
    page = browser.get("/search/", {"q": text}, status=422)
    assert page.html.select_one("main [role=alert]").text
    assert page.html.select_one("#search-text")["value"] == text


def test_entries_of_the_navigation_say_which_keys_open_them(browser: Browser) -> None:
    keys = {link["data-keys"]: link["href"] for link in browser.get("/search/").html.select("[data-keys]")}
    assert keys == {"g h": "/", "g s": "/dcim/sites/"}


def test_visitors_without_session_are_led_to_the_sign_in(service: Service) -> None:
    Browser(service).get("/search/?q=x", status=303)


@pytest.mark.parametrize("path", ["/search/?q=%ff", "/search/?%ff=%ff", "/graphql/?%ff=%ff", "/login/?next=%ff"])
def test_bytes_of_the_query_that_are_no_utf_8_are_replaced(service: Service, path: str) -> None:
    browser = Browser(service) if path.startswith("/login/") else Browser(service, service.admin)
    assert browser.get(path).html.select_one("main h1")
