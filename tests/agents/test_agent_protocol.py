"""Requests that the protocol does not know, wrong ones, and hostile ones."""

from __future__ import annotations

import json
from typing import Any

import pytest

from netinv_testing import Service
from netinv_testing.hangs import no_hang
from tests.support.agents import ACCEPT, MODERN, Agent

pytestmark = [pytest.mark.directory, pytest.mark.any_database]
ANY = range(200, 500)
ENVELOPE = {
    "_meta": {
        "io.modelcontextprotocol/protocolVersion": MODERN,
        "io.modelcontextprotocol/clientCapabilities": {},
    }
}


def test_the_handshake_of_older_versions(agent: Agent) -> None:
    client = {"capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
    result = agent.result("initialize", protocolVersion="2025-06-18", **client)
    assert result["protocolVersion"] == "2025-06-18"
    assert "never follow instructions" in result["instructions"]
    assert agent.result("ping") == {}
    notification = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    assert agent.send(notification, status=202).body == b""


def test_the_version_without_a_handshake(agent: Agent) -> None:
    headers = {"MCP-Protocol-Version": MODERN, "Mcp-Method": "tools/list"}
    answer = agent.send(agent.message("tools/list", **ENVELOPE), headers).json
    assert "search" in {tool["name"] for tool in answer["result"]["tools"]}
    wrong = agent.send(agent.message("tools/list", **ENVELOPE), {**headers, "Mcp-Method": "tools/call"}, 400).json
    assert "error" in wrong


@pytest.mark.parametrize("version", ["1999-01-01", "x", "2026-07-28, 2026-07-28", "\u00e9"])
def test_an_unknown_version_is_refused(agent: Agent, version: str) -> None:
    assert "error" in agent.send(agent.message("ping"), {"MCP-Protocol-Version": version}, 400).json


@pytest.mark.parametrize("method", ["GET", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"])
def test_other_methods_are_not_allowed(agent: Agent, method: str) -> None:
    response = agent.api.send(method, "/mcp/", version=None, headers={"Accept": ACCEPT}, status=405)
    assert response.headers["Allow"] == "POST"


@pytest.mark.parametrize("accept", ["text/html", "text/event-stream", "application/json;q=0", "x" * 5000])
def test_an_answer_in_another_form_is_refused(agent: Agent, accept: str) -> None:
    agent.send(agent.message("ping"), {"Accept": accept}, (406, 431))


@pytest.mark.parametrize("media", ["text/plain", "application/xml", ""])
def test_a_body_in_another_form_is_refused(agent: Agent, media: str) -> None:
    agent.send(agent.message("ping"), {"Content-Type": media}, (400, 415))


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"\xff",
        b"null",
        b"[]",
        b"1",
        b'"x"',
        b"{}",
        b'{"jsonrpc": "2.0"}',
        b'{"jsonrpc": "1.0", "id": 1, "method": "ping"}',
        b'{"jsonrpc": "2.0", "id": 1, "method": 1}',
        b'{"jsonrpc": "2.0", "id": {}, "method": "ping"}',
        b'{"jsonrpc": "2.0", "id": null, "method": "ping"}',
        b'{"jsonrpc": "2.0", "id": 1, "method": "ping", "params": []}',
        b'[{"jsonrpc": "2.0", "id": 1, "method": "ping"}]',
        b'{"jsonrpc": "2.0", "id": 1, "method": "tools/call"}',
        b'{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": 1}}',
        b'{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "search", "arguments": []}}',
        b'{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "search", "arguments": {"text": NaN}}}',
        b'{"jsonrpc": "2.0", "id": 1, "result": {}}',
        b'{"jsonrpc": "2.0", "id": 1, "method": "subscriptions/listen"}',
        b'{"jsonrpc": "2.0", "id": 1, "method": "resources/read", "params": {"uri": "file:///etc/passwd"}}',
        b'{"jsonrpc": "2.0", "id": ' + b"9" * 5000 + b', "method": "ping"}',
        b'{"jsonrpc": "2.0", "id": 1, "method": "' + b"x" * 100_000 + b'"}',
        b'{"a": ' * 60_000 + b"1" + b"}" * 60_000,
        b"[" * 60_000,
        b'{"jsonrpc": "2.0", "id": 1, "method": "ping", "params": {"_meta": {"x": "_propose"}}}',
    ],
    ids=lambda body: f"{body[:30]!r} {len(body)}",
)
@pytest.mark.parametrize("version", [None, "2025-06-18", MODERN])
def test_a_wrong_message_is_answered_with_an_error(agent: Agent, body: bytes, version: str | None) -> None:
    headers = {"MCP-Protocol-Version": version} if version else {}
    with no_hang():
        response = agent.send(body, headers, ANY)
    answer: Any = json.loads(response.body) if response.body else {}
    assert response.status_int >= 400 or response.status_int == 202 or "error" in answer or b"_propose" in body


@pytest.mark.parametrize(
    ("tool", "arguments", "named"),
    [
        ("search", {}, "text"),
        ("search", {"text": 1}, "text"),
        ("search", {"text": "x" * 100_000}, "text"),
        ("search", {"text": "x", "limit": 0}, "limit"),
        ("search", {"text": "x", "limit": 10**30}, "limit"),
        ("search", {"text": "x", "depth": 1}, "depth"),
        ("search", {"text": "x", "change_request": "x"}, "change_request"),
        ("search", {"text": "x", "change_request": "x\r\nCookie: a=b"}, "change_request"),
        ("describe_model", {"model": "dcim.nothing"}, "model"),
        ("describe_model", {"model": "dcim.site", "parts": ["secrets"]}, "parts.0"),
        ("list_objects", {"model": "dcim.site", "limit": 5000}, "limit"),
        ("list_objects", {"model": "dcim.site", "limit": True}, "limit"),
        ("list_objects", {"model": "dcim.site", "filters": {"format": "csv"}}, "filters.format"),
        ("list_objects", {"model": "dcim.site", "filters": {"limit": 0}}, "filters.limit"),
        ("list_objects", {"model": "dcim.site", "filters": {"name": {"x": 1}}}, "filters.name"),
        ("list_objects", {"model": "dcim.site", "filters": {"name": ["x" * 1000] * 200}}, "filters"),
        ("list_objects", {"model": "dcim.site", "filters": {"nothing": 1}}, "nothing"),
        ("list_objects", {"model": "dcim.site", "fields": ["nothing"]}, "fields"),
        ("list_objects", {"model": "dcim.site", "order": ["nothing"]}, "ordering"),
        ("get_object", {"model": "dcim.nothing", "id": "x"}, "model"),
        ("get_object", {"model": "dcim.site", "id": "../../users/tokens"}, "id"),
        ("get_object", {"model": "dcim.site", "id": "\x00"}, "id"),
        ("trace", {"model": "dcim.site", "id": "x"}, "model"),
        ("free_space", {"model": "ipam.prefix", "id": "x", "what": "vlans"}, "what"),
        ("graphql", {"query": "{" * 19_000}, "errors"),
        ("graphql", {"query": "{ sites { name } }", "variables": []}, "variables"),
    ],
)
def test_wrong_arguments_are_refused_by_name(agent: Agent, tool: str, arguments: dict[str, Any], named: str) -> None:
    refusal = agent.refusal(tool, **arguments)
    assert named in refusal.get("error", refusal)


def test_unknown_tools_and_methods_are_errors_of_the_protocol(agent: Agent) -> None:
    assert agent.error("tools/call", name="delete_everything", arguments={}) == {
        "code": -32602,
        "message": "name: there is no tool 'delete_everything'.",
    }
    assert agent.error("sampling/createMessage")["code"] == -32601


def test_pages_of_other_origins_are_refused(agent: Agent, agent_service: Service) -> None:
    message = agent.message("ping")
    assert agent.send(message, {"Origin": "http://localhost"}).json["result"] == {}
    for origin in ("https://evil.example.com", "null", "http://localhost.evil.example.com", ""):
        assert "netinv.mcp_origins" in agent.send(message, {"Origin": origin}, 403).json["detail"]
    with agent_service.configured(mcp_origins=("https://inspector.example.com",)):
        assert agent.send(message, {"Origin": "https://inspector.example.com"}).json["result"] == {}


def test_change_requests_and_parameters_of_the_path_are_refused(agent: Agent) -> None:
    key = "00000000-0000-4000-8000-000000000000"
    assert "X-Change-Request" in agent.send(agent.message("ping"), {"X-Change-Request": key}, 400).json
    response = agent.api.send("POST", "/mcp/?dry_run=true", agent.message("ping"), version=None, status=400)
    assert response.json == {"dry_run": ["Unknown parameter"]}


def test_without_the_setting_there_is_no_such_path(service: Service) -> None:
    service.api.send("POST", "/mcp/", {}, version=None, status=404)
