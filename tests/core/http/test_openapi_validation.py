"""The validation of OpenAPI documents in the tests finds the mistakes that documents may have."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest

from tests.support.openapi_validation import errors_of

pytestmark = pytest.mark.any_database
_SITE = {
    "type": "object",
    "required": ["name"],
    "properties": {"name": {"type": "string", "default": "x"}, "parent": {"$ref": "#/components/schemas/Site"}},
}
_OPERATION = {
    "operationId": "site",
    "parameters": [{"name": "id", "in": "path", "required": True, "schema": {"type": "string"}}],
    "responses": {
        "200": {
            "description": "A site.",
            "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Site"}}},
        }
    },
}
_LIST = {
    "operationId": "sites",
    "parameters": [{"$ref": "#/components/parameters/limit"}],
    "responses": {"200": {"description": "Sites."}},
}
_LIMIT = {"name": "limit", "in": "query", "schema": {"type": "integer", "default": None, "nullable": True}}
VALID: dict[str, Any] = {
    "openapi": "3.0.3",
    "info": {"title": "Sites", "version": "1"},
    "paths": {"/sites/": {"get": _LIST}, "/sites/{id}/": {"get": _OPERATION}},
    "components": {"schemas": {"Site": _SITE}, "parameters": {"limit": _LIMIT}},
}


def _item(document: Any) -> Any:
    return document["paths"]["/sites/{id}/"]["get"]


def _schema(document: Any) -> Any:
    return document["components"]["schemas"]["Site"]


MISTAKES: dict[str, tuple[Callable[[Any], Any], str]] = {
    "a missing member": (lambda document: document.pop("info"), "info"),
    "an unknown member": (lambda document: _item(document).update(zz=1), "zz"),
    "an unknown type": (lambda document: _schema(document).update(type="text"), "text"),
    "a reference to nothing": (
        lambda document: _schema(document)["properties"].update(group={"$ref": "#/components/schemas/Group"}),
        "does not resolve",
    ),
    "a reference to another document": (
        lambda document: _schema(document)["properties"].update(group={"$ref": "x.json#/Group"}),
        "does not resolve",
    ),
    "a required member without description": (
        lambda document: _schema(document)["required"].append("slug"),
        "slug is required",
    ),
    "a default of another type": (
        lambda document: _schema(document)["properties"]["name"].update(default=5),
        "the default does not fit",
    ),
    "a default of null": (
        lambda document: _schema(document)["properties"]["name"].update(default=None),
        "the default does not fit",
    ),
    "a default that does not fit a reference": (
        lambda document: _schema(document)["properties"]["parent"].update(default=5),
        "the default does not fit",
    ),
    "an operation id used twice": (lambda document: _item(document).update(operationId="sites"), "used twice"),
    "a parameter described twice": (
        lambda document: _item(document)["parameters"].append(_item(document)["parameters"][0]),
        "described twice",
    ),
    "a path parameter that is not described": (
        lambda document: _item(document).update(parameters=[]),
        "path parameters",
    ),
    "a path parameter that the path lacks": (
        lambda document: document["paths"]["/sites/"]["get"].update(parameters=_item(document)["parameters"]),
        "path par",
    ),
}


def test_a_valid_document_has_no_errors() -> None:
    assert list(errors_of(VALID)) == []


@pytest.mark.parametrize(("spoil", "message"), MISTAKES.values(), ids=MISTAKES)
def test_a_mistake_is_named(spoil: Callable[[Any], Any], message: str) -> None:
    document = copy.deepcopy(VALID)
    spoil(document)
    assert any(message in error for error in errors_of(document)), list(errors_of(document))
