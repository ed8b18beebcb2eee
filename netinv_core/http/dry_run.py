"""Dry runs of requests: ``?dry_run=true`` on everything that writes, lists and objects as well as actions.

A view deriver runs the view, still without rendering, in :func:`netinv_core.write.dry_run.dry_run` and answers with the
preview. It also dooms the transaction of the request, so that nothing is committed whatever the view does.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import orjson
from pyramid.request import Request
from pyramid.response import Response

from netinv_core.errors import Invalid
from netinv_core.http import warned
from netinv_core.http.methods import UNSAFE_METHODS
from netinv_core.http.serialization import json_response, query_of
from netinv_core.write.dry_run import MAX_LISTED, Preview, dry_run

PARAMETER = "dry_run"
SCHEMA_NAME = "DryRun"
INVALID = "Must be one of true, false, 1, 0."
OTHER_NOTATION = f"Unknown filter field. Did you mean {PARAMETER}?"
_LETTERS = "dryrun"
READ_ONLY = "This path writes nothing: leave the parameter out."
_VALUES = {"true": True, "1": True, "false": False, "0": False}
_HEADERS_OF_WRITES = ("ETag", "Location")
View = Callable[[Any, Request], Any]


def dry_run_view(view: View, info: Any) -> View:
    """Deriver that answers a request with ``?dry_run=true`` with the preview of what the view would write.

    The answer is data; where the view has no renderer, a JSON response.
    """
    if info.exception_only:
        return view
    read_only, is_rendered = info.options.get("read_only", False), info.options.get("renderer") is not None

    def wrapper(context: Any, request: Request) -> Any:
        if not is_requested(request):
            return view(context, request)
        if read_only:
            raise Invalid.field(PARAMETER, READ_ONLY)
        request.tm.doom()
        with dry_run(request.uow, guarded=True) as preview:
            answer = view(context, request)
        if isinstance(answer, Response) and answer.status_int >= 400:
            return answer
        body = _body(request, answer, preview)
        return body if is_rendered else json_response(body)

    return wrapper


def is_requested(request: Request) -> bool:
    """True for a request with the parameter ``dry_run``.

    :raises Invalid: for a value that is no boolean, several values, or a write with the name in another notation: such
        a request must not write
    """
    query = query_of(request)
    if request.method in UNSAFE_METHODS:
        for name in query:
            if name != PARAMETER and name.replace("-", "").replace("_", "").lower() == _LETTERS:
                raise Invalid.field(name, OTHER_NOTATION)
    values = query.get(PARAMETER)
    if values is None:
        return False
    if len(values) != 1 or values[0].lower() not in _VALUES:
        raise Invalid.field(PARAMETER, INVALID)
    request.uow.query.pop(PARAMETER, None)  # some views take every parameter that they do not know as a filter
    return _VALUES[values[0].lower()]


def _body(request: Request, answer: Any, preview: Preview) -> dict[str, Any]:
    """The body of the answer; ``result`` and ``status`` are those of the request without the parameter."""
    result, status = answer, request.response.status_int
    if isinstance(answer, Response):
        is_json = answer.content_type == "application/json" and bool(answer.body)
        result, status = orjson.loads(answer.body) if is_json else None, answer.status_int
    request.response.status_int = 200
    for name in _HEADERS_OF_WRITES:
        request.response.headers.pop(name, None)
    members = {"dry_run": True, "status": status, "result": result, "count": preview.counts, "changes": preview.changes}
    warnings = [warned.member_of(warning) for warning in preview.warnings[:MAX_LISTED]]
    return {**members, **({"warnings": warnings} if warnings else {}), **preview.effects}


def describe(operation: dict[str, Any]) -> None:
    """Adds the parameter, and the answer 200 that it leads to, to the OpenAPI operation of a write."""
    operation.setdefault("parameters", []).append(
        {
            "name": PARAMETER,
            "in": "query",
            "description": f"Writes nothing and answers with the changes that would be made (`{SCHEMA_NAME}`).",
            "schema": {"type": "boolean"},
        }
    )
    preview = {"$ref": f"#/components/schemas/{SCHEMA_NAME}"}
    answer = operation["responses"].setdefault("200", {"description": "The preview of a dry run"})
    media = answer.setdefault("content", {}).setdefault("application/json", {})
    media["schema"] = {"anyOf": [media["schema"], preview]} if "schema" in media else preview


def _object(**properties: Mapping[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": [*properties]}


_TEXT = {"type": "string"}
_REPRESENTATION = {"type": "object", "additionalProperties": True, "nullable": True}
_CHANGE = _object(
    action={"type": "string", "enum": ["create", "update", "delete"]},
    object_type=_TEXT,
    object_id=_TEXT,
    display=_TEXT,
    before=_REPRESENTATION,
    after=_REPRESENTATION,
    fields={"type": "array", "items": _TEXT},
)
SCHEMA: Mapping[str, Any] = {
    **_object(
        dry_run={"type": "boolean", "enum": [True]},
        status={"type": "integer", "description": "The status without `dry_run`."},
        result={"nullable": True, "description": "The body without `dry_run`."},
        count={"type": "object", "additionalProperties": {"type": "integer"}},
        changes={"type": "array", "items": _CHANGE, "maxItems": MAX_LISTED},
    ),
    "description": "What a write would do. `count` has the numbers of all changes and effects, listed or not.",
    "additionalProperties": {"type": "array", "items": {"type": "object", "additionalProperties": True}},
}
