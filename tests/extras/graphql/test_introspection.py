"""GraphQL: queries of the schema have the values of graphql-core, and cost what the schema has, not what they repeat."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from netinv_testing import Api, Service

GRAPHQL = "/api/graphql/"
ARGUMENTS = (
    "{__schema{types{fields{args{type{inputFields{name}}} type{fields{name args{name type{name ofType{name}}}}}}}}}"
)
FRAGMENTS = """query ($all: Boolean!) { __schema { queryType { ...T } mutationType { name } directives { ...D } } }
fragment T on __Type { kind name fields(includeDeprecated: $all) { ...F f2: name } interfaces { name } specifiedByURL }
fragment F on __Field { __typename name isDeprecated deprecationReason type { name } }
fragment D on __Directive { name locations args { name defaultValue type { kind ofType { kind name } } } isRepeatable }"""
ONE_TYPE = """{ __type(name: "SiteType") { name fields { name args @skip(if: true) { name } } possibleTypes { name } }
a: __type(name: "No") { name } }"""
TYPENAME = "{ name: __typename __schema { __typename types @include(if: false) { name } } }"


def query_of_generators() -> str:
    """The query of code generators. That of GraphiQL is a part of it."""
    from graphql import get_introspection_query

    return get_introspection_query(
        specified_by_url=True, directive_is_repeatable=True, schema_description=True, input_value_deprecation=True
    )


@pytest.fixture
def schema(service: Service) -> Iterator[Any]:
    """The schema of graphql-core."""
    from netinv_extras.graphql.schema import schema_of

    with service.unit_of_work() as uow:
        yield schema_of(uow).schema


@pytest.mark.parametrize(
    ("query", "variables"),
    [
        pytest.param(ONE_TYPE, {}, id="one type"),
        pytest.param(FRAGMENTS, {"all": True}, id="fragments, with what is deprecated"),
        pytest.param(FRAGMENTS, {"all": False}, id="fragments"),
        pytest.param(TYPENAME, {}, id="names of types"),
        pytest.param("", {}, id="generators", marks=pytest.mark.night),
    ],
)
def test_the_values_are_those_of_graphql_core(api: Api, schema: Any, query: str, variables: dict[str, Any]) -> None:
    from graphql import execute_sync, parse

    text = query or query_of_generators()
    expected = execute_sync(schema, parse(text), variable_values=variables)
    assert expected.errors is None
    answer = api.post(GRAPHQL, {"query": text, "variables": variables}, status=200)
    assert answer["data"] == expected.data
    assert api.post(GRAPHQL, {"query": text, "variables": variables}, status=200) == answer  # as it was kept


def aliased(query: str, count: int) -> str:
    """A query that asks for the same so many times."""
    inner = query.strip()[1:-1]
    return f"{{ {' '.join(f'a{number}: {inner}' for number in range(count))} }}"


@pytest.mark.parametrize(
    "query",
    [
        aliased(ARGUMENTS, 20),
        aliased("{__schema{types{fields{args{name type{name}}}}}}", 60),
    ],
)
def test_a_query_that_multiplies_the_schema_is_refused(service: Service, query: str) -> None:
    """Also for a user who may view nothing."""
    with service.configured(graphql_max_relations=0):
        answer = service.user().api.post(GRAPHQL, {"query": query}, status=413)
    assert "netinv.max_answer_" in answer["detail"] or "elements of the schema" in answer["detail"]


def test_a_query_that_is_too_deep_in_the_schema_is_refused(service: Service) -> None:
    query = f"{{__schema{{queryType{{{'ofType{' * 30} name {'}' * 30}}}}}}}"
    answer = service.user().api.post(GRAPHQL, {"query": query}, status=400)
    assert answer["errors"][0]["message"] == "This query is nested more than 20 levels deep in the schema."
