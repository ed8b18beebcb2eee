"""Constraints of permissions on what a write names or takes along: references of any type, bulk requests,
consequences.
"""

from __future__ import annotations

from typing import Any

import pytest

from netinv_core.endpoint import Endpoint
from netinv_extras.image_attachments import PIXEL
from netinv_testing import Api, Case, Service
from netinv_testing.samples import accepts, generic_pairs
from tests.support.registry import REGISTRY

DENIED = {"detail": "You do not have permission to perform this action."}
TENANTS, GROUPS, SITES = "/api/tenancy/tenants/", "/api/tenancy/tenant-groups/", "/api/dcim/sites/"
TENANT, SITE = "tenancy.tenant", "dcim.site"
ENDPOINTS = REGISTRY.endpoints
NAMING = sorted(
    label for label, endpoint in ENDPOINTS.items() if "add" in endpoint.resource.writes and generic_pairs(endpoint)
)


def around(service: Service, label: str, actions: str, hidden: str, keys: list[str]) -> Api:
    """A client with these actions on a model, and sight of all objects but those of another one, of which it sees those
    with these ids.
    """
    others = [other for other in service.registry.endpoints if other != hidden]
    return service.user((actions, label), ("view", others), ("view", hidden, {"id__in": keys})).api


@pytest.mark.parametrize("label", NAMING)
def test_a_pair_of_type_and_id_names_visible_objects(service: Service, label: str) -> None:
    """An object that may not be viewed is refused in the words for one that does not exist, when something is made and
    when it is changed.
    """
    case = Case(service, label)
    for type_, key in generic_pairs(case.endpoint):
        shown, body = case.make(), case.body()
        if body.get(type_) is None:
            target = next(other for other in service.registry.endpoints.values() if accepted(case, type_, other))
            body |= {type_: target.label, key: case.samples.make(target)["id"]}
        hidden, nobody = body[key], "00000000-0000-4000-8000-000000000000"
        seen = case.samples.make(service.registry[body[type_]])["id"]
        beside = [body[other] for _, other in generic_pairs(case.endpoint) if body.get(other) not in (None, hidden)]
        client = around(service, label, "view add change", body[type_], [seen, *beside])
        answers = [client.send("POST", case.path, body | {key: named}, status=400).text for named in (hidden, nobody)]
        assert key.removesuffix("_id") in answers[1] and answers[0].replace(hidden, nobody) == answers[1], (
            f"POST {case.path} {key}"
        )
        pair = {type_: body[type_]}
        answers = [
            client.send("PATCH", case.at(shown), pair | {key: named}, status=(400, 404)).text
            for named in (hidden, nobody)
        ]
        assert answers[0].replace(hidden, nobody) == answers[1], f"PATCH {case.at(shown)} {key}"


def accepted(case: Case, name: str, target: Endpoint) -> bool:
    """True for a model whose objects a pair may name and samples can make."""
    return "add" in target.resource.writes and accepts(case.endpoint, case.endpoint.fields[name], target.label)


@pytest.fixture
def three(api: Api, unique: Any) -> list[dict[str, Any]]:
    """Three tenants, the first two in one group."""
    group = api.post(GROUPS, {"name": unique()})["id"]
    made: list[dict[str, Any]] = api.post(
        TENANTS, [{"name": unique(), "group": of, "comments": "kept"} for of in (group, group, None)]
    )
    return made


def test_a_bulk_request_with_one_visible_object_outside_of_the_constraint_changes_nothing(
    api: Api, make_user: Any, three: Any
) -> None:
    group = three[0]["group"]["id"]
    client = make_user(("view", [TENANT, "tenancy.tenantgroup"]), ("change delete", TENANT, {"group": group})).api
    ids = [{"id": tenant["id"]} for tenant in three]
    told = [{}, {}, {"id": [f"Object not found using the provided ID: {three[2]['id']}"]}]
    assert client.patch(TENANTS, [item | {"comments": "changed"} for item in ids], status=400) == told
    assert (
        client.put(
            TENANTS,
            [item | {"name": tenant["name"], "comments": "changed"} for item, tenant in zip(ids, three, strict=True)],
            status=400,
        )
        == told
    )
    assert client.delete(TENANTS, ids, status=400) == told
    assert client.patch(TENANTS, [ids[0] | {"comments": "changed"}, ids[1] | {"group": None}], status=403) == DENIED
    assert client.put(TENANTS, [ids[0] | {"name": three[0]["name"], "group": None}], status=403) == DENIED
    kept = api.get(TENANTS, {"id": [item["id"] for item in ids]})["results"]
    assert [
        (tenant["comments"], tenant["group"] and tenant["group"]["id"])
        for tenant in sorted(kept, key=lambda item: item["name"])
    ] == [
        ("kept", group),
        ("kept", group),
        ("kept", None),
    ]


def test_a_bulk_creation_with_one_object_outside_of_the_constraint_makes_none(
    api: Api, make_user: Any, three: Any, unique: Any
) -> None:
    group, names = three[0]["group"]["id"], [unique(), unique()]
    client = make_user(("add", TENANT, {"group": group}), ("view", "tenancy.tenantgroup")).api
    assert client.post(TENANTS, [{"name": names[0], "group": group}, {"name": names[1]}], status=403) == DENIED
    assert api.get(TENANTS, {"name": names})["count"] == 0
    assert api.get("/api/extras/object-changes/", {"object_repr": names[0]}, status=(200, 400)).get("count", 0) == 0


def test_the_constraint_is_measured_with_the_tags_that_are_written(api: Api, make_user: Any, unique: Any) -> None:
    """Lists of an object are part of it: they are written before the object is measured."""
    words = [unique(), unique()]
    inside, outside = api.post(
        "/api/extras/tags/", [{"name": word, "slug": word, "content_types": [TENANT]} for word in words]
    )
    client = make_user(("view", "extras.tag"), ("view add change", TENANT, {"tags__slug": inside["slug"]})).api
    for tags in ([], [outside["id"]]):
        assert client.post(TENANTS, {"name": unique(), "tags": tags}, status=403) == DENIED
    made = client.post(TENANTS, {"name": unique(), "tags": [inside["id"], outside["id"]]})
    assert client.patch(made["url"], {"tags": [outside["id"]]}, status=403) == DENIED
    assert len(api.get(made["url"])["tags"]) == 2
    client.patch(made["url"], {"tags": [inside["id"]]})


def test_an_objects_relationships_are_measured_with_the_object(
    api: Api, make_user: Any, unique: Any, three: Any
) -> None:
    """A refused object leaves no association behind; an association by itself needs a permission for associations."""
    name = unique()
    relationship = api.post(
        "/api/extras/relationships/",
        {"name": name, "type": "many-to-many", "source_type": TENANT, "destination_type": SITE},
    )
    site = api.post(SITES, {"name": unique(), "status": "active"})
    associations = "/api/extras/relationship-associations/"
    ends = {"source_type": TENANT, "source_id": three[0]["id"], "destination_type": SITE, "destination_id": site["id"]}
    body = ends | {"relationship": relationship["id"]}
    sight = ("view", [TENANT, SITE, "extras.relationship"])
    client = make_user(
        sight,
        ("change", TENANT, {"comments": "kept"}),
        ("add", "extras.relationshipassociation", {"source_id": three[1]["id"]}),
    ).api
    objects = {"relationships": {relationship["slug"]: {"destination": {"objects": [site["id"]]}}}}
    assert client.patch(three[0]["url"], objects | {"comments": "other"}, status=403) == DENIED
    assert client.post(associations, body, status=403) == DENIED
    assert api.get(associations, {"relationship": relationship["slug"]})["count"] == 0
    client.post(associations, body | {"source_id": three[1]["id"]})
    client.patch(three[0]["url"], objects)
    assert api.get(associations, {"relationship": relationship["slug"]})["count"] == 2


def test_further_lists_of_a_model_obey_its_constraints(service: Service) -> None:
    """Lists such as those of connections show rows of another resource, within the permission for that."""
    lists = [endpoint for endpoint in service.registry.by_path.values() if endpoint.resource.of is not None]
    assert {endpoint.resource.name for endpoint in lists} >= {
        "console-connections",
        "interface-connections",
        "power-connections",
    }
    for endpoint in lists:
        others = [label for label in service.registry.endpoints if label != endpoint.label]
        service.user(("view", others)).api.get(endpoint.path, status=403)
        elsewhere = {"id": Case(service, endpoint.label).nobody()}
        assert service.user(("view", others), ("view", endpoint.label, elsewhere)).api.get(endpoint.path)["count"] == 0


def test_what_goes_along_with_a_deletion_needs_no_permission(api: Api, make_user: Any, unique: Any) -> None:
    """The permission to delete an object is that to delete what belongs to it; an object that is only referred to by
    others protects itself.
    """
    site = api.post(SITES, {"name": unique(), "status": "active"})
    picture = api.post(
        "/api/extras/image-attachments/", {"content_type": SITE, "object_id": site["id"], "image": PIXEL}
    )
    rack = api.post("/api/dcim/racks/", {"name": unique(), "site": site["id"], "status": "active"})
    client = make_user(("delete", SITE, {"id": site["id"]})).api
    client.delete(site["url"], status=409)
    api.delete(rack["url"])
    client.delete(site["url"])
    api.get(picture["url"], status=404)
