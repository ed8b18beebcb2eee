"""Imports whose rows refer to other new rows of the same file: resolved wherever these stand, circles are errors."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from netinv_testing import Api, Service
from netinv_web.testing import Browser
from tests.support.cabling_fixtures import Plant
from tests.support.importing import apply, outcomes, preview

pytestmark = pytest.mark.any_database  # the order of rows is found before the database is asked

REGIONS, PAGE = "/api/dcim/regions/", "/dcim/regions/import/"
Unique = Callable[[], str]


@pytest.fixture
def word(unique: Unique) -> str:
    """A word that no other object has."""
    return unique()


@pytest.fixture(scope="session")
def plant(service: Service) -> Plant:
    """What devices need."""
    return Plant(service.api, service.unique)


def device(plant: Plant, name: str) -> None:
    """A new device."""
    plant.api.post("/api/dcim/devices/", {**plant.hardware, "name": name})


def parents(api: Api, word: str) -> dict[str, str | None]:
    """The names of the parents of the regions of a test, by name."""
    regions = api.get(REGIONS, {"slug__isw": word, "limit": 0})["results"]
    return {item["name"].split()[-1]: item["parent"] and item["parent"]["name"].split()[-1] for item in regions}


def test_a_parent_is_found_above_and_below_by_its_slug_or_by_the_one_that_its_name_gives(
    browser: Browser, api: Api, word: str
) -> None:
    """The preview counts all of them as new, and one request creates them."""
    rows = [("c", f"{word}-b"), ("a", ""), ("b", f"{word}-a"), ("d", f"{word}-c")]
    text = "name,parent\n" + "".join(f"{word} {name},{parent}\n" for name, parent in rows)
    page = preview(browser, text, PAGE)
    assert "4 rows: 4 new" in page.words and parents(api, word) == {}
    apply(browser, page)
    assert parents(api, word) == {"a": None, "b": "a", "c": "b", "d": "c"}


def test_a_parent_is_found_by_attributes_in_json(browser: Browser, api: Api, word: str) -> None:
    items = [{"name": f"{word} b", "parent": {"name": f"{word} a"}}, {"name": f"{word} a", "parent": None}]
    apply(browser, preview(browser, json.dumps(items), PAGE))
    assert parents(api, word) == {"a": None, "b": "a"}


def test_an_object_that_exists_gets_a_new_parent_of_the_file(browser: Browser, api: Api, word: str) -> None:
    region = api.post(REGIONS, {"name": f"{word} a", "slug": f"{word}-a"})
    text = f"id,name,slug,parent\n{region['id']},{word} a,{word}-a,{word}-b\n,{word} b,{word}-b,\n"
    page = preview(browser, text, PAGE)
    assert outcomes(page)[:2] == ["updated", "created"]
    apply(browser, page)
    assert parents(api, word) == {"a": "b", "b": None}


def test_a_circle_is_an_error_at_its_cells_and_what_depends_on_it_says_so(
    browser: Browser, api: Api, word: str
) -> None:
    rows = [("a", "b"), ("b", "a"), ("c", "b"), ("d", "")]
    text = "name,parent\n" + "".join(f"{word} {name},{parent and f'{word}-{parent}'}\n" for name, parent in rows)
    page = preview(browser, text, PAGE, status=422)
    errors = {
        row.th.text: [item.text for item in row.find_all("td")[2].select("p")] for row in page.html.select("tr.faulty")
    }
    circle = "These rows refer to each other in a circle: 2, 3."
    assert errors == {"2": [circle], "3": [circle], "4": ["Row 3, which this refers to, has errors."]}
    assert outcomes(page)[-1:] == ["created"]


def test_a_row_that_is_its_own_parent_is_an_error(browser: Browser, word: str) -> None:
    assert "in a circle: 2." in preview(browser, f"name,parent\n{word},{word}\n", PAGE, status=422).words


def test_a_row_that_refers_to_a_refused_one_says_so_and_the_others_are_checked(
    browser: Browser, api: Api, word: str
) -> None:
    api.post(REGIONS, {"name": f"{word} taken", "slug": f"{word}-taken"})
    text = f"name,slug,parent\n{word} b,{word}-b,{word}-a\n{word} taken,{word}-a,\n{word} c,{word}-c,\n"
    page = preview(browser, text, PAGE, status=422)
    assert "Row 3, which this refers to, has errors." in page.words and "2 rows have errors" in page.words
    assert "1 new" in page.words


def test_a_lag_is_the_one_of_the_same_device(browser: Browser, api: Api, plant: Plant, word: str) -> None:
    """Two devices get a bond and a member each, the members first."""
    names = [f"{word}-{number}" for number in range(2)]
    for name in names:
        device(plant, name)
    rows = [f"{name},eth0,1000base-t,active,bond0" for name in names] + [f"{name},bond0,lag,active," for name in names]
    page = preview(browser, "device,name,type,status,lag\n" + "\n".join(rows), "/dcim/interfaces/import/")
    assert "4 rows: 4 new" in page.words
    apply(browser, page)
    members = api.get("/api/dcim/interfaces/", {"device": names, "name": "eth0"})["results"]
    found = api.get("/api/dcim/interfaces/", {"device": names, "name": "bond0"})["results"]
    bonds = {item["id"]: item["device"]["name"] for item in found}
    assert {item["device"]["name"]: bonds[item["lag"]["id"]] for item in members} == {name: name for name in names}


def test_a_part_is_found_by_name_though_the_api_takes_ids_only(
    browser: Browser, api: Api, plant: Plant, word: str
) -> None:
    device(plant, word)
    text = f"device,name,parent\n{word},fan,chassis\n{word},chassis,\n"
    apply(browser, preview(browser, text, "/dcim/inventory-items/import/"))
    items = {item["name"]: item for item in api.get("/api/dcim/inventory-items/", {"device": word})["results"]}
    assert items["fan"]["parent"] == items["chassis"]["id"]


def test_a_name_that_several_rows_have_is_an_error(browser: Browser, api: Api, plant: Plant, word: str) -> None:
    device(plant, word)
    text = f"device,name,parent\n{word},fan,slot\n{word},slot,\n{word},slot,\n"
    page = preview(browser, text, "/dcim/inventory-items/import/", status=422)
    assert "Several rows are meant by this: 3, 4." in page.words


def test_statements_grow_with_the_levels_and_not_with_the_rows(service: Service, browser: Browser, word: str) -> None:
    counts = []
    for number in (4, 40):
        lines = [f"{word} {n},{f'{word}-{n - 1}' if n % 2 else ''}" for n in range(number)]
        form = browser.get(PAGE).form()
        form["data"] = "name,parent\n" + "\n".join(lines)
        with service.statements() as statements:
            form.submit("_step", status=200)
        counts.append(len(statements))
    assert counts[0] == counts[1]
