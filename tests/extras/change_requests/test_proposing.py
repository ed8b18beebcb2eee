"""*Propose* beside *Save*: the form goes into a change request, new or open, and nothing is changed."""

from __future__ import annotations

from typing import Any

import pytest

from netinv_testing import Api, Service, Unique
from netinv_testing.client import PASSWORD
from netinv_web.testing import Browser

REQUESTS, SITES = "/api/extras/change-requests/", "/api/dcim/sites/"


@pytest.fixture
def author(service: Service) -> Browser:
    """A user without change requests."""
    return Browser(service, service.user(superuser=True, password=PASSWORD))


def proposed(api: Api, page: Any) -> tuple[Any, list[tuple[str, str]]]:
    """The change request whose page was led to, with the actions and names of its changes."""
    made = api.get(f"/api{page.request.path}")
    changes = api.get(f"/api{page.request.path}changes/")["changes"]
    return made, [(change["action"], change["display"]) for change in changes]


def test_a_new_object(author: Browser, api: Api, unique: Unique) -> None:
    form, name = author.get("/dcim/sites/add/").form(), unique()
    form["name"] = name
    page = form.submit("_propose").follow()
    made, changes = proposed(api, page)
    assert made["title"] == f"Add Site {name}"
    assert changes == [("create", name)]
    assert f"Proposed: Add Site {name}" in page.html.select_one("[data-notice]").get_text()
    assert api.get(SITES, {"name": name})["count"] == 0


@pytest.mark.night
def test_an_edit_goes_into_an_open_one_by_choice(author: Browser, api: Api, site: Any, unique: Unique) -> None:
    first = author.get("/dcim/sites/add/").form()
    first["name"] = unique()
    made, _ = proposed(api, first.submit("_propose").follow())
    form = author.get(f"/dcim/sites/{site['id']}/edit/").form()
    form["comments"] = "two\nlines"
    choice = form.submit("_propose", status=200)
    assert made["title"] in choice.text
    again, changes = proposed(api, choice.form().submit("_propose", value=made["id"]).follow())
    assert again["id"] == made["id"]
    assert ("update", site["name"]) in changes
    inside = api.get(f"{SITES}{site['id']}/", headers={"X-Change-Request": made["id"]})
    assert inside["comments"].split() == ["two", "lines"]
    another, changes = proposed(api, choice.form().submit("_propose", value="new").follow())
    assert (another["title"], changes) == (f"Change Site {site['name']}", [("update", site["name"])])
    assert api.get(f"{SITES}{site['id']}/")["comments"] == ""


def test_a_deletion(author: Browser, api: Api, site: Any) -> None:
    form = author.get(f"/dcim/sites/{site['id']}/delete/").form(action="")
    made, changes = proposed(api, form.submit("_propose").follow())
    assert (made["title"], changes) == (f"Delete Site {site['name']}", [("delete", site["name"])])
    api.get(f"{SITES}{site['id']}/")


def test_a_bulk_edit_and_a_bulk_deletion(author: Browser, api: Api, site: Any, unique: Unique) -> None:
    other = api.post(SITES, {"name": unique(), "status": "active"})
    form = author.get(f"/dcim/sites/edit/?pk={site['id']}&pk={other['id']}").form()
    form["description"] = "both"
    made, changes = proposed(api, form.submit("_step", status=200).form().submit("_propose").follow())
    assert (made["title"], len(changes), made["updates"]) == ("Change 2 sites", 2, 2)
    choice = author.get(f"/dcim/sites/delete/?pk={site['id']}").form().submit("_propose", status=200)
    made, changes = proposed(api, choice.form().submit("_propose", value="new").follow())
    assert (made["title"], changes) == (f"Delete Site {site['name']}", [("delete", site["name"])])
    assert api.get(f"{SITES}{site['id']}/")["description"] == ""


def test_several_objects_by_a_pattern(author: Browser, api: Api, unique: Unique) -> None:
    form, name = author.get("/dcim/sites/add/").form(), unique()
    form["name"] = f"{name}-[1-3]"
    preview = form.submit("_propose", status=200)
    made, changes = proposed(api, preview.form().submit("_several", value="all").follow())
    assert (made["title"], len(changes)) == ("Add 3 sites", 3)


def test_errors_are_shown_in_the_form_and_nothing_is_proposed(author: Browser, api: Api, site: Any) -> None:
    before = api.get(REQUESTS)["count"]
    form = author.get("/dcim/sites/add/").form()
    form["name"] = site["name"]
    page = form.submit("_propose", status=422)
    assert page.html.select_one("#error-summary")
    assert api.get(REQUESTS)["count"] == before


def test_an_edit_without_a_change_proposes_nothing(author: Browser, api: Api, site: Any) -> None:
    before = api.get(REQUESTS)["count"]
    author.get(f"/dcim/sites/{site['id']}/edit/").form().submit("_propose")
    assert api.get(REQUESTS)["count"] == before


@pytest.mark.parametrize("path", ["/extras/statuses/add/", "/users/users/add/", "/extras/change-requests/add/"])
def test_configuration_has_no_button(author: Browser, path: str) -> None:
    assert "_propose" not in author.get(path).text


@pytest.mark.night
def test_who_may_not_add_change_requests_has_no_button(service: Service, site: Any) -> None:
    account = service.user(("view", "dcim.site"), ("change", "dcim.site"), password=PASSWORD)
    browser, path = Browser(service, account), f"/dcim/sites/{site['id']}/edit/"
    page = browser.get(path)
    assert "_propose" not in page.text
    form = page.form()
    form["description"] = "x"
    body = [*form.submit_fields(), ("_propose", "new")]
    browser.post(path, body, status=403)


@pytest.mark.parametrize("target", ["nonsense", "00000000-0000-4000-8000-000000000000"])
def test_a_change_request_that_is_not_there_is_refused(author: Browser, site: Any, target: str) -> None:
    path = f"/dcim/sites/{site['id']}/edit/"
    body = [*author.get(path).form().submit_fields(), ("_propose", target)]
    assert "no such change request" in author.post(path, body, status=409).text


def test_an_import(author: Browser, api: Api, unique: Unique) -> None:
    form, names = author.get("/dcim/sites/import/").form(), [unique(), unique()]
    form["data"] = "name,status\n" + "".join(f"{name},active\n" for name in names)
    made, changes = proposed(api, form.submit("_step", value="preview", status=200).form().submit("_propose").follow())
    assert made["title"] == "Add 2 sites"
    assert sorted(changes) == sorted(("create", name) for name in names)
    assert api.get(SITES, {"name": names})["count"] == 0
