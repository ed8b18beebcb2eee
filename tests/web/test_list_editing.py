"""Values changed in a list: in the place of a cell, and in the grid, in a browser without scripts."""

from __future__ import annotations

from typing import Any

import pytest

from netinv_testing import Api, Service, Unique
from netinv_testing.client import PASSWORD
from netinv_web.bulk import grid
from netinv_web.testing import Browser
from netinv_web.testing.browser import BrowserPage

pytestmark = pytest.mark.any_database  # forms over the write path

SITES, CHANGES = "/api/dcim/sites/", "/api/extras/object-changes/"


def test_columns_that_can_be_changed_in_their_place_name_their_field(
    browser: Browser, service: Service, api: Api
) -> None:
    """For users who may change the objects."""
    path = "/dcim/sites/?_columns=status,region,rack_count"
    api.post("/api/dcim/sites/", {"name": service.unique(), "status": "active"})
    page = browser.get(path)
    assert page.html.select_one("table.list")["data-inline"] == "/dcim/sites/"
    assert [item.get("data-field") for item in page.html.select("th[scope=col]")] == ["name", "status", "region", None]
    reader = service.user(("view", "dcim.site"), password=PASSWORD)
    page = Browser(service, reader).get(path)
    assert [item.get("data-field") for item in page.html.select("th[scope=col]")] == [None] * 4


# -- the grid


@pytest.fixture
def sites(api: Api, unique: Unique) -> list[dict[str, Any]]:
    """Three sites with one word in their names."""
    word = unique()
    bodies = [{"name": f"{word} {number}", "slug": f"{word}-{number}", "status": "active"} for number in range(3)]
    made: list[dict[str, Any]] = api.post(SITES, bodies)
    return made


def grid_of(browser: Browser, sites: list[dict[str, Any]], columns: str = "status,facility,region,asn") -> Any:
    """The form of the grid of a list's page, which is reached by its link."""
    word = sites[0]["slug"].rpartition("-")[0]
    page = browser.get("/dcim/sites/", {"name__isw": word, "_columns": columns, "ordering": "-name"})
    (link,) = [link for link in page.links() if "/grid/" in link]
    return browser.get(link).form()


def member(site: dict[str, Any], name: str) -> str:
    """The name of a cell's input."""
    return f"{site['id']}:{name}"


def stored(api: Api, sites: list[dict[str, Any]], field: str) -> list[Any]:
    """The values of a field of objects, as they are now."""
    return [api.get(f"{SITES}{site['id']}/")[field] for site in sites]


def error_of(page: BrowserPage, name: str) -> str:
    """The text of the error at a cell."""
    return str(page.html.select_one(f"td.invalid p[id='error-{name}']").text).strip()


def test_cells_are_changed_after_a_preview_in_one_request(browser: Browser, api: Api, sites: list[Any]) -> None:
    region = api.post("/api/dcim/regions/", {"name": f"R {sites[0]['slug']}", "slug": f"r-{sites[0]['slug']}"})
    form = grid_of(browser, sites)
    assert [name for name in form.fields if name and name.startswith(sites[0]["id"])] == [
        member(sites[0], name) for name in ("_version", "name", "status", "facility", "region", "asn")
    ]
    assert (form[member(sites[1], "name")].value, form[member(sites[1], "status")].value) == (
        sites[1]["name"],
        "active",
    )
    form[member(sites[0], "facility")] = "F0"
    form[member(sites[1], "status")] = "planned"
    form[f"_text_{member(sites[1], 'region')}"] = region["slug"]
    form[member(sites[1], "asn")] = "65001"
    preview = form.submit("_step", status=200)
    assert "2 would change" in preview.words
    assert "Facility – → F0" in preview.words and "ASN – → 65001" in preview.words
    assert stored(api, sites, "facility") == ["", "", ""]
    answer = preview.form().submit("_step")
    assert "_columns=" in answer.headers["Location"] and "2 sites were changed." in answer.follow().words
    assert stored(api, sites, "facility") == ["F0", "", ""]
    assert stored(api, sites, "asn") == [None, 65001, None]
    assert stored(api, sites, "region")[1]["id"] == region["id"]
    changes = [api.get(CHANGES, {"changed_object_id": site["id"]})["results"][0] for site in sites[:2]]
    assert changes[0]["request_id"] == changes[1]["request_id"]


def test_tags_and_long_texts_have_cells(browser: Browser, api: Api, sites: list[Any], unique: Unique) -> None:
    names = [f"{unique()} {word}" for word in ("Core", "edge, old", "New")]
    tags = [
        api.post("/api/extras/tags/", {"name": name, "slug": unique(), "content_types": ["dcim.site"]})
        for name in names
    ]
    api.patch(SITES, [{"id": site["id"], "tags": [tags[0]["id"], tags[1]["id"]]} for site in sites[:2]])
    form = grid_of(browser, sites, "tags,comments")
    cells = [member(site, "tags") for site in sites]
    assert form[cells[0]].value == f'{names[0]},"{names[1]}"' and form[cells[2]].value == ""
    form[cells[0]] = f'"{names[1]}", {names[2]}'
    form[cells[1]] = ""
    form[cells[2]] = "no-such-tag"
    form[member(sites[2], "comments")] = "one\ntwo"
    page = form.submit("_step", status=422)
    assert error_of(page, cells[2])
    again = page.form()
    assert again[cells[0]].value == f'"{names[1]}", {names[2]}'
    again[cells[2]] = tags[2]["slug"]
    again.submit("_step", status=200).form().submit("_step", status=303)
    kept = [sorted(tag["name"] for tag in found) for found in stored(api, sites, "tags")]
    assert kept == [sorted(names[1:]), [], [names[2]]]
    assert stored(api, sites, "comments") == ["", "", "one\ntwo"]


def test_errors_are_at_their_cells_and_nothing_is_saved(browser: Browser, api: Api, sites: list[Any]) -> None:
    form = grid_of(browser, sites)
    form[member(sites[0], "facility")] = "kept"
    form[member(sites[0], "asn")] = "0"
    form[member(sites[1], "name")] = sites[2]["name"]
    form[f"_text_{member(sites[2], 'region')}"] = "no-such-region"
    page = form.submit("_step", status=422)
    assert error_of(page, member(sites[0], "asn")) and error_of(page, member(sites[1], "name"))
    assert error_of(page, member(sites[2], "region"))
    again = page.form()
    assert again[member(sites[0], "facility")].value == "kept"
    assert again[f"_text_{member(sites[2], 'region')}"].value == "no-such-region"
    assert stored(api, sites, "facility") == ["", "", ""]


def test_a_grid_posted_back_unchanged_changes_nothing(browser: Browser, sites: list[Any]) -> None:
    page = grid_of(browser, sites).submit("_step", status=422)
    assert "Nothing is to be changed." in page.words


def test_the_preview_leads_back_to_the_grid_with_what_was_entered(browser: Browser, sites: list[Any]) -> None:
    form = grid_of(browser, sites)
    form[member(sites[2], "facility")] = "entered"
    preview = form.submit("_step", status=200)
    back = preview.form().submit("_step", index=1, status=200).form()
    assert back[member(sites[2], "facility")].value == "entered"
    assert back[member(sites[0], "name")].value == sites[0]["name"]


def test_what_others_changed_meanwhile_is_merged_or_shown_at_its_cell(
    browser: Browser, api: Api, sites: list[Any]
) -> None:
    form = grid_of(browser, sites)
    api.patch(SITES, [{"id": sites[0]["id"], "asn": 65010}, {"id": sites[1]["id"], "facility": "theirs"}])
    for site in sites:
        form[member(site, "facility")] = "mine"
    page = form.submit("_step", status=409)
    assert "Theirs: theirs" in page.html.select_one("td.invalid").text
    again = page.form()
    assert again[member(sites[0], "asn")].value == "65010"
    again[f"_resolve_{member(sites[1], 'facility')}"] = "theirs"
    again.submit("_step", status=200).form().submit("_step")
    assert stored(api, sites, "facility") == ["mine", "theirs", "mine"]
    assert stored(api, sites, "asn") == [65010, None, None]


def test_custom_fields_and_flags_have_cells(browser: Browser, api: Api, unique: Unique) -> None:
    slug = unique()
    field = {"name": slug, "label": slug, "slug": slug, "type": "text", "content_types": ["ipam.vrf"]}
    api.post("/api/extras/custom-fields/", field)
    vrf = api.post("/api/ipam/vrfs/", {"name": unique(), "enforce_unique": True})
    form = browser.get("/ipam/vrfs/grid/", {"id": vrf["id"], "_columns": f"enforce_unique,cf_{slug}"}).form()
    form[member(vrf, "enforce_unique")] = False
    form[member(vrf, f"custom_fields.{slug}")] = "deep"
    form.submit("_step", status=200).form().submit("_step")
    now = api.get(vrf["url"])
    assert (now["enforce_unique"], now["custom_fields"][slug]) == (False, "deep")


def test_the_grid_has_rows_that_the_user_may_change(service: Service, sites: list[Any]) -> None:
    limited = {"name": sites[1]["name"]}
    user = service.user(("view", "dcim.site"), ("change", "dcim.site", limited), password=PASSWORD)
    browser = Browser(service, user)
    page = browser.get("/dcim/sites/grid/", [("id", site["id"]) for site in sites])
    assert [cell.a.text for cell in page.html.select("tbody th")] == [sites[1]["name"]]
    foreign = [("_keys", sites[0]["id"]), (member(sites[0], "facility"), "x"), ("_step", "apply")]
    assert "you may not edit them" in browser.post("/dcim/sites/grid/", foreign, status=422).words


def test_selected_rows_are_opened_in_a_grid_up_to_its_size(
    browser: Browser, sites: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = [("pk", site["id"]) for site in reversed(sites)]
    page = browser.post("/dcim/sites/grid/", rows, status=200)
    assert [cell.a.text for cell in page.html.select("tbody th")] == [site["name"] for site in reversed(sites)]
    monkeypatch.setattr(grid, "MAX_ROWS", 2)
    assert "At most 2 are taken at once: narrow" in browser.post("/dcim/sites/grid/", rows, status=422).words
    page = browser.get("/dcim/sites/grid/", [("id", site["id"]) for site in sites])
    assert "1 further rows of the page are left out" in page.words


def test_statements_of_the_grid_do_not_grow_with_its_rows(
    service: Service, browser: Browser, api: Api, unique: Unique
) -> None:
    word = unique()
    region = api.post("/api/dcim/regions/", {"name": word, "slug": word})
    bodies = [
        {"name": f"{word} {n}", "slug": f"{word}-{n}", "status": "active", "region": region["id"]} for n in range(12)
    ]
    made = api.post(SITES, bodies)
    counts = []
    for number in (2, 12):
        form = browser.get("/dcim/sites/grid/", [("id", site["id"]) for site in made[:number]]).form()
        api.patch(SITES, [{"id": site["id"], "asn": 65100 + number} for site in made[:number]])
        for site in made[:number]:
            form[member(site, "description")] = f"{word} {number}"
        with service.statements() as statements:
            form.submit("_step", status=200)
        counts.append(len(statements))
    assert counts[0] == counts[1]
