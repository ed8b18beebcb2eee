"""Services of packages: those of Cornice, as its documentation has them, with the answers of this API.

An ``includeme`` adds one with ``config.add_cornice_service(service)``, or ``config.scan()`` those of a module. Bodies
are JSON; errors of validators and of ``request.errors`` are answered as those of resources; ``renderer="orjson"``
writes what views return. Its methods are in the Allow header and, with the Colander schemas of their validators, in the
OpenAPI document. Cornice is imported here and in :mod:`netinv_core.http.cornice_services`.
"""

from __future__ import annotations

import copy
import dataclasses
import re
from collections.abc import Callable, Mapping
from typing import Any, NoReturn

from cornice import Service
from cornice.pyramidhook import register_service_views
from cornice.validators import colander_body_validator, colander_querystring_validator
from pyramid.request import Request

from netinv_core import errors
from netinv_core.errors import NON_FIELD
from netinv_core.http import versions, views
from netinv_core.http.methods import METHODS, UNSAFE_METHODS, allow_header
from netinv_core.http.security_policy import API_ACCESS
from netinv_core.http.serialization import body_of, query_of

_BY_STATUS = {
    error.status: error for error in (errors.Denied, errors.NotFound, errors.Conflict, errors.Gone, errors.Unavailable)
}
_PATTERN = re.compile(r"{(\w+):(?:[^{}]|{[^{}]*})*}")  # a part of a path with an expression: {id:[0-9]+}


@dataclasses.dataclass(frozen=True)
class Operation:
    """A method of a service: its view, and the Colander schemas of its body and its query."""

    view: Callable[..., Any]
    body: Any = None
    query: Any = None


@dataclasses.dataclass(frozen=True)
class ServiceRoute:
    """A service for the OpenAPI document: its path, and its operations by method in lower case."""

    path: str
    operations: Mapping[str, Operation]


def add_service(config: Any, service: Service) -> None:
    """Adds the views of a service, the answer to OPTIONS, and that to methods that it does not have."""
    own = copy.copy(service)  # services belong to modules, which other applications of the process add, too
    methods = [method for method in METHODS if method in service.defined_methods]
    allow = allow_header(methods)
    own.definitions = [(method, view, _options(args, allow)) for method, view, args in service.definitions]
    register_service_views(config, own)
    route = service.pyramid_route or service.name
    common = {"route_name": route, "permission": API_ACCESS, "allow": allow, "renderer": "orjson"}
    if missing := tuple(method for method in METHODS if method not in methods):
        config.add_view(views.not_allowed, request_method=missing, **common)
    if "OPTIONS" not in own.defined_methods:
        config.add_view(_description(service), request_method="OPTIONS", **common)
    if service.path and service.path.startswith("/api/"):
        found = {method.lower(): _operation(view, args) for method, view, args in service.definitions}
        described = {method: found[method] for method in map(str.lower, methods)}
        path = _PATTERN.sub(r"{\1}", service.path)
        config.registry.netinv.services[path] = ServiceRoute(path, described)


def _options(args: Mapping[str, Any], allow: str) -> dict[str, Any]:
    """The arguments of a view, with our ways to read bodies, to write answers and to refuse where it has none."""
    options = {"allow": allow, "deserializer": _members, **args}
    if options["renderer"] == Service.renderer:
        options["renderer"] = "orjson"
    if getattr(options["error_handler"], "__func__", None) is Service.default_error_handler:
        options["error_handler"] = refuse
    return options


def _members(request: Request) -> dict[str, Any]:
    """The parts of a request that validators read. Parameters that are given several times are lists."""
    query = {name: values[0] if len(values) == 1 else values for name, values in query_of(request).items()}
    return {
        "method": request.method,
        "url": request.url,
        "path": request.matchdict,
        "querystring": query,
        "headers": request.headers,
        "cookies": request.cookies,
        "body": body_of(request) if request.method in UNSAFE_METHODS else {},
    }


def refuse(request: Request) -> NoReturn:
    """Ends a request with the errors that validators or the view added.

    :raises RequestError: with the status of ``request.errors``
    """
    found, status = request.errors, request.errors.status
    if status != errors.Invalid.status:
        detail = " ".join(str(error["description"]) for error in found)
        if status in _BY_STATUS:
            raise _BY_STATUS[status](detail)
        refused = errors.RequestError({"detail": detail})
        refused.status = status
        raise refused
    body: dict[str, list[str]] = {}
    for error in found:
        body.setdefault(error["name"] or NON_FIELD, []).append(str(error["description"]))
    raise errors.Invalid(body)


def _description(service: Service) -> Callable[[Request], dict[str, Any]]:
    """The view that describes a service."""
    formats = {"renders": [versions.JSON, versions.HTML], "parses": [versions.JSON]}
    description = getattr(service, "description", None) or ""
    return lambda request: {"name": service.name, "description": description, **formats}


def _operation(view: Any, args: Mapping[str, Any]) -> Operation:
    """A method of a service; a view may be the name of one of a class."""
    function = getattr(args["klass"], view.lower()) if isinstance(view, str) else view
    schema, validators = args.get("schema"), args.get("validators", ())
    body = schema if colander_body_validator in validators else None
    return Operation(function, body, schema if colander_querystring_validator in validators else None)


def includeme(config: Any) -> None:
    """Replaces the directive of Cornice."""
    config.add_directive("add_cornice_service", add_service)
