"""The client of the SDK, over real HTTP."""

from __future__ import annotations

import asyncio
import io
import json
import os
import sys
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

import pytest

from netinv_testing import Service, Unique
from tests.support.http_server import served

pytestmark = [pytest.mark.directory, pytest.mark.any_database]


@pytest.fixture(scope="session")
def address(agent_service: Service) -> Iterator[str]:
    with served(agent_service.app) as address:
        yield address


def run(address: str, token: str, work: Callable[[Any], Awaitable[Any]], mode: str = "auto") -> Any:
    """The result of an agent's work with a connected client."""
    import httpx2
    from mcp import Client
    from mcp.client.streamable_http import streamable_http_client

    async def connected() -> Any:
        async with (
            httpx2.AsyncClient(headers={"Authorization": f"Token {token}"}) as http,
            Client(streamable_http_client(f"{address}/mcp/", http_client=http), mode=mode) as client,
        ):
            return await work(client)

    return asyncio.run(connected())


async def called(client: Any, tool: str, **arguments: Any) -> Any:
    """The answer of a tool."""
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, result
    return json.loads(result.content[0].text)


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_a_client_finds_its_way_from_a_name_to_an_object(
    agent_service: Service, address: str, unique: Unique, mode: str
) -> None:
    name = unique()
    agent_service.api.post("/api/dcim/sites/", {"name": name, "slug": name, "status": "active", "facility": "Hall 2"})

    async def work(client: Any) -> Any:
        tools = [tool.name for tool in (await client.list_tools()).tools]
        (group,) = (await called(client, "search", text=name))["groups"]
        model, key = group["resource"], group["results"][0]["id"]
        described = await called(client, "describe_model", model=model)
        shown = await called(client, "get_object", model=model, id=key, fields=["facility"])
        unknown = await client.call_tool("get_object", {"model": model, "id": "x"})
        return tools, described["fields"]["facility"]["type"], shown, unknown.is_error

    tools, kind, shown, refused = run(address, agent_service.admin.token, work, mode)
    assert {"search", "graphql"} <= set(tools)
    assert (kind, shown, refused) == ("string", {"facility": "Hall 2"}, True)


def proposal(word: str, types: tuple[str, str], network: str) -> dict[str, Any]:
    """A document that turns a site up."""
    device = {"name": f"{word}-r1", "site": word, "rack": f"{word}-R1", "position": 10, "face": "front"}
    kind, role = types
    interfaces = [
        {"device": f"{word}-r1", "name": name, "type": "1000base-t", "status": "active"} for name in ("eth0", "eth1")
    ]
    address = {"address": f"{network}::1/64", "status": "active", "assigned_object_type": "dcim.interface"}
    return {
        "ipam.ipaddress": [{**address, "assigned_object_id": {"device": {"name": f"{word}-r1"}, "name": "eth0"}}],
        "dcim.site": [{"name": word, "slug": word, "status": "active"}],
        "dcim.rack": [{"name": f"{word}-R1", "site": word, "status": "active", "u_height": 42}],
        "dcim.device": [{**device, "device_type": {"model": kind}, "device_role": role, "status": "active"}],
        "dcim.interface": interfaces,
        "ipam.prefix": [{"prefix": f"{network}::/64", "site": word, "status": "active"}],
    }


def test_an_agent_turns_a_site_up_and_a_person_merges_it(agent_service: Service, address: str, unique: Unique) -> None:
    api, author, word = agent_service.api, agent_service.user(superuser=True), unique()
    maker = api.post("/api/dcim/manufacturers/", {"name": unique(), "slug": unique()})["id"]
    role = api.post("/api/dcim/device-roles/", {"name": unique(), "slug": unique()})["slug"]
    kind = api.post("/api/dcim/device-types/", {"manufacturer": maker, "model": unique()})["model"]
    document = proposal(word, (kind, role), unique.ipv6())

    async def work(client: Any) -> Any:
        prompt = await client.get_prompt("turn_up_site", {"site": word, "like": "Porto", "needs": "a router"})
        schema = await called(client, "describe_model", model="dcim.device", parts=["fields"])
        made = await called(client, "propose_changes", title=f"Turn up {word}", objects=document)
        inside = made["change_request"]["id"]
        shown = await called(
            client,
            "list_objects",
            model="dcim.device",
            filters={"site": word},
            fields=["name", "rack.name"],
            change_request=inside,
        )
        valid = await called(client, "validate_change_request", change_request=inside)
        await called(client, "comment", change_request=inside, text="After the pattern of Porto")
        submitted = await called(client, "submit_change_request", change_request=inside)
        return prompt, schema, made, shown, valid, submitted

    prompt, schema, made, shown, valid, submitted = run(address, author.token, work)
    assert word in prompt.messages[0].content.text
    assert schema["fields"]["device_type"]["required"]
    assert made["change_request"]["creates"] == 7
    assert {change["object_type"] for change in made["changes"]} == document.keys()
    assert shown["results"] == [{"name": f"{word}-r1", "rack": {"name": f"{word}-R1"}}]
    assert (valid["conflicts"]["count"], valid["merge"]["count"]["changes"]) == (0, 8)
    assert submitted["state"] == "submitted"
    assert api.get("/api/dcim/sites/", {"name": word})["count"] == 0
    path = f"/api/extras/change-requests/{made['change_request']['id']}/"
    assert "After the pattern of Porto" in [event["text"] for event in api.get(f"{path}review/")["events"]]
    api.post(f"{path}approve/", {}, status=200)
    assert api.post(f"{path}merge/", {}, status=200)["state"]["value"] == "merged"
    (found,) = api.get("/api/dcim/devices/", {"site": word})["results"]
    assert found["id"] in [change["object_id"] for change in made["changes"]]
    assert api.get("/api/ipam/ip-addresses/", {"device": f"{word}-r1"})["count"] == 1


@pytest.mark.night
def test_a_client_starts_the_command(agent_service: Service, address: str, unique: Unique) -> None:
    from mcp import Client, StdioServerParameters

    name = unique()
    agent_service.api.post("/api/dcim/sites/", {"name": name, "slug": name, "status": "active"})
    secrets = {"NETINV_URL": address, "NETINV_TOKEN": agent_service.admin.token}
    path = {"PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", "from netinv_admin.commands.cli import cli; cli(['mcp'])"]
    started = StdioServerParameters(command=command[0], args=command[1:], env={**secrets, **path})

    async def work(mode: str) -> Any:
        async with Client(started, mode=mode) as client:
            return await called(client, "search", text=name), (await client.list_prompts()).prompts

    for mode in ("auto", "legacy"):
        found, prompts = asyncio.run(work(mode))
        assert found["groups"][0]["results"][0]["name"] == name
        assert len(prompts) == 3


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (b"{", "Parse error"),
        (b'{"jsonrpc": "2.0", "id": 7, "method": "nothing"}', "Method not found"),
        (b'{"jsonrpc": "2.0", "id": 7, "method": "ping", "params": {"_meta": 1}}', ""),
        (b"[" * 200, "Parse error"),
        (b"[]", ""),
    ],
)
def test_the_command_answers_wrong_lines(agent_service: Service, address: str, line: bytes, words: str) -> None:
    from netinv_mcp.stdio import ServiceConnection, pump

    sent = io.BytesIO()
    pump(ServiceConnection(address, agent_service.admin.token), io.BytesIO(line + b"\n\n"), sent)
    (answer,) = map(json.loads, sent.getvalue().splitlines())
    assert words in answer["error"]["message"]


def test_the_command_tells_what_the_service_refuses(address: str) -> None:
    from netinv_mcp.stdio import ServiceConnection, pump

    for url, words in ((address, "403"), ("http://127.0.0.1:1", "refused"), (f"{address}/nothing", "404")):
        sent = io.BytesIO()
        pump(ServiceConnection(url, "wrong"), io.BytesIO(b'{"jsonrpc": "2.0", "id": 7, "method": "ping"}\n'), sent)
        answer = json.loads(sent.getvalue())
        assert answer["id"] == 7 and words in answer["error"]["message"]
