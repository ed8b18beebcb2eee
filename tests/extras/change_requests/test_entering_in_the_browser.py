"""A change request in the browser: entered by a button, it is what every page shows and every form writes to."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from netinv_testing import Api, Service, Unique
from netinv_testing.client import PASSWORD
from netinv_web.testing import Browser

REQUESTS, SITES = "/api/extras/change-requests/", "/api/dcim/sites/"
Statements = Callable[..., Any]


@pytest.fixture
def browser(service: Service) -> Browser:
    """A browser of a user of its own."""
    return Browser(service, service.user(superuser=True, password=PASSWORD))


@pytest.fixture
def change_request(api: Api, unique: Unique, site: Any) -> Any:
    """A change request that changes the site."""
    made = api.post(REQUESTS, {"title": unique()})
    api.patch(f"{SITES}{site['id']}/", {"facility": "DC 7"}, headers={"X-Change-Request": made["id"]})
    return {**made, "path": f"/extras/change-requests/{made['id']}/", "at": f"{REQUESTS}{made['id']}/"}


@pytest.fixture
def inside(browser: Browser, change_request: Any) -> Browser:
    """A browser that entered the change request."""
    browser.get(change_request["path"]).form(action=f"{change_request['path']}enter/").submit()
    return browser


def leave(browser: Browser, path: str) -> Any:
    """Leaves the change request from a page."""
    page = browser.get(path)
    (form,) = [form for form in page.forms.values() if form.action.startswith("/extras/leave")]
    return form.submit()


def test_pages_show_its_changes_and_a_bar(inside: Browser, change_request: Any, site: Any) -> None:
    page = inside.get(f"/dcim/sites/{site['id']}/")
    assert "DC 7" in page.text
    (bar,) = page.html.select(".banner[role=status]")
    assert bar.get_text().split() == f"Change request: {change_request['title']}, 1 change Review Leave".split()
    assert bar.select_one("a")["href"] == change_request["path"]
    assert page.headers["X-Change-Request"] == change_request["id"]
    assert site["name"] in inside.get("/dcim/sites/?facility=DC+7").text


def test_forms_write_to_it(inside: Browser, api: Api, change_request: Any, site: Any, unique: Unique) -> None:
    form = inside.get("/dcim/sites/add/").form()
    form["name"] = name = unique()
    shown = form.submit().follow()
    assert name in shown.text
    edit = inside.get(f"/dcim/sites/{site['id']}/edit/").form()
    edit["description"] = "moved"
    edited = edit.submit().follow()
    assert "moved" in edited.text
    assert "Undo" not in edited.html.select_one("[data-notice]").get_text()
    assert api.get(SITES, {"name": name})["count"] == 0
    assert api.get(f"{SITES}{site['id']}/")["description"] == ""
    counts = api.get(change_request["at"])
    assert (counts["creates"], counts["updates"]) == (1, 1)


@pytest.mark.night
def test_a_deletion_and_a_bulk_edit_write_to_it(inside: Browser, api: Api, site: Any, change_request: Any) -> None:
    other = api.post(SITES, {"name": f"{site['name']} b", "status": "active"})
    form = inside.get(f"/dcim/sites/edit/?pk={site['id']}&pk={other['id']}").form()
    form["description"] = "both"
    form.submit("_step", status=200).form().submit("_step", value="apply")
    assert "both" in inside.get(f"/dcim/sites/{other['id']}/").text
    inside.get(f"/dcim/sites/{other['id']}/delete/").form(action="").submit()
    inside.get(f"/dcim/sites/{other['id']}/", status=404)
    assert api.get(f"{SITES}{other['id']}/")["description"] == ""
    assert (api.get(change_request["at"])["updates"], api.get(change_request["at"])["deletes"]) == (1, 1)


def test_leaving_leads_back_to_the_page_and_from_a_new_object_to_the_list(
    inside: Browser, site: Any, unique: Unique
) -> None:
    form = inside.get("/dcim/sites/add/").form()
    form["name"] = unique()
    new = form.submit().location
    assert leave(inside, new).location == "/dcim/sites/"
    page = inside.get(f"/dcim/sites/{site['id']}/")
    assert "DC 7" not in page.text
    assert not page.html.select(".banner")


def test_what_belongs_to_the_user_is_not_part_of_it(inside: Browser, api: Api, change_request: Any) -> None:
    form = inside.get("/user/preferences/").form()
    form["density"] = "compact"
    page = form.submit().follow()
    assert page.html.html["data-density"] == "compact"
    assert "Change request" in page.html.select_one(".banner").get_text()
    assert api.get(change_request["at"])["updates"] == 1


@pytest.mark.parametrize("path", ["/extras/statuses/add/", "/users/users/add/", "/extras/webhooks/add/"])
def test_configuration_says_the_way_out(inside: Browser, path: str) -> None:
    page = inside.get(path, status=409)
    assert "cannot be part of a change request" in page.text
    assert "Leave the change request first" in page.text
    assert leave_form(page)


def leave_form(page: Any) -> Any:
    """The form of the button *Leave*."""
    return next(form for form in page.forms.values() if form.action.startswith("/extras/leave"))


@pytest.mark.parametrize("how", ["close", "merge", "delete"])
def test_one_that_is_over_is_left_with_a_notice(
    inside: Browser, api: Api, change_request: Any, site: Any, how: str
) -> None:
    path = f"/dcim/sites/{site['id']}/"
    edit = inside.get(f"{path}edit/").form()
    edit["description"] = "late"
    api.delete(change_request["at"]) if how == "delete" else api.post(f"{change_request['at']}{how}/", {}, status=200)
    refused = edit.submit(status=409)
    assert "Nothing was saved" in refused.text
    assert api.get(f"{SITES}{site['id']}/")["description"] == ""
    assert not inside.get(path).html.select(".banner")


def test_a_page_of_one_that_is_over_is_that_of_the_inventory(inside: Browser, api: Api, change_request: Any) -> None:
    api.post(f"{change_request['at']}close/", {}, status=200)
    page = inside.get("/dcim/sites/?limit=1", status=303).follow()
    assert "You have left it" in page.html.select_one("[data-notice]").get_text()
    assert not page.html.select(".banner")


def test_a_conflict_shows_the_way_out(inside: Browser, api: Api, change_request: Any, site: Any) -> None:
    api.patch(f"{SITES}{site['id']}/", {"facility": "DC 8"})
    page = inside.get(f"/dcim/sites/{site['id']}/", status=409)
    assert "conflicts" in page.text
    assert leave_form(page)
    assert inside.get(change_request["path"])


@pytest.mark.parametrize("path", ["/no/such/page/", "/dcim/sites/00000000-0000-4000-8000-000000000000/"])
def test_the_pages_of_errors_have_the_bar(inside: Browser, path: str) -> None:
    assert leave_form(inside.get(path, status=404))


def test_it_is_bound_to_the_session(inside: Browser, service: Service, site: Any) -> None:
    kept = dict(inside.cookies)["netinv_change_request"]
    other = Browser(service, service.user(superuser=True, password=PASSWORD))
    other.set_cookie("netinv_change_request", kept.strip('"'))
    assert "DC 7" not in other.get(f"/dcim/sites/{site['id']}/").text
    other.set_cookie("netinv_change_request", "nonsense")
    other.get(f"/dcim/sites/{site['id']}/")


def test_a_reader_is_told_that_they_cannot_write(service: Service, change_request: Any, site: Any) -> None:
    account = service.user(
        ("view", "extras.changerequest"), ("view", "dcim.site"), ("change", "dcim.site"), password=PASSWORD
    )
    browser = Browser(service, account)
    browser.get(change_request["path"]).form(action=f"{change_request['path']}enter/").submit()
    form = browser.get(f"/dcim/sites/{site['id']}/edit/").form()
    form["description"] = "x"
    assert leave_form(form.submit(status=403))


@pytest.mark.night
def test_links_to_new_objects_stay_for_users_with_constraints(
    service: Service, api: Api, change_request: Any, unique: Unique
) -> None:
    inside = {"X-Change-Request": change_request["id"]}
    new = api.post(SITES, {"name": unique(), "status": "active", "facility": "new"}, headers=inside)
    account = service.user(
        ("view", "extras.changerequest"), ("view", "dcim.site", {"facility": "new"}), password=PASSWORD
    )
    browser = Browser(service, account)
    browser.get(change_request["path"]).form(action=f"{change_request['path']}enter/").submit()
    assert f"/dcim/sites/{new['id']}/" in browser.get("/dcim/sites/").links()


LIVE_VALUES = 3  # statements that read the object of a page as it is, where the change request changes it
PAGES = ["/dcim/sites/", "/dcim/sites/{}/", "/dcim/sites/add/", "/dcim/sites/{}/edit/", "/"]


def statements_of(service: Service, browser: Browser, site: Any) -> list[list[str]]:
    """The statements of each page, after one request that fills the caches."""
    found = []
    for path in PAGES:
        browser.get(path.format(site["id"]))
        with service.statements() as statements:
            browser.get(path.format(site["id"]))
        found.append(list(statements))
    return found


def test_pages_outside_take_no_statement_for_change_requests(
    service: Service, browser: Browser, change_request: Any, site: Any
) -> None:
    for page in statements_of(service, browser, site)[:-1]:  # the home page counts those that wait, with all else
        assert not [text for text in page if "extras_change_request" in text or "extras_proposal" in text]


@pytest.mark.night
def test_pages_inside_take_as_many_statements_for_many_changes_as_for_one(
    service: Service, browser: Browser, api: Api, change_request: Any, site: Any, unique: Unique
) -> None:
    sites = api.post(SITES, [{"name": unique(), "status": "active"} for _ in range(60)])
    outside = statements_of(service, browser, site)
    browser.get(change_request["path"]).form(action=f"{change_request['path']}enter/").submit()
    one = statements_of(service, browser, site)
    bodies = [{"id": item["id"], "facility": "DC 9"} for item in sites]
    api.patch(SITES, bodies, headers={"X-Change-Request": change_request["id"]})
    many = statements_of(service, browser, site)
    assert [len(page) for page in many] == [len(page) for page in one]
    found = []
    for headers in ({}, {"X-Change-Request": change_request["id"]}):
        with service.statements() as statements:
            api.get(f"{SITES}{site['id']}/", headers=headers)
        found.append(len(statements))
    more = [len(inside) - len(page) for inside, page in zip(one, outside, strict=True)]
    assert max(more) <= found[1] - found[0] + LIVE_VALUES, (more, found)
