"""Permissions of the tools: those of the token, with the constraints, in each of them."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from netinv_testing import Account, Service, Unique
from tests.support.agents import Agent
from tests.support.cabling_fixtures import Plant

pytestmark = [pytest.mark.directory, pytest.mark.any_database]
Scene = Mapping[str, Any]
# A call of each tool for what a user must not see, by the ids and names of the scene.
HIDDEN: dict[str, Callable[[Scene], dict[str, Any]]] = {
    "search": lambda scene: {"text": scene["word"], "limit": 50},
    "list_models": lambda scene: {},
    "describe_model": lambda scene: {"model": "dcim.device"},
    "list_objects": lambda scene: {"model": "dcim.device", "filters": {"name__isw": scene["word"]}},
    "get_object": lambda scene: {"model": "dcim.device", "id": scene["device"]},
    "get_history": lambda scene: {"model": "dcim.device", "id": scene["device"]},
    "get_config_context": lambda scene: {"model": "dcim.device", "id": scene["device"]},
    "trace": lambda scene: {"model": "dcim.interface", "id": scene["interface"]},
    "free_space": lambda scene: {"model": "ipam.prefix", "id": scene["prefix"], "what": "ips"},
    "propose_changes": lambda scene: {
        "change_request": scene["change_request"],
        "objects": {"dcim.site": [{"name": scene["comment"], "status": "active"}]},
    },
    "validate_change_request": lambda scene: {"change_request": scene["change_request"]},
    "comment": lambda scene: {"change_request": scene["change_request"], "text": "What about Porto?"},
    "submit_change_request": lambda scene: {"change_request": scene["change_request"]},
    "graphql": lambda scene: {
        "query": "{ devices { id name comments } interfaces { id name } prefixes { id prefix } }"
    },
}
NAMELESS = ("list_models", "describe_model", "validate_change_request")  # whose answers have no values of objects


@pytest.fixture
def scene(agent_service: Service, unique: Unique) -> Scene:
    """Objects whose names and comments have a word that a restricted user must not read."""
    plant, word = Plant(agent_service.api, unique), f"hidden{unique()}"
    comment = unique()
    device = plant.device(name=word, comments=comment, local_context_data={"word": comment})
    a, b = plant.ends("dcim.interface", 2, device, description=comment)
    plant.cable(a, b)
    network = unique.ipv6()
    body = {"prefix": f"{network}::/64", "status": "active", "description": comment}
    prefix = agent_service.api.post("/api/ipam/prefixes/", body)["id"]
    made = agent_service.api.post("/api/extras/change-requests/", {"title": comment})
    inside = {"X-Change-Request": made["id"]}
    agent_service.api.patch(f"/api/dcim/devices/{device}/", {"serial": comment}, headers=inside)
    agent_service.api.post(f"{made['url']}comment/", {"text": comment}, status=200)
    return {
        "change_request": made["id"],
        "word": word,
        "comment": comment,
        "network": network,
        "device": device,
        "interface": a.id,
        "prefix": prefix,
    }


def restricted(service: Service) -> Account:
    """A user who may view devices and others of another name only."""
    name = {"name": "visible"}
    return service.user(
        ("view", "dcim.device", name),
        ("view", "dcim.interface", name),
        ("view", "ipam.prefix", {"description": "visible"}),
        ("view add change", "extras.changerequest", {"title": "visible"}),
    )


def test_every_tool_has_a_call_here(agent: Agent) -> None:
    assert agent.tools().keys() == HIDDEN.keys()


@pytest.mark.parametrize("tool", HIDDEN)
def test_a_tool_shows_nothing_that_its_user_may_not_view(
    agent: Agent, agent_service: Service, scene: Scene, tool: str
) -> None:
    arguments = HIDDEN[tool](scene)
    secrets = [scene["device"], scene["comment"], scene["network"]]
    _, seen = agent.text(tool, **arguments)
    _, hidden = Agent(restricted(agent_service)).text(tool, **arguments)
    assert all(text not in hidden for text in secrets)
    assert tool in NAMELESS or any(text in seen for text in secrets)


def test_without_permissions_there_are_no_models(agent_service: Service) -> None:
    agent = Agent(agent_service.user())
    assert "Organization" not in agent.call("list_models")
    assert agent.refusal("list_objects", model="dcim.device")["status"] == 403


def test_a_token_that_only_reads_may_call_tools_that_read(agent_service: Service) -> None:
    reader = agent_service.user(("view", "dcim.site"), write_enabled=False)
    assert "results" in Agent(reader).call("list_objects", model="dcim.site")


@pytest.mark.parametrize("token", [None, "unknown"])
def test_without_a_token_nothing_is_served(agent: Agent, token: str | None) -> None:
    message = agent.message("tools/list")
    agent.api.send(
        "POST", "/mcp/", message, token=token, headers={"Accept": "application/json"}, version=None, status=403
    )


def test_a_token_that_has_expired_is_refused(agent_service: Service) -> None:
    past = datetime.datetime.now(datetime.UTC) - datetime.timedelta(days=1)
    agent = Agent(agent_service.user(superuser=True, expires=past))
    assert agent.send(agent.message("tools/list"), status=403).json == {"detail": "Token expired"}


def test_the_session_of_a_browser_does_not_count(agent_service: Service) -> None:
    import webtest

    browser = webtest.TestApp(agent_service.app, lint=False)
    form = {"username": agent_service.admin.username, "password": agent_service.admin.password, "next": "/"}
    assert browser.post("/login/", form, headers={"Sec-Fetch-Site": "same-origin"}).status_int == 303
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    headers = {"Accept": "application/json", "Sec-Fetch-Site": "same-origin"}
    assert browser.post_json("/mcp/", message, headers=headers, status=403).json["detail"].startswith("Authentication")
