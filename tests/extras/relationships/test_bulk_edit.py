"""Relationships and tags of many objects at once, on the pages of bulk changes."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from typing import Any

import pytest

from netinv_testing import Api, Service, Unique
from netinv_testing.client import PASSWORD
from netinv_web.testing import Browser, BrowserPage

RELATIONSHIPS, TENANTS, ROLES = "/api/extras/relationships/", "/api/tenancy/tenants/", "/api/dcim/rack-roles/"
PAGE = "/tenancy/tenants/edit/"


@pytest.fixture
def relate(api: Api) -> Iterator[Any]:
    """``relate(type)``: a new relationship of rack roles with tenants; gone after the test."""
    made = []

    def post(kind: str, **members: Any) -> Any:
        slug = f"r{uuid.uuid4().hex[:12]}"
        ends = {"source_type": "dcim.rackrole", "destination_type": "tenancy.tenant"}
        made.append(api.post(RELATIONSHIPS, {"name": slug.upper(), "slug": slug, "type": kind, **ends, **members}))
        return made[-1]

    yield post
    for relationship in made:
        api.delete(relationship["url"])


@pytest.fixture
def tenants(api: Api, unique: Unique) -> list[Any]:
    """Three tenants."""
    names = [unique() for _ in range(3)]
    made: list[Any] = api.post(TENANTS, [{"name": name, "slug": name} for name in names])
    return made


@pytest.fixture
def roles(api: Api, unique: Unique) -> list[Any]:
    """Two rack roles."""
    names = [unique() for _ in range(2)]
    made: list[Any] = api.post(ROLES, [{"name": name, "slug": name} for name in names])
    return made


def preview(browser: Browser, tenants: list[Any], *members: tuple[str, str], status: int = 200) -> BrowserPage:
    """The preview of a change of all tenants."""
    rows = [("pk", tenant["id"]) for tenant in tenants]
    return browser.post(PAGE, [*rows, *members, ("_step", "preview")], status=status)


def related(api: Api, things: list[Any], relationship: Any, side: str = "source") -> list[list[str]]:
    """The ids of what objects are associated with."""
    found = [api.get(thing["url"], {"include": "relationships"})["relationships"] for thing in things]
    return [sorted(item["id"] for item in shown[relationship["slug"]][side]["objects"]) for shown in found]


def test_related_objects_are_added_removed_replaced_and_cleared(
    browser: Browser, api: Api, relate: Any, tenants: list[Any], roles: list[Any]
) -> None:
    """The preview has the names before and after; one request changes all."""
    relationship = relate("many-to-many")
    name = f"relationships.{relationship['slug']}.source"
    first, second = (role["id"] for role in roles)
    body = {relationship["slug"]: {"source": {"objects": [first]}}}
    api.patch(tenants[0]["url"], {"relationships": body})
    for mode, chosen, expected in (
        ("add", second, [sorted([first, second]), [second], [second]]),
        ("remove", second, [[first], [], []]),
        ("replace", second, [[second]] * 3),
        ("clear", "", [[]] * 3),
    ):
        page = preview(browser, tenants, (f"_mode_{name}", mode), (name, chosen))
        assert page.html.select("ins")
        page.form().submit("_step")
        assert related(api, tenants, relationship) == expected, mode


def test_the_one_related_object_is_set_and_cleared(
    browser: Browser, api: Api, relate: Any, tenants: list[Any], roles: list[Any]
) -> None:
    relationship = relate("one-to-many")
    name = f"relationships.{relationship['slug']}.source"
    page = preview(browser, tenants, (name, roles[0]["id"]))
    assert "3 would change" in page.words and roles[0]["name"] in page.words
    page.form().submit("_step")
    assert related(api, tenants, relationship) == [[roles[0]["id"]]] * 3
    preview(browser, tenants, (f"_mode_{name}", "clear")).form().submit("_step")
    assert related(api, tenants, relationship) == [[]] * 3


def test_an_object_that_takes_one_only_is_an_error_at_the_rows_of_the_others(
    browser: Browser, api: Api, relate: Any, tenants: list[Any], roles: list[Any]
) -> None:
    relationship = relate("one-to-one")
    name = f"relationships.{relationship['slug']}.source"
    page = preview(browser, tenants, (name, roles[0]["id"]), status=422)
    faulty = [row.th.text for row in page.html.select("tr.faulty")]
    assert faulty == [tenant["name"] for tenant in tenants[1:]]
    assert "Unable to create more than one" in page.words
    assert related(api, tenants, relationship) == [[]] * 3


def test_both_sides_of_a_relationship_within_one_model_are_kept_apart(
    browser: Browser, api: Api, relate: Any, tenants: list[Any], unique: Unique
) -> None:
    """One side is set for all, the other is added to the objects of each."""
    relationship = relate("many-to-many", source_type="tenancy.tenant")
    above, below, other = api.post(TENANTS, [{"name": name, "slug": name} for name in (unique(), unique(), unique())])
    slug = relationship["slug"]
    api.patch(tenants[0]["url"], {"relationships": {slug: {"destination": {"objects": [other["id"]]}}}})
    source, destination = (f"relationships.{slug}.{side}" for side in ("source", "destination"))
    values = [(f"_mode_{source}", "replace"), (source, above["id"]), (destination, below["id"])]
    preview(browser, tenants, *values).form().submit("_step")
    assert related(api, tenants, relationship) == [[above["id"]]] * 3
    expected = [sorted([below["id"], other["id"]]), [below["id"]], [below["id"]]]
    assert related(api, tenants, relationship, "destination") == expected


def test_statements_do_not_grow_with_the_number_of_objects(
    service: Service, browser: Browser, api: Api, relate: Any, roles: list[Any], unique: Unique
) -> None:
    relationship, word = relate("many-to-many"), unique()
    name = f"relationships.{relationship['slug']}.source"
    made = api.post(TENANTS, [{"name": f"{word} {n}", "slug": f"{word}-{n}"} for n in range(20)])
    browser.get("/")  # shows what earlier tests did
    counts = []
    for number in (2, 20):
        with service.statements() as statements:
            preview(browser, made[:number], (name, roles[0]["id"]))
        counts.append(len(statements))
    assert counts[0] == counts[1]


def test_the_selection_of_a_list_leads_to_the_tags_with_its_filters(
    service: Service, browser: Browser, tenants: list[Any]
) -> None:
    query = f"name={tenants[0]['name']}"
    (button,) = browser.get(f"/tenancy/tenants/?{query}").html.select('#selection button[formaction*="_fields=tags"]')
    page = browser.post(button["formaction"], [("_all", "1")], status=200)
    assert button.text == "Tags" and "all 1 tenant that match the filters" in page.words
    assert page.form()["_mode_tags"].value == "add"
    reader = service.user(("view", "tenancy.tenant"), password=PASSWORD)
    assert not Browser(service, reader).get("/tenancy/tenants/").html.select('button[formaction*="_fields=tags"]')
