"""Dynamic groups in the browser: made from a list, changed in a list, and their filters as text in forms."""

from __future__ import annotations

import uuid
from typing import Any
from urllib.parse import urlencode

import pytest

from netinv_core.read.filter_words import NOT_FOUND
from netinv_testing import Service, Unique
from netinv_web.testing import Browser
from netinv_web.testing.browser import BrowserPage

GROUPS, PAGES, SITES = "/api/extras/dynamic-groups/", "/extras/dynamic-groups/", "/dcim/sites/"
PASSWORD = "correct horse"
SAVE, UPDATE, EDIT = "Save as dynamic group", "Update the dynamic group", "Edit the filter in the list"


@pytest.fixture
def browser(service: Service) -> Browser:
    """The administrator's browser."""
    return Browser(service, service.admin)


def link(page: BrowserPage, text: str, within: str = "main") -> str:
    """The address of the link with a text; empty without one."""
    found = [item for item in page.html.select(f"{within} a") if item.text.strip() == text]
    return str(found[0]["href"]) if found else ""


def stored(service: Service, name: str) -> Any:
    """The group with a name, as the API has it."""
    (group,) = service.api.get(GROUPS, {"name": name})["results"]
    return group


@pytest.mark.night
def test_the_filters_of_a_list_become_a_group_which_is_changed_there(
    service: Service, browser: Browser, unique: Unique
) -> None:
    """Filters with the names of the form's own fields, searches and custom values included."""
    name = unique()
    query = {"name__ic": f"{name}, x", "name": name, "has_racks": "false", "q": "two words", "ordering": "-name"}
    listed = browser.get(f"{SITES}?{urlencode(query)}")
    assert link(listed, UPDATE) == ""
    form = browser.get(link(listed, SAVE)).form()
    assert form["filter"].value == f'name~"{name}, x" name:{name} has_racks:false "two words"'
    assert (form["content_type"].value, form["name"].value) == ("dcim.site", "")
    form["name"] = name
    shown = form.submit().follow()
    filters = {"name__ic": [f"{name}, x"], "name": [name], "has_racks": ["false"], "q": ["two words"]}
    assert stored(service, name)["filter"] == filters
    members = browser.get(f"{shown.request.path}members/?slug=x")
    api_path = link(members, "API", "#list")
    assert api_path == f"/api{shown.request.path}members/?slug=x"
    assert service.api.get(api_path)["count"] == 0

    listed = browser.get(link(shown, EDIT))
    assert len(listed.html.select(".chip")) == 3 and listed.html.select_one("#list-search")["value"] == "two words"
    (chip,) = [chip for chip in listed.html.select(".chip") if "contains" in chip.text]
    without = browser.get(chip.select_one(".remove")["href"])
    changed = browser.get(link(without, UPDATE)).form()
    assert changed["name"].value == name
    changed.submit().follow()
    assert stored(service, name)["filter"] == {key: filters[key] for key in ("name", "has_racks", "q")}


@pytest.mark.night
def test_filters_are_entered_as_text_or_json_and_shown_as_text_where_it_says_the_same(
    service: Service, browser: Browser, unique: Unique
) -> None:
    """A form that is posted back unchanged leaves the filter as it was stored."""
    name = unique()
    form = browser.get(f"{PAGES}add/").form()
    form["name"], form["content_type"] = name, "dcim.site"
    shown = form.submit().follow()
    assert stored(service, name)["filter"] == {}
    edit = f"{shown.request.path}edit/"
    for entered, expected, text in (
        ("status:active\nasn>=64500", {"status": ["active"], "asn__gte": ["64500"]}, "status:active asn>=64500"),
        ('{"asn": [1], "has_racks": true}', {"asn": [1], "has_racks": True}, "asn:1 has_racks:true"),
        ('{"q": ["{a"]}', {"q": ["{a"]}, '{\n  "q": [\n    "{a"\n  ]\n}'),
        ("", {}, ""),
    ):
        form = browser.get(edit).form()
        form["filter"] = entered
        form.submit()
        again = browser.get(edit).form()
        assert (stored(service, name)["filter"], again["filter"].value.replace("\r\n", "\n")) == (expected, text)
        again["description"] = f"with {entered}"[:50]
        again.submit()
        assert stored(service, name)["filter"] == expected


def test_errors_of_a_filter_are_at_its_field(browser: Browser, unique: Unique) -> None:
    """The text that was entered stays."""
    for entered, message in (
        ("zz:1 region:nowhere", "zz: Unknown filter field"),
        ("status:active region:nowhere", "region: Select a valid choice. nowhere is not one of the available choices."),
        ("asn>x", "asn__gt: Enter a number."),
        ('{"asn": ', "This is not JSON"),
    ):
        form = browser.get(f"{PAGES}add/?content_type=dcim.site").form()
        form["name"], form["filter"] = unique(), entered
        page = form.submit(status=422)
        assert message in page.html.select_one("#error-filter").text
        assert page.form()["filter"].value == entered


def test_groups_are_offered_to_those_who_may_write_them(service: Service, unique: Unique) -> None:
    """Resources whose objects cannot be in groups do not offer them to anybody."""
    group = service.api.post(GROUPS, {"name": unique(), "content_type": "dcim.site", "filter": {}})
    path = f"{SITES}?name=x&_group={group['id']}"
    sites = ("view", "dcim.site")
    for permissions, offered in (
        ([], []),
        ([("add", "extras.dynamicgroup")], [SAVE]),
        ([("change", "extras.dynamicgroup")], [UPDATE]),
    ):
        page = Browser(service, service.user(sites, *permissions, password=PASSWORD)).get(path)
        assert [text for text in (SAVE, UPDATE) if link(page, text)] == offered
    browser = Browser(service, service.admin)
    assert link(browser.get("/extras/dynamic-group-memberships/"), SAVE) == ""
    assert link(browser.get(f"{SITES}?name=x&_group=zz"), UPDATE) == ""


def test_buttons_that_undo_say_what(service: Service, browser: Browser, unique: Unique) -> None:
    """On the history of one object, each has the time and the action in its name."""
    group = service.api.post(GROUPS, {"name": unique(), "content_type": "dcim.site", "filter": {}})
    service.api.patch(group["url"], {"description": "changed"})
    page = browser.get(f"{PAGES}{group['id']}/changelog/")
    labels = [button["aria-label"] for button in page.html.select("form[action*=undo] button")]
    assert [label.split(" UTC ")[-1] for label in labels] == ["updated", "created"]
    assert all(label.startswith("Undo: 20") for label in labels)


def test_filters_name_the_objects_of_their_ids(service: Service, browser: Browser, make: Any, unique: Unique) -> None:
    """In lists and on pages, to whoever may view them, by one statement; others are not told from deleted ones."""
    name = unique()
    sites = [make("/api/dcim/sites/", name=f"{name} {number}", status="active") for number in range(12)]
    rack = str(uuid.uuid4())

    def group(number: int, **given: Any) -> Any:
        return make(GROUPS, name=f"{name} {number}", content_type="dcim.rack", filter=given)

    def cells(by: Browser) -> list[str]:
        page = by.get(PAGES, {"name__isw": name, "ordering": "name", "_columns": "filter"})
        return [" ".join(cell.text.split()) for cell in page.html.select("td .chips")]

    first, gone = group(1, site_id=[sites[0]["id"]]), group(2, id=[rack])
    with service.statements() as of_two:
        assert cells(browser) == [f"Site is {name} 0", f"ID is {NOT_FOUND}"]
    group(3, site_id=[site["id"] for site in sites], site=[sites[0]["slug"]])
    with service.statements() as of_three:
        found = cells(browser)[2]
    of_ids = ", ".join([f"{name} {number}" for number in range(10)] + ["2 more"])
    assert found in (f"Site is {of_ids} Site is {name} 0", f"Site is {name} 0 Site is {of_ids}")
    assert len(of_three) == len(of_two)
    for number in range(4, 8):
        group(number, site_id=[sites[number]["id"]])
    with service.statements() as of_seven:
        assert cells(browser)[6] == f"Site is {name} 7"
    parts = [max(statement.count("UNION ALL") for statement in found) for found in (of_three, of_seven)]
    assert parts[0] == parts[1], "SQLite takes 500 parts"
    assert f"{name} 0" in browser.get(f"{PAGES}{first['id']}/").html.select_one(".chips").text
    assert NOT_FOUND in browser.get(f"{PAGES}{gone['id']}/").html.select_one(".chips").text
    viewer = service.user(("view", ["extras.dynamicgroup", "dcim.rack"]), password=PASSWORD)
    assert cells(Browser(service, viewer))[0] == f"Site is {NOT_FOUND}"
    assert NOT_FOUND in browser.get("/dcim/racks/", {"id": rack}).html.select_one("#list .chip").text
