"""A parameter that is given twice: either value of a filter, as the specification has it, else an error that names it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from netinv_testing import Service

pytestmark = pytest.mark.any_database  # parameters are read before the database is asked

# Texts with names separated by commas: the names of all repetitions count.
LISTS = {"ordering", "fields", "include", "exclude", "match", "_columns"}
# Two of them have to name the same change request.
REFUSED = {"change_request"}
VALUES = {"number": "1", "boolean": "false", "date-time": "2026-01-01T00:00:00Z", "date": "2026-01-01"}
BAD = "zz"
LINKS = {"next", "previous"}  # repeat the query
Parameter = dict[str, Any]


@pytest.fixture
def document(service: Service) -> Any:
    """The OpenAPI document."""
    return service.api.get("/api/swagger.json")


def declared(document: Any) -> Iterator[tuple[str, Parameter]]:
    """The paths that answer GET with their parameters of one value, each description once."""
    seen: set[Any] = set()
    for path, methods in document["paths"].items():
        for parameter in methods.get("get", {}).get("parameters", ()):
            is_list = parameter["schema"].get("type") == "array" or parameter["name"] in LISTS
            key = (json.dumps(parameter, sort_keys=True), "{" in path and path.rsplit("/", 2)[1])
            if parameter["in"] == "query" and not is_list and parameter["name"] not in REFUSED and key not in seen:
                seen.add(key)
                yield path, parameter


def value_of(parameter: Parameter) -> str:
    """A valid value."""
    schema = parameter["schema"]
    if "enum" in schema:
        return str(schema["enum"][-1])
    if schema["type"] == "integer":
        return str(schema.get("minimum", 1))
    known = VALUES.get(schema.get("format", schema["type"]), "aa")
    return "" if parameter["name"] == "cursor" else known


def path_of(service: Service, path: str) -> str | None:
    """The path of an object; ``None`` where it has another word than the id of one."""
    if "{id}" in path:
        resource = f"/api{path.partition('{id}')[0]}"
        endpoint = next((item for item in service.registry.endpoints.values() if item.path == resource), None)
        if endpoint is None:
            return None
        path = path.replace("{id}", str(service.population.objects(endpoint)[0]["id"]))
    return None if "{" in path else f"/api{path}"


def answer(service: Service, path: str, name: str, *values: str) -> tuple[int, Any]:
    """Status and body of an answer, without the links that repeat the query."""
    query = {"limit": "1", name: list(values)} if path.count("/") == 4 else {name: list(values)}
    response = service.api.send("GET", path, query=query, version=None)
    body = response.json if response.content_type == "application/json" else response.content_type
    shown = {key: part for key, part in body.items() if key not in LINKS} if isinstance(body, dict) else body
    return response.status_int, shown


@pytest.mark.night
def test_two_values_of_a_parameter_of_one_are_refused(service: Service, document: Any) -> None:
    """Of every parameter that the document describes: in either order, and twice the same value is one value."""
    wrong: list[str] = []
    checked: set[str] = set()
    for described, parameter in declared(document):
        path, name, value = path_of(service, described), parameter["name"], value_of(parameter)
        if path is None:
            continue
        answers = answer(service, path, name, BAD, value), answer(service, path, name, value, BAD)
        if any(status not in (400, 404) or (status == 400 and list(body) != [name]) for status, body in answers):
            wrong.append(f"{path} {name}={value}: {answers[0][0]}, {answers[1][0]}")
        if answer(service, path, name, value, value) != answer(service, path, name, value):
            wrong.append(f"{path} {name}={value} twice")
        checked.add(name)
    assert wrong == []
    assert checked >= {"limit", "offset", "count", "cursor", "api_version", "brief", "mine", "render", "enabled"}


@pytest.mark.parametrize(
    ("path", "name", "values", "given"),
    [
        ("/api/docs/webhooks.json", "model", ["dcim.site", "dcim.rack"], {}),
        ("/api/docs/", "format", ["json", "yaml"], {}),
        ("/api/extras/object-changes/feed/", "wait", ["0", "1"], {}),
        ("/api/extras/object-changes/feed/", "after", ["", "x"], {}),
        (
            "/api/core/filterset-fields/lookup-choices/",
            "content_type",
            ["dcim.site", "dcim.rack"],
            {"field_name": "name"},
        ),
        ("/api/core/filterset-fields/lookup-choices/", "field_name", ["name", "slug"], {"content_type": "dcim.site"}),
    ],
)
def test_two_values_outside_of_lists_are_refused(
    service: Service, path: str, name: str, values: list[str], given: dict[str, str]
) -> None:
    for pair in (values, values[::-1]):
        assert list(service.api.get(path, {**given, name: pair}, status=400)) == [name]


def test_what_is_either_is_a_list_in_the_document(service: Service, document: Any) -> None:
    """All filters but those of booleans."""
    checked = 0
    for endpoint in service.registry.endpoints.values():
        described = document["paths"].get(endpoint.path.removeprefix("/api"), {}).get("get", {}).get("parameters", ())
        for parameter in described:
            item = endpoint.filters.get(parameter["name"])
            if item is not None:
                assert (parameter["schema"].get("type") == "array") is (item.kind != "boolean"), parameter
                checked += 1
    assert checked > 1000


def test_names_of_all_repetitions_count(service: Service, make: Any) -> None:
    site = make("/api/dcim/sites/", status="active")
    shown = service.api.get("/api/dcim/sites/", {"id": site["id"], "fields": ["name", "slug"]})["results"]
    assert shown == [{"name": site["name"], "slug": site["slug"]}]
    query = {"ordering": ["status", "nothing"], "limit": 1}
    assert "nothing" in service.api.get("/api/dcim/sites/", query, status=400)["ordering"][0]
    assert (
        "nothing" in service.api.get("/api/dcim/sites/", {"ordering": ["nothing", "status"]}, status=400)["ordering"][0]
    )


def test_two_values_of_a_write_are_refused(service: Service, unique: Any) -> None:
    """In either order; nothing is written."""
    path, items = "/api/tenancy/tenants/", [{"name": unique()}, {}]
    for values in (["continue", "abort"], ["abort", "continue"], [BAD, "continue"]):
        assert list(service.api.post(path, items, query={"on_error": values}, status=400)) == ["on_error"]
    assert service.api.get(path, {"name": items[0]["name"]})["count"] == 0
    service.api.post(path, items, query={"on_error": ["continue", "continue"]}, status=200)
    assert service.api.get(path, {"name": items[0]["name"]})["count"] == 1
