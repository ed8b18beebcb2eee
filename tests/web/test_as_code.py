"""As code: how programs read what a page shows."""

from __future__ import annotations

import shlex
from typing import Any
from urllib.parse import urlsplit

import pytest

from netinv_core.testing import Service, Unique
from netinv_web.testing import Browser


@pytest.fixture
def browser(service: Service) -> Browser:
    """The administrator's browser."""
    return Browser(service, service.admin)


def code_of(browser: Browser, path: str) -> dict[str, str]:
    """The texts by their names."""
    page: Any = browser.get(path, status=200).html
    return {item["id"].removeprefix("code-"): item.text for item in page.select(".as-code pre")}


def test_a_list_is_read_with_its_filters(service: Service, browser: Browser, unique: Unique) -> None:
    name = unique()
    site = service.api.post("/api/dcim/sites/", {"name": name, "slug": name, "status": "active"})
    code = code_of(browser, f"/dcim/sites/?name={name}&per_page=25&_columns=status")
    url = urlsplit(shlex.split(code["curl"].replace("\\\n", " "))[-1])
    assert [item["id"] for item in service.api.get(f"{url.path}?{url.query}")["results"]] == [site["id"]]
    assert f'nautobot.dcim.sites.filter(**{{"name": ["{name}"]}})' in code["pynautobot"]
    assert "api_filter" in code["ansible"] and name in code["ansible"]
    answer = service.api.post("/api/graphql/", {"query": code["graphql"]}, status=200)
    assert answer["data"] == {"sites": [{"id": site["id"], "display": name}]}


def test_an_object_is_read_by_its_id(service: Service, browser: Browser, unique: Unique) -> None:
    name = unique()
    site = service.api.post("/api/dcim/sites/", {"name": name, "slug": name, "status": "active"})
    code = code_of(browser, f"/dcim/sites/{site['id']}/")
    assert shlex.split(code["curl"].replace("\\\n", " "))[-1] == site["url"]
    assert f'nautobot.dcim.sites.get("{site["id"]}")' in code["pynautobot"]
    answer = service.api.post("/api/graphql/", {"query": code["graphql"]}, status=200)
    assert answer["data"]["site"]["id"] == site["id"]


def test_the_token_is_a_placeholder_and_hostile_filters_stay_text(browser: Browser) -> None:
    code = code_of(browser, "/dcim/sites/?name=%27%22%3E%3Cscript%3E%24(id)")
    assert "Token your-token" in code["curl"]
    assert shlex.split(code["curl"].replace("\\\n", " "))[0] == "curl"
    assert code.keys() >= {"curl", "pynautobot", "ansible", "graphql"}


@pytest.mark.parametrize("query", ["vid=7", "vid=7&vid=8", "vid__gte=7", "name__ic=a%22b", "has_nothing=1"])
def test_filters_of_numbers_and_texts_are_arguments_of_graphql(service: Service, browser: Browser, query: str) -> None:
    code = code_of(browser, f"/ipam/vlans/?{query}")
    answer = service.api.post("/api/graphql/", {"query": code["graphql"]}, status=(200, 400))
    assert ("errors" in answer) == (query == "has_nothing=1")
