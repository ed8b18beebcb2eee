"""The paths of GraphQL: ``/api/graphql/``, and ``run/`` below each query that is kept."""

from __future__ import annotations

from typing import Any

from pyramid.request import Request
from pyramid.response import Response

from netinv_core.context import Context
from netinv_core.errors import Invalid, NotFound
from netinv_core.http import roots, services
from netinv_core.http.answers import body_of
from netinv_core.http.opening import Opened
from netinv_core.read import pages

DESCRIPTION = "API View for GraphQL to integrate properly with DRF authentication mechanism."
_OBJECT = {"type": "object", "additionalProperties": True}
_ANSWER = {"type": "object", "properties": {"data": {**_OBJECT, "nullable": True}, "errors": {"type": "array", "items": _OBJECT}}}
_VARIABLES = {"variables": {**_OBJECT, "nullable": True}}
_ASKED = {"type": "object", "properties": {"query": {"type": "string"}, **_VARIABLES, "operationName": {"type": "string", "nullable": True}}}


def _answer(context: Context, text: Any, body: dict[str, Any]) -> dict[str, Any]:
    from netinv_extras import graphql_answers  # loaded by those who ask only: it takes as long as half of the service

    return graphql_answers.answer(context, text, body.get("variables"), body.get("operationName"))


def _object(body: Any) -> dict[str, Any]:
    if not isinstance(body, dict):
        raise Invalid.whole(f"Invalid data. Expected a dictionary, but got {type(body).__name__}.")
    return body


@services.shaped(_ANSWER, takes={**_ASKED, "required": ["query"]})
@roots.root("Graph Qldrfapi", DESCRIPTION, "POST, OPTIONS", reads=True)
def graphql(context: Opened, request: Request) -> Any:
    """The answer to a GraphQL query."""
    body = _object(body_of(request))
    return _answer(context, body.get("query"), body)


@services.shaped(_ANSWER, takes={"type": "object", "properties": _VARIABLES}, status=200)
def run(request: Request) -> Response:
    """The answer to a kept query, with the variables in the body; as any POST there, for those who may add queries."""
    context, endpoint = services.open_item(request, ("POST",), reads=True)
    found = pages.rows(context, endpoint, [request.context.key], "add") if request.context.key is not None else {}
    if not found:
        raise NotFound()
    body = _object(body_of(request))
    return services.answer(context, request, _answer(context, found[request.context.key]["query"], body))


def includeme(config: Any) -> None:
    """Adds ``run/``."""
    actions = services.Actions(config.registry.netinv.apps["extras"])
    actions.item("graphql-queries", "run", post=run)
    for service in actions.services:
        config.add_cornice_service(service)
