"""Errors as problems (RFC 9457), the ids of requests, and the times of their statements."""

from __future__ import annotations

import re
import uuid
from typing import Any

import pytest

from netinv_testing import Api, Service, Unique

SITES, TENANTS = "/api/dcim/sites/", "/api/tenancy/tenants/"
PROBLEM = {"Accept": "application/json, application/problem+json"}


def problem(
    api: Api, method: str, path: str, status: int, *body: Any, headers: dict[str, str] = PROBLEM
) -> dict[str, Any]:
    """The problem that a request is answered with."""
    answer = api.send(method, path, *body, status=status, headers=headers)
    assert answer.content_type == "application/problem+json", answer.headers
    found: dict[str, Any] = answer.json
    assert (found["type"], found["status"]) == ("about:blank", status)
    assert found["instance"] == f"urn:uuid:{answer.headers['X-Request-ID']}"
    return found


def test_a_fault_of_a_field_has_a_pointer(api: Api) -> None:
    found = problem(api, "POST", TENANTS, 400, {"name": ["x"], "slug": "no slug"})
    assert (found["title"], found["code"]) == ("Bad Request", "invalid")
    assert {error["pointer"] for error in found["errors"]} == {"/name", "/slug"}
    assert all(error["message"] in found["detail"] for error in found["errors"])


def test_a_fault_of_an_item_has_its_index(api: Api, unique: Unique) -> None:
    word = unique()
    found = problem(
        api,
        "POST",
        TENANTS,
        400,
        [{"name": word, "slug": word}, {"slug": f"{word}-b"}, {"name": f"{word} c", "slug": "/"}],
    )
    assert [(error["index"], error["pointer"]) for error in found["errors"]] == [(1, "/1/name"), (2, "/2/slug")]


def test_a_fault_of_the_query_names_the_parameter(api: Api) -> None:
    (error,) = problem(api, "GET", f"{SITES}?nosuch=1", 400)["errors"]
    assert error["parameter"] == "nosuch" and "pointer" not in error


@pytest.mark.parametrize(
    ("method", "path", "status", "code"),
    [
        ("GET", f"{SITES}{uuid.UUID(int=1)}/", 404, "not_found"),
        ("GET", "/api/nothing/", 404, "not_found"),
        ("POST", "/api/status/", 405, "method_not_allowed"),
        ("GET", f"{SITES}?limit=x", 400, "invalid"),
    ],
)
def test_the_code_names_the_kind_of_error(api: Api, method: str, path: str, status: int, code: str) -> None:
    assert problem(api, method, path, status)["code"] == code


def test_without_permission_the_code_says_so(service: Service, anonymous: Api) -> None:
    assert problem(anonymous, "GET", SITES, 403)["code"] == "permission_denied"
    assert problem(service.user().api, "POST", SITES, 403, {})["errors"] == []


def test_a_problem_is_given_to_those_who_ask_by_name_alone(api: Api) -> None:
    for accept in (
        "application/json",
        "*/*",
        "application/*",
        "application/problem+json;q=0, application/json",
        "text/problem+json, */*",
    ):
        answer = api.send("GET", f"{SITES}?nosuch=1", status=400, headers={"Accept": accept})
        assert answer.content_type == "application/json", accept
    only = {"Accept": "application/problem+json"}
    assert api.send("GET", SITES, status=200, headers=only).content_type == "application/json"
    assert problem(api, "GET", f"{SITES}?nosuch=1", 400, headers=only)["code"] == "invalid"


def test_a_refusal_before_routing_is_a_problem_too(api: Api) -> None:
    assert problem(api, "GET", f"/api/{'x' * 5000}/", 414)["code"] == "uri_too_long"


def test_the_id_of_a_request_is_taken_returned_and_kept_in_the_change_log(api: Api, unique: Unique) -> None:
    word, sent = unique(), uuid.uuid4()
    for number, text in enumerate((str(sent), sent.hex, str(sent).upper())):
        answer = api.send(
            "POST",
            TENANTS,
            {"name": f"{word} {number}", "slug": f"{word}-{number}"},
            status=201,
            headers={"X-Request-ID": text},
        )
        assert answer.headers["X-Request-ID"] == str(sent)
    changes = api.get("/api/extras/object-changes/", {"request_id": str(sent)})
    assert changes["count"] == 3


@pytest.mark.parametrize("text", ["", "x", "1" * 31, "urn:uuid:" + "1" * 32, "é" * 20, "1" * 4000])
def test_an_id_that_is_no_uuid_is_ignored(api: Api, text: str) -> None:
    returned = api.send("GET", "/api/status/", status=200, headers={"X-Request-ID": text}).headers["X-Request-ID"]
    assert str(uuid.UUID(returned)) == returned and returned.replace("-", "") != "1" * 32


@pytest.mark.night
def test_server_timing_tells_the_statements_where_the_setting_says_so(service: Service) -> None:
    assert "Server-Timing" not in service.api.send("GET", SITES).headers
    timed = Service(service.engine, {"netinv.server_timing": "true"})
    header = re.compile(r'db;dur=[0-9.]+;desc="([0-9]+) statements?", total;dur=[0-9.]+')
    with timed.statements() as statements:
        answer = timed.api.send("GET", SITES, status=200)
    match = header.fullmatch(answer.headers["Server-Timing"])
    assert match is not None and int(match[1]) >= len(statements) > 0


def test_bulk_changes_name_the_item(service: Service, api: Api, unique: Unique) -> None:
    """In problems; the body without them is that of the first faulty object, as clients of version 1 expect it."""
    tenants = api.post(TENANTS, [{"name": unique()} for _ in range(3)])
    items: list[Any] = [{"id": tenant["id"], "name": tenant["name"]} for tenant in tenants]
    items[1], items[2] = {**items[1], "slug": "/"}, {**items[2], "group": {"slug": "none"}}
    for method in ("PATCH", "PUT"):
        found = problem(api, method, TENANTS, 400, items)
        assert [(error["index"], error["pointer"]) for error in found["errors"]] == [(1, "/1/slug"), (2, "/2/group")]
        assert list(api.send(method, TENANTS, items, status=400).json) == ["slug"]
    (single,) = problem(api, "PATCH", tenants[1]["url"], 400, {"slug": "/"})["errors"]
    assert single["pointer"] == "/slug" and "index" not in single


def test_bulk_deletions_name_the_item(service: Service, api: Api, unique: Unique) -> None:
    groups = api.post("/api/tenancy/tenant-groups/", [{"name": unique(), "slug": unique()} for _ in range(2)])
    tenants = api.post(TENANTS, [{"name": unique(), "group": groups[1]["id"]} for _ in range(2)])
    sites = [api.post(SITES, {"name": unique(), "status": "active", "tenant": t["id"]}) for t in tenants[1:]]
    found = problem(api, "DELETE", TENANTS, 409, [{"id": tenant["id"]} for tenant in tenants])
    (error,) = found["errors"]
    assert error["index"] == 1 and sites[0]["id"] in error["message"]
    assert problem(api, "DELETE", tenants[1]["url"], 409)["errors"] == []


def test_an_item_outside_of_the_constraints_is_named(service: Service, api: Api, unique: Unique) -> None:
    word = unique()
    tenants = api.post(TENANTS, [{"name": f"{word} {number}"} for number in range(2)])
    user = service.user(("view change", "tenancy.tenant", {"name__startswith": word}))
    items = [{"id": tenants[0]["id"], "description": "x"}, {"id": tenants[1]["id"], "name": unique()}]
    (error,) = problem(user.api, "PATCH", TENANTS, 403, items)["errors"]
    assert error["index"] == 1


@pytest.mark.parametrize(
    ("member", "message"),
    [
        ({"region": {"slug": "LIS1"}}, "No region with slug LIS1."),
        ({"region": {"parent": {"name": "x"}, "slug": "y"}}, "No region with parent.name x and slug y."),
        ({"tenant": str(uuid.UUID(int=7))}, f"No tenant with id {uuid.UUID(int=7)}."),
        (
            {"tenant": "LIS1"},
            'No tenant with id LIS1. Other attributes are sent as an object: {"slug": "LIS1"}.',
        ),
        ({"status": "nope"}, "No status with slug nope for sites."),
        ({"tags": [{"name": "zz"}]}, "No tag with name zz."),
        ({"tags": {"add": [{"name": "zz"}]}}, "No tag with name zz."),
    ],
    ids=["attribute", "attributes", "id", "text", "status", "list", "difference"],
)
def test_a_reference_that_fits_nothing_says_what_was_looked_for(
    api: Api, unique: Unique, member: Any, message: str
) -> None:
    body = {"name": unique(), "status": "active", **member}
    (error,) = problem(api, "POST", SITES, 400, body)["errors"]
    assert error["message"] == message
    assert error["pointer"].startswith(f"/{next(iter(member))}")
    assert message not in api.send("POST", SITES, body, status=400).text
