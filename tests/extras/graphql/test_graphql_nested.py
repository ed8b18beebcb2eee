"""Lists within lists, whole and with hostile arguments, of every model: GraphQL answers or refuses, in little time."""

from __future__ import annotations

import json
from typing import Any

import pytest

from netinv_testing import Case, Service
from netinv_testing.bad_input import VALUES
from netinv_testing.hangs import no_hang
from netinv_web.testing.hostile_values import TEXTS
from tests.support.contract import every_resource

DRAWN = 8  # values for each model
TYPES = "{__schema{queryType{name} types{name kind fields{name args{name} type{kind name ofType{kind name}}}}}}"
ARGUMENTS = ("q", "id", "name", "limit", "offset", "ordering", "created", "tag", "nothing")


@pytest.fixture(scope="session")
def types(service: Service) -> dict[str, list[dict[str, Any]]]:
    """The fields of each type of the schema, that of the queries as ``""``."""
    schema = service.api.post("/api/graphql/", {"query": TYPES}, status=200)["data"]["__schema"]
    found = {item["name"]: item["fields"] or [] for item in schema["types"]}
    return {**found, "": found[schema["queryType"]["name"]]}


def members(types: dict[str, list[dict[str, Any]]], name: str, levels: int) -> str:
    """All values of a type, and for so many levels all that it leads to."""
    parts = []
    for field in types[name]:
        target = field["type"]["name"] or (field["type"]["ofType"] or {}).get("name") or ""
        if field["name"].startswith(("cf_", "cpf_", "rel_")):
            continue  # other tests define any number of them
        if not types.get(target):
            parts.append(field["name"])
        elif levels > 1:
            parts.append(f"{field['name']}{{{members(types, target, levels - 1)}}}")
        elif levels:
            parts.append(f"{field['name']}{{__typename}}")
    return " ".join(parts)


def ask(service: Service, query: str, variables: Any = None) -> Any:
    """The answer, after a bounded time."""
    body = {"query": query} if variables is None else {"query": query, "variables": variables}
    with no_hang(query):
        return service.api.send("POST", "/api/graphql/", json.dumps(body).encode(), status=(200, 400, 413)).json


@pytest.mark.any_database
@pytest.mark.parametrize("label", every_resource())
def test_whole_nested_lists_are_answered_or_refused(service: Service, types: Any, label: str) -> None:
    case = Case(service, label, most=DRAWN).for_reading()
    case.make_many(3)
    name = f"{case.endpoint.schema_name}Type"
    root = next(field["name"] for field in types[""] if (field["type"]["ofType"] or {}).get("name") == name)
    assert "errors" not in ask(service, f"{{{root}(limit:3){{{members(types, name, 1)}}}}}") or not types[name]
    with service.configured(graphql_max_relations=0):
        answer = ask(service, f"{{{root}{{{members(types, name, 2)}}}}}")
    assert answer.keys() & {"data", "errors", "detail"}
    values = case.drawn([*VALUES, *TEXTS])
    for number, value in enumerate(values):
        argument = ARGUMENTS[number % len(ARGUMENTS)]
        if isinstance(value, str):
            ask(service, f"{{{root}({argument}:{json.dumps(value)}){{id}}}}")
        for kind in ("String", "[String]"):
            ask(service, f"query($v:{kind}){{{root}({argument}:$v){{id}}}}", {"v": value})
