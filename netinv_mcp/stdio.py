"""The command ``netinv mcp``: the protocol on standard input and output, for clients that start a program.

It passes messages on to ``/mcp/`` of a service. So the machine of an agent has a token and no access to the database,
and there is one implementation of the tools.
"""

from __future__ import annotations

import sys
from typing import Any, BinaryIO

import click
import orjson
import requests

HTTP_TIMEOUT = 300  # seconds
VERSION_OF = "io.modelcontextprotocol/protocolVersion"  # member of _meta in messages without a handshake
PARSE_ERROR, FAILED = -32700, -32000
MAX_TEXT = 1000  # characters of the answer of something else than the protocol


class ServiceConnection:
    """Connection to ``/mcp/`` of a service; ``version`` is that of the handshake."""

    def __init__(self, url: str, token: str) -> None:
        self._url, self._session, self.version = f"{url.rstrip('/')}/mcp/", requests.Session(), ""
        self._session.trust_env = False  # a .netrc would replace the token
        self._session.headers.update(
            {
                "Authorization": f"Token {token}",
                "Accept": "application/json, text/event-stream",
                "Content-Type": "application/json",
            }
        )

    def answer(self, line: bytes) -> Any:
        """The answer to a message; ``None`` for one that needs none."""
        try:
            message = orjson.loads(line)
        except orjson.JSONDecodeError as error:
            return _error(None, PARSE_ERROR, f"Parse error: {error}")
        key = message.get("id") if isinstance(message, dict) else None
        try:
            response = self._session.post(
                self._url, line, headers=self._headers(message), timeout=HTTP_TIMEOUT, allow_redirects=False
            )
        except (requests.RequestException, UnicodeError) as error:
            return _error(key, FAILED, f"{self._url}: {error}")
        if response.status_code == requests.codes.accepted:
            return None
        try:
            answer = orjson.loads(response.content)
        except orjson.JSONDecodeError:
            answer = response.text[:MAX_TEXT]
        if not (isinstance(answer, dict) and "jsonrpc" in answer):
            return _error(key, FAILED, f"{self._url}: {response.status_code}", answer)
        if isinstance(message, dict) and message.get("method") == "initialize" and "result" in answer:
            self.version = answer["result"].get("protocolVersion", "")
        return answer

    def _headers(self, message: Any) -> dict[str, str]:
        """The headers that tell the version, and of newer versions the method and the name of what is called."""
        parameters = message.get("params") if isinstance(message, dict) else None
        meta = parameters.get("_meta") if isinstance(parameters, dict) else None
        stated = meta.get(VERSION_OF) if isinstance(meta, dict) else None
        if not isinstance(stated, str):
            return {"MCP-Protocol-Version": self.version} if self.version else {}
        headers = {"MCP-Protocol-Version": stated, "Mcp-Method": str(message.get("method", ""))}
        name = parameters.get("name", parameters.get("uri")) if isinstance(parameters, dict) else None
        return {**headers, "Mcp-Name": name} if isinstance(name, str) else headers


def _error(key: Any, code: int, message: str, data: Any = None) -> dict[str, Any]:
    error = {"code": code, "message": message, **({} if data is None else {"data": data})}
    return {"jsonrpc": "2.0", "id": key, "error": error}


def pump(connection: ServiceConnection, received: BinaryIO, sent: BinaryIO) -> None:
    """Answers messages, one a line, until the input ends."""
    for line in received:
        if line.strip() and (answer := connection.answer(line.strip())) is not None:
            sent.write(orjson.dumps(answer) + b"\n")
            sent.flush()


@click.command("mcp")
@click.option("--url", envvar="NETINV_URL", show_envvar=True, help="The address of the service.")
@click.option("--token", envvar="NETINV_TOKEN", show_envvar=True, help="The token of the account.")
def mcp(url: str | None, token: str | None) -> None:
    """Serve the Model Context Protocol on standard input and output, for agents, with the tools of a service."""
    if not url or not token:
        raise click.ClickException("name the service by --url and --token")
    if not url.startswith(("http://", "https://")):
        raise click.ClickException(f"{url} is no address of a service")
    pump(ServiceConnection(url, token), sys.stdin.buffer, sys.stdout.buffer)
