"""Relationships: how users say what belongs together, and how objects of any package show, take and are found by it."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from typing import Any

import pytest

from netinv_testing import Api, Service

RELATIONSHIPS, ASSOCIATIONS = "/api/extras/relationships/", "/api/extras/relationship-associations/"
ROLES, TENANTS, GROUPS = "/api/dcim/rack-roles/", "/api/tenancy/tenants/", "/api/tenancy/tenant-groups/"
ROLE, TENANT = "dcim.rackrole", "tenancy.tenant"
CHANGES = "/api/extras/object-changes/"
NOBODY = "00000000-0000-4000-8000-000000000000"


@pytest.fixture
def relate(api: Api) -> Iterator[Any]:
    """``relate(type, source, destination, …)``: a new relationship, of rack roles with tenants unless said otherwise;
    gone after the test.
    """
    made = []

    def post(kind: str = "many-to-many", source: str = ROLE, destination: str = TENANT, **members: Any) -> Any:
        slug = f"r{uuid.uuid4().hex[:12]}"
        body = {
            "name": slug.upper(),
            "slug": slug,
            "type": kind,
            "source_type": source,
            "destination_type": destination,
        }
        found = api.post(RELATIONSHIPS, {**body, **members})
        made.append(found["url"])
        return found

    yield post
    for url in made:
        api.delete(url, status=(204, 404))


@pytest.fixture
def associate(api: Api) -> Any:
    """``associate(relationship, source, destination)``: a new association; ``status`` is what it is answered with."""

    def post(relationship: Any, source: Any, destination: Any, **options: Any) -> Any:
        body = {"relationship": relationship["id"], "source_id": source["id"], "destination_id": destination["id"]}
        types = {name: relationship[name] for name in ("source_type", "destination_type")}
        return api.post(ASSOCIATIONS, body | types, **options)

    return post


def shown(api: Api, thing: Any, relationship: Any, **options: Any) -> Any:
    """The relationship as an object shows it."""
    return api.get(thing["url"], {"include": "relationships"}, **options)["relationships"][relationship["slug"]]


def others(api: Api, thing: Any, relationship: Any, side: str) -> list[str]:
    """The ids of the objects that an object is associated with."""
    return [item["id"] for item in shown(api, thing, relationship)[side]["objects"]]


def put(api: Api, thing: Any, relationship: Any, side: str, objects: Any, **options: Any) -> Any:
    """The answer to a PATCH of one side of a relationship."""
    return api.patch(thing["url"], {"relationships": {relationship["slug"]: {side: {"objects": objects}}}}, **options)


# -- definitions


def test_a_relationship_has_what_was_given_and_the_usual_for_the_rest(api: Api, unique: Any) -> None:
    word = unique().replace("-", " ")
    made = api.post(RELATIONSHIPS, {"name": f"Some {word}", "source_type": ROLE, "destination_type": TENANT})
    assert made["slug"] == f"some {word}".replace(" ", "_").lower()
    assert (made["type"], made["required_on"], made["source_filter"], made["source_hidden"]) == (
        "many-to-many",
        "",
        None,
        False,
    )
    api.delete(made["url"])


@pytest.mark.parametrize(
    ("members", "error"),
    [
        (
            {"type": "symmetric-one-to-one"},
            {"destination_type": ["Must match source_type for a symmetric relationship"]},
        ),
        (
            {"source_filter": {"nosuch": 1}},
            {"source_filter": ["'nosuch' is not a valid filter parameter for dcim.RackRole object"]},
        ),
        ({"destination_filter": [1]}, {"destination_filter": ["Filter for tenancy.Tenant must be a dictionary"]}),
        ({"source_filter": {"created": "never"}}, {"source_filter": ["'created': Enter a valid date."]}),
        ({"source_type": "extras.note"}, {"source_type": ["Invalid content type: extras.note"]}),
        (
            {"type": "symmetric-many-to-many", "destination_type": ROLE, "required_on": "source"},
            {"required_on": ["Symmetric relationships cannot be marked as required."]},
        ),
        (
            {"type": "symmetric-many-to-many", "destination_type": ROLE, "source_label": "a", "destination_label": "b"},
            {"destination_label": ["Must match source_label for a symmetric relationship"]},
        ),
    ],
)
def test_a_definition_makes_sense(api: Api, unique: Any, members: dict[str, Any], error: Any) -> None:
    assert (
        api.post(
            RELATIONSHIPS, {"name": unique(), "source_type": ROLE, "destination_type": TENANT, **members}, status=400
        )
        == error
    )


def test_what_associations_rest_on_does_not_change(api: Api, relate: Any, associate: Any, make: Any) -> None:
    relationship = relate()
    assert api.patch(relationship["url"], {"type": "one-to-many"})["type"] == "one-to-many"
    associate(relationship, make(ROLES), make(TENANTS))
    (message,) = api.patch(relationship["url"], {"type": "one-to-one"}, status=400)["__all__"]
    assert message.startswith("Not supported to change the type of the relationship when some associations are present")
    assert api.patch(relationship["url"], {"description": "still"})["description"] == "still"


# -- associations


def test_an_association_is_called_after_its_objects(relate: Any, associate: Any, make: Any) -> None:
    role, tenant, peer = make(ROLES), make(TENANTS), make(TENANTS)
    one, two = relate(), relate("symmetric-many-to-many", TENANT, TENANT)
    assert associate(one, role, tenant)["display"] == f"{role['display']} -> {tenant['display']} - {one['name']}"
    assert associate(two, tenant, peer)["display"] == f"{tenant['display']} <-> {peer['display']} - {two['name']}"


def test_objects_at_its_ends_are_of_the_relationship_s_types(api: Api, relate: Any, make: Any) -> None:
    relationship, tenant = relate(), make(TENANTS)
    body = {
        "relationship": relationship["id"],
        "source_type": TENANT,
        "source_id": tenant["id"],
        "destination_type": TENANT,
        "destination_id": NOBODY,
    }
    expected = {"source_type": [f"source_type has a different value than defined in {relationship['name']}"]}
    assert api.post(ASSOCIATIONS, body, status=400) == expected
    body |= {"source_type": ROLE, "source_id": make(ROLES)["id"]}
    assert api.post(ASSOCIATIONS, body, status=400) == {
        "destination_id": [f"Related object not found using the provided ID: {NOBODY}"]
    }


def test_nothing_is_associated_with_itself_or_twice(relate: Any, associate: Any, make: Any) -> None:
    peers, one, two = relate("symmetric-many-to-many", TENANT, TENANT), make(TENANTS), make(TENANTS)
    itself = {"destination_id": ["An object cannot form a RelationshipAssociation with itself"]}
    assert associate(peers, one, one, status=400) == itself
    associate(peers, one, two)
    assert list(associate(peers, one, two, status=400)) == ["non_field_errors"]
    assert list(associate(peers, two, one, status=400)) == ["__all__"]


@pytest.mark.parametrize(
    ("kind", "ends"),
    [("one-to-one", "source destination"), ("one-to-many", "destination"), ("many-to-many", "")],
)
def test_an_end_takes_as_many_as_the_type_says(relate: Any, associate: Any, make: Any, kind: str, ends: str) -> None:
    relationship, roles, tenants = relate(kind), [make(ROLES), make(ROLES)], [make(TENANTS), make(TENANTS)]
    associate(relationship, roles[0], tenants[0])
    for end, source, destination in (("source", roles[0], tenants[1]), ("destination", roles[1], tenants[0])):
        if end in ends:
            thing, word = (source, "from") if end == "source" else (destination, "to")
            message = (
                f"Unable to create more than one {relationship['name']} association {word} {thing['display']} ({end})"
            )
            assert associate(relationship, source, destination, status=400) == {end: [message]}
        else:
            associate(relationship, source, destination)


def test_a_pair_of_peers_is_a_pair_from_either_end(api: Api, relate: Any, associate: Any, make: Any) -> None:
    pair, (one, two, three) = relate("symmetric-one-to-one", TENANT, TENANT), [make(TENANTS) for _ in range(3)]
    associate(pair, one, two)
    assert set(associate(pair, three, one, status=400)) == {"destination"}
    assert set(associate(pair, two, three, status=400)) == {"source"}
    assert (others(api, one, pair, "peer"), others(api, two, pair, "peer")) == ([two["id"]], [one["id"]])


def test_only_objects_that_a_filter_finds_stand_at_its_end(relate: Any, associate: Any, make: Any) -> None:
    group, role = make(GROUPS), make(ROLES)
    relationship = relate(destination_filter={"group": [group["slug"]]})
    inside, outside = make(TENANTS, group=group["id"]), make(TENANTS)
    associate(relationship, role, inside)
    expected = f"{outside['display']} violates {relationship['name']} destination_filter restriction"
    assert associate(relationship, role, outside, status=400) == {"destination": [expected]}


def test_objects_that_the_filter_does_not_find_have_no_such_relationship(api: Api, relate: Any, make: Any) -> None:
    group = make(GROUPS)
    slug = relate(destination_filter={"group": [group["slug"]]})["slug"]
    inside, outside = make(TENANTS, group=group["id"]), make(TENANTS)
    listed = api.get(TENANTS, {"id": [inside["id"], outside["id"]], "include": "relationships"})["results"]
    assert {item["id"]: slug in item["relationships"] for item in listed} == {inside["id"]: True, outside["id"]: False}


def test_an_object_that_leaves_the_filter_keeps_its_associations(
    api: Api, relate: Any, associate: Any, make: Any
) -> None:
    """It is changed as before; it shows the relationship again once the filter finds it again. No other side loses it.

    What is sent for it in the meantime is refused, as for any object outside of the filter.
    """
    group, role = make(GROUPS), make(ROLES)
    slug = (relationship := relate(destination_filter={"group": [group["slug"]]}))["slug"]
    tenant = make(TENANTS, group=group["id"])
    association = associate(relationship, role, tenant)
    left = api.patch(tenant["url"], {"group": None})
    assert slug not in left["relationships"]
    assert others(api, role, relationship, "destination") == [tenant["id"]]
    assert api.get(association["url"])["destination_id"] == tenant["id"]
    body = {"relationships": {slug: {"source": {"objects": [make(ROLES)["id"]]}}}}
    assert "destination_filter restriction" in str(api.patch(tenant["url"], body, status=400))
    assert api.patch(tenant["url"], left | {"description": "as before"})["description"] == "as before"
    api.patch(tenant["url"], {"group": group["id"]})
    assert others(api, tenant, relationship, "source") == [role["id"]]
    api.patch(tenant["url"], {"group": None})
    api.delete(association["url"])
    assert others(api, role, relationship, "destination") == []


def test_associations_are_found_by_what_they_join(api: Api, relate: Any, associate: Any, make: Any) -> None:
    relationship, role, tenant = relate(), make(ROLES), make(TENANTS)
    made = associate(relationship, role, tenant)
    for query in (
        {"relationship": relationship["slug"]},
        {"source_id": role["id"]},
        {"destination_id": tenant["id"]},
        {"peer_id": tenant["id"]},
    ):
        assert [found["id"] for found in api.get(ASSOCIATIONS, query)["results"]] == [made["id"]]
    assert api.get(ASSOCIATIONS, {"source_id": role["id"], "source_type": TENANT})["count"] == 0
    assert api.get(ASSOCIATIONS, {"source_type": "nope.nope"}, status=400)
    assert api.get(ASSOCIATIONS, {"peer_id": "nope"}, status=400)


def test_they_go_with_their_objects_and_with_their_relationship(
    api: Api, relate: Any, associate: Any, make: Any
) -> None:
    relationship, role, tenant = relate(), make(ROLES), make(TENANTS)
    first, second, third = [associate(relationship, make(ROLES), make(TENANTS)) for _ in range(3)]
    mine = associate(relationship, role, tenant)
    api.delete(role["url"])
    api.get(mine["url"], status=404)
    api.delete(f"{TENANTS}{first['destination_id']}/")
    api.get(first["url"], status=404)
    api.get(second["url"])
    api.delete(relationship["url"])
    api.get(third["url"], status=404)


# -- the member of objects


def test_objects_show_both_ends_to_those_who_ask(api: Api, relate: Any, associate: Any, make: Any) -> None:
    role, tenant = make(ROLES), make(TENANTS)
    named, plain = relate("one-to-many", source_label="Its tenants"), relate("one-to-one")
    associate(named, role, tenant)
    seen = shown(api, role, named)
    assert {name: seen[name] for name in ("id", "url", "name", "type")} == {
        name: named[name] for name in ("id", "url", "name", "type")
    }
    nested = {name: tenant[name] for name in ("display", "id", "url", "name", "slug")}
    assert seen["destination"] == {"label": "Its tenants", "object_type": TENANT, "objects": [nested]}
    assert shown(api, tenant, named)["source"]["label"] == "rack role"
    assert shown(api, role, plain)["destination"] == {"label": "tenant", "object_type": TENANT, "objects": []}
    assert "relationships" not in api.get(role["url"])
    assert named["slug"] in api.patch(role["url"], {})["relationships"]


def test_a_relationship_of_one_type_with_itself_has_two_sides(api: Api, relate: Any, associate: Any, make: Any) -> None:
    above, boss, staff = relate("one-to-many", TENANT, TENANT), make(TENANTS), make(TENANTS)
    associate(above, boss, staff)
    assert (others(api, boss, above, "destination"), others(api, boss, above, "source")) == ([staff["id"]], [])
    assert (others(api, staff, above, "destination"), others(api, staff, above, "source")) == ([], [boss["id"]])


def test_what_is_sent_takes_the_place_of_what_was_there(api: Api, relate: Any, make: Any) -> None:
    relationship, role = relate(), make(ROLES)
    one, two, three = sorted((make(TENANTS) for _ in range(3)), key=lambda tenant: tenant["name"])
    put(api, role, relationship, "destination", [two["id"], one["id"]])
    assert others(api, role, relationship, "destination") == [one["id"], two["id"]]
    kept = api.get(ASSOCIATIONS, {"source_id": role["id"], "destination_id": two["id"]})["results"]
    answer = put(api, role, relationship, "destination", [{"name": three["name"]}, two])
    assert [item["id"] for item in answer["relationships"][relationship["slug"]]["destination"]["objects"]] == [
        two["id"],
        three["id"],
    ]
    assert api.get(ASSOCIATIONS, {"source_id": role["id"], "destination_id": two["id"]})["results"] == kept
    assert others(api, three, relationship, "source") == [role["id"]]
    api.patch(role["url"], {"relationships": {}, "description": "left alone"})
    assert len(others(api, role, relationship, "destination")) == 2
    put(api, three, relationship, "source", [])
    assert others(api, role, relationship, "destination") == [two["id"]]


def test_what_was_read_can_be_written(api: Api, relate: Any, make: Any) -> None:
    relationship, role, tenant = relate(), make(ROLES), make(TENANTS)
    put(api, role, relationship, "destination", [tenant["id"]])
    seen = api.get(role["url"], {"include": "relationships"})
    assert api.put(role["url"], seen)["relationships"] == seen["relationships"]


def test_objects_are_created_with_relationships(api: Api, relate: Any, make: Any, unique: Any) -> None:
    relationship, tenant = relate(), make(TENANTS)
    sent = {"relationships": {relationship["slug"]: {"destination": {"objects": [tenant["id"]]}}}}
    made = api.post(ROLES, [{"name": unique(), **sent}, {"name": unique(), **sent}])
    assert sorted(others(api, tenant, relationship, "source")) == sorted(role["id"] for role in made)


def test_peers_who_name_each_other_are_one_pair(api: Api, relate: Any, make: Any) -> None:
    peers, one, two = relate("symmetric-many-to-many", TENANT, TENANT), make(TENANTS), make(TENANTS)

    def naming(tenant: Any, other: Any) -> Any:
        return {"id": tenant["id"], "relationships": {peers["slug"]: {"peer": {"objects": [other["id"]]}}}}

    api.patch(TENANTS, [naming(one, two), naming(two, one)])
    assert api.get(ASSOCIATIONS, {"relationship": peers["slug"]})["count"] == 1


@pytest.mark.parametrize(
    ("sent", "message"),
    [
        ({"nope": {}}, '"nope" is not a relationship on dcim.RackRole'),
        ("x", '"x" is not a relationship on dcim.RackRole'),
        ({"SLUG": {"source": {"objects": []}}}, '"source" is not a valid side for "NAME" on dcim.RackRole'),
        ({"SLUG": {"destination": ["x"]}}, '"objects" must be specified under ["SLUG"]["destination"] when present'),
        ({"SLUG": {"destination": {"objects": "x"}}}, '["SLUG"]["destination"]["objects"] must be a list, not a str'),
        ({"SLUG": ["x"]}, "[\"SLUG\"] must be an object with 'destination', not a list"),
        (
            {"SLUG": {"destination": {"objects": [NOBODY, NOBODY]}}},
            'For "NAME", "destination" objects must include at most a single object',
        ),
        ({"SLUG": {"destination": {"objects": [NOBODY]}}}, f"Related object not found using the provided ID: {NOBODY}"),
        (
            {"SLUG": {"destination": {"objects": [{"name": "nope"}]}}},
            "Related object not found using the provided attributes: {'name': 'nope'}",
        ),
    ],
)
def test_what_makes_no_sense_is_refused(api: Api, relate: Any, make: Any, sent: Any, message: str) -> None:
    relationship, role = relate("one-to-one"), make(ROLES)
    body = (
        {name.replace("SLUG", relationship["slug"]): value for name, value in sent.items()}
        if isinstance(sent, dict)
        else sent
    )
    message = message.replace("SLUG", relationship["slug"]).replace("NAME", relationship["name"])
    assert api.patch(role["url"], {"relationships": body}, status=400) == {"relationships": [message]}


def test_what_an_association_may_not_be_cannot_be_sent_either(api: Api, relate: Any, make: Any) -> None:
    relationship, first, second, tenant = relate("one-to-one"), make(ROLES), make(ROLES), make(TENANTS)
    put(api, first, relationship, "destination", [tenant["id"]])
    message = f"Unable to create more than one {relationship['name']} association to {tenant['display']} (destination)"
    assert put(api, second, relationship, "destination", [tenant["id"]], status=400) == {"relationships": [message]}
    assert others(api, second, relationship, "destination") == []


def test_a_required_relationship_is_given_and_kept(api: Api, relate: Any, make: Any, unique: Any) -> None:
    relationship, tenant = relate(required_on="source"), make(TENANTS)
    message = f'You need to specify ["relationships"]["{relationship["slug"]}"]["destination"]["objects"].'
    refused = {"relationships": {relationship["slug"]: [message]}}
    assert api.post(ROLES, {"name": unique()}, status=400) == refused
    sent = {"relationships": {relationship["slug"]: {"destination": {"objects": [tenant["id"]]}}}}
    made = api.post(ROLES, {"name": unique(), **sent})
    assert put(api, made, relationship, "destination", [], status=400) == refused
    assert api.patch(made["url"], {"description": "unconcerned"})["description"] == "unconcerned"


def test_a_change_of_relationships_is_in_the_change_log(api: Api, relate: Any, make: Any) -> None:
    relationship, role, tenant = relate(), make(ROLES), make(TENANTS)
    put(api, role, relationship, "destination", [tenant["id"]])
    (association,) = api.get(ASSOCIATIONS, {"source_id": role["id"]})["results"]
    actions = [change["action"]["value"] for change in api.get(CHANGES, {"changed_object_id": role["id"]})["results"]]
    assert actions == ["update", "create"]
    assert api.get(CHANGES, {"changed_object_id": association["id"]})["count"] == 1
    put(api, role, relationship, "destination", [tenant["id"]])
    assert api.get(CHANGES, {"changed_object_id": role["id"]})["count"] == 2


def test_writing_an_object_is_enough_to_associate_it_with_what_is_visible(
    api: Api, make_user: Any, relate: Any, make: Any
) -> None:
    relationship, role, tenant, invisible = relate(), make(ROLES), make(TENANTS), make(TENANTS)
    editor = make_user(("view change", ROLE), ("view", "tenancy.tenant", {"id": tenant["id"]})).api
    put(editor, role, relationship, "destination", [tenant["id"]])
    assert others(api, role, relationship, "destination") == [tenant["id"]]
    path, body = (
        f"{ROLES}{role['id']}/",
        {"relationships": {relationship["slug"]: {"destination": {"objects": [invisible["id"]]}}}},
    )
    assert editor.patch(path, body, status=400) == {
        "relationships": [f"Related object not found using the provided ID: {invisible['id']}"]
    }
    put(api, role, relationship, "destination", [tenant["id"], invisible["id"]])
    put(editor, role, relationship, "destination", [tenant["id"], invisible["id"]])  # written back as it was read
    editor.post(ASSOCIATIONS, {}, status=403)


# -- filters


def test_objects_are_found_by_their_relationships(api: Api, relate: Any, make: Any) -> None:
    relationship, role, (one, two, three) = relate(), make(ROLES), [make(TENANTS) for _ in range(3)]
    put(api, role, relationship, "destination", [one["id"], two["id"]])
    to, back = f"cr_{relationship['slug']}__destination", f"cr_{relationship['slug']}__source"
    assert [found["id"] for found in api.get(ROLES, {to: [two["id"], three["id"]]})["results"]] == [role["id"]]
    assert api.get(ROLES, {to: three["id"]})["count"] == 0
    assert api.get(TENANTS, {back: role["id"]})["count"] == 2
    assert set(api.get(ROLES, {to: NOBODY}, status=400)) == {to}
    assert set(api.get(ROLES, {to: "nope"}, status=400)) == {to}
    assert api.get(ROLES, {back: role["id"]}, status=400) == {back: ["Unknown filter field"]}


def test_a_hidden_end_does_not_find(api: Api, relate: Any, make: Any) -> None:
    name = f"cr_{relate(destination_hidden=True)['slug']}__source"
    assert api.get(TENANTS, {name: make(ROLES)["id"]}, status=400) == {name: ["Unknown filter field"]}


def test_peers_are_found_from_either_end(api: Api, relate: Any, associate: Any, make: Any) -> None:
    peers, one, two = relate("symmetric-many-to-many", TENANT, TENANT), make(TENANTS), make(TENANTS)
    associate(peers, one, two)
    name = f"cr_{peers['slug']}__peer"
    assert [found["id"] for found in api.get(TENANTS, {name: one["id"]})["results"]] == [two["id"]]
    assert [found["id"] for found in api.get(TENANTS, {name: two["id"]})["results"]] == [one["id"]]


# -- statements


def test_relationships_cost_the_same_for_one_object_and_for_many(
    api: Api, service: Service, relate: Any, make: Any
) -> None:
    relationship, other, tenants = relate(), relate(source=ROLE, destination=ROLE), [make(TENANTS) for _ in range(3)]
    roles = [make(ROLES) for _ in range(12)]

    def body(role: Any) -> dict[str, Any]:
        objects = {"destination": {"objects": [tenant["id"] for tenant in tenants]}}
        return {
            "id": role["id"],
            "relationships": {
                relationship["slug"]: objects,
                other["slug"]: {"destination": {"objects": [roles[0]["id"]]}},
            },
        }

    with service.statements() as one:
        api.patch(ROLES, [body(roles[1])])
    with service.statements() as ten:
        api.patch(ROLES, [body(role) for role in roles[2:]])
    with service.statements() as reading_one:
        api.get(ROLES, {"id": roles[1]["id"], "include": "relationships"})
    with service.statements() as reading_all:
        api.get(ROLES, {"id": [role["id"] for role in roles], "include": "relationships"})
    with service.statements() as plain:
        api.get(ROLES, {"id": [role["id"] for role in roles]})
    assert len(ten) == len(one) <= 18
    assert len(reading_all) == len(reading_one) == len(plain) + 2
