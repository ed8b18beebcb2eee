"""The paths of GraphQL: ``/api/graphql/``, and ``run/`` below each query that is kept."""

from __future__ import annotations

from typing import Any

from pyramid.request import Request

from netinv_core.errors import Invalid, NotFound
from netinv_core.http import root_views
from netinv_core.http.actions import documented
from netinv_core.http.serialization import body_of
from netinv_core.read import listing
from netinv_core.uow import UnitOfWork

DESCRIPTION = "API View for GraphQL to integrate properly with DRF authentication mechanism."
_OBJECT = {"type": "object", "additionalProperties": True}
_ANSWER = {"type": "object", "properties": {"data": {**_OBJECT, "nullable": True}, "errors": {"type": "array", "items": _OBJECT}}}
_VARIABLES = {"variables": {**_OBJECT, "nullable": True}}
_ASKED = {"type": "object", "properties": {"query": {"type": "string"}, **_VARIABLES, "operationName": {"type": "string", "nullable": True}}}


def _answer(uow: UnitOfWork, text: Any, body: dict[str, Any]) -> dict[str, Any]:
    from netinv_extras.graphql import query as graphql_query  # loaded by those who ask only: it takes as long as half of the service

    return graphql_query.answer(uow, text, body.get("variables"), body.get("operationName"))


def _object(body: Any) -> dict[str, Any]:
    if not isinstance(body, dict):
        raise Invalid.whole(f"Invalid data. Expected a dictionary, but got {type(body).__name__}.")
    return body


@documented(_ANSWER, takes={**_ASKED, "required": ["query"]})
@root_views.root("Graph Qldrfapi", DESCRIPTION, ["POST"], read_only=True)
def graphql(request: Request) -> dict[str, Any]:
    """The answer to a GraphQL query."""
    body = _object(body_of(request))
    return _answer(request.uow, body.get("query"), body)


@documented(_ANSWER, takes={"type": "object", "properties": _VARIABLES}, status=200)
def run(request: Request) -> dict[str, Any]:
    """The answer to a kept query, with the variables in the body; as any POST there, for those who may add queries."""
    uow, endpoint = request.uow, request.context.endpoint
    found = listing.rows(uow, endpoint, [request.context.key], "add") if request.context.key is not None else {}
    if not found:
        raise NotFound()
    body = _object(body_of(request))
    return _answer(uow, found[request.context.key]["query"], body)


def includeme(config: Any) -> None:
    """Adds ``run/``."""
    config.add_netinv_action("extras/graphql-queries", "run", post=run, permission="add", read_only=True)
