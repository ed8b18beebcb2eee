"""The page of a change request: its changes, and the buttons that merge, close and open it."""

from __future__ import annotations

from typing import Any

import pytest

from netinv_testing import Api, Service, Unique
from netinv_testing.client import PASSWORD
from netinv_web.testing import Browser

REQUESTS, SITES = "/api/extras/change-requests/", "/api/dcim/sites/"


@pytest.fixture
def change_request(api: Api, unique: Unique) -> Any:
    """A change request that changes a site."""
    made = api.post(REQUESTS, {"title": unique()})
    headers = {"X-Change-Request": made["id"]}
    site = api.post(SITES, {"name": unique(), "status": "active"})
    api.patch(f"{SITES}{site['id']}/", {"facility": "DC 7"}, headers=headers)
    return {**made, "site": site, "path": f"/extras/change-requests/{made['id']}/"}


def test_it_shows_the_fields_before_and_after(service: Service, browser: Browser, change_request: Any) -> None:
    page = browser.get(change_request["path"])
    assert change_request["site"]["name"] in page.text
    assert "<b>Facility</b> <ins>DC 7</ins>" in page.text


def test_the_buttons_close_open_and_merge_it(api: Api, browser: Browser, change_request: Any) -> None:
    path, at = change_request["path"], f"{REQUESTS}{change_request['id']}/"
    for name, state in (("close", "closed"), ("reopen", "draft"), ("merge", "merged")):
        browser.get(path).form(action=f"{path}{name}/").submit()
        assert api.get(at)["state"]["value"] == state
    assert api.get(f"{SITES}{change_request['site']['id']}/")["facility"] == "DC 7"
    assert "Changes of the merge" in browser.get(path).text


def test_a_conflict_is_told_on_the_page(api: Api, browser: Browser, change_request: Any) -> None:
    path = change_request["path"]
    api.patch(f"{SITES}{change_request['site']['id']}/", {"facility": "DC 8"})
    page = browser.get(path).form(action=f"{path}merge/").submit().follow()
    assert "conflicts with the inventory" in page.text
    assert change_request["site"]["name"] in page.text


def test_a_reader_has_no_buttons(service: Service, change_request: Any) -> None:
    account = service.user(("view", "extras.changerequest"), ("view", "dcim.site"), password=PASSWORD)
    page = Browser(service, account).get(change_request["path"])
    assert "DC 7" in page.text
    assert "/merge/" not in page.text


@pytest.fixture
def reviewer(service: Service) -> Browser:
    """A reviewer."""
    account = service.user(("view approve", "extras.changerequest"), ("view change", "dcim.site"), password=PASSWORD)
    return Browser(service, account)


def test_it_leads_with_what_waits_then_changes_and_comments_and_facts_last(
    browser: Browser, change_request: Any
) -> None:
    page = browser.get(change_request["path"])
    titles = [title.get_text() for title in page.html.select("main h2")]
    assert titles[:3] == ["What waits", "Proposed changes", "Comments"]
    assert page.html.select_one("h1").get_text() == change_request["title"]


def test_submitted_approved_and_merged_by_buttons(
    api: Api, browser: Browser, reviewer: Browser, change_request: Any
) -> None:
    path, at = change_request["path"], f"{REQUESTS}{change_request['id']}/"
    assert "approve" not in browser.get(path).text
    browser.get(path).form(action=f"{path}submit/").submit()
    decision = reviewer.get(path).form(action=f"{path}approve/")
    decision["text"] = "Good <b>"
    page = decision.submit().follow()
    assert "You have approved" in page.html.select_one("[data-notice]").get_text()
    assert "Good &lt;b&gt;" in page.text
    browser.get(path).form(action=f"{path}merge/").submit()
    assert api.get(at)["state"]["value"] == "merged"


def test_a_reviewer_rejects_with_a_reason_or_is_told_of_a_change(
    api: Api, browser: Browser, reviewer: Browser, change_request: Any
) -> None:
    path, at = change_request["path"], f"{REQUESTS}{change_request['id']}/"
    browser.get(path).form(action=f"{path}submit/").submit()
    seen = reviewer.get(path).form(action=f"{path}approve/")
    site = f"{SITES}{change_request['site']['id']}/"
    api.patch(site, {"facility": "DC 9"}, headers={"X-Change-Request": change_request["id"]})
    assert "changed since" in seen.submit().follow().html.select_one("[data-notice]").get_text()
    form = reviewer.get(path).form(action=f"{path}approve/")
    form["text"] = "No"
    fields = form.submit_fields()
    page = reviewer.post(f"{path}reject/", fields).follow()
    assert "You have rejected" in page.html.select_one("[data-notice]").get_text()
    assert api.get(at)["state"]["value"] == "rejected"


def test_authors_are_told_that_others_review(browser: Browser, change_request: Any) -> None:
    path = change_request["path"]
    browser.get(path).form(action=f"{path}submit/").submit()
    page = browser.get(path)
    assert "Others have to review it" in page.text
    assert f"{path}approve/" not in page.text


def test_missing_approvals_are_counted_and_there_is_no_button_to_merge(
    browser: Browser, configured: Any, change_request: Any
) -> None:
    path = change_request["path"]
    with configured(change_request_approvals=2):
        page = browser.get(path)
        assert "0 of 2 approvals" in page.text
        assert f"{path}merge/" not in page.text
        refused = browser.post(f"{path}merge/", {}).follow()
        assert "0 of 2 approvals" in refused.html.select_one("[data-notice]").get_text()


def test_a_reader_comments(service: Service, change_request: Any) -> None:
    account = service.user(("view", "extras.changerequest"), password=PASSWORD)
    browser, path = Browser(service, account), change_request["path"]
    form = browser.get(path).form(action=f"{path}comment/")
    form["text"] = "What about Porto?"
    page = form.submit().follow()
    assert "What about Porto?" in page.html.select_one("#panel-conversation").get_text()
    assert "DC 7" not in page.text
    form["text"] = " "
    assert "may not be blank" in form.submit().follow().html.select_one("[data-notice]").get_text()


def test_conflicts_are_decided_on_the_page(api: Api, browser: Browser, change_request: Any) -> None:
    path, site = change_request["path"], change_request["site"]
    assert "No conflicts" in browser.get(f"{path}?_show=all").text
    for take, value in (("ours", "DC 7"), ("theirs", None)):
        api.patch(f"{SITES}{site['id']}/", {"facility": f"DC {take}"})
        page = browser.get(f"{path}?_show=all")
        checks = page.html.select_one("#panel-checks")
        assert site["name"] in checks.get_text()
        (form,) = [
            form
            for form in page.forms.values()
            if form.action == f"{path}decide-conflict/" and form.submit_fields("take", submit_value=take)[-1][1] == take
        ][:1]
        decided = form.submit("take", value=take).follow()
        assert "was decided" in decided.html.select_one("[data-notice]").get_text()
        if value:
            assert value in decided.html.select_one("#panel-proposed").get_text()
    assert "No change is proposed yet" in browser.get(path).text


def test_a_page_of_many_changes_takes_as_many_statements_as_one_of_few(
    service: Service, api: Api, browser: Browser, change_request: Any, unique: Unique
) -> None:
    path, counts = change_request["path"], []
    for _ in range(2):
        browser.get(path)
        with service.statements() as statements:
            browser.get(path)
        counts.append(len(statements))
        bodies = [{"name": unique(), "status": "active"} for _ in range(40)]
        api.post(SITES, bodies, headers={"X-Change-Request": change_request["id"]})
    assert counts[0] == counts[1]


def test_what_waits_for_review_is_on_the_home_page(service: Service, browser: Browser, change_request: Any) -> None:
    path = change_request["path"]
    browser.get(path).form(action=f"{path}submit/").submit()
    assert "for review" in browser.get("/").text
