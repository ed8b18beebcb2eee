"""``netinv.strict_bodies``: members of bodies that nothing reads are refused, and what was read is taken."""

from __future__ import annotations

import re
import uuid
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from netinv_core.endpoint import Endpoint
from netinv_core.http.actions import OperationSchema, actions_of, schema_of
from netinv_core.write.strict_bodies import UNKNOWN
from netinv_testing import Case, Service

TENANTS = "/api/tenancy/tenants/"
# Fields that take what was read and compute it themselves; the name that version 1.3 knows a field by.
COMPUTED = {"extras.graphqlquery": {"variables"}, "extras.customfield": {"name"}}


@pytest.fixture
def strict(service: Service) -> Iterator[Service]:
    """The service with strict bodies."""
    with service.configured(strict_bodies=True):
        yield service


@pytest.mark.any_database
@pytest.mark.night
def test_every_resource_refuses_members_that_it_does_not_have(strict: Service) -> None:
    """Of new objects, of one object, and of lists."""
    for endpoint in strict.registry.endpoints.values():
        if endpoint.resource.writable:
            (item,) = Case(strict, endpoint.label).for_reading().make_many(1)
            path, typo = f"{endpoint.path}{item['id']}/", {"veiw": 1}
            assert strict.api.patch(path, typo, status=400) == {"veiw": [UNKNOWN]}, endpoint.label
            assert strict.api.post(endpoint.path, typo, status=400)["veiw"] == [UNKNOWN], endpoint.label
            assert "veiw" in str(strict.api.patch(endpoint.path, [{"id": item["id"], **typo}], status=400))
            if "delete" in endpoint.resource.writes:
                refused = strict.api.send("DELETE", endpoint.path, [{"id": item["id"], **typo}], status=400)
                assert refused.json == [{"veiw": [UNKNOWN]}]


@pytest.mark.any_database
@pytest.mark.night
def test_every_resource_takes_what_it_has_shown(strict: Service) -> None:
    """Each member of a representation, brief ones as well."""
    for endpoint in strict.registry.endpoints.values():
        if endpoint.resource.writable:
            (item,) = Case(strict, endpoint.label).for_reading().make_many(1)
            for query in ({}, {"brief": "1"}, {"include": "etag"}):
                shown = strict.api.get(f"{endpoint.path}{item['id']}/", query)
                answer = strict.api.send("PATCH", f"{endpoint.path}{item['id']}/", shown, status=(200, 400))
                assert UNKNOWN not in answer.text, (endpoint.label, answer.text)
                assert "Unknown fields" not in answer.text, (endpoint.label, answer.text)


@pytest.mark.any_database
@pytest.mark.night
def test_every_action_refuses_them(strict: Service) -> None:
    """Whatever it is for: also those that take no body, whose resource makes no objects, and those of plugins.

    Only what clients of version 1 know ignores them, unless bodies are strict.
    """
    checked, ignoring = set(), set()
    for action in actions_of(strict.app.registry):
        for endpoint in action.endpoints(strict.registry) if action.views.keys() & {"post", "put", "patch"} else ():
            names = dict.fromkeys(re.findall(r"{(\w+)}", action.name), "x")
            path = endpoint.path + action.below.format(id=_key(strict, endpoint), **names)
            for method in action.views.keys() - {"get"}:
                schema = schema_of(action.views[method])
                lenient = schema.ignores_unknown or schema.form == "some"
                for body in _with_a_typo(schema):
                    with strict.configured(strict_bodies=lenient):
                        refused = strict.api.send(method.upper(), path, body, status=400).json
                    assert _place_of("veiw", refused) == _place_of("veiw", body), (path, body, refused)
                    (ignoring if lenient else checked).add(path.rsplit("/", 2)[1])
    assert checked >= {"apply", "revert", "close", "query", "retry", "merge", "propose", "split"}
    of_version_1 = {"run", "notes", "sync", "approve", "deny", "dry-run"}
    assert ignoring == of_version_1 | {"available-ips", "available-prefixes"}


def test_views_beside_resources_refuse_them(strict: Service) -> None:
    """All but the preferences, which are any object."""
    for app in strict.registry.apps.values():
        for path, view in app.views.items():
            for method in {*view.methods} - {"GET"} if path != "/api/users/config/" else ():
                refused = strict.api.send(method, path, {"veiw": 1}, status=400)
                assert refused.json == {"veiw": [UNKNOWN]}, path


@pytest.mark.any_database
@pytest.mark.night
def test_nested_objects_are_refused_or_stored(strict: Service) -> None:
    """A member that nothing knows is refused in every field that takes objects, unless the field keeps it as it is."""
    taken = 0
    for endpoint in strict.registry.endpoints.values():
        if not endpoint.resource.writable:
            continue
        path = f"{endpoint.path}{_key(strict, endpoint)}/"
        for name in endpoint.writable.keys() - COMPUTED.get(endpoint.label, set()):
            for value in ({"veiw": 1}, [{"veiw": 1}], {"add": [], "veiw": 1}):
                answer = strict.api.send("PATCH", path, {name: value}, status=(200, 400))
                if answer.status_int == 200:
                    assert strict.api.get(path)[name] == value, (path, name)
                    assert endpoint.fields[name].info.kind == "json", (path, name)
                    taken += 1
                else:
                    assert answer.json.keys() & {name, "veiw"}, (path, name)
    assert taken > 3


def _key(service: Service, endpoint: Endpoint) -> Any:
    """An object of a resource; one that nothing has, if its objects cannot be made."""
    if not endpoint.resource.writable:
        return uuid.uuid4() if endpoint.key_type is uuid.UUID else 1
    (item,) = Case(service, endpoint.label).for_reading().make_many(1)
    return item["id"]


def _with_a_typo(schema: OperationSchema) -> Iterator[dict[str, Any]]:
    """Bodies of an action with an unknown member: in the body, and in each object that is in it."""
    body = schema.request_body
    yield {"prefix_length": 30, "veiw": 1}
    for name, member in body.get("properties", {}).items() if isinstance(body, Mapping) else ():
        if "properties" in member:
            yield {name: {"veiw": 1}}


def _place_of(name: str, value: Any) -> list[str]:
    """The names of the members from a value to the member ``name`` in it; empty when it has none."""
    if not isinstance(value, dict):
        return []
    if name in value:
        return [name]
    return next(([key, *found] for key, item in value.items() if (found := _place_of(name, item))), [])


def test_nested_references_are_checked(strict: Service) -> None:
    """Next to an id too; without strict bodies, members of the object itself are ignored."""
    group = strict.api.post("/api/tenancy/tenant-groups/", {"name": strict.unique()})
    body = {"name": strict.unique(), "group": {"id": group["id"], "veiw": 1}}
    assert strict.api.post(TENANTS, body, status=400) == {"group": ["Unknown fields: veiw."]}
    strict.api.post(TENANTS, {**body, "group": group})
    with strict.configured(strict_bodies=False):
        strict.api.post(TENANTS, {"name": strict.unique(), "veiw": 1, "custom_fields": {"veiw": 1}})


def test_custom_fields_have_to_be_defined(strict: Service) -> None:
    """Unknown keys are refused by name."""
    body: dict[str, Any] = {"name": strict.unique(), "custom_fields": {"no_such_field": 1}}
    assert strict.api.post(TENANTS, body, status=400) == {"custom_fields": ["Unknown fields: no_such_field."]}


def test_allocations_take_their_own_members(strict: Service) -> None:
    """``prefix_length`` is no field of a prefix."""
    prefix = strict.api.post("/api/ipam/prefixes/", {"prefix": f"{strict.unique.ipv6()}::/56", "status": "active"})
    path = f"/api/ipam/prefixes/{prefix['id']}/available-prefixes/"
    strict.api.post(path, {"prefix_length": 64, "status": "active"})
    assert "veiw" in str(strict.api.post(path, {"prefix_length": 64, "veiw": 1}, status=400))


def test_variables_of_graphql_have_to_be_declared(strict: Service) -> None:
    """And the body of a query has no other members."""
    path, query = "/api/graphql/", "query ($name: [String]) { tenants(name: $name) { id } }"
    strict.api.post(path, {"query": query, "variables": {"name": "x"}}, status=200)
    assert "nmae" in str(strict.api.post(path, {"query": query, "variables": {"nmae": "x"}}, status=400))
    assert strict.api.post(path, {"query": query, "veiw": 1}, status=400) == {"veiw": [UNKNOWN]}


@pytest.mark.parametrize(
    ("action", "item", "shown"),
    [("available-ips", {}, "address"), ("available-prefixes", {"prefix_length": 124}, "prefix")],
)
def test_allocations_refuse_another_value_than_they_allot(
    service: Service, action: str, item: dict[str, Any], shown: str
) -> None:
    """One that is the same, as it was listed, is taken; as in version 1, another is ignored unless bodies are strict."""
    vrf = service.api.post("/api/ipam/vrfs/", {"name": service.unique(), "rd": service.unique()[:21]})
    network = f"{service.unique.ipv6()}::/120"
    prefix = service.api.post("/api/ipam/prefixes/", {"prefix": network, "status": "active", "vrf": vrf["id"]})
    path, body = f"/api/ipam/prefixes/{prefix['id']}/{action}/", {"status": "active", **item}
    other = "2001:db8:ffff::77/124"
    first = service.api.post(path, {**body, shown: other, "vrf": None})
    assert first[shown] != other and first["vrf"]["id"] == vrf["id"]
    with service.configured(strict_bodies=True):
        refused = service.api.post(path, {**body, shown: other, "vrf": None}, status=400)
        assert refused.keys() == {shown, "vrf"} and vrf["name"] in refused["vrf"][0]
        refused = service.api.post(path, [body, {**body, "vrf": str(uuid.uuid4())}], status=400)
        assert refused[0] == {} and refused[1].keys() == {"vrf"}
        assert service.api.get("/api/ipam/prefixes/", {"vrf_id": vrf["id"]})["count"] == 1 + (shown == "prefix")
        free = service.api.get(path)[0]
        length = {"prefix": str(free[shown]).split("/")[0] + "/124"} if shown == "prefix" else {}
        for given in (free | length, {"vrf": {"name": vrf["name"]}}, {"vrf": vrf["id"]}):
            assert service.api.post(path, {**body, **given})["vrf"]["id"] == vrf["id"]
