"""Contacts: assignments to objects of any model, pages, and their import."""

from __future__ import annotations

from typing import Any

import pytest

from netinv_testing import Api, Service, Unique
from netinv_web.testing import Browser
from tests.support.dumps import item, named

PATH = "/api/plugins/contacts"
CONTACTS, GROUPS, ROLES, ASSIGNMENTS = (
    f"{PATH}/{name}/" for name in ("contacts", "contact-groups", "contact-roles", "contact-assignments")
)
SITES = "/api/dcim/sites/"


@pytest.fixture
def site(make: Any) -> Any:
    """A site."""
    return make(SITES, status="active")


@pytest.fixture
def assign(api: Api, make: Any, unique: Unique) -> Any:
    """``assign(site, "primary", …)``: an assignment of a new contact, with further members of the contact."""

    def make_assignment(site: Any, priority: str = "", **contact: Any) -> Any:
        made = api.post(CONTACTS, {"name": unique(), **contact})
        body = {"object_type": "dcim.site", "object_id": site["id"], "contact": made["id"]}
        return api.post(ASSIGNMENTS, {**body, "role": make(ROLES)["id"], "priority": priority})

    return make_assignment


def test_a_contact_is_assigned_to_an_object_once_in_a_role(api: Api, site: Any, assign: Any) -> None:
    made = assign(site, "primary")
    assert made["object"]["id"] == site["id"]
    assert made["display"] == f"{made['contact']['name']} ({made['role']['name']})"
    again = {name: made[name]["id"] for name in ("contact", "role")}
    api.post(ASSIGNMENTS, {**again, "object_type": "dcim.site", "object_id": site["id"]}, status=400)


def test_an_assignment_names_an_object_that_exists(api: Api, site: Any, assign: Any) -> None:
    path = f"{ASSIGNMENTS}{assign(site)['id']}/"
    assert list(api.patch(path, {"object_id": "00000000-0000-4000-8000-000000000000"}, status=400)) == ["object_id"]
    assert list(api.patch(path, {"object_type": "contacts.contact"}, status=400)) == ["object_type"]


def test_assignments_go_with_their_object_and_their_contact(api: Api, make: Any, site: Any, assign: Any) -> None:
    first, second = assign(site), assign(make(SITES, status="active"))
    api.delete(f"{SITES}{site['id']}/")
    api.get(f"{ASSIGNMENTS}{first['id']}/", status=404)
    api.delete(f"{CONTACTS}{second['contact']['id']}/")
    api.get(f"{ASSIGNMENTS}{second['id']}/", status=404)


def test_assignments_of_hidden_objects_are_hidden(make_user: Any, make: Any, site: Any, assign: Any) -> None:
    shown, hidden = assign(site), assign(make(SITES, status="active"))
    user = make_user(("view", "contacts.contactassignment"), ("view", "dcim.site", {"id": site["id"]}))
    user.api.get(f"{ASSIGNMENTS}{shown['id']}/")
    user.api.get(f"{ASSIGNMENTS}{hidden['id']}/", status=404)


def test_the_page_of_an_object_shows_its_contacts_in_order(
    service: Service, site: Any, assign: Any, statements: Any
) -> None:
    browser, page = Browser(service, service.admin), f"/dcim/sites/{site['id']}/"
    assert f"object_type=dcim.site&amp;object_id={site['id']}" in browser.get(page).text
    last = assign(site, "tertiary", email="noc@example.org", phone="+351 1")
    with statements() as one:
        browser.get(page)
    first = assign(site, "primary")
    with statements() as several:
        text = browser.get(page).text
    assert text.index(first["contact"]["name"]) < text.index(last["contact"]["name"])
    assert "mailto:noc%40example.org" in text
    assert len(one) == len(several)


def test_the_form_of_a_new_assignment_has_the_object(service: Service, site: Any, assign: Any) -> None:
    made = assign(site)
    browser = Browser(service, service.admin)
    query = f"?object_type=dcim.site&object_id={site['id']}"
    form = browser.get(f"/plugins/contacts/contact-assignments/add/{query}").form()
    form["contact"].force_value(made["contact"]["id"])
    form["role"].force_value(service.api.post(ROLES, {"name": service.unique()})["id"])
    form.submit()
    found = service.api.get(ASSIGNMENTS, {"object_id": site["id"]})["results"]
    assert len(found) == 2


def test_a_reader_sees_no_contacts_without_a_permission(service: Service, site: Any, assign: Any) -> None:
    made = assign(site)
    user = service.user(("view", "dcim.site"), password="a password of the test")
    assert made["contact"]["name"] not in Browser(service, user).get(f"/dcim/sites/{site['id']}/").text


def test_contacts_of_a_netbox_dump_are_imported(api: Api, load_dump: Any, unique: Unique) -> None:
    name = unique()
    dump = [
        named("dcim.site", 1, name, status="active"),
        named("tenancy.contactgroup", 1, name, parent=None),
        named("tenancy.contactgroup", 2, f"{name} below", parent=1),
        named("tenancy.contactrole", 1, name),
        item("tenancy.contact", 1, name=name, title="", phone="1", email="a@example.org", address="", link="",
             comments="", group=2),
        item("tenancy.contact", 2, name=f"{name} 2", title="", phone="", email="", address="", link="", comments="",
             groups=[1, 2]),
        item("tenancy.contactassignment", 1, content_type=["dcim", "site"], object_id=1, contact=1, role=1,
             priority="primary"),
        item("tenancy.contactassignment", 2, object_type=["dcim", "site"], object_id=1, contact=2, role=None,
             priority=""),
    ]  # fmt: skip
    report = load_dump(*dump)
    assert report.counts()["tenancy.contact"] == {"created": 2}
    assert report.counts()["tenancy.contactassignment"] == {"created": 1, "skipped": 1}
    assert (report.left_out, report.kept) == ({}, {})
    (site,) = api.get(SITES, {"name": name})["results"]
    (made,) = api.get(ASSIGNMENTS, {"object_id": site["id"]})["results"]
    assert (made["contact"]["name"], made["priority"]["value"]) == (name, "primary")
    (contact,) = api.get(CONTACTS, {"name": f"{name} 2"})["results"]
    assert len(contact["groups"]) == 2
    assert load_dump(*dump).counts()["tenancy.contactassignment"] == {"unchanged": 1, "skipped": 1}
