"""Description of the messages of webhooks: OpenAPI 3.1 with the event of each model, and a JSON Schema of its body."""

from __future__ import annotations

import importlib.metadata
from typing import TYPE_CHECKING, Any

import orjson
from pyramid.request import Request
from pyramid.response import Response
from pyramid.security import NO_PERMISSION_REQUIRED

from netinv_core.errors import Invalid
from netinv_core.http.serialization import query_of, single_value
from netinv_core.registry_cache import cached_in_registry
from netinv_extras.webhooks.payload import EVENTS, VERSION
from netinv_openapi import documents, json_schemas

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.registry import Registry

PATH = "/api/docs/webhooks.json"
MODEL = "model"
NO_MODEL = "There are no messages about {!r}."
TITLE = "netinv webhooks"
DESCRIPTION = (
    "The messages of webhooks without a body template: one for each recorded change of an object. Objects have the "
    f"form of API version {VERSION}. Signatures are those of Standard Webhooks 1.0."
)
_TEXT = {"type": "string"}
_HEADERS = {
    "webhook-id": "The id of the delivery, the same for all attempts.",
    "webhook-timestamp": "The Unix time of the attempt, in seconds.",
    "webhook-signature": "For each secret: `v1,` and the HMAC-SHA256 of id, timestamp and body in Base64.",
    "X-Netinv-Event": "The id of the change, the same for all webhooks.",
    "X-Netinv-Delivery": "The id of the delivery.",
    "X-Netinv-Attempt": "The number of the attempt, from 1.",
    "X-Netinv-Signature": '`t=<timestamp>,v1=<HMAC-SHA256 of "<t>.<body>">`.',
    "X-Hook-Signature": "HMAC-SHA512 of the body.",
}
_ALWAYS = {"webhook-id", "webhook-timestamp", "X-Netinv-Event", "X-Netinv-Delivery", "X-Netinv-Attempt"}


@cached_in_registry
def document(registry: Registry) -> dict[str, Any]:
    """The document of OpenAPI 3.1: under ``webhooks`` the message of each model whose changes are recorded."""
    schemas = _schemas(registry)
    recorded = _recorded_resources(registry)
    events = {_event_name(endpoint): _body(endpoint) for endpoint in recorded}
    objects = json_schemas.with_references(schemas, json_schemas.references_in(list(events.values())))
    return {
        "openapi": "3.1.0",
        "info": {
            "title": TITLE,
            "version": importlib.metadata.version("netinv-core"),
            "description": DESCRIPTION,
        },
        "webhooks": {endpoint.label: {"post": _operation(endpoint)} for endpoint in recorded},
        "components": {"schemas": {**objects, **events}},
    }


def body_schema(registry: Registry, label: str) -> dict[str, Any]:
    """The JSON Schema of the body of a message about a model, with all that it refers to.

    :raises Invalid: for a model whose changes are not recorded
    """
    endpoint = next((endpoint for endpoint in _recorded_resources(registry) if endpoint.label == label), None)
    if endpoint is None:
        raise Invalid.field(MODEL, NO_MODEL.format(label[:100]))
    body = _body(endpoint)
    definitions = json_schemas.with_references(_schemas(registry), json_schemas.references_in(body))
    schema: dict[str, Any] = json_schemas.relocate_references({**body, "$defs": definitions}, "#/$defs/")
    return {"$schema": json_schemas.DIALECT, "title": f"Message about a {endpoint.title}", **schema}


def _recorded_resources(registry: Registry) -> list[Endpoint]:
    """The resources with a path of their own whose changes are recorded."""
    found = [endpoint for endpoint in registry.endpoints.values() if endpoint.resource.recorded]
    return sorted((item for item in found if item.resource.of is None), key=lambda item: item.label)


@cached_in_registry
def _schemas(registry: Registry) -> dict[str, Any]:
    """The schemas of objects of API version 1.3, as JSON Schema, by name."""
    schemas: dict[str, Any] = json_schemas.to_json_schema(
        documents.document(registry, VERSION)["components"]["schemas"]
    )
    return schemas


def _event_name(endpoint: Endpoint) -> str:
    return f"{endpoint.schema_name}Event"


def _body(endpoint: Endpoint) -> dict[str, Any]:
    """The schema of the body of a message."""
    shown = {"$ref": f"{json_schemas.REFERENCE}{endpoint.schema_name}"}
    state = {"anyOf": [shown, {"type": "null"}]}
    members = {"type": ["object", "null"]}
    differences = {
        "type": "object",
        "description": "The members that differ, without last_updated; all of a created or deleted object.",
        "properties": {"removed": members, "added": members},
        "required": ["removed", "added"],
    }
    return {
        "type": "object",
        "properties": {
            "event": {"enum": list(EVENTS.values())},
            "timestamp": {**_TEXT, "description": "The time of the change: 2026-11-21 11:46:08.779467+00:00"},
            "model": {"const": endpoint.label.rpartition(".")[2]},
            "username": {**_TEXT, "description": "Who made the change; empty for the service itself."},
            "request_id": {**_TEXT, "format": "uuid"},
            "bypassed": {**_TEXT, "description": "The review rules that the change left out."},
            "data": {**shown, "description": "The object after the change; before it, if it was deleted."},
            "snapshots": {
                "type": "object",
                "properties": {"prechange": state, "postchange": state, "differences": differences},
                "required": ["prechange", "postchange", "differences"],
            },
        },
        "required": ["event", "timestamp", "model", "username", "request_id", "data", "snapshots"],
    }


def _operation(endpoint: Endpoint) -> dict[str, Any]:
    reference = f"{json_schemas.REFERENCE}{_event_name(endpoint)}"
    return {
        "operationId": f"{endpoint.label.replace('.', '_')}_changed",
        "summary": f"A {endpoint.title} was created, updated or deleted",
        "parameters": [
            {"name": name, "in": "header", "required": name in _ALWAYS, "schema": _TEXT, "description": text}
            for name, text in _HEADERS.items()
        ],
        "requestBody": {"required": True, "content": {"application/json": {"schema": {"$ref": reference}}}},
        "responses": {
            "2XX": {"description": "The message was received."},
            "410": {"description": "No more messages are wanted: the webhook is paused."},
            "default": {"description": "The message is sent again, as often as the webhook says."},
        },
    }


def show(request: Request) -> Response:
    """The document, or with ``model`` the JSON Schema of the messages about a model, as a file."""
    registry: Registry = request.registry.netinv
    given = query_of(request)
    if unknown := given.keys() - {MODEL}:
        raise Invalid({name[:100]: ["Unknown parameter"] for name in unknown})
    if MODEL not in given:
        return Response(orjson.dumps(document(registry)), content_type="application/json", charset="utf-8")
    label = single_value(given, MODEL)
    body = orjson.dumps(body_schema(registry, label), option=orjson.OPT_INDENT_2)
    named = f'attachment; filename="{label}.schema.json"'
    return Response(body, content_type="application/schema+json", content_disposition=named)


def includeme(config: Any) -> None:
    """Adds the route."""
    config.add_route("webhook messages", PATH)
    config.add_view(
        show, route_name="webhook messages", permission=NO_PERMISSION_REQUIRED, request_method=("GET", "HEAD")
    )
