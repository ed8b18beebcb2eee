"""Every application's two Cornice services, collection and item, and those of its actions.

Cornice is imported here and nowhere else.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from cornice import Service
from pyramid.request import Request
from pyramid.response import Response

from netinv_core.app import App
from netinv_core.auth import permits
from netinv_core.errors import Invalid, NotAllowed, NotFound
from netinv_core.fields import Count
from netinv_core.http import describe, html, paging, versions
from netinv_core.http.answers import body_of, json_response
from netinv_core.http.opening import Opened, open_request
from netinv_core.http.traversal import root_of
from netinv_core.read import pages
from netinv_core.registry import Endpoint
from netinv_core.write import delete, save

RESERVED = frozenset({"limit", "offset", "brief", "include", "api_version", "format"})
METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")
ITEM_METHODS = ("GET", "PUT", "PATCH", "DELETE")
_ACTIONS = {"GET": "view", "HEAD": "view", "POST": "add", "PUT": "change", "PATCH": "change", "DELETE": "delete"}


def allowed(endpoint: Endpoint, methods: tuple[str, ...] = METHODS) -> str:
    """The Allow header of a resource's list (or of another set of methods)."""
    names = methods if endpoint.resource.writable else ("GET",)
    return ", ".join((*names, "HEAD", "OPTIONS"))


def open_list(request: Request) -> tuple[Opened, Endpoint]:
    """Starts a request to a collection: refuses what is not permitted, then what is not offered.

    :raises NotAllowed: for a method that the resource does not have
    """
    return _open(request, METHODS)


def open_item(request: Request, methods: tuple[str, ...] = ITEM_METHODS, action: str | None = None) -> tuple[Opened, Endpoint]:
    """Starts a request to an item, or to an action below it with its own ``methods``; as :func:`open_list`.

    ``action`` names the permission to ask for when the method's own is not what is meant.
    """
    return _open(request, methods, action)


def _open(request: Request, methods: tuple[str, ...], action: str | None = None) -> tuple[Opened, Endpoint]:
    endpoint: Endpoint = request.context.endpoint
    allow = allowed(endpoint, methods)
    context = open_request(request, allow, basic=endpoint.resource.basic)
    if request.method != "OPTIONS":
        permits.check(context, endpoint, action or _ACTIONS.get(request.method, "view"))
        if request.method not in allow:
            raise NotAllowed(request.method, allow)
    return context, endpoint


def shape_of(context: Opened, endpoint: Endpoint) -> tuple[str, frozenset[str]]:
    """The shape the query asks for, and the fields it leaves out."""
    if any(context.query.get("brief", ())):
        return "brief", frozenset()
    excluded = endpoint.costly.intersection(context.query.get("exclude", ()))
    return "full", excluded | endpoint.opt_in.difference(context.query.get("include", ()))


def parameters_of(context: Opened, endpoint: Endpoint) -> list[tuple[str, list[str]]]:
    """The query's parameters that are filters."""
    return [(n, v) for n, v in context.query.items() if n not in RESERVED and not (n == "exclude" and endpoint.costly)]


def answer(context: Opened, request: Request, body: Any, status: int = 200) -> Response:
    """A response in the media type asked for."""
    if context.media == versions.HTML:
        return html.page(request, body, status)
    return json_response(body, status)


def as_version(context: Opened, endpoint: Endpoint, shown: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Representations as the request's version has them."""
    if context.version == versions.NEWEST or not endpoint.resource.versions:
        return shown
    return [versions.downgrade(endpoint, context.version, item) for item in shown]


def get_list(request: Request) -> Response:
    """A page of a resource."""
    context, endpoint = open_list(request)
    return list_page(context, request, endpoint, parameters_of(context, endpoint))


def list_page(context: Opened, request: Request, endpoint: Endpoint, parameters: Any) -> Response:
    """A page of what the parameters select."""
    shape, without = shape_of(context, endpoint)
    part = paging.window(context.query, context.registry.settings)
    found = pages.listing(context, endpoint, parameters, part, shape, without)
    following, previous = paging.links(f"{context.base}{request.path}", context.query, part, found.count)
    results = as_version(context, endpoint, found.results) if shape == "full" else found.results
    return answer(context, request, {"count": found.count, "next": following, "previous": previous, "results": results})


def post(request: Request) -> Response:
    """One new object, or a list of them; answered without counters, which nothing can have raised yet."""
    context, endpoint = open_list(request)
    body = body_of(request)
    single = not isinstance(body, list)
    bodies = [versions.upgrade(endpoint, context.version, item, new=True) for item in ([body] if single else body)]
    made = as_version(context, endpoint, save.create(context, endpoint, bodies, single=single))
    context.journal.write(context)
    uncounted = [{n: v for n, v in item.items() if not isinstance(endpoint.fields.get(n), Count)} for item in made]
    response = answer(context, request, uncounted[0] if single else uncounted, 201)
    if single:
        response.headers["Location"] = made[0]["url"]
    return response


def change_list(request: Request) -> Response:
    """PUT or PATCH of several objects: all or none."""
    context, endpoint = open_list(request)
    items = _items(body_of(request))
    bodies = [versions.upgrade(endpoint, context.version, item, new=False) for item in items]
    changed = save.update(context, endpoint, bodies, partial=request.method == "PATCH")
    context.journal.write(context)
    return answer(context, request, as_version(context, endpoint, changed))


def delete_list(request: Request) -> Response:
    """DELETE of several objects: all or none."""
    context, endpoint = open_list(request)
    delete.delete(context, endpoint, _items(body_of(request)))
    context.journal.write(context)
    return Response(status=204, content_type=None)


def _items(body: Any) -> list[Any]:
    if not isinstance(body, list):
        raise Invalid.whole(f'Expected a list of items but got type "{type(body).__name__}".')
    return body


def get_item(request: Request) -> Response:
    """One object."""
    context, endpoint = open_item(request)
    shape, without = shape_of(context, endpoint)
    shown = pages.detail(context, endpoint, _key(request), parameters_of(context, endpoint), shape, without)
    shown = as_version(context, endpoint, [shown])[0] if shape == "full" else shown
    return answer(context, request, shown)


def change_item(request: Request) -> Response:
    """PUT or PATCH of one object."""
    context, endpoint = open_item(request)
    key = _key(request)
    body = versions.upgrade(endpoint, context.version, body_of(request), new=False)
    if not isinstance(body, dict):
        raise Invalid.whole(f"Invalid data. Expected a dictionary, but got {type(body).__name__}." if body is not None else "No data provided")
    changed = save.update(context, endpoint, [{**body, "id": key}], partial=request.method == "PATCH", single=True)
    context.journal.write(context)
    return answer(context, request, as_version(context, endpoint, changed)[0])


def delete_item(request: Request) -> Response:
    """DELETE of one object."""
    context, endpoint = open_item(request)
    delete.delete(context, endpoint, [{"id": _key(request)}], single=True)
    context.journal.write(context)
    return Response(status=204, content_type=None)


def _key(request: Request) -> Any:
    if request.context.key is None:
        raise NotFound()
    return request.context.key


def options_list(request: Request) -> Response:
    """What may be done with a resource, and with which fields."""
    context, endpoint = open_list(request)
    return answer(context, request, describe.resource(context, endpoint, ("POST", "PUT")))


def options_item(request: Request) -> Response:
    """What may be done with an object, and with which fields."""
    context, endpoint = open_item(request)
    return answer(context, request, describe.resource(context, endpoint, ("PUT",)))


def refuse_method(request: Request) -> Response:
    """A method that items do not have."""
    _, endpoint = open_item(request)
    raise NotAllowed(request.method, allowed(endpoint))


def services_of(app: App) -> list[Service]:
    """An application's collection and item services."""
    factory = root_of(app)
    collection = Service(name=f"{app.name}-collection", path=f"{app.path}{{model}}/", traverse="/{model}", factory=factory)
    item = Service(name=f"{app.name}-item", path=f"{app.path}{{model}}/{{id}}/", traverse="/{model}/{id}", factory=factory)
    _serve(collection, get_list, post, change_list, change_list, delete_list, options_list)
    _serve(item, get_item, refuse_method, change_item, change_item, delete_item, options_item)
    return [collection, item]


def _serve(service: Service, *views: Callable[[Request], Response]) -> None:
    for method, view in zip((*METHODS, "OPTIONS"), views, strict=True):
        service.add_view(method, view)


class Actions:
    """The services of an application's own routes below its resources: ``actions.item("prefixes", "available-ips")``."""

    def __init__(self, app: App) -> None:
        self.app = app
        self.services: list[Service] = []

    def item(self, name: str, action: str, **views: Callable[[Request], Response]) -> None:
        """Adds ``…/<name>/{id}/<action>/`` with one view for each method (``get=``, ``post=`` …); ``name`` is a pattern."""
        path = f"{self.app.path}{{model:{name}}}/{{id}}/{action}/"
        service = Service(name=f"{self.app.name} {name} {action}", path=path, traverse="/{model}/{id}", factory=root_of(self.app))
        for method, view in views.items():
            service.add_view(method.upper(), view)
        self.services.append(service)
