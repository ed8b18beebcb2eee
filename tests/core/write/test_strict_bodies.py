"""``netinv.strict_bodies``: members of bodies that nothing reads are refused, and what was read is taken."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from netinv_core.http.actions import actions_of
from netinv_core.testing import Case, Service
from netinv_core.write.strict_bodies import UNKNOWN

TENANTS = "/api/tenancy/tenants/"


@pytest.fixture
def strict(service: Service) -> Iterator[Service]:
    """The service with strict bodies."""
    with service.configured(strict_bodies=True):
        yield service


@pytest.mark.any_database
def test_every_resource_refuses_members_that_it_does_not_have(strict: Service) -> None:
    """Of new objects, of one object, and of lists."""
    for endpoint in strict.registry.endpoints.values():
        if endpoint.resource.writable:
            (item,) = Case(strict, endpoint.label).for_reading().make_many(1)
            path, typo = f"{endpoint.path}{item['id']}/", {"veiw": 1}
            assert strict.api.patch(path, typo, status=400) == {"veiw": [UNKNOWN]}, endpoint.label
            assert strict.api.post(endpoint.path, typo, status=400)["veiw"] == [UNKNOWN], endpoint.label
            assert "veiw" in str(strict.api.patch(endpoint.path, [{"id": item["id"], **typo}], status=400))


@pytest.mark.any_database
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
def test_every_documented_action_refuses_them(strict: Service) -> None:
    """Whose body is no object of a resource."""
    checked = 0
    for action in actions_of(strict.app.registry):
        for method, view in action.views.items():
            body = getattr(getattr(view, "operation_schema", None), "request_body", None)
            endpoint = next(iter(action.endpoints(strict.registry)), None)
            if endpoint is None or not isinstance(body, dict) or "properties" not in body or action.on_list:
                continue
            (item,) = Case(strict, endpoint.label).for_reading().make_many(1)
            path = f"{endpoint.path}{item['id']}/{action.name}/"
            assert strict.api.send(method.upper(), path, {"veiw": 1}, status=400).json == {"veiw": [UNKNOWN]}
            checked += 1
    assert checked > 2


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
