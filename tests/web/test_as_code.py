"""As code: how programs read what a page shows."""

from __future__ import annotations

import json
import shlex
import subprocess
from typing import Any
from urllib.parse import urlsplit

import graphql
import pytest
import yaml

from netinv_extras.graphql.schema import schema_of
from netinv_extras.graphql.web import snippet as graphql_snippet
from netinv_testing import Service, Unique
from netinv_web.lists.columns import default_columns
from netinv_web.objects.details import shown_fields
from netinv_web.objects.snippets import PLACEHOLDER
from netinv_web.testing import Browser
from tests.support.http_server import served

pytestmark = pytest.mark.any_database


@pytest.fixture
def browser(service: Service) -> Browser:
    """The administrator's browser."""
    return Browser(service, service.admin)


def status_of(service: Service, slug: str) -> Any:
    return service.api.get("/api/extras/statuses/", {"slug": slug})["results"][0]["id"]


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
    status = {"id": status_of(service, "active"), "display": "Active"}
    assert answer["data"] == {"sites": [{"id": site["id"], "display": name, "status": status}]}


def test_a_tab_is_read_with_the_filters_of_its_object(service: Service, browser: Browser, unique: Unique) -> None:
    name, api = unique(), service.api
    tenant = api.post("/api/tenancy/tenants/", {"name": name, "slug": name})
    sites = [
        api.post("/api/dcim/sites/", {"name": f"{name} {n}", "slug": f"{name}-{n}", "status": "active"}) for n in "ef"
    ]
    racks = [api.post("/api/dcim/racks/", {"name": name, "site": site["id"], "status": "active"}) for site in sites]
    tabs = browser.get(f"/dcim/racks/{racks[0]['id']}/", status=200).html.select("nav.tabs a")
    path = next(tab["href"] for tab in tabs if tab.text.strip().startswith("Rack reservations"))
    body = {"description": name, "user": service.admin.id, "tenant": tenant["id"]}
    made = [api.post("/api/dcim/rack-reservations/", {**body, "rack": rack["id"], "units": [1]}) for rack in racks]
    page = browser.get(f"{path}?tenant_id={tenant['id']}", status=200).html
    link = page.select_one("#list").find("a", string="API")
    assert [item["id"] for item in api.get(link["href"])["results"]] == [made[0]["id"]]
    url = urlsplit(shlex.split(page.select_one("#code-curl").text.replace("\\\n", " "))[-1])
    assert [item["id"] for item in api.get(f"{url.path}?{url.query}")["results"]] == [made[0]["id"]]
    assert "Rack" not in [cell.text.strip() for cell in page.select("thead th")]


def test_what_is_within_a_prefix_is_read_with_its_vrf(service: Service, browser: Browser, unique: Unique) -> None:
    api, network = service.api, unique.ipv6()
    vrf = api.post("/api/ipam/vrfs/", {"name": unique()})
    kinds = [(f"{network}::/64", None), (f"{network}::/80", None), (f"{network}::/80", vrf["id"])]
    made = [api.post("/api/ipam/prefixes/", {"prefix": text, "vrf": key, "status": "active"}) for text, key in kinds]
    page = browser.get(f"/ipam/prefixes/{made[0]['id']}/prefixes/", status=200).html
    link = page.select_one("#list").find("a", string="API")
    assert [item["id"] for item in api.get(link["href"])["results"]] == [made[1]["id"]]


def test_an_object_is_read_by_its_id(service: Service, browser: Browser, unique: Unique) -> None:
    name = unique()
    definition = {"slug": "of_code", "label": "Of code", "type": "text", "content_types": ["dcim.site"]}
    service.api.post("/api/extras/custom-fields/", definition)
    body = {"name": name, "slug": name, "status": "active", "custom_fields": {"of_code": "seven"}}
    site = service.api.post("/api/dcim/sites/", body)
    code = code_of(browser, f"/dcim/sites/{site['id']}/")
    assert shlex.split(code["curl"].replace("\\\n", " "))[-1] == site["url"]
    assert f'nautobot.dcim.sites.get("{site["id"]}")' in code["pynautobot"]
    (found,) = service.api.post("/api/graphql/", {"query": code["graphql"]}, status=200)["data"].values()
    facts = {row["data-field"] for row in browser.get(f"/dcim/sites/{site['id']}/").html.select(".facts [data-field]")}
    assert facts - {"name"} <= found.keys() >= {"asn", "cf_of_code"}
    assert (found["slug"], found["status"]["display"], found["cf_of_code"]) == (name, "Active", "seven")


def test_queries_of_every_resource_fit_the_schema(service: Service) -> None:
    with service.unit_of_work() as uow:
        schema = schema_of(uow).schema
        for endpoint in service.registry.endpoints.values():
            names = {*(field.name for field in shown_fields(endpoint)), *default_columns(endpoint)}
            query = graphql_snippet.text(uow, endpoint, sorted(names))
            assert not graphql.validate(schema, graphql.parse(query)), query


def test_the_lines_run(service: Service, browser: Browser, unique: Unique) -> None:
    name = unique()
    site = service.api.post("/api/dcim/sites/", {"name": name, "slug": name, "status": "active"})
    with served(service.app) as address:
        for path in (f"/dcim/sites/?name={name}", f"/dcim/sites/{site['id']}/"):
            code = {
                key: text.replace("http://localhost", address).replace(PLACEHOLDER, service.api.token)
                for key, text in code_of(browser, path).items()
            }
            answer = json.loads(subprocess.run(shlex.split(code["curl"]), capture_output=True, check=True).stdout)
            assert site["id"] in [item["id"] for item in answer.get("results", [answer])]
            values: dict[str, Any] = {}
            exec(code["pynautobot"], values)
            found = values["result"] if isinstance(values["result"], list) else [values["result"]]
            assert [item.id for item in found] == [site["id"]]
            (task,) = yaml.safe_load(code["ansible"])
            assert task["ansible.builtin.debug"]["msg"].startswith(
                "{{ query('networktocode.nautobot.lookup', \"sites\", "
            )


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
