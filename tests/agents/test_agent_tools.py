"""Tools that read, called by an administrator's agent."""

from __future__ import annotations

import json
from typing import Any

import pytest

from netinv_testing import Service, Unique
from tests.support.agents import Agent
from tests.support.cabling_fixtures import Plant

pytestmark = [pytest.mark.directory, pytest.mark.any_database]


@pytest.fixture
def api(agent_service: Service) -> Any:
    return agent_service.api


@pytest.fixture
def plant(api: Any, unique: Unique) -> Plant:
    return Plant(api, unique)


def site(api: Any, name: str) -> Any:
    return api.post("/api/dcim/sites/", {"name": name, "slug": name, "status": "active"})


def test_the_tools_say_what_they_need(agent: Agent) -> None:
    tools = agent.tools()
    assert {"search", "list_models", "describe_model", "list_objects", "get_object", "get_history"} <= tools.keys()
    assert {"get_config_context", "trace", "free_space", "graphql"} <= tools.keys()
    assert tools["get_object"]["inputSchema"]["required"] == ["model", "id"]
    models = tools["list_objects"]["inputSchema"]["properties"]["model"]["enum"]
    assert {"dcim.device", "ipam.prefix", "example.maintenancewindow"} <= set(models)
    assert "dcim.interface" in tools["trace"]["inputSchema"]["properties"]["model"]["enum"]
    assert tools["free_space"]["inputSchema"]["properties"]["model"]["enum"] == ["ipam.prefix", "ipam.vlangroup"]
    assert all(
        tool["annotations"]["readOnlyHint"] for name, tool in tools.items() if name.startswith(("get_", "list_"))
    )


def test_models_of_plugins_are_described_like_the_others(agent: Agent) -> None:
    assert agent.call("list_models")["Example"]["example.maintenancewindow"] == "maintenance windows"
    described = agent.call("describe_model", model="example.maintenancewindow")
    assert described["fields"]["site"]["type"] == "reference to dcim.site"


def test_a_model_has_its_vocabulary(agent: Agent) -> None:
    described = agent.call("describe_model", model="dcim.device")
    assert described["fields"]["face"]["choices"] == ["front", "rear"]
    assert "active" in described["fields"]["status"]["choices"]
    assert described["fields"]["site"] == {"type": "reference to dcim.site", "required": True}
    assert described["filters"]["name"].startswith("string (n ic ")
    assert agent.call("describe_model", model="dcim.device", parts=["order"]).keys() == {"model", "title", "order"}


def test_an_object_is_found_and_read(agent: Agent, api: Any, unique: Unique) -> None:
    name = unique()
    key = site(api, name)["id"]
    (group,) = agent.call("search", text=name)["groups"]
    assert (group["resource"], group["results"][0]["id"]) == ("dcim.site", key)
    assert agent.call("get_object", model="dcim.site", id=key, fields=["name"]) == {"name": name}
    assert agent.call("get_object", model="dcim.site", id=key)["slug"] == name


def test_a_list_has_filters_fields_order_and_pages(agent: Agent, api: Any, unique: Unique) -> None:
    prefix = unique()
    for letter in "abc":
        site(api, f"{prefix}{letter}")
    wanted = {"model": "dcim.site", "filters": {"name__isw": prefix, "status": ["active", "planned"]}}
    listed = agent.call("list_objects", **wanted, fields=["name"], order=["-name"], limit=2)
    assert listed == {"count": 3, "offset": 0, "results": [{"name": f"{prefix}c"}, {"name": f"{prefix}b"}]}
    rest = agent.call("list_objects", **wanted, fields=["name"], order=["-name"], limit=2, offset=2)
    assert rest["results"] == [{"name": f"{prefix}a"}]
    assert agent.call("list_objects", **wanted)["results"][0].keys() == {"display", "id", "url", "name", "slug"}


def test_history_tells_who_changed_what(agent: Agent, api: Any, unique: Unique) -> None:
    key = site(api, unique())["id"]
    api.patch(f"/api/dcim/sites/{key}/", {"facility": "Hall 2"})
    history = agent.call("get_history", model="dcim.site", id=key, limit=1)
    assert history["count"] == 2
    assert [(change["field"], change["after"]) for change in history["results"][0]["changes"]] == [
        ("facility", "Hall 2")
    ]


def test_free_addresses_and_networks_of_a_prefix(agent: Agent, api: Any, unique: Unique) -> None:
    network = f"{unique.ipv6()}::/126"
    key = api.post("/api/ipam/prefixes/", {"prefix": network, "status": "active"})["id"]
    free = agent.call("free_space", model="ipam.prefix", id=key, what="ips", limit=2)["free"]
    assert [entry["address"].endswith("/126") for entry in free] == [True, True]
    assert agent.call("free_space", model="ipam.prefix", id=key, what="prefixes")["free"][0]["prefix"] == network


def test_free_numbers_of_a_vlan_group(agent: Agent, api: Any, unique: Unique) -> None:
    group = api.post("/api/ipam/vlan-groups/", {"name": unique()})["id"]
    api.post("/api/ipam/vlans/", {"vid": 1, "name": unique(), "group": group, "status": "active"})
    free = agent.call("free_space", model="ipam.vlangroup", id=group, what="vlans", limit=2)["free"]
    assert free == [{"vid": 2}, {"vid": 3}]


def test_a_cable_is_traced(agent: Agent, api: Any, plant: Plant) -> None:
    a, b = plant.ends("dcim.interface", 2)
    plant.cable(a, b)
    ((near, _, far),) = agent.call("trace", model="dcim.interface", id=a.id)
    assert (near["id"], far["id"]) == (a.id, b.id)


def test_the_config_context_of_a_device(agent: Agent, api: Any, plant: Plant) -> None:
    device = plant.device()
    api.patch(f"/api/dcim/devices/{device}/", {"local_context_data": {"ntp": "192.0.2.1"}})
    assert agent.call("get_config_context", model="dcim.device", id=device)["config_context"]["ntp"] == "192.0.2.1"


def test_graphql_only_reads(agent: Agent, api: Any, unique: Unique) -> None:
    name = unique()
    site(api, name)
    query = "query ($name: [String]) { sites(name: $name) { name } }"
    assert agent.call("graphql", query=query, variables={"name": [name]}) == {"data": {"sites": [{"name": name}]}}
    assert agent.refusal("graphql", query="mutation { x }")["status"] == 400


def test_reading_in_a_change_request(agent: Agent, api: Any, unique: Unique) -> None:
    inside = api.post("/api/extras/change-requests/", {"title": unique()})["id"]
    name = unique()
    body = {"name": name, "slug": name, "status": "active"}
    key = api.post("/api/dcim/sites/", body, headers={"X-Change-Request": inside})["id"]
    assert agent.refusal("get_object", model="dcim.site", id=key)["status"] == 404
    assert agent.call("get_object", model="dcim.site", id=key, change_request=inside)["name"] == name
    assert agent.call("search", text=name, change_request=inside)["groups"]
    assert agent.call("graphql", query=f'{{ sites(name: "{name}") {{ id }} }}', change_request=inside)["data"]["sites"]


def test_an_answer_within_the_budget_says_that_it_was_cut(agent: Agent, agent_service: Service, unique: Unique) -> None:
    prefix = unique()
    for letter in "abcdef":
        site(agent_service.api, f"{prefix}{letter}")
    wanted = {
        "model": "dcim.site",
        "filters": {"name__isw": prefix},
        "fields": ["name", "comments", "url", "notes_url"],
    }
    with agent_service.configured(mcp_answer_size=1000):
        refused, text = agent.text("list_objects", **wanted)
        key = agent_service.api.post("/api/dcim/sites/", {"name": unique(), "status": "active", "comments": "x" * 2000})
        whole = agent.text("get_object", model="dcim.site", id=key["id"])[1]
    listed = json.loads(text)
    assert not refused
    assert len(text) <= 1000 and len(whole) <= 1000
    (part,) = listed["cut"]["parts"]
    assert part == {"part": "results", "shown": len(listed["results"]), "of": 6}
    assert "fields" in listed["cut"]["narrow"]
    assert listed["cut"]["characters"] > 1000
    assert json.loads(whole)["cut"]["parts"][0] == {"part": "comments", "left_out": True}


def test_statements_do_not_depend_on_the_number_of_objects(
    agent: Agent, agent_service: Service, unique: Unique
) -> None:
    prefix = unique()
    counts = []
    for letter in "abcdef":
        site(agent_service.api, f"{prefix}{letter}")
        with agent_service.statements() as found:
            agent.call("list_objects", model="dcim.site", filters={"name__isw": prefix}, fields=["name", "tags"])
        counts.append(len(found))
    assert set(counts[1:]) == {counts[1]}
    assert counts[1] <= 6
