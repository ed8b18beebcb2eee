"""Pages in a change request mark what it changes: rows of lists, and the fields of an object with their live values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from netinv_testing import Api, Service, Unique
from netinv_testing.client import PASSWORD
from netinv_web.testing import Browser

REQUESTS, SITES, DEVICES = "/api/extras/change-requests/", "/api/dcim/sites/", "/api/dcim/devices/"
MORE_OF_LISTS, MORE_OF_OBJECTS = 4, 6  # statements for the marks of a page
Made = dict[str, Any]
Enter = Callable[..., Browser]


@pytest.fixture
def name(unique: Unique) -> str:
    """The first part of the names of the sites."""
    return unique()


@pytest.fixture
def change_request(api: Api, name: str) -> Made:
    """A change request in which a site is new, one changed, one deleted, and one as it is."""
    bodies = [{"name": f"{name} {word}", "status": "active", "facility": "old"} for word in ("kept", "other", "gone")]
    kept, other, gone = api.post(SITES, bodies)
    made = api.post(REQUESTS, {"title": name})
    inside = {"X-Change-Request": made["id"]}
    new = api.post(SITES, {"name": f"{name} new", "status": "active"}, headers=inside)
    api.patch(f"{SITES}{other['id']}/", {"facility": "DC 7", "comments": "Call first"}, headers=inside)
    api.delete(f"{SITES}{gone['id']}/", headers=inside)
    sites = {"kept": kept, "other": other, "gone": gone, "new": new}
    return {**made, "headers": inside, "path": f"/extras/change-requests/{made['id']}/", "sites": sites}


@pytest.fixture
def enter(service: Service, change_request: Made) -> Enter:
    """Browsers that entered the change request, of new users with permissions, by default all."""

    def entered(*permissions: Any) -> Browser:
        rights = [("view", "extras.changerequest"), *permissions]
        account = service.user(*rights, superuser=not permissions, password=PASSWORD)
        browser = Browser(service, account)
        browser.get(change_request["path"]).form(action=f"{change_request['path']}enter/").submit()
        return browser

    return entered


def marks_of(page: Any) -> dict[str, str]:
    """The marks of the rows of a list, by the last word of the name."""
    rows = page.html.select("table.list tbody tr")
    return {
        head.select_one("a, del").get_text().split()[-1]: mark.get_text() if mark else ""
        for head, mark in ((row.th, row.th.select_one(".proposed")) for row in rows)
    }


def facts_of(page: Any) -> dict[str, str]:
    """The facts of an object's page by their label."""
    return {
        item.dt.get_text(): " ".join(item.dd.get_text().split()) for item in page.html.select(".facts .panel dl > div")
    }


def test_rows_say_whether_they_are_new_changed_or_deleted(enter: Enter, change_request: Made, name: str) -> None:
    page = enter().get(f"/dcim/sites/?q={name}")
    assert marks_of(page) == {"kept": "", "other": "changed", "new": "new", "gone": "deleted"}
    (deleted,) = [row for row in page.html.select("table.list tbody tr") if row.th.select_one("del")]
    assert not deleted.select("th a, input, .row-links a")
    assert "data-key" not in deleted.attrs
    assert "old" in deleted.get_text()


def test_outside_nothing_is_marked(service: Service, change_request: Made, name: str) -> None:
    browser = Browser(service, service.user(superuser=True, password=PASSWORD))
    assert marks_of(browser.get(f"/dcim/sites/?q={name}")) == {"kept": "", "other": "", "gone": ""}
    page = browser.get(f"/dcim/sites/{change_request['sites']['other']['id']}/")
    assert not page.html.select(".proposed, .live")


@pytest.mark.night
def test_deleted_rows_match_the_filters_and_are_on_the_first_page(
    enter: Enter, change_request: Made, name: str
) -> None:
    browser = enter()
    assert marks_of(browser.get(f"/dcim/sites/?q={name}&facility=old")) == {"kept": "", "gone": "deleted"}
    assert "gone" not in marks_of(browser.get(f"/dcim/sites/?q={name}&facility=DC+7"))
    assert "gone" not in marks_of(browser.get(f"/dcim/sites/?q={name}&per_page=1&page=2"))
    assert marks_of(browser.get(f"/dcim/sites/?q={name}&id={change_request['sites']['gone']['id']}")) == {
        "gone": "deleted"
    }


@pytest.mark.night
def test_rows_of_tabs_are_marked(enter: Enter, api: Api, change_request: Made, service: Service, name: str) -> None:
    device = service.population.objects(service.registry["dcim.device"])[0]
    bodies = [
        {"device": device["id"], "name": f"{name}-{word}", "type": "other", "status": "active"}
        for word in ("gone", "other")
    ]
    gone, other = api.post("/api/dcim/interfaces/", bodies)
    api.delete(f"/api/dcim/interfaces/{gone['id']}/", headers=change_request["headers"])
    api.patch(f"/api/dcim/interfaces/{other['id']}/", {"mtu": 1400}, headers=change_request["headers"])
    marked = marks_of(enter().get(f"/dcim/devices/{device['id']}/interfaces/?q={name}"))
    assert marked == {f"{name}-other": "changed", f"{name}-gone": "deleted"}


@pytest.mark.night
def test_the_page_of_an_object_has_the_live_values_of_changed_fields(enter: Enter, change_request: Made) -> None:
    browser, sites = enter(), change_request["sites"]
    page = browser.get(f"/dcim/sites/{sites['other']['id']}/")
    facts = facts_of(page)
    assert facts["Facility"] == "DC 7 changed live value: old"
    assert "changed" not in facts["Status"]
    assert page.html.select_one("header.title .proposed").get_text() == "changed"
    assert "Call first" in page.html.select_one("#panel-changed-values").get_text()
    new = browser.get(f"/dcim/sites/{sites['new']['id']}/")
    assert new.html.select_one("header.title .proposed").get_text() == "new"
    assert not new.html.select(".live, #panel-changed-values")
    kept = browser.get(f"/dcim/sites/{sites['kept']['id']}/")
    assert not kept.html.select(".proposed, .live, #panel-changed-values")
    assert "The change request deletes this object" in browser.get(f"/dcim/sites/{sites['gone']['id']}/", status=404)


def test_an_emptied_field_is_shown_with_its_live_value(enter: Enter, api: Api, change_request: Made) -> None:
    path = f"{SITES}{change_request['sites']['other']['id']}/"
    api.patch(path, {"facility": ""}, headers=change_request["headers"])
    facts = facts_of(enter().get(path.removeprefix("/api")))
    assert facts["Facility"].endswith("changed live value: old")


def test_what_a_user_may_not_view_as_it_is_is_new_to_them(enter: Enter, change_request: Made, name: str) -> None:
    browser, sites = enter(("view", "dcim.site", {"facility": "DC 7"})), change_request["sites"]
    assert marks_of(browser.get(f"/dcim/sites/?q={name}")) == {"other": "new"}
    page = browser.get(f"/dcim/sites/{sites['other']['id']}/")
    assert page.html.select_one("header.title .proposed").get_text() == "new"
    assert not page.html.select(".live, #panel-changed-values")
    assert "deletes" not in browser.get(f"/dcim/sites/{sites['gone']['id']}/", status=404)


def test_what_a_user_may_view_by_constraints_is_marked(enter: Enter, change_request: Made, name: str) -> None:
    browser = enter(("view", "dcim.site", {"facility__in": ["old", "DC 7"]}))
    assert marks_of(browser.get(f"/dcim/sites/?q={name}")) == {"kept": "", "other": "changed", "gone": "deleted"}
    page = browser.get(f"/dcim/sites/{change_request['sites']['other']['id']}/")
    assert facts_of(page)["Facility"] == "DC 7 changed live value: old"


def statements(service: Service, browser: Browser, path: str) -> int:
    """The number of statements of a page, after one request that fills the caches."""
    browser.get(path)
    with service.statements() as found:
        browser.get(path)
    return len(found)


@pytest.mark.night
def test_marks_take_a_few_statements_however_many_there_are(
    service: Service, api: Api, enter: Enter, change_request: Made, name: str
) -> None:
    browser = enter()
    listed = f"/dcim/sites/?q={name}"
    shown = f"/dcim/sites/{change_request['sites']['other']['id']}/"
    unmarked = statements(service, browser, f"/dcim/regions/?q={name}")
    few = [statements(service, browser, path) for path in (listed, shown)]
    bodies = [{"name": f"{name} more {number}", "status": "active"} for number in range(90)]
    sites = api.post(SITES, bodies)
    changes = [{"id": item["id"], "facility": "DC 9", "comments": "Moved"} for item in sites[:45]]
    api.patch(SITES, changes, headers=change_request["headers"])
    api.delete(SITES, [{"id": item["id"]} for item in sites[45:]], headers=change_request["headers"])
    many = [statements(service, browser, path) for path in (listed, shown)]
    assert all(after <= before for before, after in zip(few, many, strict=True)), (few, many)
    assert len(marks_of(browser.get(listed))) > 60
    assert few[0] <= unmarked + MORE_OF_LISTS, (few, unmarked)
    kept = statements(service, browser, f"/dcim/sites/{change_request['sites']['kept']['id']}/")
    assert few[1] <= kept + MORE_OF_OBJECTS, (few, kept)
