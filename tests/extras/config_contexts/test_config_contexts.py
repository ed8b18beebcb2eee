"""Config contexts: what they are limited to, how their data is merged, and what that costs."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from typing import Any

import pytest

from netinv_extras.config_contexts.merge import MergedContext
from netinv_extras.config_contexts.scopes import ContextScope
from netinv_testing import Api, Service
from netinv_testing.checks.query_counts import DETAIL, LIST

CONTEXTS = "/api/extras/config-contexts/"
SCHEMAS = "/api/extras/config-context-schemas/"
DEVICES = "/api/dcim/devices/"
MACHINES = "/api/virtualization/virtual-machines/"
REGIONS, SITES, LOCATIONS = "/api/dcim/regions/", "/api/dcim/sites/", "/api/dcim/locations/"
NUMBERS = {"type": "object", "properties": {"vlan": {"type": "integer"}}}


@pytest.fixture
def word(unique: Any) -> str:
    """A member of config contexts that no other test has."""
    return str(unique())


@pytest.fixture
def make_context(api: Api, unique: Any) -> Iterator[Any]:
    """``make_context(data, …)``: an active context; gone after the test, as it may be for what other tests make."""
    made: list[str] = []

    def post(data: Any, **fields: Any) -> Any:
        found = api.post(CONTEXTS, {"name": unique(), "data": data, **fields})
        made.append(found["id"])
        return found

    yield post
    there = api.get(CONTEXTS, {"id": made, "limit": 0})["results"] if made else []
    api.delete(CONTEXTS, [{"id": item["id"]} for item in there])


@pytest.fixture
def make_device(api: Api, make: Any, unique: Any) -> Any:
    """``make_device(…)``: a device, with a type, a role and a site of its own where none are given."""

    def post(**fields: Any) -> Any:
        if "device_type" not in fields:
            fields["device_type"] = make(
                "/api/dcim/device-types/", model=unique(), manufacturer=make("/api/dcim/manufacturers/")["id"]
            )["id"]
        if "device_role" not in fields:
            fields["device_role"] = make("/api/dcim/device-roles/")["id"]
        if "site" not in fields:
            fields["site"] = make(SITES, status="active")["id"]
        return api.post(DEVICES, {"name": unique(), "status": "active", **fields})

    return post


@pytest.fixture
def make_cluster(api: Api, make: Any, unique: Any) -> Any:
    """``make_cluster(…)``: a cluster."""
    return lambda **fields: api.post(
        "/api/virtualization/clusters/",
        {"name": unique(), "type": make("/api/virtualization/cluster-types/")["id"], **fields},
    )


def read(api: Api, shown: Any) -> Any:
    """The config context that an object has now."""
    return api.get(shown["url"])["config_context"]


# -- merging


def test_data_is_merged_by_weight_then_by_name_and_an_objects_own_comes_last(
    api: Api, make_context: Any, make_device: Any, word: str
) -> None:
    device = make_device(local_context_data={word: {"own": True, "deep": {"x": 9}}})
    scope = {"sites": [device["site"]["id"]]}
    make_context({word: {"who": "heavy", "list": [3]}}, weight=2000, **scope)
    make_context({word: {"who": "light", "list": [1, 2], "deep": {"x": 1, "y": {"p": 1}}}}, weight=1, **scope)
    make_context({word: {"deep": {"x": 2, "y": {"q": 2}}, "tie": "b"}}, name=f"{word} b", **scope)
    make_context({word: {"tie": "a"}}, name=f"{word} a", **scope)
    shared = {"who": "heavy", "list": [3], "deep": {"x": 2, "y": {"p": 1, "q": 2}}, "tie": "b"}
    assert make_device(site=device["site"]["id"])["config_context"][word] == shared
    assert read(api, device)[word] == {**shared, "own": True, "deep": {**shared["deep"], "x": 9}}


def test_what_is_no_mapping_is_replaced_as_a_whole(make_context: Any, make_device: Any, word: str) -> None:
    make_context({word: {"a": {"deep": 1}, "b": [1], "c": 1, "d": {"deep": 1}}}, weight=1)
    make_context({word: {"a": 2, "b": {"x": 1}, "c": None, "d": {}}}, weight=2)
    assert make_device()["config_context"][word] == {"a": 2, "b": {"x": 1}, "c": None, "d": {"deep": 1}}


def test_a_context_without_scopes_is_for_all_and_an_inactive_one_for_none(
    api: Api, make_context: Any, make_device: Any, make_cluster: Any, word: str
) -> None:
    device = make_device()
    machine = api.post(MACHINES, {"name": word, "cluster": make_cluster()["id"], "status": "active"})
    context = make_context({word: 1})
    assert read(api, device)[word] == read(api, machine)[word] == 1
    api.patch(context["url"], {"is_active": False})
    assert word not in read(api, device)
    api.patch(context["url"], {"is_active": True, "data": {word: 2}})
    assert read(api, device)[word] == 2
    api.delete(context["url"])
    assert word not in read(api, device)


def test_the_config_context_can_be_left_out(
    api: Api, make_context: Any, make_device: Any, word: str, statements: Any
) -> None:
    device = make_device()
    make_context({word: 1}, regions=[api.post(REGIONS, {"name": word})["id"]])
    with statements() as found:
        assert "config_context" not in api.get(DEVICES, {"id": device["id"], "exclude": "config_context"})["results"][0]
    assert not any("extras_config_context." in statement for statement in found)
    assert "config_context" not in api.get(device["url"], {"exclude": "config_context"})
    assert "config_context" not in api.get(device["url"], {"brief": 1})
    assert api.get(SITES, {"exclude": "config_context"}, status=400) == {"exclude": ["Unknown filter field"]}


# -- scopes


def test_scopes_are_and_objects_within_one_are_or(make_context: Any, make_device: Any, word: str) -> None:
    one, two = make_device(), make_device()
    make_context({word: 1}, sites=[one["site"]["id"], two["site"]["id"]], roles=[one["device_role"]["id"]])

    def has(site: Any, role: Any) -> bool:
        return word in make_device(site=site["site"]["id"], device_role=role["device_role"]["id"])["config_context"]

    assert [has(one, one), has(two, one), has(one, two)] == [True, True, False]
    assert word not in make_device(device_role=one["device_role"]["id"])["config_context"]


def test_trees_include_what_lies_below(api: Api, make: Any, make_context: Any, make_device: Any, word: str) -> None:
    above = make(REGIONS)
    below = make(REGIONS, parent=make(REGIONS, parent=above["id"])["id"])
    group = make("/api/tenancy/tenant-groups/")
    tenant = make("/api/tenancy/tenants/", group=make("/api/tenancy/tenant-groups/", parent=group["id"])["id"])
    kind = make("/api/dcim/location-types/", content_types=["dcim.device"], nestable=True)
    site = make(SITES, status="active", region=below["id"])
    place = make(LOCATIONS, location_type=kind["id"], site=site["id"], status="active")
    room = make(LOCATIONS, location_type=kind["id"], parent=place["id"], status="active")
    device = make_device(site=site["id"], tenant=tenant["id"], location=room["id"])
    for member, target in (("regions", above), ("tenant_groups", group), ("locations", place)):
        make_context({word: {member: True}}, **{member: [target["id"]]})
    assert read(api, device)[word] == dict.fromkeys(("regions", "tenant_groups", "locations"), True)
    api.patch(below["url"], {"parent": None})
    api.patch(tenant["url"], {"group": None})
    assert read(api, device)[word] == {"locations": True}


def test_locations_limit_to_what_is_there(api: Api, make: Any, make_context: Any, make_device: Any, word: str) -> None:
    kind = make("/api/dcim/location-types/", content_types=["dcim.device"])
    site = make(SITES, status="active")
    here, there = [make(LOCATIONS, location_type=kind["id"], site=site["id"], status="active") for _ in range(2)]
    make_context({word: 1}, locations=[here["id"]])
    assert word in make_device(site=site["id"], location=here["id"])["config_context"]
    assert word not in make_device(site=site["id"], location=there["id"])["config_context"]
    assert word not in make_device(site=site["id"])["config_context"]


def test_each_scope_holds_for_the_devices_that_lead_to_it(
    api: Api, make: Any, make_context: Any, make_device: Any, make_cluster: Any, word: str
) -> None:
    tag = make("/api/extras/tags/", content_types=["dcim.device"])
    pool = make_cluster(group=make("/api/virtualization/cluster-groups/")["id"])
    pair = make("/api/dcim/device-redundancy-groups/", status="active")
    more = {"platform": make("/api/dcim/platforms/")["id"], "tenant": make("/api/tenancy/tenants/")["id"]}
    device = make_device(tags=[tag["id"]], cluster=pool["id"], device_redundancy_group=pair["id"], **more)
    targets = {
        "sites": device["site"]["id"],
        "roles": device["device_role"]["id"],
        "device_types": device["device_type"]["id"],
        "platforms": more["platform"],
        "cluster_groups": pool["group"]["id"],
        "clusters": pool["id"],
        "tenants": more["tenant"],
        "device_redundancy_groups": pair["id"],
        "tags": tag["slug"],
    }
    for member, target in targets.items():
        make_context({word: {member: True}}, **{member: [target]})
    assert read(api, device)[word] == dict.fromkeys(targets, True)
    assert word not in make_device()["config_context"]


def test_machines_are_where_their_cluster_is(
    api: Api, make: Any, make_context: Any, make_cluster: Any, word: str
) -> None:
    region = make(REGIONS)
    site = make(SITES, status="active", region=region["id"])
    pool = make_cluster(site=site["id"], group=make("/api/virtualization/cluster-groups/")["id"])
    role = make("/api/dcim/device-roles/", vm_role=True)
    body = {"name": word, "status": "active", "cluster": pool["id"], "role": role["id"]}
    targets = {"regions": region, "sites": site, "clusters": pool, "cluster_groups": pool["group"], "roles": role}
    for member, target in targets.items():
        make_context({word: {member: True}}, **{member: [target["id"]]})
    make_context(
        {word: {"type": True}},
        device_types=[
            make("/api/dcim/device-types/", model=word, manufacturer=make("/api/dcim/manufacturers/")["id"])["id"]
        ],
    )
    machine = api.post(MACHINES, {**body, "local_context_data": {word: {"own": 1}}})
    assert machine["config_context"][word] == {
        **dict.fromkeys(targets, True),
        "own": 1,
    }  # machines have no type, so they are not within device types


def test_a_deleted_object_is_no_longer_in_a_scope(
    api: Api, make: Any, make_context: Any, make_device: Any, word: str
) -> None:
    site, device = make(SITES, status="active"), make_device()
    context = make_context({word: 1}, sites=[site["id"], device["site"]["id"]])
    assert read(api, device)[word] == 1
    api.delete(site["url"])
    assert [shown["id"] for shown in api.get(context["url"])["sites"]] == [device["site"]["id"]]


def test_scopes_that_cannot_be_are_found_at_the_start(service: Service) -> None:
    devices = service.registry["dcim.device"]
    with pytest.raises(ValueError, match="does not have: 'planet'"):
        MergedContext(
            name="config_context",
            endpoint=devices,
            scopes=[ContextScope("planets", "dcim.region", {devices.label: "site.planet"})],
        )
    for one, other in (
        ({"target": "dcim.site"}, {"target": "dcim.rack"}),
        ({"paths": {"a.b": "c"}}, {"paths": {"a.b": "d"}}),
    ):
        with pytest.raises(ValueError, match="two packages disagree on the config context scope 'places'"):
            ContextScope("places", **one).combined(ContextScope("places", **other))


# -- the resource


def test_scopes_are_listed_as_nested_objects_in_order_and_tags_by_slug(
    api: Api, make: Any, make_context: Any, unique: Any
) -> None:
    name, tag = unique(), make("/api/extras/tags/", content_types=["dcim.device"])
    sites = [make(SITES, name=f"{name} {letter}", status="active") for letter in "ba"]
    types = [
        make(
            "/api/dcim/device-types/",
            model=m,
            manufacturer={"name": make("/api/dcim/manufacturers/", name=f"{name} {m}")["name"]},
        )
        for m in "ba"
    ]
    found = make_context(
        {"a": 1},
        sites=[item["id"] for item in sites],
        device_types=[{"slug": item["slug"]} for item in types],
        tags=[tag["slug"]],
    )
    assert [shown["name"] for shown in found["sites"]] == [f"{name} a", f"{name} b"]
    assert set(found["sites"][0]) == {"display", "id", "url", "name", "slug"}
    assert [shown["manufacturer"]["name"] for shown in found["device_types"]] == [f"{name} a", f"{name} b"]
    assert (found["tags"], found["regions"], found["weight"], found["is_active"]) == ([tag["slug"]], [], 1000, True)
    assert api.get(found["url"]) == {**found}
    assert api.patch(found["url"], {"sites": [], "tags": []})["device_types"] == found["device_types"]
    assert api.get(found["url"])["sites"] == api.get(found["url"])["tags"] == []


def test_what_is_wrong_with_a_context_is_said(api: Api, make_context: Any, unique: Any) -> None:
    there, nobody = make_context({"a": 1}), str(uuid.uuid4())
    body = {"name": unique(), "data": {"a": 1}}
    refused = {
        "sites": ([nobody], [f'Invalid pk "{nobody}" - object does not exist.']),
        "roles": (["zz"], ["“zz” is not a valid UUID."]),
        "tenants": ("zz", ['Expected a list of items but got type "str".']),
        "tags": (["zz"], ["Object with slug=zz does not exist."]),
        "data": ([1], ['JSON data must be in object form. Example: {"foo": 123}']),
        "name": (there["name"], ["A ConfigContext with this name already exists."]),
        "weight": (32768, ["Ensure this value is less than or equal to 32767."]),
    }
    for member, (value, messages) in refused.items():
        assert api.post(CONTEXTS, {**body, member: value}, status=400) == {member: messages}
    assert api.post(CONTEXTS, {}, status=400) == {
        "name": ["This field is required."],
        "data": ["This field is required."],
    }


def test_data_is_not_nested_without_end(api: Api, make_context: Any, make_device: Any, word: str) -> None:
    def nested(levels: int, value: int) -> Any:
        found: Any = {word: value}
        for _ in range(levels - 1):
            found = {word: found}
        return found

    for value in (1, 2):
        make_context(nested(29, value))
    device = make_device(local_context_data=nested(29, 3))
    assert device["config_context"][word] == nested(29, 3)[word]
    assert api.get(CONTEXTS, {"limit": 0})["count"] and api.get(DEVICES, {"id": device["id"]})["count"]
    for levels in (30, 90):
        refused = api.post(CONTEXTS, {"name": word, "data": nested(levels, 1)}, status=400)
        assert refused == {"data": ["Values are nested in no more than 29 levels."]}


def test_contexts_of_different_owners_may_be_called_the_same(
    api: Api, make: Any, make_context: Any, unique: Any
) -> None:
    name, site = unique(), make(SITES, status="active")
    owner = {"owner_content_type": "dcim.site", "owner_object_id": site["id"]}
    plain, owned = make_context({"a": 1}, name=name), make_context({"a": 1}, name=name, **owner)
    assert (plain["display"], owned["display"]) == (name, f"[{site['name']}] {name}")
    assert owned["owner"]["id"] == site["id"]
    assert api.get(CONTEXTS, {"owner_content_type": "dcim.site", "name": name})["count"] == 1
    assert "__all__" in api.post(CONTEXTS, {"name": name, "data": {"a": 1}, **owner}, status=400)


def test_data_fits_its_schema(api: Api, make: Any, make_context: Any, unique: Any) -> None:
    schema = make(SCHEMAS, data_schema=NUMBERS)
    wrong = {"data": [f"Validation using the JSON Schema {schema['name']} failed.", "'x' is not of type 'integer'"]}
    assert api.post(CONTEXTS, {"name": unique(), "data": {"vlan": "x"}, "schema": schema["id"]}, status=400) == wrong
    context = make_context({"vlan": 1}, schema=schema["id"])
    assert api.patch(context["url"], {"data": {"vlan": "x"}}, status=400) == wrong
    assert api.get(CONTEXTS, {"schema": schema["slug"]})["count"] == 1
    api.delete(schema["url"])
    assert api.patch(context["url"], {"data": {"vlan": "x"}})["schema"] is None


def test_contexts_are_found_by_what_they_are_limited_to(api: Api, make: Any, make_context: Any, word: str) -> None:
    parent, tag = make(REGIONS), make("/api/extras/tags/", content_types=["dcim.device"])
    region, site = make(REGIONS, parent=parent["id"]), make(SITES, status="active")
    both = make_context({"a": 1}, name=f"{word} both", regions=[region["id"]], tags=[tag["slug"]])
    other = make_context({"a": 1}, name=f"{word} other", sites=[site["id"]])

    def found(**query: Any) -> list[str]:
        return [item["id"] for item in api.get(CONTEXTS, {"q": word, **query})["results"]]

    assert found() == [both["id"], other["id"]]
    assert found(region=region["slug"]) == found(region_id=region["id"]) == found(tag=tag["slug"]) == [both["id"]]
    assert found(region=parent["slug"]) == []
    assert found(region="null") == found(site=site["slug"]) == found(tag__n=tag["slug"]) == [other["id"]]
    assert found(site_id=site["id"], region=region["slug"]) == []
    assert api.get(CONTEXTS, {"role": "nope"}, status=400) == {
        "role": ["Select a valid choice. nope is not one of the available choices."]
    }
    assert api.get(CONTEXTS, {"role_id": "abc"}, status=400) == {"role_id": ["“abc” is not a valid UUID."]}


# -- what it costs


def test_pages_cost_the_same_however_many_objects_and_contexts(
    api: Api, make: Any, make_context: Any, make_device: Any, statements: Any, word: str
) -> None:
    region, tag = make(REGIONS), make("/api/extras/tags/", content_types=["dcim.device"])
    site = make(SITES, status="active", region=region["id"])
    first = make_device(name=f"{word} first", site=site["id"], tags=[tag["id"]])
    body = {
        "device_type": first["device_type"]["id"],
        "device_role": first["device_role"]["id"],
        "site": site["id"],
        "status": "active",
    }
    api.post(DEVICES, [{**body, "name": f"{word} {number}"} for number in range(40)])
    for number in range(8):
        make_context(
            {word: {str(number): 1}},
            regions=[region["id"]],
            sites=[site["id"]],
            **({"tags": [tag["slug"]]} if number % 2 else {}),
        )
    with statements() as anew:
        page = api.get(DEVICES, {"name__isw": word, "limit": 1000})["results"]
    with statements() as known:
        api.get(DEVICES, {"name__isw": word, "limit": 1000})
    with statements() as one:
        api.get(DEVICES, {"id": first["id"]})
    assert len(page) == 41 and {len(shown["config_context"][word]) for shown in page} == {4, 8}
    assert len(anew) <= LIST, "\n".join(anew)
    assert len(one) <= len(known) < len(anew)
    with statements() as detail:
        api.get(first["url"])
    assert len(detail) <= DETAIL, "\n".join(detail)
    with statements() as contexts:
        api.get(CONTEXTS, {"limit": 1000})
    assert len(contexts) <= LIST, "\n".join(contexts)
