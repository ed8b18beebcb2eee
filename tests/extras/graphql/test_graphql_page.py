"""The page for GraphQL queries."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from netinv_testing import Account, Service
from netinv_testing.client import PASSWORD
from netinv_web.testing import Browser

pytestmark = pytest.mark.any_database
MakeUser = Callable[..., Account]


@pytest.fixture
def site(service: Service) -> Any:
    return service.api.post("/api/dcim/sites/", {"name": f"<b>{service.unique()}", "status": "active"})


def test_a_query_with_variables_is_executed(service: Service, site: Any) -> None:
    form = Browser(service, service.admin).get("/graphql/").forms["query"]
    form["query"] = "query ($name: [String]) { sites(name: $name) { name } }"
    form["variables"] = json.dumps({"name": [site["name"]]})
    page = form.submit(status=200)
    assert json.loads(page.html.select_one("#result pre").text) == {"data": {"sites": [{"name": site["name"]}]}}
    assert page.forms["query"]["query"].value == form["query"].value


@pytest.mark.parametrize(
    ("query", "variables", "reason"),
    [
        ("{ sites { nothing } }", "", "nothing"),
        ("{ sites {", "", "Syntax Error"),
        ("", "", "Must provide query string."),
        ("{ sites { name } }", "[1]", "no JSON object"),
        ("{ sites { name } }", "{", "no JSON"),
    ],
)
def test_a_query_that_is_wrong_is_kept_with_the_reason(
    service: Service, query: str, variables: str, reason: str
) -> None:
    page = Browser(service, service.admin).post("/graphql/", {"query": query, "variables": variables}, status=422)
    assert reason in page.html.select_one("#result").text
    if query:
        assert page.forms["query"]["query"].value == query


def test_a_query_shows_nothing_without_permission(service: Service, site: Any, make_user: MakeUser) -> None:
    nobody = Browser(service, make_user(password=PASSWORD))
    page = nobody.post("/graphql/", {"query": "{ sites { name } }"}, status=200)
    assert site["name"] not in page.html.text
    assert Browser(service).get("/graphql/", status=303).headers["Location"].startswith("/login/")


def test_the_schema_is_searched_by_name(service: Service) -> None:
    browser = Browser(service, service.admin)
    page = browser.get("/graphql/", {"type": "SiteType"}).html
    names = {field.text for kind in page.select("#schema details") for field in kind.select("dt")}
    assert {"name", "status"} <= names
    everything = browser.get("/graphql/", {"type": "Query"})
    assert "sites" in {field.text for field in everything.html.select("#schema dt")}
    assert len(everything.body) < 500_000
    assert len(browser.get("/graphql/", {"type": "type"}).html.select("#schema details")) == 12
    assert "No type has this name." in browser.get("/graphql/", {"type": "no such type"})
