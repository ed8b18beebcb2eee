"""Views of GraphQL: ``/api/graphql/``, and ``run/`` below each saved query."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyramid.request import Request

from netinv_core.errors import Invalid, NotFound, not_an_object
from netinv_core.http import root_views
from netinv_core.http.actions import documented
from netinv_core.http.serialization import body_of
from netinv_core.read import listing

if TYPE_CHECKING:
    from netinv_core.uow import UnitOfWork

DESCRIPTION = "API View for GraphQL to integrate properly with DRF authentication mechanism."
_OBJECT = {"type": "object", "additionalProperties": True}
_RESPONSE = {
    "type": "object",
    "properties": {"data": {**_OBJECT, "nullable": True}, "errors": {"type": "array", "items": _OBJECT}},
}
_VARIABLES = {"variables": {**_OBJECT, "nullable": True}, "operationName": {"type": "string", "nullable": True}}
_REQUEST = {"type": "object", "properties": {"query": {"type": "string"}, **_VARIABLES}}


def _execute(uow: UnitOfWork, text: Any, body: dict[str, Any]) -> dict[str, Any]:
    # Imported on first use: loading graphql-core takes as long as half of the service.
    from netinv_extras.graphql import query as graphql_query

    return graphql_query.execute(uow, text, body.get("variables"), body.get("operationName"))


def _json_object(body: Any) -> dict[str, Any]:
    if not isinstance(body, dict):
        raise Invalid(not_an_object(body))
    return body


@documented(_RESPONSE, request_body={**_REQUEST, "required": ["query"]}, ignores_unknown=True)
@root_views.root("Graph Qldrfapi", DESCRIPTION, ["POST"], read_only=True)
def graphql(request: Request) -> dict[str, Any]:
    """Executes a GraphQL query."""
    body = _json_object(body_of(request))
    return _execute(request.uow, body.get("query"), body)


@documented(_RESPONSE, request_body={"type": "object", "properties": _VARIABLES}, status=200, ignores_unknown=True)
def run(request: Request) -> dict[str, Any]:
    """Executes a saved query with the variables in the body. Requires permission to add queries, as any POST here."""
    uow, key = request.uow, request.context.key
    rows = listing.rows(uow, request.context.endpoint, [key], "add") if key is not None else {}
    if not rows:
        raise NotFound()
    body = _json_object(body_of(request))
    return _execute(uow, rows[key]["query"], body)


def includeme(config: Any) -> None:
    """Adds ``graphql-queries/{id}/run/``."""
    config.add_netinv_action("extras/graphql-queries", "run", post=run, permission="add", read_only=True)
