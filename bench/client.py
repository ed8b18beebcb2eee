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

    def call(self, method: str, path: str, body: Any = None, *, expect: int = 200) -> Any:
        """The decoded body of the answer.

        :raises RuntimeError: when the status is another than expected
        """
        self._connection.request(method, f"/api/{path}", None if body is None else orjson.dumps(body), self.headers)
        answer = self._connection.getresponse()
        found = answer.read()
        if answer.status != expect:
            raise RuntimeError(
                f"{method} {path}: {answer.status} instead of {expect}: {found[:500].decode(errors='replace')}"
            )
        return orjson.loads(found) if found else None
