"""Agents: clients of the Model Context Protocol at ``/mcp/``."""

from __future__ import annotations

import itertools
import json
from collections.abc import Mapping, Sequence
from typing import Any

import orjson
import pytest
from sqlalchemy.engine import Engine

from netinv_testing import Account, Service

ACCEPT = "application/json, text/event-stream"
MODERN = "2026-07-28"


@pytest.fixture(scope="session")
def agent_service(engine: Engine) -> Service:
    """A service with the protocol."""
    return Service(engine, {"netinv.mcp": "true"})


@pytest.fixture
def agent(agent_service: Service) -> Agent:
    """The agent of an administrator."""
    return Agent(agent_service.admin)


class Agent:
    """An agent with the token of an account, which sends one message a request."""

    def __init__(self, account: Account) -> None:
        self.api = account.api
        self._numbers = itertools.count(1)

    def send(self, body: Any, headers: Mapping[str, str] | None = None, status: int | Sequence[int] = 200) -> Any:
        """The response to a body."""
        sent = {"Accept": ACCEPT, **(headers or {})}
        return self.api.send("POST", "/mcp/", body, headers=sent, version=None, status=status)

    def message(self, method: str, **params: Any) -> dict[str, Any]:
        """A request of the protocol."""
        return {"jsonrpc": "2.0", "id": next(self._numbers), "method": method, "params": params}

    def result(self, method: str, **params: Any) -> Any:
        """The result of a request."""
        answer = orjson.loads(self.send(self.message(method, **params)).body)
        assert "result" in answer, answer
        return answer["result"]

    def error(self, method: str, **params: Any) -> Any:
        """The error that a request is answered with."""
        return orjson.loads(self.send(self.message(method, **params), status=(200, 400, 404)).body)["error"]

    def tools(self) -> dict[str, Any]:
        """The tools, by name."""
        return {tool["name"]: tool for tool in self.result("tools/list")["tools"]}

    def text(self, tool: str, /, **arguments: Any) -> tuple[bool, str]:
        """True when the tool refused the call, and the text of its answer."""
        result = self.result("tools/call", name=tool, arguments=arguments)
        (content,) = result["content"]
        return result["isError"], content["text"]

    def call(self, tool: str, /, **arguments: Any) -> Any:
        """The answer of a tool."""
        refused, text = self.text(tool, **arguments)
        assert not refused, text
        return json.loads(text)

    def refusal(self, tool: str, /, **arguments: Any) -> Any:
        """The errors of a call that a tool refuses."""
        refused, text = self.text(tool, **arguments)
        assert refused, text
        return json.loads(text)
