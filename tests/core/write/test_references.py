"""References: one object named by its id or by attributes that match exactly one."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
import sqlalchemy as sa

from netinv_core import Endpoint
from netinv_core.fields import Reference
from netinv_core.sql import relations
from netinv_testing import Api, Service

TENANTS = "/api/tenancy/tenants/"
GROUPS = "/api/tenancy/tenant-groups/"
NO_UUID = "00000000-0000-0000-0000-000000000000"


@pytest.fixture(scope="session")
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
        ({"display": "not looked at", "name": top["name"]}, top),
        ({"url": top["url"]}, top),
        ({"description": word, "name": below["name"]}, below),
        ({"name": top["name"], "parent": None}, top),
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
        {"parent": {"url": top["url"]}},
        {"parent": top, "name": below["name"]},
        {"parent_id": top["id"]},
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
        (
            "zz",
            "Related objects must be referenced by ID or by dictionary of attributes. Received an unrecognized value: zz",
        ),
        (
            5,
            "Related objects must be referenced by ID or by dictionary of attributes. Received an unrecognized value: 5",
        ),
        ({"name": "no such"}, "Related object not found using the provided attributes: {'name': 'no such'}"),
        ({}, "Multiple objects match the provided attributes: {}"),
        ({"parent": None}, "Multiple objects match the provided attributes: {'parent': None}"),
        (
            {"name": "no such", "parent": None},
            "Related object not found using the provided attributes: {'name': 'no such', 'parent': None}",
        ),
        (
            {"parent": {"name": "no such"}},
            "Related object not found using the provided attributes: {'parent__name': 'no such'}",
        ),
    ],
)
def test_none_or_several_is_an_error(api: Api, unique: Any, groups: Any, reference: Any, message: str) -> None:
    assert api.post(TENANTS, {"name": unique(), "group": reference}, status=400) == {"group": [message]}
    assert api.post(TENANTS, [{"name": unique()}, {"name": unique(), "group": reference}], status=400) == [
        {},
        {"group": [message]},
    ]


def test_an_attribute_that_is_none_names_the_choices(api: Api, unique: Any) -> None:
    (message,) = api.post(TENANTS, {"name": unique(), "group": {"nosuch": 1}}, status=400)["group"]
    assert message.startswith("Cannot resolve keyword 'nosuch' into field. Choices are: ")


SENSELESS: list[Any] = [
    *([], [1], True, 1.5, {"": 1}, {"__": 1}),
    *({"id": None}, {"id": {}}, {"id": "zz"}, {"name": None}, {"name": []}, {"name": {"x": 1}}),
    *({"name__regex": "("}, {"name__in": 5}, {"parent__parent__parent__name": "x"}),
    *(
        {"display": "x"},
        {"name": {"value": []}},
        {"name": [["x"]]},
        {"name": {"value": {}, "label": "x"}},
        {"name": 1e308},
        {"name": False},
    ),
    *({"parent": []}, {"parent": {"name": []}}, {"parent": {"parent": {"parent": {}}}}, {"url": 5}),
    *(
        {"id": 10**18},
        {"created": 5},
        {"created": "0001-01-01T00:00:00+14:00"},
        {"last_updated": "9999-12-31T23:59:59-14:00"},
        {"url": "/x/"},
    ),
    *(
        {"_depth": 2**70},
        {"tags": []},
        {"custom_fields": {"x": 1}},
        {"custom_field_data": {}},
        {"tree_key": "x"},
        {"tenant_count": 1},
    ),
    *(
        {f"a{number}": 1 for number in range(1000)},
        {"__".join(["parent"] * 100): None},
        {"name": "x" * 10**6},
        {"x" * 10**6: 1},
    ),
]


@pytest.mark.parametrize("reference", SENSELESS, ids=lambda reference: repr(reference)[:60])
def test_senseless_references_are_refused_in_few_words(api: Api, unique: Any, reference: Any) -> None:
    for extra in ({}, {"id": NO_UUID}) if isinstance(reference, dict) else ({},):
        sent = extra | reference if isinstance(reference, dict) else reference
        errors = api.post(TENANTS, {"name": unique(), "group": sent}, status=400)
        assert list(errors) == ["group"]
        assert len(str(errors)) < 2000


LOOKUP_NAMES = (
    "name__startswith",
    "name__iexact",
    "name__in",
    "name__isnull",
    "parent__name__regex",
    "name__contains",
    "tenants__name",
    "children__name",
)


@pytest.mark.parametrize("name", LOOKUP_NAMES)
def test_a_reference_is_no_search(api: Api, unique: Any, groups: Any, name: str) -> None:
    (message,) = api.post(TENANTS, {"name": unique(), "group": {name: groups["top"]["name"]}}, status=400)["group"]
    assert message.startswith("Cannot resolve keyword '")


def test_values_that_nobody_is_shown_are_no_attributes(api: Api, service: Any, unique: Any) -> None:
    user = service.user(password="pw")
    for attribute, value in (
        ("password", "!"),
        ("is_superuser", False),
        ("config_data", {}),
        ("tokens", None),
        ("tokens__key_hash", "x"),
    ):
        body = {
            "description": unique(),
            "rack": NO_UUID,
            "units": [1],
            "user": {"username": user.username, attribute: value},
        }
        errors = api.post("/api/dcim/rack-reservations/", body, status=400)
        assert errors["user"][0].startswith("Cannot resolve keyword '"), attribute


def test_a_batch_takes_no_more_than_two_objects_for_a_reference(api: Api, unique: Any, statements: Any) -> None:
    word = unique()
    api.post(GROUPS, [{"name": f"{word} {number}", "description": word} for number in range(20)])
    other = api.post(GROUPS, {"name": f"{word} other", "description": f"{word} other"})
    bodies = [{"name": unique(), "group": {"description": text}} for text in (word, other["description"])]
    several = f"Multiple objects match the provided attributes: {{'description': '{word}'}}"
    assert api.post(TENANTS, bodies, status=400) == [{"group": [several]}, {}]
    assert api.post(TENANTS, bodies[:1], status=400) == [{"group": [several]}]
    assert api.post(TENANTS, bodies[1:])[0]["group"]["id"] == other["id"]


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

    cost(1)  # fills caches, such as that of the content types
    assert cost(3) == cost(60)


def test_tags_are_named_like_any_reference(api: Api, unique: Any) -> None:
    word = unique()
    first, second = api.post(
        "/api/extras/tags/",
        [{"name": f"{word} {n}", "slug": f"{word}-{n}", "content_types": ["tenancy.tenant"]} for n in (1, 2)],
    )
    made = api.post(TENANTS, {"name": unique(), "tags": [first["id"], {"name": second["name"]}]})
    assert [tag["slug"] for tag in made["tags"]] == [f"{word}-1", f"{word}-2"]
    assert [tag["slug"] for tag in api.patch(f"{TENANTS}{made['id']}/", {"tags": made["tags"][1:]})["tags"]] == [
        f"{word}-2"
    ]
    assert api.patch(f"{TENANTS}{made['id']}/", {"tags": []})["tags"] == []
    assert list(api.patch(f"{TENANTS}{made['id']}/", {"tags": [NO_UUID]}, status=400)) == ["tags"]
    assert list(api.patch(f"{TENANTS}{made['id']}/", {"tags": "zz"}, status=400)) == ["tags"]


def test_what_may_not_be_viewed_is_like_what_does_not_exist(api: Api, make_user: Any, unique: Any, groups: Any) -> None:
    top, below, word = groups["top"], groups["below"], unique()
    everything = ("view add change", "tenancy.tenant")
    editor = make_user(everything, ("view", "tenancy.tenantgroup", {"id": below["id"]})).api
    blind = make_user(everything).api
    api.post(TENANTS, {"name": word, "group": top["id"]})
    for client in (editor, blind):
        for told, invisible, unknown in [
            ("provided attributes", {"name": top["name"]}, {"name": word}),
            ("provided attributes", {"id": top["id"]}, {"id": NO_UUID}),
            ("provided attributes", {"url": top["url"]}, {"url": f"{GROUPS}{NO_UUID}/"}),
            (
                "provided attributes",
                {"description": top["description"], "slug": top["slug"]},
                {"description": word, "slug": word},
            ),
        ]:
            answers = [
                client.post(TENANTS, {"name": unique(), "group": named}, status=400) for named in (invisible, unknown)
            ]
            assert [answer["group"][0].partition(": ")[0] for answer in answers] == [
                f"Related object not found using the {told}"
            ] * 2
        assert (
            client.post(TENANTS, {"name": unique(), "group": top["id"]})["group"]["id"] == top["id"]
        )  # as in the reference service
    assert editor.post(TENANTS, {"name": unique(), "group": {"name": below["name"]}})["group"]["id"] == below["id"]
    for attributes in (
        {"parent": {"name": top["name"]}},
        {"parent": {"description": top["description"]}, "name": below["name"]},
    ):
        editor.post(TENANTS, {"name": unique(), "group": attributes}, status=400)  # what lies between is invisible


def test_what_an_object_refers_to_can_be_written_back(api: Api, make_user: Any, unique: Any, groups: Any) -> None:
    word = unique()
    tags = api.post(
        "/api/extras/tags/",
        [{"name": f"{word} {n}", "slug": f"{word}-{n}", "content_types": ["tenancy.tenant"]} for n in (1, 2)],
    )
    one, other = api.post(
        TENANTS,
        [
            {"name": f"{word} {n}", "group": groups[g]["id"], "tags": [tags[n]["id"]]}
            for n, g in enumerate(("top", "other"))
        ],
    )
    editor = make_user(("view change", "tenancy.tenant")).api
    for shown in (one, other):
        read = editor.get(shown["url"])
        assert editor.put(shown["url"], read)["tags"] == read["tags"]
        assert (
            editor.patch(shown["url"], {"group": read["group"]["id"], "tags": [tag["id"] for tag in read["tags"]]})[
                "group"
            ]
            == read["group"]
        )
    assert list(editor.patch(one["url"], {"group": other["group"]}, status=400)) == ["group"]
    assert list(editor.patch(one["url"], {"tags": [tag["id"] for tag in tags]}, status=400)) == ["tags"]
    assert list(
        editor.patch(
            one["url"],
            {"group": {"id": one["group"]["id"], "name": "x"}, "tags": [{"name": tags[0]["name"]}]},
            status=400,
        )
    ) == ["tags"]


def test_a_number_beyond_those_of_the_column_is_refused(service: Service) -> None:
    """It would be an error of PostgreSQL. Of each integer that names an object, in one reference to its resource."""
    asked: dict[tuple[str, str], tuple[Endpoint, str]] = {}
    for endpoint in service.registry.endpoints.values():
        for field in endpoint.fields.values():
            if "add" in endpoint.resource.writes and isinstance(field, Reference) and not field.read_only:
                names = [] if field.target is None else integers_of(field.target)
                asked |= {(field.target.label, name): (endpoint, field.name) for name in names}
    for (target, name), (endpoint, field_name) in asked.items():
        for number in (2**15, 2**31, 2**63, -(2**31) - 1, 10**30):
            errors = service.api.post(endpoint.canonical_path, {field_name: {name: number}}, status=400)
            assert field_name in errors, (target, name, number, errors)
    assert {("ipam.ipaddress", "family"), ("dcim.rack", "u_height")} <= asked.keys()


def integers_of(target: Endpoint) -> list[str]:
    """The writable fields of a resource that are integers, and its constants that are stored as such."""
    columns = {name: relations.column_of(target, name) for name in target.fields}
    return [name for name, column in columns.items() if column and isinstance(target.table.c[column].type, sa.Integer)]


def test_references_by_any_attributes_are_found_together(api: Api, unique: Any) -> None:
    """More sets of attributes than one UNION ALL has parts; each item gets the object that it names."""
    names = ("id", "name", "slug", "description", "created")
    sets = [chosen for size in range(1, 6) for chosen in itertools.combinations(names, size) if chosen != ("created",)]
    words = [unique() for _ in sets]
    regions = api.post("/api/dcim/regions/", [{"name": word, "description": word} for word in words])
    tenants = api.post(TENANTS, [{"name": word, "description": word} for word in words])
    bodies = [
        {
            "name": word,
            "status": "active",
            "region": {name: region[name] for name in chosen},
            "tenant": {name: tenant[name] for name in chosen},
        }
        for word, chosen, region, tenant in zip(words, sets, regions, tenants, strict=True)
    ]
    sites = api.post("/api/dcim/sites/", bodies)
    assert [site["region"]["name"] for site in sites] == [site["tenant"]["name"] for site in sites] == words
    bodies[7]["tenant"] = {"name": unique()}
    errors = api.post("/api/dcim/sites/", [{**body, "name": unique()} for body in bodies], status=400)
    assert [number for number, error in enumerate(errors) if error] == [7], errors
