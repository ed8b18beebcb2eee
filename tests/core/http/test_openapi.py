"""The documentation: valid, the same as what is served, and readable without credentials or another host."""

from __future__ import annotations

import gzip
import re
from collections.abc import Callable
from typing import Any

import orjson
import pytest
import yaml
from openapi_spec_validator import validate
from webob import Request, Response

from netinv_core.http.versions import DEFAULT, NEWEST, SUPPORTED
from netinv_openapi import documents
from netinv_testing import Api, Case, Service
from tests.support.contract import every_resource
from tests.support.openapi_validation import errors_of

pytestmark = pytest.mark.any_database  # answers are checked against the document by the client of all tests

Get = Callable[..., Any]


@pytest.fixture(scope="session")
def document(service: Service) -> Get:
    """``document(version)``: the document as anyone gets it."""
    return lambda version: service.anonymous.get("/api/swagger.json", version=version)


def operations(found: Any) -> list[tuple[str, str, Any]]:
    """Every operation of a document: path, method, description."""
    return [
        (path, method, operation) for path, methods in found["paths"].items() for method, operation in methods.items()
    ]


@pytest.mark.night
@pytest.mark.parametrize("version", SUPPORTED)
def test_the_document_is_valid_openapi(document: Get, version: str) -> None:
    """Every version's document fits the specification and names its version."""
    shown = document(version)
    assert list(errors_of(shown)) == []
    assert shown["openapi"].startswith("3.0.")
    assert re.fullmatch(rf"\d+\.\d+\.\d+ \({re.escape(version)}\)", shown["info"]["version"])


@pytest.mark.slow
@pytest.mark.parametrize("version", [SUPPORTED[0], NEWEST])
@pytest.mark.night
def test_the_document_passes_the_validator(document: Get, version: str) -> None:
    """The validator that others use walks every schema, which takes half a minute."""
    validate(document(version))


def test_operation_ids_are_unique_and_follow_the_path(document: Get) -> None:
    """Clients generate code from them, so they may never change."""
    found = document(NEWEST)
    names = [operation["operationId"] for _, _, operation in operations(found)]
    assert len(names) == len(set(names))
    verbs = (
        "list",
        "create",
        "bulk_update",
        "bulk_partial_update",
        "bulk_destroy",
        "retrieve",
        "update",
        "partial_update",
        "destroy",
    )
    assert {f"tenancy_tenant_groups_{verb}" for verb in verbs} <= set(names)
    assert {"status_retrieve", "users_config_partial_update", "plugins_installed_plugins_list"} <= set(names)


def test_every_resource_is_described_with_the_methods_it_has(service: Service, document: Get) -> None:
    """What a resource's Allow header says is what its document says, for lists and items."""
    paths = document(NEWEST)["paths"]
    for endpoint in service.registry.endpoints.values():
        for path, served in ((endpoint.path, endpoint.path), (f"{endpoint.path}{{id}}/", f"{endpoint.path}0/")):
            allowed = service.api.send("OPTIONS", served).headers["Allow"].split(", ")
            assert {method.upper() for method in paths[path.removeprefix("/api")]} == set(allowed) - {
                "HEAD",
                "OPTIONS",
            }, path


def test_actions_are_described(service: Service, document: Get) -> None:
    """Routes that packages add below resources are in the document that is served and in the one that needs no
    service.
    """
    path = document(NEWEST)["paths"]["/tenancy/tenants/{id}/notes/"]
    assert set(path) == {"get", "post"}
    assert path["post"]["operationId"] == "tenancy_tenants_notes_create"
    assert documents.document(service.registry, NEWEST) == document(NEWEST)


@pytest.mark.parametrize("label", every_resource())
def test_what_is_served_fits_the_document(service: Service, label: str) -> None:
    """Objects, pages and bodies of every resource are as described in every version: the client insists on it, member
    by member.
    """
    case = Case(service, label).for_reading()
    name, shown = case.endpoint.schema_name, case.filled()
    for version in SUPPORTED:
        for query in ({}, {"brief": 1}, {"include": sorted(case.endpoint.opt_in)}):
            service.api.send("GET", case.at(shown), query=query, version=version, status=(200, 412))
            service.api.send("GET", case.path, query={"id": shown["id"], **query}, version=version, status=(200, 412))
    if case.endpoint.resource.writable:
        service.documented.fits(NEWEST, f"{name}Request", case.body())
        service.documented.fits(NEWEST, f"PatchedBulk{name}Request", {"id": shown["id"]})


@pytest.mark.parametrize("label", every_resource())
def test_every_documented_parameter_is_taken(service: Service, document: Get, label: str) -> None:
    """The service knows each parameter of a list by name: none of them is refused as unknown. ``columns`` is one of
    tables.
    """
    endpoint, found = service.registry[label], document(NEWEST)
    described = found["paths"][endpoint.path.removeprefix("/api")]["get"]["parameters"]
    names = [parameter["name"] for parameter in described if parameter["in"] == "query"]
    assert len(names) == len(set(names))
    assert {"limit", "offset", "brief", "api_version", *endpoint.filters} <= set(names)
    for start in range(0, len(names), 100):
        given = {name: "" for name in names[start : start + 100] if name not in ("api_version", "limit", "columns")}
        answer = service.api.send("GET", endpoint.path, query=given | {"limit": 1}, status=(200, 400))
        assert "Unknown filter field" not in answer.text


def test_versions_are_asked_for_as_everywhere(anonymous: Api) -> None:
    """By parameter or Accept header; the default is that of the API; what does not exist is refused with the same
    words.
    """
    for query, accept, version in (
        ({}, "", DEFAULT),
        ({"api_version": "1.4"}, "", "1.4"),
        ({}, "application/vnd.oai.openapi; version=1.5", "1.5"),
    ):
        answer = anonymous.send(
            "GET", "/api/swagger.json", query=query, version=None, headers={"Accept": accept or "*/*"}, status=200
        )
        assert answer.headers["API-Version"] == version
        assert answer.json["info"]["version"].endswith(f"({version})")
    assert anonymous.get("/api/swagger.json", {"api_version": "9"}, version=None, status=404)["detail"].startswith(
        "Invalid version in query parameter."
    )
    assert anonymous.get("/api/swagger.json", version="9", status=406)["detail"].startswith("Invalid version in")
    assert anonymous.get("/api/swagger.json", {"api_version": "1.3"}, version="1.4", status=400)


def test_a_field_is_described_only_in_versions_that_have_it(document: Get) -> None:
    """The content types of tags came with 1.3."""
    for version in SUPPORTED:
        schemas = document(version)["components"]["schemas"]
        for name in ("Tag", "TagRequest"):
            assert ("content_types" in schemas[name]["properties"]) is (version != "1.2")


@pytest.mark.slow
@pytest.mark.night
def test_yaml_says_the_same(anonymous: Api, document: Get) -> None:
    """Both YAML paths give the document of the JSON path."""
    answers = [
        anonymous.send("GET", path, version=NEWEST, status=200) for path in ("/api/swagger.yaml", "/api/swagger/")
    ]
    assert {answer.headers["Content-Type"] for answer in answers} == {"application/vnd.oai.openapi; charset=utf-8"}
    assert answers[0].body == answers[1].body
    assert yaml.load(answers[0].text, getattr(yaml, "CSafeLoader", yaml.SafeLoader)) == document(NEWEST)


@pytest.mark.night
def test_a_document_is_compressed_for_those_who_ask(service: Service, document: Get) -> None:
    """gzip is sent only to those who name it; 304 to those who have the document."""

    def ask(**headers: str) -> Response:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return Request.blank(f"/api/swagger.json?api_version={NEWEST}", headers=named).get_response(service.app)

    packed, plain = ask(Accept_Encoding="br, gzip"), ask()
    assert packed.headers["Content-Encoding"] == "gzip" and "Content-Encoding" not in plain.headers
    assert orjson.loads(gzip.decompress(packed.body)) == plain.json == document(NEWEST)
    assert ask(Accept_Encoding="gzip;q=0").json == plain.json
    assert ask(If_None_Match=plain.headers["ETag"]).status_int == 304


def test_the_page_needs_no_token_and_no_other_host(anonymous: Api) -> None:
    """The page offers every version and loads nothing but what netinv serves, which the browser is told to insist
    on.
    """
    answer = anonymous.send("GET", "/api/docs/", version=None, headers={"Accept": "text/html"}, status=200)
    assert answer.content_type == "text/html"
    assert all(f"../swagger.json?api_version={version}" in answer.text for version in SUPPORTED)
    loaded = re.findall(r'(?:src|href)="([^"]+)"', answer.text)
    assert len(loaded) == 4 and "//" not in answer.text.replace("{  // ", "")
    for path in loaded:
        assert anonymous.send("GET", f"/api/docs/{path}", version=None, status=200).body
    assert answer.headers["Content-Security-Policy"].startswith("default-src 'self';")
    assert anonymous.send("GET", "/api/docs", version=None, status=302).headers["Location"].endswith("/api/docs/")


def test_the_page_gives_the_document_to_clients_that_ask_here(anonymous: Api, document: Get) -> None:
    """``/api/docs/?format=openapi``, as pynautobot asks."""
    assert anonymous.get("/api/docs/", {"format": "openapi"}, version=NEWEST) == document(NEWEST)
    assert anonymous.get("/api/docs/", {"format": "pdf"}, status=404) == {"detail": "Not found."}


def test_documents_are_only_read(anonymous: Api) -> None:
    """405 for what would change them."""
    for path in ("/api/swagger.json", "/api/swagger.yaml", "/api/swagger/", "/api/docs/"):
        assert anonymous.post(path, {}, status=405) == {"detail": 'Method "POST" not allowed.'}


def test_reading_a_document_asks_the_database_nothing(anonymous: Api, statements: Any) -> None:
    """It answers even when the database does not."""
    with statements() as found:
        anonymous.get("/api/swagger.json", version=NEWEST)
    assert found == []


@pytest.mark.night
def test_every_documented_path_of_an_object_is_there(service: Service, document: Get) -> None:
    """No documented path below objects is 404 for each of them: some objects (a job whose class is gone) have less than
    others.
    """
    objects: dict[str, list[str]] = {}
    lists = {endpoint.path.removeprefix("/api"): endpoint for endpoint in service.registry.by_path.values()}
    missing = []
    for path, method, _ in operations(document("1.6")):
        start, _, rest = path.partition("{id}")
        if method != "get" or not rest:
            continue
        if start not in objects:
            endpoint = service.registry.of_model(lists[start].model)
            sample = Case(service, endpoint.label).make()["id"]
            objects[start] = [
                sample,
                *(item["id"] for item in service.api.get(endpoint.path, {"limit": 100})["results"]),
            ]
        if all(
            service.api.send("GET", f"/api{start}{key}{rest}", status=range(1000)).status_int == 404
            for key in objects[start]
        ):
            missing.append(path)
    assert len(objects) > 50
    assert not missing
