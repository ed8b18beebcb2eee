"""Query parameters on GET: a test for each row of the specification's table, and for each of its sentences."""

from __future__ import annotations

from typing import Any

import pytest

from netinv_core.http.versions import NEWEST
from netinv_testing import Api, Samples, Service, Unique

TENANTS, GROUPS, PREFIXES = "/api/tenancy/tenants/", "/api/tenancy/tenant-groups/", "/api/ipam/prefixes/"
RELATIONSHIPS = "/api/extras/relationships/"
WITH_CONTEXT = ("dcim.device", "virtualization.virtualmachine")


@pytest.fixture(scope="session")
def word(service: Service) -> str:
    """Prefix of the names of five tenants; ``name__isw`` finds them."""
    word = service.unique()
    service.api.post(TENANTS, [{"name": f"{word} {number}"} for number in range(5)])
    return word


def names(page: Any) -> list[str]:
    return [item["name"][-1] for item in page["results"]]


@pytest.mark.parametrize("limit", [1, 2, 5])
def test_limit_is_the_page_size(api: Api, word: str, limit: int) -> None:
    """``limit``, lists: page size."""
    page = api.get(TENANTS, {"name__isw": word, "limit": limit})
    assert (len(page["results"]), page["count"]) == (limit, 5)


def test_limit_0_returns_all_matches_when_the_maximum_is_disabled(api: Api, word: str, configured: Any) -> None:
    """``limit``: "``0`` returns all matches when the maximum is disabled"."""
    with configured(max_page_size=0, paginate_count=2):
        page = api.get(TENANTS, {"name__isw": word, "limit": 0})
    assert (names(page), page["next"]) == (list("01234"), None)


@pytest.mark.parametrize(("offset", "expected"), [(0, ["0", "1"]), (1, ["1", "2"]), (4, ["4"]), (5, [])])
def test_offset_is_the_index_of_the_first_object_returned(
    api: Api, word: str, offset: int, expected: list[str]
) -> None:
    """``offset``, lists: index of the first object returned."""
    assert names(api.get(TENANTS, {"name__isw": word, "limit": 2, "offset": offset})) == expected


@pytest.mark.parametrize(("notation", "family"), [("{}::/48", 6), ("10.{}.{}.0/24", 4)], ids=["IPv6", "IPv4"])
def test_brief_1_returns_the_minimal_representation(api: Api, unique: Unique, notation: str, family: int) -> None:
    """``brief``, lists and details: e.g. for a prefix ``id``, ``url``, ``family`` (4 or 6), ``prefix``."""
    number = unique.number()
    network = notation.format(unique.ipv6()) if family == 6 else notation.format(number // 256 % 256, number % 256)
    made = api.post(PREFIXES, {"prefix": network, "status": "active"})
    (listed,) = api.get(PREFIXES, {"id": made["id"], "brief": 1})["results"]
    for shown in (listed, api.get(made["url"], {"brief": 1})):
        assert {name: shown[name] for name in ("id", "url", "family", "prefix")} == {
            "id": made["id"],
            "url": made["url"],
            "family": family,
            "prefix": network,
        }
        assert not {"status", "custom_fields", "tags", "vrf", "description"} & set(shown)


@pytest.mark.parametrize("label", WITH_CONTEXT)
def test_exclude_config_context_omits_what_is_otherwise_included(service: Service, label: str) -> None:
    """``exclude=config_context``, lists and details of devices and virtual machines: "omits the rendered configuration
    context data, which is otherwise included".
    """
    api, word = service.api, service.unique()
    made = Samples(service).make(service.registry[label], local_context_data={"word": word})

    def shown(**query: str) -> list[Any]:
        return [
            api.get(made["url"], query),
            *api.get(service.registry[label].path, {"id": made["id"], **query})["results"],
        ]

    assert [item["config_context"]["word"] for item in shown()] == [word, word]
    assert [("config_context" in item, item["id"]) for item in shown(exclude="config_context")] == [
        (False, made["id"])
    ] * 2


# -- include=relationships


@pytest.fixture
def relationship(api: Api, unique: Unique) -> Any:
    """A relationship of many tenant groups with many tenants; gone after the test."""
    name = unique()
    made = api.post(
        RELATIONSHIPS,
        {
            "name": f"Name {name}",
            "slug": name,
            "type": "many-to-many",
            "source_type": "tenancy.tenantgroup",
            "destination_type": "tenancy.tenant",
            "source_label": "supplies",
            "destination_label": "is supplied by",
        },
    )
    yield made
    api.delete(made["url"])


@pytest.fixture
def ends(api: Api, unique: Unique) -> tuple[Any, list[Any]]:
    """A tenant group, and three tenants."""
    group = api.post(GROUPS, {"name": unique()})
    return group, api.post(TENANTS, [{"name": unique()} for _ in range(3)])


def related(api: Api, thing: Any, relationship: Any) -> Any:
    """The relationship as an object shows it."""
    return api.get(thing["url"], {"include": "relationships"})["relationships"][relationship["slug"]]


def relate(api: Api, thing: Any, relationship: Any, objects: list[Any], **options: Any) -> Any:
    body = {"relationships": {relationship["slug"]: {"destination": {"objects": objects}}}}
    return api.patch(thing["url"], body, **options)


@pytest.mark.parametrize("version", ["1.4", NEWEST])
def test_include_relationships_adds_a_key_to_lists_and_details(
    api: Api, relationship: Any, ends: tuple[Any, list[Any]], version: str
) -> None:
    """``include=relationships``, lists and details: "adds a ``relationships`` key (from API version 1.4.0)"."""
    group, _ = ends
    for query in ({}, {"include": "relationships"}):
        shown = api.get(group["url"], query, version=version)
        (listed,) = api.get(GROUPS, {"id": group["id"], **query}, version=version)["results"]
        assert ("relationships" in shown, "relationships" in listed) == (bool(query), bool(query))
        if query:
            assert relationship["slug"] in shown["relationships"] and relationship["slug"] in listed["relationships"]


def test_a_relationship_is_named_by_its_slug_and_shows_what_it_is(
    api: Api, relationship: Any, ends: tuple[Any, list[Any]]
) -> None:
    """ "One key per applicable Relationship, named by its slug; each value carries ``id``, ``url``, ``name``, ``type``"."""
    shown = related(api, ends[0], relationship)
    members = ("id", "url", "name", "type")
    assert {name: shown[name] for name in members} == {name: relationship[name] for name in members}


def test_only_applicable_relationships_are_shown(api: Api, relationship: Any) -> None:
    """ "One key per applicable Relationship": none for objects of other models."""
    site = api.post("/api/dcim/sites/", {"name": relationship["slug"], "status": "active"})
    assert relationship["slug"] not in api.get(site["url"], {"include": "relationships"})["relationships"]


def test_a_relationship_has_the_sides_of_its_direction(
    api: Api, relationship: Any, ends: tuple[Any, list[Any]], unique: Unique
) -> None:
    """ "Any of ``source``, ``destination``, ``peer`` (depending on the relationship's type and direction)"."""
    group, (tenant, *_) = ends
    name = unique()
    body = {"name": name, "slug": name, "type": "symmetric-many-to-many"}
    types = {"source_type": "tenancy.tenant", "destination_type": "tenancy.tenant"}
    among_peers = api.post(RELATIONSHIPS, {**body, **types})
    sides = {"source", "destination", "peer"}
    found = [related(api, *of) for of in ((group, relationship), (tenant, relationship), (tenant, among_peers))]
    api.delete(among_peers["url"])
    assert [sides & set(shown) for shown in found] == [{"destination"}, {"source"}, {"peer"}]


def test_a_side_has_a_label_an_object_type_and_nested_objects(
    api: Api, relationship: Any, ends: tuple[Any, list[Any]]
) -> None:
    """ "Each of these has ``label`` (string), ``object_type`` (content type string) and ``objects`` (list of nested
    objects)".
    """
    group, (tenant, *_) = ends
    relate(api, group, relationship, [tenant["id"]])
    side = related(api, group, relationship)["destination"]
    assert isinstance(side["label"], str) and side["label"]
    assert side["object_type"] == "tenancy.tenant"
    (nested,) = side["objects"]
    assert (nested["id"], nested["url"], nested["name"]) == (tenant["id"], tenant["url"], tenant["name"])
    assert "comments" not in nested


@pytest.mark.parametrize("by", ["primary key", "primary key in an object", "identifying attributes"])
def test_objects_are_given_by_primary_key_or_identifying_attributes(
    api: Api, relationship: Any, ends: tuple[Any, list[Any]], by: str
) -> None:
    """ "On PATCH … each object given by primary key or by identifying attributes"."""
    group, (tenant, *_) = ends
    given = {
        "primary key": tenant["id"],
        "primary key in an object": {"id": tenant["id"]},
        "identifying attributes": {"name": tenant["name"]},
    }[by]
    relate(api, group, relationship, [given])
    assert [item["id"] for item in related(api, group, relationship)["destination"]["objects"]] == [tenant["id"]]


def test_listed_relationships_have_their_associations_replaced(
    api: Api, relationship: Any, ends: tuple[Any, list[Any]]
) -> None:
    """ "Listed relationships have their associations replaced by the given list"."""
    group, (first, second, third) = ends
    for given in ([first, second], [second, third], []):
        relate(api, group, relationship, [item["id"] for item in given])
        shown = {item["id"] for item in related(api, group, relationship)["destination"]["objects"]}
        assert shown == {item["id"] for item in given}


def test_omitted_slugs_are_left_unchanged(
    api: Api, relationship: Any, ends: tuple[Any, list[Any]], unique: Unique
) -> None:
    """ "Omitted slugs are left unchanged"."""
    group, (first, second, _) = ends
    body = {name: relationship[name] for name in ("type", "source_type", "destination_type")}
    name = unique()
    other = api.post(RELATIONSHIPS, {**body, "name": name, "slug": name})
    relate(api, group, relationship, [first["id"]])
    relate(api, group, other, [second["id"]])
    api.patch(group["url"], {"description": "changed", "relationships": {}})
    shown = [related(api, group, which)["destination"]["objects"] for which in (relationship, other)]
    api.delete(other["url"])
    assert [[item["id"] for item in objects] for objects in shown] == [[first["id"]], [second["id"]]]


# -- the rest


@pytest.mark.parametrize("path", ["/api/", "/api/tenancy/", TENANTS, "{tenant}"])
def test_api_version_selects_the_version_everywhere(api: Api, word: str, path: str) -> None:
    """``api_version``, all: "selects API version"."""
    tenant = api.get(TENANTS, {"name__isw": word, "limit": 1})["results"][0]["url"]
    for version in ("1.3", NEWEST):
        response = api.send("GET", path.format(tenant=tenant), query={"api_version": version}, version=None, status=200)
        assert response.headers["API-Version"] == version


def test_filters_narrow_lists(api: Api, word: str) -> None:
    """``filters``, lists."""
    page = api.get(TENANTS, {"name": f"{word} 3"})
    assert (names(page), page["count"]) == (["3"], 1)
