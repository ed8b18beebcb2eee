"""References: one object named by its id or by attributes that match exactly one."""

from __future__ import annotations

from typing import Any

import pytest

from netinv_core.contract import Api

TENANTS = "/api/tenancy/tenants/"
GROUPS = "/api/tenancy/tenant-groups/"
NO_UUID = "00000000-0000-0000-0000-000000000000"


@pytest.fixture(scope="module")
def groups(service: Any) -> dict[str, Any]:
    """A group ``top`` with ``below`` in it, and ``other`` beside."""
    word, api = service.unique(), service.api
    top = api.post(GROUPS, {"name": f"{word} top", "description": word})
    below = api.post(GROUPS, {"name": f"{word} below", "description": word, "parent": top["id"]})
    other = api.post(GROUPS, {"name": f"{word} other", "description": f"{word} o"})
    return {"word": word, "top": top, "below": below, "other": other}


def named(api: Api, unique: Any, reference: Any) -> Any:
    """The group of a new tenant that names it so."""
    return api.post(TENANTS, {"name": unique(), "group": reference})["group"]["id"]


def test_by_id(api: Api, unique: Any, groups: Any) -> None:
    key = groups["top"]["id"]
    for reference in (key, key.upper(), key.replace("-", ""), {"id": key}):
        assert named(api, unique, reference) == key


def test_by_attributes(api: Api, unique: Any, groups: Any) -> None:
    word, top, below = groups["word"], groups["top"], groups["below"]
    for reference, expected in [
        ({"name": top["name"]}, top),
        ({"slug": top["slug"]}, top),
        ({"name": top["name"], "slug": top["slug"]}, top),
        ({"name__iexact": top["name"].upper()}, top),
        ({"description": word, "name__endswith": "below"}, below),
        ({"description": f"{word} o"}, groups["other"]),
        ({"parent": top["id"]}, below),
    ]:
        assert named(api, unique, reference) == expected["id"], reference


def test_by_attributes_of_attributes(api: Api, unique: Any, groups: Any) -> None:
    top, below = groups["top"], groups["below"]
    for reference in [
        {"parent": {"name": top["name"]}},
        {"name": below["name"], "parent": {"name": top["name"], "slug": top["slug"]}},
        {"parent": {"id": top["id"]}},
        {"parent__slug": top["slug"]},
        {"parent": {"name__istartswith": groups["word"].upper()}},
    ]:
        assert named(api, unique, reference) == below["id"], reference


def test_what_was_read_is_a_reference(api: Api, unique: Any, groups: Any) -> None:
    made = api.post(TENANTS, {"name": unique(), "group": groups["below"]["id"]})
    nested = api.get(made["url"])["group"]
    assert named(api, unique, nested) == groups["below"]["id"]
    assert named(api, unique, api.get(nested["url"])) == groups["below"]["id"]


@pytest.mark.parametrize(
    ("reference", "message"),
    [
        (NO_UUID, f"Related object not found using the provided ID: {NO_UUID}"),
        ("zz", "Related objects must be referenced by ID or by dictionary of attributes. Received an unrecognized value: zz"),
        (5, "Related objects must be referenced by ID or by dictionary of attributes. Received an unrecognized value: 5"),
        ({"name": "no such"}, "Related object not found using the provided attributes: {'name': 'no such'}"),
        ({}, "Multiple objects match the provided attributes: {}"),
        ({"name__contains": " "}, "Multiple objects match the provided attributes: {'name__contains': ' '}"),
        ({"parent": {"name": "no such"}}, "Related object not found using the provided attributes: {'parent__name': 'no such'}"),
    ],
)
def test_none_or_several_is_an_error(api: Api, unique: Any, groups: Any, reference: Any, message: str) -> None:
    assert api.post(TENANTS, {"name": unique(), "group": reference}, status=400) == {"group": [message]}
    assert api.post(TENANTS, [{"name": unique()}, {"name": unique(), "group": reference}], status=400) == [{}, {"group": [message]}]


def test_an_attribute_that_is_none_names_the_choices(api: Api, unique: Any) -> None:
    (message,) = api.post(TENANTS, {"name": unique(), "group": {"nosuch": 1}}, status=400)["group"]
    assert message.startswith("Cannot resolve keyword 'nosuch' into field. Choices are: ")


SENSELESS: list[Any] = [
    *([], [1], True, 1.5, {"": 1}, {"__": 1}),
    *({"id": None}, {"id": {}}, {"id": "zz"}, {"name": None}, {"name": []}, {"name": {"x": 1}}),
    *({"name__regex": "("}, {"name__in": 5}, {"parent__parent__parent__name": "x"}),
]


@pytest.mark.parametrize("reference", SENSELESS)
def test_senseless_references_are_refused(api: Api, unique: Any, reference: Any) -> None:
    assert list(api.post(TENANTS, {"name": unique(), "group": reference}, status=400)) == ["group"]


def test_null_means_none_where_that_is_allowed(api: Api, unique: Any, groups: Any) -> None:
    made = api.post(TENANTS, {"name": unique(), "group": groups["top"]["id"]})
    assert api.patch(f"{TENANTS}{made['id']}/", {"group": None})["group"] is None
    assert api.patch(f"{TENANTS}{made['id']}/", {"group": ""}, status=(200, 400)) is not None


def test_a_batch_finds_its_references_together(api: Api, unique: Any, groups: Any, statements: Any) -> None:
    names = [groups[name]["name"] for name in ("top", "below", "other")]

    def cost(count: int) -> int:
        bodies = [{"name": unique(), "group": {"name": names[number % 3]}} for number in range(count)]
        with statements() as found:
            made = api.post(TENANTS, bodies)
        assert [item["group"]["name"] for item in made] == [names[number % 3] for number in range(count)]
        return len(found)

    assert cost(3) == cost(60)


def test_tags_are_named_like_any_reference(api: Api, unique: Any) -> None:
    word = unique()
    first, second = api.post("/api/extras/tags/", [{"name": f"{word} {n}", "slug": f"{word}-{n}", "content_types": ["tenancy.tenant"]} for n in (1, 2)])
    made = api.post(TENANTS, {"name": unique(), "tags": [first["id"], {"name": second["name"]}]})
    assert [tag["slug"] for tag in made["tags"]] == [f"{word}-1", f"{word}-2"]
    assert [tag["slug"] for tag in api.patch(f"{TENANTS}{made['id']}/", {"tags": made["tags"][1:]})["tags"]] == [f"{word}-2"]
    assert api.patch(f"{TENANTS}{made['id']}/", {"tags": []})["tags"] == []
    assert list(api.patch(f"{TENANTS}{made['id']}/", {"tags": [NO_UUID]}, status=400)) == ["tags"]
    assert list(api.patch(f"{TENANTS}{made['id']}/", {"tags": "zz"}, status=400)) == ["tags"]
