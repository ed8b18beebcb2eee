"""Bulk pages in a browser without scripts: edit, rename and delete of many objects, with a preview before."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from netinv_testing import Api, Service
from netinv_testing.client import PASSWORD
from netinv_web.testing import Browser, BrowserPage
from tests.support.typed_devices import Hardware

pytestmark = pytest.mark.any_database  # forms over the write path

TENANTS, SITES, CHANGES = "/api/tenancy/tenants/", "/api/dcim/sites/", "/api/extras/object-changes/"
HOSTILE = '"><script>alert(1)</script>'
Unique = Callable[[], str]


@pytest.fixture
def tenants(api: Api, unique: Unique) -> list[dict[str, Any]]:
    """Three tenants with one word in their names and slugs."""
    word = unique()
    made: list[dict[str, Any]] = api.post(
        TENANTS, [{"name": f"{word} {number}", "slug": f"{word}-{number}"} for number in range(3)]
    )
    return made


def rows(tenants: list[dict[str, Any]]) -> list[tuple[str, str]]:
    """The members by which a list posts its selected rows."""
    return [("pk", str(tenant["id"])) for tenant in tenants]


def tag(api: Api, name: str) -> Any:
    """A tag for every resource."""
    return api.post("/api/extras/tags/", {"name": name, "slug": name, "content_types": ["tenancy.tenant", "dcim.site"]})


def stored(api: Api, items: list[dict[str, Any]], field: str, path: str = TENANTS) -> list[Any]:
    """The values of a field of objects, as they are now."""
    return [api.get(f"{path}{item['id']}/")[field] for item in items]


def differences(page: BrowserPage) -> list[str]:
    """The differences that a preview shows."""
    return [" ".join(item.text.split()) for item in page.html.select("li:has(del)")]


def form_of(browser: Browser, path: str, tenants: list[dict[str, Any]]) -> Any:
    """The form of a bulk page for some objects."""
    return browser.post(path, rows(tenants), status=200).form()


def test_a_value_is_previewed_then_set_for_all_selected_objects(browser: Browser, api: Api, tenants: list[Any]) -> None:
    """One request changes them all, so one undo takes everything back."""
    form = form_of(browser, "/tenancy/tenants/edit/", tenants)
    form["description"] = "one purpose"
    preview = form.submit("_step", status=200)
    assert differences(preview) == ["Description – → one purpose"] * 3
    assert stored(api, tenants, "description") == ["", "", ""]
    answer = preview.form().submit("_step")
    assert answer.headers["Location"] == "/tenancy/tenants/"
    assert "3 tenants were changed." in answer.follow().words
    assert stored(api, tenants, "description") == ["one purpose"] * 3
    changes = [api.get(CHANGES, {"changed_object_id": item["id"]})["results"][0] for item in tenants]
    assert len({change["request_id"] for change in changes}) == 1


def test_unique_fields_are_not_offered(browser: Browser, tenants: list[Any]) -> None:
    fields = form_of(browser, "/tenancy/tenants/edit/", tenants).fields
    assert "description" in fields and not {"name", "slug"} & fields.keys()


def test_a_field_is_cleared(browser: Browser, api: Api, tenants: list[Any]) -> None:
    api.patch(TENANTS, [{"id": item["id"], "description": "old"} for item in tenants[:2]])
    form = form_of(browser, "/tenancy/tenants/edit/", tenants)
    form["_mode_description"] = "clear"
    preview = form.submit("_step", status=200)
    assert "2 would change, 1 stay as they are" in preview.words
    preview.form().submit("_step")
    assert stored(api, tenants, "description") == ["", "", ""]


def test_tags_are_added_and_removed(browser: Browser, api: Api, tenants: list[Any], unique: Unique) -> None:
    first, second = tag(api, unique()), tag(api, unique())
    api.patch(TENANTS, [{"id": tenants[0]["id"], "tags": [first["id"]]}])
    for mode, chosen, expected in (
        ("add", second, [[first["name"], second["name"]], [second["name"]], [second["name"]]]),
        ("remove", first, [[second["name"]]] * 3),
        ("clear", None, [[]] * 3),
    ):
        values = [*rows(tenants), ("_mode_tags", mode), ("_step", "preview")]
        values += [("tags", chosen["id"])] if chosen else []
        preview = browser.post("/tenancy/tenants/edit/?_fields=tags", values, status=200)
        preview.form().submit("_step")
        assert [sorted(item["name"] for item in tags) for tags in stored(api, tenants, "tags")] == [
            sorted(names) for names in expected
        ]


def test_the_short_form_of_tags_adds(browser: Browser, tenants: list[Any]) -> None:
    form = form_of(browser, "/tenancy/tenants/edit/?_fields=tags", tenants)
    assert form["_mode_tags"].value == "add"
    assert "description" not in form.fields


def test_errors_are_at_the_row_of_their_object(browser: Browser, api: Api, unique: Unique) -> None:
    """The changes of the others are shown all the same, and nothing is applied."""
    word = unique()
    regions = api.post("/api/dcim/regions/", [{"name": f"{word} {n}", "slug": f"{word}-{n}"} for n in range(2)])
    values = [("pk", region["id"]) for region in regions] + [("parent", regions[0]["id"])]
    page = browser.post("/dcim/regions/edit/", [*values, ("_step", "preview")], status=422)
    (faulty,) = page.html.select("tr.faulty")
    assert regions[0]["name"] in faulty.text
    assert len(differences(page)) >= 1
    assert not page.html.select("button[value=apply]")
    browser.post("/dcim/regions/edit/", [*values, ("_step", "apply")], status=422)
    assert stored(api, regions, "parent", "/api/dcim/regions/") == [None, None]


def test_all_that_match_a_filter_are_changed_and_a_changed_set_is_previewed_again(
    browser: Browser, api: Api, tenants: list[Any]
) -> None:
    word = tenants[0]["slug"].rpartition("-")[0]
    path = f"/tenancy/tenants/edit/?slug__isw={word}"
    values = [("_all", "1"), ("description", "matching"), ("_step", "preview")]
    preview = browser.post(path, values, status=200)
    assert "all 3 tenants that match the filters" in preview.words
    api.post(TENANTS, {"name": f"{word} late", "slug": f"{word}-late"})
    again = preview.form().submit("_step", status=200)
    assert "other tenants match: nothing was done" in again.words
    assert stored(api, tenants, "description") == ["", "", ""]
    answer = again.form().submit("_step")
    assert answer.headers["Location"] == f"/tenancy/tenants/?slug__isw={word}"
    assert api.get(TENANTS, {"slug__isw": word, "description": "matching"})["count"] == 4


def test_more_objects_than_the_limit_are_refused_with_a_reason(
    service: Service, browser: Browser, tenants: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(service.registry.settings, "max_bulk_objects", 2)
    answer = browser.post("/tenancy/tenants/edit/", rows(tenants), status=422)
    assert "At most 2 are taken at once (netinv.max_bulk_objects)" in answer.words


@pytest.mark.parametrize("verb", ["edit", "rename", "delete"])
def test_without_a_selection_the_page_says_what_to_do(browser: Browser, verb: str) -> None:
    assert "Select them in the list first" in browser.get(f"/tenancy/tenants/{verb}/").words


def test_a_user_changes_no_objects_beyond_the_constraints(service: Service, api: Api, tenants: list[Any]) -> None:
    user = service.user(
        ("view", "tenancy.tenant"), ("change", "tenancy.tenant", {"name": tenants[0]["name"]}), password=PASSWORD
    )
    browser = Browser(service, user)
    values = [*rows(tenants), ("description", "mine"), ("_step", "preview")]
    preview = browser.post("/tenancy/tenants/edit/", values, status=200)
    assert "2 of the selected tenants are left out" in preview.words
    preview.form().submit("_step")
    assert stored(api, tenants, "description") == ["mine", "", ""]
    browser.get("/tenancy/tenants/delete/", status=403)


# -- rename


def test_names_are_replaced_after_a_preview_of_each(browser: Browser, api: Api, tenants: list[Any]) -> None:
    word = tenants[0]["slug"].rpartition("-")[0]
    form = form_of(browser, "/tenancy/tenants/rename/", tenants)
    form["find"], form["replace"] = f"{word} ", f"{word}-customer-"
    preview = form.submit("_step", status=200)
    assert f"Name {word} 1 → {word}-customer-1" in differences(preview)
    assert "3 tenants were renamed." in preview.form().submit("_step").follow().words
    assert stored(api, tenants, "name") == [f"{word}-customer-{number}" for number in range(3)]


def test_names_are_replaced_by_a_regular_expression(browser: Browser, api: Api, tenants: list[Any]) -> None:
    word = tenants[0]["slug"].rpartition("-")[0]
    form = form_of(browser, "/tenancy/tenants/rename/", tenants)
    form["find"], form["replace"], form["pattern"] = r"^(\S+) (\d)$", r"\2 of \1", True
    form.submit("_step", status=200).form().submit("_step")
    assert stored(api, tenants, "name") == [f"{number} of {word}" for number in range(3)]


@pytest.mark.parametrize(
    ("find", "replacement", "message"),
    [
        ("(", "", "Invalid regular expression"),
        (r"\d", r"\7", "Invalid replacement"),
        ("", "", "Write what is to be found"),
    ],
)
def test_a_pattern_that_is_none_is_refused(
    browser: Browser, tenants: list[Any], find: str, replacement: str, message: str
) -> None:
    values = [*rows(tenants), ("find", find), ("replace", replacement), ("pattern", "true"), ("_step", "preview")]
    page = browser.post("/tenancy/tenants/rename/", values, status=422)
    assert message in page.words


@pytest.mark.night
def test_a_pattern_that_takes_too_long_is_refused(
    browser: Browser, api: Api, tenants: list[Any], unique: Unique
) -> None:
    (slow,) = api.post(TENANTS, [{"name": f"{'a' * 60}!{unique()}"[:100]}])
    values = [("pk", slow["id"]), ("find", "^(a|aa|aaa)+$"), ("pattern", "true"), ("_step", "preview")]
    assert "takes too long" in browser.post("/tenancy/tenants/rename/", values, status=422).text


def test_names_that_become_equal_are_errors_at_their_rows(browser: Browser, api: Api, tenants: list[Any]) -> None:
    values = [*rows(tenants), ("find", r"\d$"), ("replace", "x"), ("pattern", "true"), ("_step", "apply")]
    page = browser.post("/tenancy/tenants/rename/", values, status=422)
    assert len(page.html.select("tr.faulty")) >= 2
    assert stored(api, tenants, "name") == [item["name"] for item in tenants]


def test_a_refused_name_is_shown_with_what_has_it(
    browser: Browser, api: Api, tenants: list[Any], unique: Unique
) -> None:
    """One that is there already, and others of the selection that would get the same; not that of another device."""
    taken = f"{unique()} taken"
    other = api.post(TENANTS, [{"name": taken, "slug": unique()}])[0]
    page = browser.post(
        "/tenancy/tenants/rename/",
        [*rows(tenants), ("find", r"^.*$"), ("replace", taken), ("pattern", "true"), ("_step", "preview")],
        status=422,
    )
    refused = page.html.select("tr.faulty")
    assert differences(page)[0] == f"Name {tenants[0]['name']} → {taken}"
    assert f"Has this name: {taken}" in " ".join(refused[0].text.split())
    assert {str(link["href"]) for line in refused for link in line.select("p a")} >= {
        f"/tenancy/tenants/{other['id']}/"
    }
    hardware = Hardware(api, unique)
    one, two = hardware.devices(hardware.type(), 2)
    for device in (one, two):
        hardware.add("", {"device": device, "status": "active"}, "x", "y")
    ports = [hardware.components("interfaces", one)[name] for name in "xy"]
    page = browser.post(
        "/dcim/interfaces/rename/", [*rows(ports), ("find", "x"), ("replace", "y"), ("_step", "preview")], status=422
    )
    (line,) = page.html.select("tr.faulty")
    assert [str(link["href"]) for link in line.select("p a")] == [f"/dcim/interfaces/{ports[1]['id']}/"]


def test_every_error_is_shown_though_an_answer_of_the_api_lists_a_part_of_them(
    browser: Browser, api: Api, unique: Unique, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("netinv_core.errors.MAX_FAULTY", 1)
    word = unique()
    made = api.post(TENANTS, [{"name": f"{word} {number}", "slug": f"{word}-{number}"} for number in range(8)])
    values = [*rows(made), ("find", r"\d$"), ("replace", "x"), ("pattern", "true"), ("_step", "preview")]
    page = browser.post("/tenancy/tenants/rename/", values, status=422)
    assert "7 tenants cannot be changed so" in page.words and "may have errors" not in page.words


def test_a_resource_without_names_has_no_page_to_rename(browser: Browser) -> None:
    browser.get("/ipam/prefixes/rename/", status=404)


# -- delete


def test_a_deletion_says_what_goes_along_and_is_applied_as_a_whole(browser: Browser, api: Api, unique: Unique) -> None:
    word = unique()
    clusters = api.post("/api/dcim/manufacturers/", [{"name": f"{word} {n}", "slug": f"{word}-{n}"} for n in range(2)])
    page = browser.post("/dcim/manufacturers/delete/", [("pk", item["id"]) for item in clusters], status=200)
    assert "Delete 2 manufacturers" in page.words and clusters[0]["name"] in page.words
    answer = page.form().submit("_step")
    assert "2 manufacturers were deleted." in answer.follow().words
    assert api.get("/api/dcim/manufacturers/", {"slug__isw": word})["count"] == 0


def test_what_protects_is_named_and_nothing_is_deleted(
    browser: Browser, api: Api, tenants: list[Any], unique: Unique
) -> None:
    site = api.post(SITES, {"name": unique(), "status": "active", "tenant": tenants[1]["id"]})
    page = browser.post("/tenancy/tenants/delete/", [*rows(tenants), ("_step", "apply")], status=422)
    assert site["name"] in page.words and "They cannot be deleted" in page.words
    assert stored(api, tenants, "id") == [item["id"] for item in tenants]


# -- robustness


def test_a_hostile_name_stays_text_in_every_step(browser: Browser, api: Api, unique: Unique) -> None:
    tenant = api.post(TENANTS, {"name": f"{HOSTILE} {unique()}", "slug": unique()})
    for path, values in (
        ("edit", [("description", HOSTILE)]),
        ("rename", [("find", HOSTILE), ("replace", f"{HOSTILE}2")]),
        ("delete", []),
    ):
        for step in ("", "preview"):
            answer = browser.post(
                f"/tenancy/tenants/{path}/", [("pk", tenant["id"]), *values, ("_step", step)], status=200
            )
            assert "<script>alert" not in answer.text and "alert(1)" in answer.text


def test_statements_do_not_grow_with_the_number_of_objects(
    service: Service, browser: Browser, api: Api, unique: Unique
) -> None:
    word = unique()
    made = api.post(TENANTS, [{"name": f"{word} {number}", "slug": f"{word}-{number}"} for number in range(40)])
    counts = []
    for number in (4, 40):
        values = [*rows(made[:number]), ("description", word), ("_step", "preview")]
        with service.statements() as statements:
            browser.post("/tenancy/tenants/edit/", values, status=200)
        counts.append(len(statements))
    assert counts[0] == counts[1]
