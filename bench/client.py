"""One connection to the service that says at once when an answer is not what was asked for.

It is as bare as the standard library allows: what a client library costs is not the service's.
"""

from __future__ import annotations

import http.client
from typing import Any
from urllib.parse import urlsplit

import orjson


class Client:
    """A connection that stays open; ``calls`` are given as method, path below ``/api/`` and JSON body."""

    def __init__(self, url: str, headers: dict[str, str]) -> None:
        address = urlsplit(url)
        self._connection = http.client.HTTPConnection(address.hostname or "", address.port, timeout=600)
        self.headers = {"Content-Type": "application/json", **headers}

    def ask(self, method: str, path: str, body: Any = None, **headers: str) -> tuple[int, str, bytes]:
        """Status, ETag (empty without one) and body of the answer; ``if_match="…"`` is the header ``If-Match``."""
        given = {**self.headers, **{name.replace("_", "-"): value for name, value in headers.items()}}
        self._connection.request(method, f"/api/{path}", None if body is None else orjson.dumps(body), given)
        answer = self._connection.getresponse()
        return answer.status, answer.headers.get("ETag", ""), answer.read()

    def call(self, method: str, path: str, body: Any = None, *, expect: int = 200) -> Any:
        """The decoded body of the answer.

        :raises RuntimeError: when the status is another than expected
        """
        status, _, found = self.ask(method, path, body)
        if status != expect:
            raise RuntimeError(f"{method} {path}: {status} instead of {expect}: {_beginning(found)}")
        return orjson.loads(found) if found else None


def _beginning(body: bytes) -> str:
    return body[:500].decode(errors="replace")
