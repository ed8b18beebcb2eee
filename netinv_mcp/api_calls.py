"""Calls of the API by tools: subrequests with the token of the caller."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

import orjson
from pyramid.request import Request

from netinv_core.auth import permissions
from netinv_core.errors import Denied
from netinv_core.http import subrequests, versions
from netinv_core.http.request_uow import RequestUnitOfWork
from netinv_mcp.offered import Offered

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.registry import Registry

MAX_QUERY_LENGTH = 2**16  # as that of every request
TOO_LONG = "The filters and fields have more than {} characters."
_ACCEPT = f"{versions.JSON}; version={versions.NEWEST}"
CREDENTIALS = ("HTTP_AUTHORIZATION",)
Query = Sequence[tuple[str, str]]


class ToolRefusal(Exception):
    """Refusal of a call of a tool: the body of an error, as the API has it."""

    def __init__(self, body: Any) -> None:
        super().__init__("a tool was refused")
        self.body = body

    @classmethod
    def of(cls, name: str, message: str) -> ToolRefusal:
        """The refusal of an argument."""
        return cls({name: [message]})


class ApiCaller:
    """The API as the sender of a request may use it.

    ``failure`` is the exception of a call: the request fails with it, or is run again if a concurrent one aborted it.
    """

    def __init__(self, request: Request, offered: Offered) -> None:
        self._request = request
        self.offered = offered
        self.uow: RequestUnitOfWork = request.uow
        self.registry: Registry = request.registry.netinv
        self.failure: Exception | None = None

    @property
    def request(self) -> Request:
        """The request that the message came in."""
        return self._request

    def may_view(self, endpoint: Endpoint) -> bool:
        """True where the user may view objects of a resource."""
        try:
            permissions.check(self.uow, endpoint, "view")
        except Denied:
            return False
        return True

    def get(self, path: str, query: Query = (), change_request: str = "") -> Any:
        """The answer to GET.

        :raises ToolRefusal: for an error
        """
        return self._send("GET", path, query, b"", change_request)

    def query(self, path: str, body: Mapping[str, Any], change_request: str = "") -> Any:
        """The answer to a POST that only reads.

        :raises ToolRefusal: for an error
        """
        return self._send("POST", path, (), orjson.dumps(body), change_request)

    def post(self, path: str, body: Mapping[str, Any], query: Query = ()) -> Any:
        """The answer to a POST that may write.

        :raises ToolRefusal: for an error
        """
        return self._send("POST", path, query, orjson.dumps(body), "")

    def _send(self, method: str, path: str, query: Query, body: bytes, change_request: str) -> Any:
        text = urlencode(query)
        if len(text) > MAX_QUERY_LENGTH:
            raise ToolRefusal.of("filters", TOO_LONG.format(MAX_QUERY_LENGTH))
        headers = {"Accept": _ACCEPT, **({"X-Change-Request": change_request} if change_request else {})}
        url = f"{path}?{text}" if text else path
        self.uow.release()  # the subrequest takes a connection of its own
        response = subrequests.send(self._request, method, url, body, copied=CREDENTIALS, headers=headers)
        answer = orjson.loads(response.body) if response.body else None
        if response.status_int >= 400:
            raise ToolRefusal({"status": response.status_int, "error": answer})
        return answer
