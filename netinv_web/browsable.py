"""The browsable API: answers of the API as pages, with links, and editors that send requests.

An editor is a form that posts to :data:`SEND_PATH`, whose view sends the request to the API as a subrequest with the
session of the browser. Its body is typed, or composed of an input for each field (:mod:`netinv_web.api_forms`). The
check of the origin is that of every POST (:mod:`netinv_web.auth.sessions`), before the request is sent and again in the
API.
"""

from __future__ import annotations

import dataclasses
import json
import time
from collections.abc import Iterable, Mapping
from http import HTTPStatus
from typing import Any

import orjson
from pyramid.renderers import render
from pyramid.request import Request
from pyramid.response import Response

from netinv_core.http import subrequests, versions
from netinv_core.http.methods import PERMISSIONS, UNSAFE_METHODS
from netinv_core.http.request_uow import negotiation_of
from netinv_core.http.security_policy import AUTHENTICATED
from netinv_core.http.serialization import dumps_within
from netinv_core.http.traversal import Collection, Item
from netinv_core.http.views import options_item, options_list
from netinv_core.telemetry import log_context
from netinv_web.api_forms import Composition, form_for, resource_at
from netinv_web.forms.form import CONTROLS
from netinv_web.json_markup import markup_of
from netinv_web.menu import may
from netinv_web.pages import POLICY, form_of, form_text, local_path, page
from netinv_web.paths import object_path, page_path

TEMPLATE = "netinv_web:templates/browsable.jinja2"
SENT = "netinv_web:templates/browsable_sent.jinja2"
BAD_REQUEST = 400  # HTTP status, the first of errors
SEND_PATH = "/api-request/"
HEADERS = {"Content-Type": "text/html; charset=utf-8", "Content-Security-Policy": POLICY}
SHOWN_HEADERS = ("Allow", "API-Version", "Content-Type", "Location", "Retry-After", "Vary")
CREDENTIALS = ("HTTP_COOKIE", "HTTP_ORIGIN", "HTTP_SEC_FETCH_SITE")  # of browsers
EMPTY_VALUES: dict[str, Any] = {"boolean": False, "integer": 0, "field": None, "list": []}


@dataclasses.dataclass(frozen=True)
class Editor:
    """An editor of a request: its method, and the body it starts with."""

    method: str
    body: str


@dataclasses.dataclass(frozen=True)
class ShownAnswer:
    """An answer of the API as the template shows it."""

    status: int
    headers: Iterable[tuple[str, str]]
    body: Any

    @property
    def reason(self) -> str:
        """The phrase of the status."""
        return HTTPStatus(self.status).phrase


def render_answer(request: Request, body: Any, status: int) -> tuple[bytes, Mapping[str, str]]:
    """The page of an answer of the API and its headers; see :data:`netinv_core.http.negotiation.HtmlRenderer`."""
    data = json.loads(dumps_within(request.registry.netinv, body))
    negotiation = negotiation_of(request)
    headers = {"Allow": negotiation.allow, "API-Version": negotiation.api_version, "Content-Type": versions.JSON}
    location = request.response.headers.get("Location")
    headers |= {"Location": location} if location else {}
    answer = ShownAnswer(status, sorted(headers.items()), markup_of(data, request.uow.base))
    values = {
        **_place(request),
        "method": request.method,
        "path": request.path_qs,
        "answer": answer,
        **_editors(request, data, status),
        "milliseconds": _milliseconds(),
    }
    return render(TEMPLATE, values, request).encode(), HEADERS


def _milliseconds() -> float:
    """The time since the request began; 0 where nothing recorded its begin."""
    context = log_context.current()
    return 0.0 if context is None else (time.perf_counter() - context.began) * 1000


def _place(request: Request) -> dict[str, Any]:
    """The page of the same object or list, versions and formats."""
    context = getattr(request, "context", None)
    is_list = isinstance(context, Collection) and request.path == context.endpoint.path
    formats = ["json", "csv", "tsv", "xlsx", "yaml"] if is_list else ["json"]
    chosen = ("api_version", "format")
    pairs = [(name, value) for name, values in request.uow.query.items() for value in values if name not in chosen]
    return {
        "page_path": _page_of(request, context),
        "versions": versions.SUPPORTED,
        "version": negotiation_of(request).api_version,
        "formats": formats,
        "pairs": pairs,
    }


def _page_of(request: Request, context: Any) -> str:
    """The path of the page with the object or the list; empty for other paths of the API."""
    if isinstance(context, Collection) and request.path == context.endpoint.path:
        query = f"?{request.query_string}" if request.query_string else ""
        return page_path(context.endpoint) + query
    if isinstance(context, Item) and request.path == f"{context.endpoint.path}{context.key}/":
        return object_path(context.endpoint, context.key)
    return ""


def _editors(request: Request, data: Any, status: int) -> dict[str, Any]:
    """An editor for each unsafe method of the path that the user may use, and the form of a list or an object."""
    context = getattr(request, "context", None)
    methods = [name for name in negotiation_of(request).allow.split(", ") if name in UNSAFE_METHODS]
    place = resource_at(request.registry.netinv, request.path) if isinstance(context, Collection | Item) else None
    if place is None:
        return {"editors": [Editor(method, "{}") for method in methods], "api_form": None}
    described = (options_list if isinstance(context, Collection) else options_item)(request).get("actions", {})
    fields: Mapping[str, Any] = next(iter(described.values()), {})
    writable = {name: entry for name, entry in fields.items() if not entry["read_only"]}
    methods = [method for method in methods if may(request.uow, place[0], PERMISSIONS[method])]
    return {
        "editors": [Editor(method, _first_body(method, context, writable, data)) for method in methods],
        "api_form": form_for(request, *place, methods, list(writable)) if status < BAD_REQUEST else None,
    }


def _first_body(method: str, context: Any, fields: Mapping[str, Any], data: Any) -> str:
    """The body that an editor starts with, from the description of the fields."""
    body: Any = {}
    if method == "POST":
        body = {name: _first_value(entry) for name, entry in fields.items() if entry["required"]}
    elif method == "PUT" and isinstance(context, Item) and isinstance(data, dict):
        body = {name: _body_value(data[name]) for name in fields if name in data}
    elif isinstance(context, Collection):
        body = [{"id": ""}]
    is_empty = method == "DELETE" and isinstance(context, Item)
    return "" if is_empty else orjson.dumps(body, option=orjson.OPT_INDENT_2).decode()


def _first_value(entry: Mapping[str, Any]) -> Any:
    choices = entry.get("choices") or []
    return choices[0]["value"] if choices else EMPTY_VALUES.get(entry["type"], "")


def _body_value(value: Any) -> Any:
    """A value of a representation as a body has it: references by id, choices by value."""
    if isinstance(value, list):
        return [_body_value(item) for item in value]
    if isinstance(value, dict):
        return (
            value["id"]
            if "id" in value and "url" in value
            else value["value"]
            if set(value) == {"value", "label"}
            else value
        )
    return value


def send(request: Request) -> Response:
    """Sends the request of an editor to the API, and shows its answer."""
    posted = form_of(request)
    path, method, body = (form_text(request, name) for name in ("_path", "_method", "_body"))
    path = local_path(path)
    problem = "" if path.startswith("/api/") and method in UNSAFE_METHODS else "Choose a method and a path of the API."
    values: dict[str, Any] = {"method": method, "path": path, "problem": problem, "answer": None, "api_form": None}
    if problem:
        return page(request, SENT, {**values, "body": body}, status=422)
    composition = (
        Composition(request, path, method, {name: posted.getall(name) for name in posted})
        if CONTROLS in posted
        else None
    )
    if composition is not None:
        body = composition.body
        if composition.failed:
            return page(request, SENT, {**values, "body": "", "api_form": composition.form}, status=422)
    answer = _send_request(request, path, method, body)
    headers = [(name, answer.headers[name]) for name in SHOWN_HEADERS if name in answer.headers]
    is_json = answer.content_type == versions.JSON and answer.body
    failed = answer.status_int >= BAD_REQUEST
    if composition is not None and failed and is_json:
        composition.show_errors(answer.json)
        values["api_form"] = composition.form
    shown = markup_of(answer.json, request.uow.base) if is_json else answer.text if answer.body else ""
    values |= {"body": body, "answer": ShownAnswer(answer.status_int, headers, shown)}
    return page(request, SENT, values, status=answer.status_int if failed else 200)


def _send_request(request: Request, path: str, method: str, body: str) -> Response:
    """The answer of the API to a request with the cookies and the origin of the browser's request."""
    if form_of(request).get("_dry_run"):
        path += ("&" if "?" in path else "?") + "dry_run=true"
    return subrequests.send(request, method, path, body.strip().encode(), copied=CREDENTIALS)


def includeme(config: Any) -> None:
    """Adds the pages of answers, and the page that sends requests."""
    config.set_netinv_html_renderer(render_answer)
    config.add_netinv_page(SEND_PATH, send, permission=AUTHENTICATED, methods=["POST"], read_only=True, personal=True)
