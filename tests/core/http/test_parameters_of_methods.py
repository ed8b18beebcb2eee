"""Query parameters that one method of a resource takes are honoured or refused by the others, never ignored."""

from __future__ import annotations

import re
import uuid
from typing import Any

import pytest

from netinv_core.http.actions import actions_of, schema_of
from netinv_testing import Service

TENANTS = "/api/tenancy/tenants/"
READS = {"brief": "1", "fields": "name", "ordering": "name", "cursor": "", "count": "none", "exclude": "comments"}
ALL = {**READS, "as_of": "2026-01-01T00:00:00Z", "match": "name", "on_error": "continue"}
NEAR = ("dryrun", "dry-run", "DRY_RUN", "dry_rn", "if_match", "If-Match", "idempotency_key", "onerror")
UNKNOWN = (*NEAR, "nothing", "depth", "name")
# Those that a method takes.
TAKEN = {
    ("POST", "list"): {"on_error"},
    ("PUT", "list"): {"on_error"},
    ("PATCH", "list"): {"on_error", "match"},
    ("DELETE", "list"): {"on_error"},
}


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE"])
@pytest.mark.parametrize("of", ["list", "item"])
def test_writes_refuse_what_they_do_not_take(service: Service, method: str, of: str) -> None:
    """Nothing is written then, and the error names the parameter."""
    if (method, of) == ("POST", "item"):
        return
    made = service.api.post(TENANTS, {"name": service.unique()})
    made = service.api.get(f"{TENANTS}{made['id']}/")
    path = TENANTS if of == "list" else f"{TENANTS}{made['id']}/"
    body: Any = {"name": service.unique(), **({} if method == "POST" else {"id": made["id"]})}
    for name, value in {**ALL, **dict.fromkeys(UNKNOWN, "true")}.items():
        if name in TAKEN.get((method, of), ()):
            continue
        sent = [body] if of == "list" else body
        refused = service.api.send(method, path, sent, query={name: value}, status=400)
        assert list(refused.json) == [name]
        assert service.api.get(f"{TENANTS}{made['id']}/") == made
        assert service.api.get(TENANTS, {"name": body["name"]})["count"] == 0


def test_actions_refuse_them_too(service: Service) -> None:
    """An allocation of addresses."""
    prefix = service.api.post("/api/ipam/prefixes/", {"prefix": f"{service.unique.ipv6()}::/120", "status": "active"})
    path = f"/api/ipam/prefixes/{prefix['id']}/available-ips/"
    for name, value in {**ALL, **dict.fromkeys(UNKNOWN, "true")}.items():
        assert list(service.api.post(path, {"status": "active"}, query={name: value}, status=400)) == [name]


def test_near_names_are_refused_where_unknown_ones_are_ignored(service: Service) -> None:
    """Their sender expects no write, or one under a condition."""
    made = service.api.post(TENANTS, {"name": service.unique()})
    path = f"{TENANTS}{made['id']}/"
    with service.configured(strict_filtering=False):
        for name in NEAR:
            refused = service.api.send("DELETE", path, query={name: "true"}, status=400).json
            assert "Did you mean " in refused[name][0]
        assert "the header If-Match?" in service.api.send("DELETE", path, query={"if_match": "x"}, status=400).text
        service.api.delete(path, query={"nothing": "1"})
    service.api.get(path, status=404)


@pytest.mark.night
def test_every_action_refuses_them(service: Service) -> None:
    """Before it looks for its object, but for those that a read documents. A query has those of its list in its body."""
    checked = set()
    for action in actions_of(service.app.registry):
        for method, view in action.views.items():
            schema = schema_of(view)
            taken = {parameter["name"] for parameter in schema.query}
            # What lists objects of another resource needs one that exists, and judges the others as filters of these.
            unknown = () if schema.filtered and method == "get" else UNKNOWN
            words = dict.fromkeys(re.findall(r"{(\w+)}", action.name), "x")
            for endpoint in action.endpoints(service.registry)[:1]:
                key = uuid.uuid4() if endpoint.key_type is uuid.UUID else 1
                path = endpoint.path + action.below.format(id=key, **words)
                for name in [*(ALL.keys() - taken), *unknown]:
                    query = {name: ALL.get(name, "true")}
                    refused = service.api.send(method.upper(), path, {}, query=query, status=400)
                    assert list(refused.json) == [name], path
                checked.add((method, path.rsplit("/", 2)[1]))
    words = ("query", "notes", "apply", "revert", "run", "available-ips", "close", "sync")
    assert checked >= {("post", word) for word in words}
    assert checked >= {("get", word) for word in ("trace", "history", "feed", "elevation", "available-ips", "members")}


def test_views_beside_resources_refuse_them(service: Service) -> None:
    """Those that they do not document; ``limit`` and ``offset`` are ignored, as of writes. One that needs further
    parameters has them in vain.
    """
    checked = 0
    for app in service.registry.apps.values():
        for path, view in app.views.items():
            taken = {parameter["name"] for parameter in schema_of(view).query}
            for method in view.methods:
                for name in [*(ALL.keys() - taken), *UNKNOWN]:
                    refused = service.api.send(method, path, {}, query={name: "1"}, status=400)
                    assert list(refused.json) == [name], (method, path)
                    checked += 1
    assert checked > 20
    service.api.patch("/api/users/config/", {}, query={"limit": "1", "offset": "0"})


def test_reads_of_actions_name_what_may_be_meant(service: Service) -> None:
    """A feed with a misspelt ``after`` would begin anew; members and violations judge parameters as their list does."""
    feed = "/api/extras/object-changes/feed/"
    refused = service.api.get(feed, {"afer": "now"}, status=400)
    assert refused == {"afer": ["Unknown filter field. Did you mean after?"]}
    assert service.api.get(feed, {"depth": "1", "zz": ""}, status=400) == {
        "depth": ["Unknown filter field"],
        "zz": ["Unknown filter field"],
    }
    group = service.api.post(
        "/api/extras/dynamic-groups/", {"name": service.unique(), "content_type": "tenancy.tenant", "filter": {}}
    )
    members = f"{group['url']}members/"
    assert service.api.get(members, {"naem": "x"}, status=400) == {"naem": ["Unknown filter field"]}
    service.api.get(members, {"name": "x", "limit": "1", "brief": "1", "api_version": "1.6", "format": "json"})
    with service.configured(strict_filtering=False):
        service.api.get(feed, {"afer": "now", "after": "now"})


@pytest.mark.any_database
def test_every_parameter_of_an_action_in_openapi_is_known_to_it(service: Service) -> None:
    """The names in the document are those that its view declares."""
    paths = service.api.get("/api/swagger.json")["paths"]
    checked = 0
    for action in actions_of(service.app.registry):
        for endpoint in action.endpoints(service.registry):
            operations = paths[f"{endpoint.path.removeprefix('/api')}{action.below}"]
            for method, view in action.views.items():
                schema = schema_of(view)
                found = {item["name"] for item in operations[method]["parameters"] if item.get("in") == "query"}
                assert {item["name"] for item in schema.query} <= found
                checked += bool(schema.query)
    assert checked > 20


def test_limit_and_offset_are_sent_with_every_request(service: Service) -> None:
    """Clients of version 1, and the second page of the browsable API, send them with writes as well."""
    query = {"limit": "50", "offset": "50"}
    made = service.api.post(TENANTS, {"name": service.unique()}, query=query)
    path, name = f"{TENANTS}{made['id']}/", service.unique()
    assert service.api.patch(path, {"name": name}, query=query)["name"] == name
    assert service.api.put(TENANTS, [{"id": made["id"], "name": name}], query=query)[0]["name"] == name
    service.api.delete(TENANTS, [{"id": made["id"]}], query=query)
    service.api.get(path, status=404)


def test_three_posts_with_match_make_no_three_objects(service: Service) -> None:
    """Also where unknown parameters are ignored."""
    with service.configured(strict_filtering=False):
        refused = service.api.post(TENANTS, [{"name": service.unique()}], query={"match": "name"}, status=400)
    assert list(refused) == ["match"]
