"""Operations of OpenAPI documents: those of every list and item, their bodies, answers and errors."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Iterable, Mapping
from http import HTTPStatus
from typing import Any

from netinv_core.errors import Conflict, Denied, Gone, Invalid, NotFound, PreconditionFailed, RequestError
from netinv_core.http import multipart, problems, versions

Schema = dict[str, Any]


def component(name: str, group: str = "schemas") -> Schema:
    """Returns a reference to a component of the document."""
    return {"$ref": f"#/components/{group}/{name}"}


LINK: Schema = {"type": "string", "format": "uri", "nullable": True}
MEMBERS: Schema = {
    "type": "object",
    "description": "The members of the body that lead to the page.",
    "properties": {"offset": {"type": "integer", "nullable": True}, "cursor": {"type": "string"}},
    "nullable": True,
}


def list_of(schema: Schema) -> Schema:
    """Returns the schema of a list."""
    return {"type": "array", "items": schema}


def page_of(schema: Schema, link: Schema = LINK) -> Schema:
    """Returns the schema of a page of a list, with links to its neighbours."""
    count = {"type": "integer", "nullable": True}
    properties = {"count": count, "next": link, "previous": link, "results": list_of(schema)}
    return {"type": "object", "properties": properties, "required": list(properties)}


def some_of(schema: Schema) -> Schema:
    """Returns the schema of one object or a list."""
    return {"oneOf": [schema, list_of(schema)]}


def _single(pattern: str) -> Callable[[str], Schema]:
    return lambda name: component(pattern.format(name))


def _list_schema(pattern: str) -> Callable[[str], Schema]:
    return lambda name: list_of(component(pattern.format(name)))


def _one_or_list(name: str) -> Schema:
    return some_of(component(name))


FORMS: dict[str, Callable[[Schema], Schema]] = {
    "one": lambda schema: schema,
    "list": list_of,
    "page": page_of,
    "query": lambda schema: page_of(schema, MEMBERS),
    "some": some_of,
}


@dataclasses.dataclass(frozen=True)
class DescribedOperation:
    """Method of a resource's list or item: name in operationIds, and the schemas of body and answer by schema name.

    ``form`` is the name pattern of the schema of a multipart body, for resources with uploaded files.
    """

    method: str
    name: str
    summary: str
    status: str = "200"
    request_body: Callable[[str], Schema] | None = None
    response: Callable[[str], Schema] | None = None
    form: str = ""


LIST_OPERATIONS = (
    DescribedOperation("get", "list", "List {plural}.", response=_single("Paginated{}List")),
    DescribedOperation(
        "post",
        "create",
        "Create one of the {plural}, or several.",
        "201",
        lambda n: _one_or_list(f"{n}Request"),
        _one_or_list,
        form="{}Form",
    ),
    DescribedOperation(
        "put",
        "bulk_update",
        "Replace several {plural}.",
        request_body=_list_schema("Bulk{}Request"),
        response=_list_schema("{}"),
    ),
    DescribedOperation(
        "patch",
        "bulk_partial_update",
        "Change several {plural}.",
        request_body=_list_schema("PatchedBulk{}Request"),
        response=_list_schema("{}"),
    ),
    DescribedOperation("delete", "bulk_destroy", "Delete several {plural}.", "204", _list_schema("{}Identity")),
)
ITEM_OPERATIONS = (
    DescribedOperation("get", "retrieve", "Read a {title}.", response=component),
    DescribedOperation("put", "update", "Replace a {title}.", "200", _single("{}Request"), component, "{}Form"),
    DescribedOperation(
        "patch", "partial_update", "Change a {title}.", "200", _single("Patched{}Request"), component, "Patched{}Form"
    ),
    DescribedOperation("delete", "destroy", "Delete a {title}.", "204"),
)


def summary_of(view: Any) -> str:
    """Returns the first line of a docstring."""
    return str(view.__doc__ or "").strip().partition("\n")[0]


def operation_id(path: str, name: str) -> str:
    """Returns an operationId, e.g. ``dcim_rack_groups_list``; generated clients use it as a function name."""
    words = path.removeprefix("/api").strip("/") or "root"
    return f"{re.sub(r'[/-]', '_', re.sub(r'[{}]', '', words))}_{name}"


def operation_of(
    path: str,
    method: str,
    name: str,
    summary: str,
    response: Schema | None,
    status: str,
    errors: Iterable[type[RequestError]] = (),
) -> dict[str, Any]:
    """Returns an operation with its answers: success, the errors of every read or write, ``errors``, and any other."""
    success: dict[str, Any] = {"description": HTTPStatus(int(status)).phrase}
    if response is not None:
        success["content"] = {versions.JSON: {"schema": response}}
    usual = (Invalid, Denied, NotFound) if method == "get" else (Invalid, Denied, NotFound, Conflict)
    responses = {status: success}
    for error in (*usual, *errors):
        shared = error.__name__ in RESPONSES or not error.body_schema
        responses[str(error.status)] = component(error.__name__, "responses") if shared else _response(error)
    responses["default"] = component("RequestError", "responses")
    return {"operationId": operation_id(path, name), "summary": summary, "responses": responses}


def body_of(schema: Schema, form: Schema | None = None) -> dict[str, Any]:
    """Returns a request body of JSON, or of a multipart form where there is one."""
    content = {versions.JSON: {"schema": schema}} | (
        {multipart.MULTIPART: {"schema": form}} if form is not None else {}
    )
    return {"required": True, "content": content}


ERROR_SCHEMAS: Mapping[str, Schema] = {
    "Error": {"type": "object", "properties": {"detail": {"type": "string"}}, "required": ["detail"]},
    "FieldErrors": {
        "type": "object",
        "description": "Messages by field; `non_field_errors` are about the whole.",
        "additionalProperties": {},
    },
}
_FAULTS: Schema = {"anyOf": [component("FieldErrors"), list_of(component("FieldErrors")), component("Error")]}


def _response(error: type[RequestError]) -> Schema:
    """Returns the answer of an error, with the schema of its body."""
    schema = error.body_schema or (_FAULTS if error is Invalid else component("Error"))
    content = {versions.JSON: {"schema": schema}, problems.PROBLEM: {"schema": component(problems.SCHEMA_NAME)}}
    return {"description": summary_of(error).partition(": ")[2].capitalize() or "Any other error.", "content": content}


_SHARED = (RequestError, Invalid, Denied, NotFound, Conflict, Gone, PreconditionFailed)
RESPONSES = {error.__name__: _response(error) for error in _SHARED}
