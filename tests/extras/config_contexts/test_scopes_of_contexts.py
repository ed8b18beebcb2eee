"""Scopes of config contexts: each of them, alone and in pairs, for devices and virtual machines, against a plain model;
and what becomes of a context whose scope has lost its last object.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import pytest

from netinv_extras.config_contexts import limits
from netinv_testing import Api, Service, Unique
from netinv_web.testing import Browser

CONTEXTS, DEVICES = "/api/extras/config-contexts/", "/api/dcim/devices/"
CHANGES = "/api/extras/object-changes/"
MACHINES = "/api/virtualization/virtual-machines/"
RESOURCES = {
    "regions": "dcim/regions",
    "sites": "dcim/sites",
    "locations": "dcim/locations",
    "roles": "dcim/device-roles",
    "device_types": "dcim/device-types",
    "platforms": "dcim/platforms",
    "cluster_groups": "virtualization/cluster-groups",
    "clusters": "virtualization/clusters",
    "tenant_groups": "tenancy/tenant-groups",
    "tenants": "tenancy/tenants",
    "device_redundancy_groups": "dcim/device-redundancy-groups",
    "tags": "extras/tags",
}
Objects = dict[str, Any]


@pytest.fixture
def targets(api: Api, unique: Unique) -> Any:
    """``targets()``: a new object for each scope, of which no device or virtual machine is."""

    def post(resource: str, **members: Any) -> Any:
        return api.post(f"/api/{resource}/", {"name": unique(), **members})

    def make() -> Objects:
        region, group = post("dcim/regions"), post("tenancy/tenant-groups")
        site = post("dcim/sites", status="active", region=region["id"])
        kind = post("dcim/location-types", content_types=["dcim.device", "virtualization.cluster"])["id"]
        maker, model = post("dcim/manufacturers")["id"], unique()
        pools = post("virtualization/cluster-groups")
        location = post("dcim/locations", location_type=kind, site=site["id"], status="active")
        cluster = {"group": pools["id"], "site": site["id"], "location": location["id"]}
        return {
            "regions": region,
            "sites": site,
            "locations": location,
            "roles": post("dcim/device-roles", vm_role=True),
            "device_types": api.post("/api/dcim/device-types/", {"model": model, "manufacturer": maker}),
            "platforms": post("dcim/platforms"),
            "cluster_groups": pools,
            "clusters": post("virtualization/clusters", type=post("virtualization/cluster-types")["id"], **cluster),
            "tenant_groups": group,
            "tenants": post("tenancy/tenants", group=group["id"]),
            "device_redundancy_groups": post("dcim/device-redundancy-groups", status="active"),
            "tags": post(
                "extras/tags", slug=unique().lower(), content_types=["dcim.device", "virtualization.virtualmachine"]
            ),
        }

    return make


@pytest.fixture
def within(api: Api, unique: Unique) -> Any:
    """``within(objects)``: a device and a virtual machine within all of these objects, and those with none of what may
    be left out; by each, the scopes that it is within.
    """

    def make(objects: Objects) -> list[tuple[Any, set[str]]]:
        def key(scope: str) -> str:
            return str(objects[scope]["id"])

        usual = {"status": "active", "tenant": key("tenants"), "platform": key("platforms"), "tags": [key("tags")]}
        needed = {"status": "active", "device_type": key("device_types"), "device_role": key("roles")}
        placed = {"location": key("locations"), "cluster": key("clusters")}
        placed["device_redundancy_group"] = key("device_redundancy_groups")
        bare_pool = {"name": unique(), "type": objects["clusters"]["type"]["id"]}
        pool = api.post("/api/virtualization/clusters/", bare_pool)
        bodies = [
            (DEVICES, {**usual, **needed, **placed, "site": key("sites")}, set(RESOURCES)),
            (DEVICES, {**needed, "site": key("sites")}, {"regions", "sites", "roles", "device_types"}),
            (
                MACHINES,
                {**usual, "cluster": key("clusters"), "role": key("roles")},
                set(RESOURCES) - {"device_types", "device_redundancy_groups"},
            ),
            (MACHINES, {"status": "active", "cluster": pool["id"]}, set()),
        ]
        return [(api.post(path, {"name": unique(), **body}), scopes) for path, body, scopes in bodies]

    return make


@pytest.fixture
def contexts(api: Api, unique: Unique) -> Iterator[Any]:
    """``contexts(word, lists)``: a context for each of the lists, with its position as data; gone after the test."""
    made: list[Any] = []

    def make(word: str, lists: list[dict[str, list[str]]]) -> Any:
        bodies = [
            {"name": unique(), "data": {word: {str(number): True}}, **scopes} for number, scopes in enumerate(lists)
        ]
        made.extend(api.post(CONTEXTS, bodies))
        return made[-len(lists) :]

    yield make
    api.delete(CONTEXTS, [{"id": context["id"]} for context in made])


def names_of(objects: Objects, scopes: Any) -> dict[str, list[str]]:
    """The lists of a context that is limited to these objects."""
    return {scope: [objects[scope]["slug" if scope == "tags" else "id"]] for scope in scopes}


def applying(api: Api, item: Any, word: str) -> list[set[str]]:
    """The positions of the contexts that apply to an object: as it is read alone, and in a list."""
    path = item["url"].partition(item["id"])[0]
    shown = [api.get(item["url"]), *api.get(path, {"id": item["id"]})["results"]]
    return [set(one["config_context"].get(word, {})) for one in shown]


def test_a_context_applies_to_what_is_within_each_of_its_scopes(
    api: Api, unique: Unique, targets: Any, within: Any, contexts: Any
) -> None:
    word, here, elsewhere = unique(), targets(), targets()
    items = within(here)
    chosen = [*itertools.combinations(RESOURCES, 1), *itertools.combinations(RESOURCES, 2)]
    lists = [names_of(here, scopes) for scopes in chosen] + [names_of(elsewhere, [scope]) for scope in RESOURCES]
    contexts(word, lists)
    for item, scopes in items:
        expected = {str(number) for number, some in enumerate(chosen) if scopes.issuperset(some)}
        assert applying(api, item, word) == [expected, expected]


@pytest.mark.night
def test_a_context_whose_last_object_was_deleted_applies_to_nothing_and_says_so(
    service: Service,
    api: Api,
    unique: Unique,
    targets: Any,
    within: Any,
    contexts: Any,
    browser: Browser,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    word, here, doomed = unique(), targets(), targets()
    items = within(here)
    made = dict(zip(RESOURCES, contexts(word, [names_of(doomed, [scope]) for scope in RESOURCES]), strict=True))
    for scope in ("device_types", "clusters", "locations", "sites", "regions", *RESOURCES):
        api.delete(f"/api/{RESOURCES[scope]}/{doomed[scope]['id']}/", status=(204, 404))
    assert all(api.get(made[scope]["url"])[scope] == [] for scope in RESOURCES)
    for item, _ in items:
        assert applying(api, item, word) == [set(), set()]
    page = browser.get(f"/extras/config-contexts/{made['tenants']['id']}/").words
    assert "applies to nothing: the last object of Tenants was deleted" in page
    monkeypatch.setattr(limits, "MAX_LISTED", 10_000)
    found = limits.check(service.engine)
    assert found.level == "warning" and f"{made['tenants']['name']} (tenants)" in found.message
    for number, (scope, context) in enumerate(made.items()):
        read = api.get(context["url"])
        api.put(context["url"], {**read, "description": "written back"})
        assert applying(api, items[0][0], word)[0] == {str(earlier) for earlier in range(number)}
        api.patch(context["url"], {scope: []})
        assert applying(api, items[0][0], word)[0] == {str(earlier) for earlier in range(number + 1)}
    assert "applies to nothing" not in browser.get(f"/extras/config-contexts/{made['tenants']['id']}/").words


def test_a_lost_scope_limits_again_once_it_has_an_object(
    api: Api, unique: Unique, targets: Any, within: Any, contexts: Any
) -> None:
    word, here, doomed = unique(), targets(), targets()
    (device, _), *_ = within(here)
    (context,) = contexts(word, [names_of(doomed, ["platforms", "tags"])])
    api.delete(doomed["platforms"]["url"])
    api.patch(context["url"], {"tags": {"remove": [doomed["tags"]["slug"]]}})
    assert applying(api, device, word)[0] == set()
    api.patch(context["url"], {"platforms": {"add": [here["platforms"]["id"]]}})
    assert applying(api, device, word)[0] == {"0"}
    api.patch(context["url"], {"platforms": {"remove": [here["platforms"]["id"]]}})
    assert applying(api, device, word)[0] == {"0"}


def test_a_context_restored_after_its_scope_was_lost_applies_to_nothing(
    api: Api, unique: Unique, targets: Any, within: Any, contexts: Any
) -> None:
    """Its record has no object of the scope; that it was limited is kept with the record, hidden from answers."""
    word, here, doomed = unique(), targets(), targets()
    (device, _), *_ = within(here)
    (context,) = contexts(word, [names_of(doomed, ["platforms"])])
    api.delete(doomed["platforms"]["url"])
    assert applying(api, device, word)[0] == set()
    api.delete(context["url"])
    change = api.get(CHANGES, {"changed_object_id": context["id"], "action": "delete"})["results"][0]
    assert "limited_by" not in api.send("GET", change["url"]).text
    api.post(f"{CHANGES}{change['id']}/revert/", status=200)
    assert api.get(context["url"])["platforms"] == []
    assert applying(api, device, word)[0] == set()
    api.patch(context["url"], {"platforms": []})
    assert applying(api, device, word)[0] == {"0"}
