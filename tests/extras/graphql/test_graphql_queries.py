"""GraphQL queries that are kept: what is particular about them; the rest is in the contract."""

from __future__ import annotations

import uuid
from typing import Any

import pytest

from netinv_testing import Api, Unique

QUERIES = "/api/extras/graphql-queries/"
SITES = "/api/dcim/sites/"


@pytest.fixture
def site(make: Any) -> Any:
    """A site."""
    return make(SITES, status="active")


@pytest.fixture
def kept(api: Api, unique: Unique) -> Any:
    """A query for sites by slug."""
    return api.post(
        QUERIES, {"name": f"Sites {unique()}", "query": "query ($s: [String]) { sites(slug: $s) { name } }"}
    )


def test_its_variables_are_those_that_it_defines(api: Api, kept: Any) -> None:
    assert kept["variables"] == {"s": ""}
    query = 'query ($n: Int = 5, $names: [String] = ["a"], $x: String) { sites(limit: $n, name: $names, slug: $x) { name } }'
    assert api.patch(kept["url"], {"query": query, "variables": {"own": 1}})["variables"] == {
        "n": 5,
        "names": ["a"],
        "x": "",
    }
    assert api.patch(kept["url"], {"variables": None})["variables"] == {"n": 5, "names": ["a"], "x": ""}


def test_it_is_a_query_by_its_syntax(api: Api, unique: Unique) -> None:
    name = unique()
    assert api.post(QUERIES, {"name": name, "query": "Patched query"}, status=400) == {
        "query": ['Syntax Error GraphQL (1:1) Unexpected Name "Patched"\n\n1: Patched query\n   ^\n']
    }
    made = api.post(QUERIES, {"name": name, "query": "{ nope }"})
    assert made["slug"] == name.lower()
    assert api.post(f"{made['url']}run/", {}, status=400)["errors"][0]["message"].startswith(
        'Cannot query field "nope"'
    )


@pytest.mark.parametrize("variables", [["zz"], "zz", 5, True])
def test_variables_are_an_object(api: Api, unique: Unique, variables: Any) -> None:
    answer = api.post(QUERIES, {"name": unique(), "query": "{ sites { name } }", "variables": variables}, status=400)
    assert answer == {"variables": [f'Expected a dictionary of items but got type "{type(variables).__name__}".']}


def test_it_is_run_with_variables(api: Api, kept: Any, site: Any) -> None:
    other = {"variables": {"s": ["no-such-site"]}}
    assert api.post(f"{kept['url']}run/", {"variables": {"s": [site["slug"]]}}, status=200) == {
        "data": {"sites": [{"name": site["name"]}]}
    }
    assert api.post(f"{kept['url']}run/", other, status=200) == {"data": {"sites": []}}
    assert {"name": site["name"]} in api.post(f"{kept['url']}run/", status=200)["data"]["sites"]
    assert "non_field_errors" in api.post(f"{kept['url']}run/", [], status=400)


def test_running_takes_what_a_post_takes_and_shows_what_may_be_viewed(
    api: Api, make_user: Any, kept: Any, site: Any
) -> None:
    body = {"variables": {"s": [site["slug"]]}}
    label = "extras.graphqlquery"
    nobody = make_user(("view", label), ("view", "dcim.site"))
    assert nobody.api.post(f"{kept['url']}run/", body, status=403) == {
        "detail": "You do not have permission to perform this action."
    }
    blind = make_user(("add", label))
    assert blind.api.post(f"{kept['url']}run/", body, status=200) == {"data": {"sites": []}}
    seeing = make_user(("add", label), ("view", "dcim.site"))
    assert seeing.api.post(f"{kept['url']}run/", body, status=200) == {"data": {"sites": [{"name": site["name"]}]}}
    elsewhere = make_user(("add", label, {"name": "another"}))
    assert elsewhere.api.post(f"{kept['url']}run/", body, status=404) == {"detail": "Not found."}


def test_what_is_not_there_is_not_run(api: Api, anonymous: Api, kept: Any) -> None:
    for key in (uuid.uuid4(), "none"):
        assert api.post(f"{QUERIES}{key}/run/", {}, status=404) == {"detail": "Not found."}
    assert api.get(f"{kept['url']}run/", status=405) == {"detail": 'Method "GET" not allowed.'}
    anonymous.post(f"{kept['url']}run/", {}, status=403)
