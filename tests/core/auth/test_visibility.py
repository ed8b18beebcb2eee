"""Objects that users may not view: no filter, list, reference, message or log tells more of it than of what does not
exist.
"""

from __future__ import annotations

from typing import Any

import pytest

from netinv_testing import Api, Case, Service

REGIONS, SITES, RACKS, TENANTS = "/api/dcim/regions/", "/api/dcim/sites/", "/api/dcim/racks/", "/api/tenancy/tenants/"
NO_UUID = "00000000-0000-4000-8000-000000000000"
EVERY = "view add change delete"


@pytest.fixture
def world(api: Api, make: Any, unique: Any) -> dict[str, Any]:
    """Two sites, each with a region, a tenant of its own and a rack; a user is to see one side of it."""
    found: dict[str, Any] = {}
    for side in ("seen", "hidden"):
        region, tenant = make(REGIONS, description=unique()), make(TENANTS, description=unique(), comments=unique())
        site = make(
            SITES, region=region["id"], tenant=tenant["id"], status="active", facility=unique(), asn=unique.number()
        )
        racks = [api.post(RACKS, {"name": unique(), "site": site["id"], "status": "active", "serial": unique()})]
        found[side] = {"region": region, "tenant": tenant, "site": site, "rack": racks[0]}
    return found


LABELS = {"region": "dcim.region", "tenant": "tenancy.tenant", "site": "dcim.site", "rack": "dcim.rack"}


def limited(service: Service, world: Any, *kinds: str, **whole: str) -> Api:
    """A client that may view the seen objects of these kinds, and all objects of those given ``whole`` with actions."""
    permissions = [(EVERY, LABELS[kind], {"id": world["seen"][kind]["id"]}) for kind in kinds]
    return service.user(*permissions, *[(actions, LABELS[kind]) for kind, actions in whole.items()]).api


def alike(client: Api, path: str, parameter: str, hidden: str, unknown: str) -> Any:
    """The answer to a parameter that names something hidden, which is the same for something that does not exist."""
    one, other = (client.send("GET", path, query={parameter: value}, status=(200, 400)) for value in (hidden, unknown))
    assert one.status_int == other.status_int, f"{path}?{parameter}"
    assert one.text.replace(hidden, "…") == other.text.replace(unknown, "…"), f"{path}?{parameter}"
    return one.json


def test_a_parameter_that_names_what_is_hidden_is_like_one_that_names_nothing(
    service: Service, world: Any, unique: Any
) -> None:
    hidden, seen = world["hidden"], world["seen"]
    client = limited(service, world, "site", "region", rack="view")
    for parameter, kind in (("site", "site"), ("region", "region"), ("site__n", "site"), ("tenant", "tenant")):
        for name, nothing in (("id", NO_UUID), ("slug", unique())):
            refused = alike(client, RACKS, parameter, hidden[kind][name], nothing)
            assert list(refused) == [parameter]
    assert client.get(RACKS, {"site": seen["site"]["slug"]})["count"] == 1
    assert client.get(RACKS, {"region": seen["region"]["slug"]})["count"] == 1


def test_paths_of_filters_and_searches_lead_by_what_is_visible(service: Service, world: Any, unique: Any) -> None:
    client, whole = limited(service, world, "site", region="view"), service.api
    for side, count in (("seen", 1), ("hidden", 0)):
        region, rack = world[side]["region"], world[side]["rack"]
        for path, query in (
            (REGIONS, {"sites": world[side]["site"]["slug"]}),
            (REGIONS, {"id": region["id"], "has_sites": "true"}),
        ):
            assert whole.get(path, query)["count"] == 1
            found = client.get(path, query, status=(200, 400))
            assert found.get("count", 0) == count, query
        assert client.get(REGIONS, {"id": region["id"], "has_sites": "false"})["count"] == 1 - count
        assert whole.get(SITES, {"racks": rack["id"]})["count"] == 1
        assert list(client.get(SITES, {"racks": rack["id"]}, status=400)) == ["racks"]  # no permission for racks at all
        assert client.get(SITES, {"id": world["seen"]["site"]["id"], "has_racks": "true"})["count"] == 0
    assert client.get(SITES, {"status": "active"})["count"] == 1  # statuses are choices that anyone may name


def test_a_refusal_to_delete_names_only_what_is_visible(service: Service, world: Any) -> None:
    seen, hidden = world["seen"], world["hidden"]
    service.api.patch(hidden["rack"]["url"], {"site": seen["site"]["id"]})
    client = limited(service, world, "site", "rack")
    told = client.delete(seen["site"]["url"], status=409)["detail"]
    assert (
        told
        == f"Unable to delete object. 2 dependent objects were found: {seen['rack']['name']} ({seen['rack']['id']}) and 1 that you may not view"
    )
    blind = limited(service, world, "site")
    assert blind.delete(seen["site"]["url"], status=409)["detail"].endswith(
        "2 dependent objects were found: you may not view them"
    )
    assert hidden["rack"]["name"] in service.api.delete(seen["site"]["url"], status=409)["detail"]


LOGS = ("extras.objectchange", "extras.note", "extras.imageattachment", "extras.relationshipassociation")
CHANGES, NOTES, ASSOCIATIONS = (
    "/api/extras/object-changes/",
    "/api/extras/notes/",
    "/api/extras/relationship-associations/",
)


def test_what_is_about_something_hidden_is_hidden(service: Service, world: Any, unique: Any) -> None:
    api, word = service.api, unique()
    relationship = api.post(
        "/api/extras/relationships/",
        {"name": word, "type": "many-to-many", "source_type": "dcim.site", "destination_type": "dcim.rack"},
    )
    texts = {}
    for side in ("seen", "hidden"):
        site, rack = world[side]["site"]["id"], world[side]["rack"]["id"]
        about = {"assigned_object_type": "dcim.site", "assigned_object_id": site}
        texts[side] = api.post(NOTES, about | {"note": f"{word} {side}"})
        ends = {"source_type": "dcim.site", "source_id": site, "destination_type": "dcim.rack", "destination_id": rack}
        texts[f"{side} ends"] = api.post(ASSOCIATIONS, {"relationship": relationship["id"], **ends})
    sight = [("view", LABELS[kind], {"id": world["seen"][kind]["id"]}) for kind in ("site", "rack")]
    client = service.user(("view add change delete", LOGS), ("view", "extras.relationship"), *sight).api
    assert [note["note"] for note in client.get(NOTES, {"q": word})["results"]] == [f"{word} seen"]
    assert [item["id"] for item in client.get(ASSOCIATIONS, {"relationship": relationship["slug"]})["results"]] == [
        texts["seen ends"]["id"]
    ]
    for name in ("hidden", "hidden ends"):
        for method, body in (("GET", None), ("PATCH", {}), ("DELETE", None)):
            client.send(method, texts[name]["url"], *([] if body is None else [body]), status=404)
    for side, count in (("seen", 1), ("hidden", 0)):
        for key in (world[side]["site"]["id"], texts[side]["id"]):
            assert len(api.get(CHANGES, {"changed_object_id": key})["results"]) == 1
            assert len(client.get(CHANGES, {"changed_object_id": key})["results"]) == count, side
    about = {"assigned_object_type": "dcim.site", "note": "x"}
    answers = [
        client.post(NOTES, about | {"assigned_object_id": key}, status=400)
        for key in (world["hidden"]["site"]["id"], NO_UUID)
    ]
    assert [list(answer) for answer in answers] == [["assigned_object_id"]] * 2
    assert client.get(CHANGES, {"limit": 0})["count"] == len(client.get(CHANGES, {"limit": 0})["results"])


def test_deleted_objects_stay_in_the_log_of_those_who_may_view_all_of_them(service: Service, make: Any) -> None:
    gone = make(REGIONS)
    service.api.delete(gone["url"])
    for constraints, count in ((None, 2), ({"name": gone["name"]}, 0)):
        client = service.user(("view", "extras.objectchange"), ("view", "dcim.region", constraints)).api
        assert client.get(CHANGES, {"changed_object_id": gone["id"]})["count"] == count


def test_a_dynamic_group_finds_no_more_than_its_reader_may(service: Service, world: Any, unique: Any) -> None:
    word, group = unique(), "/api/extras/dynamic-groups/"
    seen, hidden = world["seen"], world["hidden"]
    service.api.patch(seen["rack"]["url"], {"site": hidden["site"]["id"]})
    made = service.api.post(
        group, {"name": word, "slug": word, "content_type": "dcim.rack", "filter": {"site": [hidden["site"]["slug"]]}}
    )
    assert service.api.get(f"{made['url']}members/")["count"] == 2
    permissions = [
        ("view add", "extras.dynamicgroup"),
        ("view", "dcim.rack", {"id": seen["rack"]["id"]}),
        ("view", "dcim.site", {"id": seen["site"]["id"]}),
    ]
    client = service.user(*permissions).api
    assert client.get(f"{made['url']}members/")["count"] == 0
    for name, wrong in (("hidden", hidden["site"]["slug"]), ("unknown", unique())):
        body = {"name": unique(), "slug": unique(), "content_type": "dcim.rack", "filter": {"site": [wrong]}}
        assert client.post(group, body, status=400) == {
            "site": [f"Select a valid choice. {wrong} is not one of the available choices."]
        }, name


# -- refusals because of an object that the request does not name: each function makes one, and returns the request, the
# models that the user may view, the words of the refusal, and the name of the object

Refusal = tuple[str, str, Any, list[str], str, str]


def overlapping_aggregate(service: Service) -> Refusal:
    """An aggregate within another one."""
    network, path = service.unique.ipv6(), "/api/ipam/aggregates/"
    rir = service.api.post("/api/ipam/rirs/", {"name": service.unique()})["id"]
    service.api.post(path, {"prefix": f"{network}::/48", "rir": rir})
    body = {"prefix": f"{network}:1::/64", "rir": rir}
    return "POST", path, body, ["ipam.rir"], "already covered by an existing aggregate.", f"{network}::/48"


def device_of_a_taller_type(service: Service) -> Refusal:
    """A height of a device type for which a mounted device has no space."""
    kind, site = Case(service, "dcim.devicetype").make(), Case(service, "dcim.site").make()["id"]
    rack = service.api.post(RACKS, {"name": service.unique(), "site": site, "status": "active"})["id"]
    role, name = Case(service, "dcim.devicerole").make()["id"], service.unique()
    placed = {"name": name, "rack": rack, "site": site, "position": 1, "face": "front", "status": "active"}
    service.api.post("/api/dcim/devices/", {**placed, "device_type": kind["id"], "device_role": role})
    words = "A device that you may not view does not have sufficient space"
    return "PATCH", kind["url"], {"u_height": 50}, ["dcim.rack"], words, name


def device_in_a_taken_unit(service: Service) -> Refusal:
    """A device in a unit that another one has."""
    kind, site = Case(service, "dcim.devicetype").make(), Case(service, "dcim.site").make()["id"]
    rack = service.api.post(RACKS, {"name": service.unique(), "site": site, "status": "active"})["id"]
    body = {"rack": rack, "site": site, "position": 1, "face": "front", "status": "active", "device_type": kind["id"]}
    body["device_role"], name = Case(service, "dcim.devicerole").make()["id"], service.unique()
    service.api.post("/api/dcim/devices/", {**body, "name": name})
    unseen = ["dcim.rack", "dcim.site", "dcim.devicetype", "dcim.devicerole"]
    return (
        "POST",
        "/api/dcim/devices/",
        {**body, "name": service.unique()},
        unseen,
        "The position and face is already occupied",
        name,
    )


def device_in_another_bay(service: Service) -> Refusal:
    """A device that is installed in another bay."""
    child = Case(service, "dcim.devicetype").make(u_height=0, subdevice_role="child")["id"]
    installed = Case(service, "dcim.device").make(device_type=child)["id"]
    bay, other = (Case(service, "dcim.devicebay").make(name=service.unique()) for _ in range(2))
    service.api.patch(bay["url"], {"installed_device": installed})
    words = "already installed in another device bay"
    return "PATCH", other["url"], {"installed_device": installed}, ["dcim.device"], words, bay["name"]


def group_with_a_broken_child(service: Service) -> Refusal:
    """The members of a dynamic group whose child has a filter that is not valid any more."""
    slug, path = service.unique(), "/api/extras/dynamic-groups/"
    field = {"type": "text", "slug": slug, "label": slug, "content_types": ["dcim.site"]}
    made = service.api.post("/api/extras/custom-fields/", field)
    child, parent = (
        service.api.post(path, {"name": word, "slug": word, "content_type": "dcim.site", "filter": terms})
        for word, terms in ((service.unique(), {f"cf_{slug}": "x"}), (service.unique(), {}))
    )
    member = {"parent_group": parent["id"], "group": child["id"], "operator": "union", "weight": 1}
    service.api.post("/api/extras/dynamic-group-memberships/", member)
    service.api.delete(made["url"])
    return "GET", f"{parent['url']}members/", None, ["dcim.site"], "a group that you may not view", child["name"]


REFUSALS = (
    overlapping_aggregate,
    device_of_a_taller_type,
    device_in_a_taken_unit,
    device_in_another_bay,
    group_with_a_broken_child,
)


@pytest.mark.parametrize("refused", REFUSALS, ids=lambda refused: refused.__name__)
def test_a_refusal_names_no_hidden_object_that_stands_in_the_way(service: Service, refused: Any) -> None:
    """It says what is wrong without the name, which those learn who may view the object."""
    method, path, body, seen, words, name = refused(service)
    acted_on = next(endpoint.label for endpoint in service.registry.endpoints.values() if endpoint.path in path)
    key = path.removesuffix("members/").rstrip("/").rpartition("/")[2]
    own = ("add", acted_on) if method == "POST" else (EVERY, acted_on, {"id": key})
    clients, sent = (service.user(own, ("view", seen)).api, service.api), () if body is None else (body,)
    problem = {"Accept": "application/json, application/problem+json"}
    texts = [client.send(method, path, *sent, status=400, headers=problem).text for client in clients]
    assert words in texts[0] and name not in texts[0]
    assert name in texts[1]


def test_cables_and_traces_stop_where_sight_ends(service: Service, make: Any, unique: Any) -> None:
    api, interfaces, cables = service.api, "/api/dcim/interfaces/", "/api/dcim/cables/"
    site = make(SITES, status="active")
    maker = make("/api/dcim/manufacturers/")
    kind = api.post("/api/dcim/device-types/", {"manufacturer": maker["id"], "model": unique()})
    body = {
        "device_type": kind["id"],
        "device_role": make("/api/dcim/device-roles/")["id"],
        "site": site["id"],
        "status": "active",
    }
    near, far = api.post("/api/dcim/devices/", [body | {"name": unique()} for _ in range(2)])
    ports = api.post(
        interfaces,
        [
            {"device": device["id"], "name": unique(), "type": "1000base-t", "status": "active"}
            for device in (near, far)
        ],
    )
    client = service.user(("view", "dcim.interface", {"device": near["id"]}), ("add view", "dcim.cable")).api
    ends = {
        "status": "connected",
        "termination_a_type": "dcim.interface",
        "termination_a_id": ports[0]["id"],
        "termination_b_type": "dcim.interface",
    }
    answers = [client.post(cables, ends | {"termination_b_id": key}, status=400) for key in (ports[1]["id"], NO_UUID)]
    assert answers[0] == answers[1] and ports[1]["name"] not in str(answers)
    cable = api.post(cables, ends | {"termination_b_id": ports[1]["id"]})
    ((shown, line, beyond),) = client.get(f"{ports[0]['url']}trace/")
    assert (shown["id"], line["id"], beyond) == (ports[0]["id"], cable["id"], None)
    blind = service.user(("view", "dcim.interface", {"device": near["id"]})).api
    assert [part and part["id"] for part in blind.get(f"{ports[0]['url']}trace/")[0]] == [ports[0]["id"], None, None]
