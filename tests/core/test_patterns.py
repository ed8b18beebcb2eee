"""Regular expressions and JSON schemas of users: bounded in length and time, on every door that takes them."""

from __future__ import annotations

from typing import Any

import pytest

from netinv_core import patterns
from netinv_core.driver import sqlite_functions

SLOW = "(a+)+$"
TEXT = "a" * 20000 + "!"
LONG = "a" * 1001


@pytest.fixture
def quick(service: Any, configured: Any) -> Any:
    """A service that gives the patterns of a request little time."""
    with configured(pattern_timeout=0.1):
        yield service


def test_a_filter_by_a_slow_pattern_is_answered(api: Any, make: Any, unique: Any) -> None:
    """A backtracking pattern is evaluated, or refused with the reason; never a failure."""
    make("/api/dcim/manufacturers/", name=f"{unique()} {TEXT[-80:]}", slug=unique())
    for suffix in ("re", "nre", "ire", "nire"):
        api.send("GET", "/api/dcim/manufacturers/", query={f"name__{suffix}": SLOW}, status=(200, 400))


def test_a_pattern_of_a_filter_has_a_bound(api: Any) -> None:
    """A longer one is refused by name, whatever the database."""
    body = api.get("/api/dcim/sites/", {"name__re": LONG}, status=400)
    assert body == {"name__re": ["A regular expression has no more than 1000 characters."]}


def test_repetitions_inside_of_one_another_have_a_bound(api: Any) -> None:
    """Compiling the pattern would take longer with each, and hold the process."""
    nested = "(?:" * 20 + "a0" + "){1,9}" * 20
    body = api.get("/api/dcim/sites/", {"name__re": nested}, status=400)
    assert body == {"name__re": ["A regular expression has no more than 5 repetitions inside of one another."]}


@pytest.mark.parametrize(
    "pattern",
    [
        *("k{3000000}", "[ab]{4000000}?", "k{5000}+", "((a{1000}){1000}){1000}", "(?=a{5000})", "(?:b|a{5000})"),
        *("(?>a{5000})", "(?i:k{5000})", "()(?(1)a{5000}|b)", "(?<!a{5000})b", "(a{1000}){3}b{0,9}"),
    ],
)
def test_what_a_pattern_repeats_at_least_has_a_bound(api: Any, pattern: str) -> None:
    """It is compiled as so many copies: some 300 bytes each, which a few characters make gigabytes."""
    body = api.get("/api/dcim/sites/", {"name__re": pattern}, status=400)
    assert body == {
        "name__re": ["A regular expression matches no more than 2000 characters by its counts of repetitions."]
    }
    api.get("/api/dcim/sites/", {"name__re": pattern.replace("00", "0"), "limit": 1}, status=(200, 400))


@pytest.mark.any_database
def test_the_statements_of_a_transaction_share_the_time_of_filters(
    api: Any, make: Any, unique: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A query of GraphQL has a statement for each of its fields. SQLite matches in the process of the service."""
    begun: list[float] = []

    class Counted(patterns.Budget):
        def __init__(self, seconds: float) -> None:
            begun.append(seconds)
            super().__init__(seconds)

    monkeypatch.setattr(sqlite_functions.patterns, "Budget", Counted)
    make("/api/dcim/sites/", name=unique(), slug=unique(), status="active")
    begun.clear()
    fields = " ".join(f'a{number}: sites(name__re: "^.{{{number}}}zz") {{ id }}' for number in range(1, 6))
    assert "errors" not in api.post("/api/graphql/", {"query": f"{{ {fields} }}"}, status=200)
    assert begun == [sqlite_functions.PATTERN_SECONDS]


def test_long_patterns_count_as_several_values(api: Any) -> None:
    """Compiling them takes time in proportion to their length."""
    body = api.get("/api/dcim/sites/", {"name__re": ["a" * 970 + str(n) for n in range(60)]}, status=400)
    assert "at most 500 values" in body["name__re"][0]


@pytest.mark.parametrize("pattern", ["(", "a{2,1}", "(?P<a>", "[z-a]", "*", "(?i", "\\"])
def test_what_is_no_pattern_is_refused(api: Any, pattern: str) -> None:
    """The parameter is named."""
    (message,) = api.get("/api/dcim/sites/", {"name__ire": pattern}, status=400)["name__ire"]
    assert message.startswith("Invalid regular expression:")


def test_a_value_that_takes_the_pattern_of_its_field_too_long_is_refused(
    quick: Any, api: Any, make: Any, unique: Any
) -> None:
    """The object is not written; one whose value matches at once is."""
    slug = unique().replace("-", "_")
    field = {
        "name": slug,
        "label": slug,
        "slug": slug,
        "type": "text",
        "content_types": ["tenancy.tenant"],
        "validation_regex": SLOW,
    }
    api.post("/api/extras/custom-fields/", field)
    name = unique()
    body = {"name": name, "slug": name, "custom_fields": {slug: TEXT}}
    (message,) = api.post("/api/tenancy/tenants/", body, status=400)["__all__"]
    assert message.startswith(f"Invalid value for custom field '{slug}':")
    api.post("/api/tenancy/tenants/", {**body, "custom_fields": {slug: "aaa"}})


def test_the_objects_of_one_request_share_its_time(quick: Any, api: Any, unique: Any) -> None:
    """Of many objects each is refused, once the time is used up without matching."""
    slug = unique().replace("-", "_")
    field = {
        "name": slug,
        "label": slug,
        "slug": slug,
        "type": "text",
        "content_types": ["tenancy.tenant"],
        "validation_regex": SLOW,
    }
    api.post("/api/extras/custom-fields/", field)
    names = [unique() for _ in range(200)]
    errors = api.post(
        "/api/tenancy/tenants/",
        [{"name": name, "slug": name, "custom_fields": {slug: TEXT}} for name in names],
        status=400,
    )
    assert len(errors) > 0


SCHEMAS: dict[str, Any] = {
    "pattern": ({"properties": {"a": {"pattern": SLOW}}}, {"a": TEXT}),
    "pattern properties": ({"patternProperties": {SLOW: {}}}, {TEXT: 1}),
    "additional properties": ({"patternProperties": {SLOW: {}}, "additionalProperties": False}, {TEXT: 1}),
    "references that multiply": (
        {
            "definitions": {f"d{n}": {"allOf": [{"$ref": f"#/definitions/d{n + 1}"}] * 2} for n in range(40)}
            | {"d40": {}},
            "$ref": "#/definitions/d0",
        },
        {"a": 1},
    ),
    "endless references": ({"$ref": "#"}, {"a": 1}),
    "another document": ({"$ref": "http://127.0.0.1:9/schema.json"}, {"a": 1}),
    "an address that is none": ({"$id": "http://[", "$ref": "x"}, {"a": 1}),
    "a huge number": ({"properties": {"a": {"multipleOf": 1e-300}}}, {"a": 1e300}),
}


@pytest.mark.parametrize("name", SCHEMAS)
def test_a_schema_that_cannot_be_evaluated_refuses_the_data(quick: Any, api: Any, unique: Any, name: str) -> None:
    """400 with the reason, for each kind of schema that never ends or leads elsewhere."""
    schema, data = SCHEMAS[name]
    schema = {"type": "object", "properties": {}, **schema}
    made = api.post("/api/extras/config-context-schemas/", {"name": unique(), "slug": unique(), "data_schema": schema})
    context = {"name": unique(), "data": data, "schema": made["id"]}
    assert "data" in api.post("/api/extras/config-contexts/", context, status=400)


def test_a_schema_with_a_broken_pattern_is_refused(api: Any, unique: Any) -> None:
    """Before anything is validated by it."""
    for schema in (
        {"type": "object", "properties": {"a": {"pattern": "("}}},
        {"type": "object", "properties": {}, "patternProperties": {LONG: {}}},
    ):
        body = api.post(
            "/api/extras/config-context-schemas/",
            {"name": unique(), "slug": unique(), "data_schema": schema},
            status=400,
        )
        assert list(body) == ["data_schema"]


def test_unique_items_are_compared_as_json_values(api: Any, unique: Any) -> None:
    """1 equals 1.0 and differs from true; thousands of objects are compared at once."""
    data_schema = {"type": "object", "properties": {"a": {"uniqueItems": True}}}
    schema = api.post(
        "/api/extras/config-context-schemas/", {"name": unique(), "slug": unique(), "data_schema": data_schema}
    )

    def send(items: list[Any], status: int) -> Any:
        body = {"name": unique(), "is_active": False, "data": {"a": items}, "schema": schema["id"]}
        return api.post("/api/extras/config-contexts/", body, status=status)

    send([1, True, "1", {"b": 1}, {"b": 2}, *[{"n": n} for n in range(3000)]], 201)
    send([1, 1.0], 400)
    send([{"a": 1, "b": 2}, {"b": 2, "a": 1.0}], 400)


@pytest.mark.parametrize(
    "moment", ["0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-12:00", "0001-01-01", "9999-12-31T23:59:59Z"]
)
def test_instants_at_the_edge_of_the_calendar(api: Any, make: Any, moment: str) -> None:
    """Filters and bodies take them, or say that they do not."""
    for suffix in ("gte", "lte"):
        api.send("GET", "/api/dcim/sites/", query={f"last_updated__{suffix}": moment}, status=(200, 400))
    api.send("POST", "/api/users/tokens/", {"expires": moment}, status=(201, 400))
