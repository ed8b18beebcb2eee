"""Every application's two Cornice services, collection and item, and those of its actions.

Cornice is imported here and nowhere else.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from cornice import Service
from pyramid.request import Request
from pyramid.response import Response

from netinv_core.app import App
from netinv_core.auth import permits
from netinv_core.errors import Invalid, NotAllowed, NotFound, Refused
from netinv_core.fields import Count
from netinv_core.http import describe, html, paging, renditions, versions
from netinv_core.http.answers import body_of, json_response
from netinv_core.http.opening import Opened, open_request
from netinv_core.http.traversal import root_of
from netinv_core.read import pages
from netinv_core.registry import Endpoint, Registry
from netinv_core.write import delete, save

RESERVED = frozenset({"limit", "offset", "brief", "include", "api_version", "format"})
METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")
ITEM_METHODS = ("GET", "PUT", "PATCH", "DELETE")
ACTIONS = {"GET": "view", "HEAD": "view", "POST": "add", "PUT": "change", "PATCH": "change", "DELETE": "delete"}


def allowed(endpoint: Endpoint, methods: tuple[str, ...] = METHODS) -> str:
    """The Allow header of a resource's list (or of another set of methods of its own; an action's are its own whatever the resource has)."""
    own = methods in (METHODS, ITEM_METHODS)
    names = tuple(name for name in methods if not own or name == "GET" or ACTIONS[name] in endpoint.resource.writes)
    return ", ".join((*names, *(["HEAD"] if "GET" in names else []), "OPTIONS"))


def open_list(request: Request, offers: Sequence[str] = ()) -> tuple[Opened, Endpoint]:
    """Starts a request to a collection: refuses what is not permitted, then what is not offered; ``offers`` as in :func:`open_item`.

    :raises NotAllowed: for a method that the resource does not have
    """
    return _open(request, METHODS, offers=offers)


def open_item(
    request: Request, methods: tuple[str, ...] = ITEM_METHODS, action: str | None = None, offers: Sequence[str] = (), *, reads: bool = False
) -> tuple[Opened, Endpoint]:
    """Starts a request to an item, or to an action with its own ``methods`` below an item or a list; as :func:`open_list`.

    ``action`` names the permission to ask for when the method's own is not what is meant; ``offers`` the media types that
    are answered with beside JSON and HTML; what only ``reads`` writes nothing, whatever its method.
    """
    return _open(request, methods, action, offers, reads=reads)


def _open(request: Request, methods: tuple[str, ...], action: str | None = None, offers: Sequence[str] = (), *, reads: bool = False) -> tuple[Opened, Endpoint]:
    endpoint: Endpoint = request.context.endpoint
    allow = allowed(endpoint, methods)
    context = open_request(request, allow, basic=endpoint.resource.basic, offers=offers, reads=reads)
    if request.method != "OPTIONS":
        permits.check(context, endpoint, action or ACTIONS.get(request.method, "view"))
        if request.method not in allow:
            raise NotAllowed(request.method, allow)
    return context, endpoint


def shape_of(context: Opened, endpoint: Endpoint, omitted: frozenset[str] = frozenset()) -> tuple[str, frozenset[str]]:
    """The shape the query asks for, and the fields it leaves out: those ``omitted`` among them, unless it asks for them.

    :raises Invalid: for ``include`` or ``exclude`` with a name that is no such field
    """
    included, excluded = (frozenset(filter(None, context.query.get(name, ()))) for name in ("include", "exclude"))
    if included:  # names that only other resources can add are accepted: clients send one parameter to all of them
        _check_names("include", included, endpoint.fields.keys() | endpoint.registry.opt_in)
    if excluded and endpoint.costly:
        _check_names("exclude", excluded, endpoint.costly)
    if context.query.get("brief", [""])[-1] not in ("", "0"):
        return "brief", frozenset()
    return "full", (endpoint.costly & excluded) | (endpoint.opt_in | omitted) - included


def _check_names(parameter: str, given: frozenset[str], known: Collection[str]) -> None:
    unknown = sorted(given.difference(known))
    if unknown:
        raise Invalid.field(parameter, *[f"Select a valid choice. {name} is not one of the available choices." for name in unknown])


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
    if endpoint.resource.versions:
        shown = [versions.downgrade(endpoint, context.version, item) for item in shown]
    renderings = {field.name: render for field in endpoint.varying if (render := field.downgrade(context, context.version)) is not None}
    return [_with(renderings, item) for item in shown] if renderings else shown


def as_newest(context: Opened, endpoint: Endpoint, bodies: Sequence[Any], *, new: bool) -> list[Any]:
    """Bodies that were written for the request's version as the newest version has them (``new``: for objects to be created)."""
    found = [versions.upgrade(endpoint, context.version, item, new=new) for item in bodies]
    readings = {field.name: read for field in endpoint.varying if (read := field.upgrade(context, context.version)) is not None}
    return [_with(readings, item) if isinstance(item, dict) else item for item in found] if readings else found


def _with(functions: Mapping[str, Callable[[Any], Any]], members: dict[str, Any]) -> dict[str, Any]:
    return {name: functions[name](value) if name in functions else value for name, value in members.items()}


def get_list(request: Request) -> Response:
    """A page of a resource, or another form of its list."""
    rendition = renditions.asked_for(request, request.context.endpoint)
    if rendition is None:
        context, endpoint = open_list(request)
        return list_page(context, request, endpoint, parameters_of(context, endpoint))
    context, endpoint = open_list(request, renditions.accepted(request))
    value = context.query[rendition.parameter][-1]
    return rendition.render(context, endpoint, value, [(n, v) for n, v in parameters_of(context, endpoint) if n != rendition.parameter])


def list_page(
    context: Opened, request: Request, endpoint: Endpoint, parameters: Any, within: Sequence[Any] = (), omitted: frozenset[str] = frozenset()
) -> Response:
    """A page of what the parameters select, of the objects ``within`` further conditions on the endpoint's table.

    Fields that are ``omitted`` are shown to those who ask for them.
    """
    shape, without = shape_of(context, endpoint, omitted)
    part = paging.window(context.query, context.registry.settings)
    count, keys = pages.ids(context, endpoint, parameters, part, within=within)
    former = versions.former_listing(endpoint, context.version) if shape == "full" else None
    if former is not None:
        results = former(context, endpoint, keys)
    else:
        results = endpoint.plan(shape, without).represent(context, keys)
        results = as_version(context, endpoint, results) if shape == "full" else results
    following, previous = paging.links(f"{context.base}{request.path}", context.query, part, count)
    return answer(context, request, {"count": count, "next": following, "previous": previous, "results": results})


def post(request: Request) -> Response:
    """One new object, or a list of them; answered without counters, which nothing can have raised yet."""
    context, endpoint = open_list(request)
    body = body_of(request, endpoint)
    single = not isinstance(body, list)
    bodies = as_newest(context, endpoint, [body] if single else body, new=True)
    made = as_version(context, endpoint, save.create(context, endpoint, bodies, single=single))
    counters = counters_of(endpoint)
    uncounted = [{n: v for n, v in item.items() if n not in counters} for item in made]
    response = answer(context, request, uncounted[0] if single else uncounted, 201)
    if single:
        response.headers["Location"] = made[0]["url"]
    return response


def counters_of(endpoint: Endpoint) -> frozenset[str]:
    """The fields that only the endpoint's own list and objects show: nothing else counts for them."""
    return frozenset(name for name, field in endpoint.fields.items() if isinstance(field, Count) and field.nested == "absent")


def change_list(request: Request) -> Response:
    """PUT or PATCH of several objects: all or none."""
    context, endpoint = open_list(request)
    bodies = as_newest(context, endpoint, _items(body_of(request)), new=False)
    optional = versions.absent(endpoint, context.version)
    changed = save.update(context, endpoint, bodies, partial=request.method == "PATCH", optional=optional)
    return answer(context, request, as_version(context, endpoint, changed))


def delete_list(request: Request) -> Response:
    """DELETE of several objects: all or none."""
    context, endpoint = open_list(request)
    delete.delete(context, endpoint, _items(body_of(request)))
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
    (body,) = as_newest(context, endpoint, [body_of(request, endpoint)], new=False)
    if not isinstance(body, dict):
        raise Invalid.whole(f"Invalid data. Expected a dictionary, but got {type(body).__name__}." if body is not None else "No data provided")
    optional = versions.absent(endpoint, context.version)
    changed = save.update(context, endpoint, [{**body, "id": key}], partial=request.method == "PATCH", single=True, optional=optional)
    return answer(context, request, as_version(context, endpoint, changed)[0])


def delete_item(request: Request) -> Response:
    """DELETE of one object."""
    context, endpoint = open_item(request)
    delete.delete(context, endpoint, [{"id": _key(request)}], single=True)
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


def refuse_on_item(request: Request) -> Response:
    """A method that items do not have."""
    _, endpoint = open_item(request)
    raise NotAllowed(request.method, allowed(endpoint, ITEM_METHODS))


def services_of(app: App) -> list[Service]:
    """An application's collection and item services."""
    factory = root_of(app)
    collection = Service(name=f"{app.name}-collection", path=f"{app.path}{{model}}/", traverse="/{model}", factory=factory)
    item = Service(name=f"{app.name}-item", path=f"{app.path}{{model}}/{{id}}/", traverse="/{model}/{id}", factory=factory)
    _serve(collection, get_list, post, change_list, change_list, delete_list, options_list)
    _serve(item, get_item, refuse_on_item, change_item, change_item, delete_item, options_item)
    return [collection, item]


def _serve(service: Service, *views: Callable[[Request], Response]) -> None:
    for method, view in zip((*METHODS, "OPTIONS"), views, strict=True):
        service.add_view(method, view)


View = Callable[[Request], Response]
Shown = str | Mapping[str, Any] | None


@dataclasses.dataclass(frozen=True)
class Shape:
    """What a view answers and takes, for the documentation; see :func:`shaped`."""

    shows: Shown = None
    form: str = "one"
    takes: Shown = None
    status: int | None = None
    query: Sequence[Mapping[str, Any]] = ()
    also: Sequence[str] = ()
    errors: Sequence[type[Refused]] = ()
    nothing: str = ""


def shaped(
    shows: Shown = None,
    *,
    form: str = "one",
    takes: Shown = None,
    status: int | None = None,
    query: Sequence[Mapping[str, Any]] = (),
    also: Sequence[str] = (),
    errors: Sequence[type[Refused]] = (),
    nothing: str = "",
) -> Callable[[View], View]:
    """Says of a view what the documentation shows: the label of a resource, or an OpenAPI schema.

    ``form`` is ``one`` object, a ``list`` or a ``page`` of what it ``shows``, or ``some``: one, or a list of them; ``takes`` is the body, when there is one;
    ``status`` that of success, when it is not the method's usual one (201 for POST, 204 for DELETE); ``query`` its parameters, as
    :func:`netinv_core.http.parameters.query` makes them; ``also`` names media types of the answer beside JSON; ``errors`` are
    its answers beside those that every read or write may give, ``nothing`` says when it answers 204 instead.
    """

    def mark(view: View) -> View:
        view.shape = Shape(shows, form, takes, status, query, also, errors, nothing)  # type: ignore[attr-defined]
        return view

    return mark


@dataclasses.dataclass(frozen=True)
class Action:
    """A route below the items (or, for the ``whole``, below the list) of those resources of an application whose name matches ``pattern``."""

    app: App
    pattern: str
    name: str
    views: Mapping[str, View]
    offered: Callable[[Endpoint], bool]
    whole: bool = False

    def endpoints(self, registry: Registry) -> list[Endpoint]:
        """The resources that have it."""
        own = [registry.by_path[self.app.name, resource.name] for resource in self.app.resources]
        return [endpoint for endpoint in own if re.fullmatch(self.pattern, endpoint.resource.name) and self.offered(endpoint)]


def actions_of(configured: Any) -> list[Action]:
    """Every action that packages added to a Pyramid registry, by path."""
    named: dict[str, Service] = configured.cornice_services
    return [found for _, service in sorted(named.items()) if (found := getattr(service, "action", None)) is not None]


class Actions:
    """The services of an application's own routes below its resources: ``actions.item("prefixes", "available-ips")``."""

    def __init__(self, app: App) -> None:
        self.app = app
        self.services: list[Service] = []

    def item(self, name: str, action: str, *, offered: Callable[[Endpoint], bool] = lambda endpoint: True, **views: View) -> None:
        """Adds ``…/<name>/{id}/<action>/`` with one view for each method (``get=``, ``post=`` …); ``name`` is a pattern.

        ``offered`` tells the documentation which of the resources that match have it, where the views refuse the others.
        """
        self._add(Action(self.app, name, action, views, offered), f"{{id}}/{action}/", "/{model}/{id}")

    def whole(self, name: str, action: str, **views: View) -> None:
        """Adds ``…/<name>/<action>/``, about the resource as a whole, as :meth:`item` does for one object; ``{words}`` in it go to ``matchdict``."""
        self._add(Action(self.app, name, action, views, lambda endpoint: True, whole=True), f"{action}/", "/{model}")

    def _add(self, action: Action, path: str, traverse: str) -> None:
        views, where = action.views, f"{self.app.path}{{model:{action.pattern}}}/{path}"
        service = Service(name=f"{self.app.name} {action.pattern} {path}", path=where, traverse=traverse, factory=root_of(self.app))
        service.action = action
        methods = tuple(method.upper() for method in views)
        refuse, describe_action = _others(methods)
        for method in METHODS:
            service.add_view(method, views.get(method.lower(), refuse))
        service.add_view("OPTIONS", views.get("options", describe_action))
        self.services.append(service)


def _others(methods: tuple[str, ...]) -> tuple[View, View]:
    """The views of an action for the methods it does not have, and for OPTIONS."""

    def refuse(request: Request) -> Response:
        _, endpoint = open_item(request, methods)
        raise NotAllowed(request.method, allowed(endpoint, methods))

    def describe_action(request: Request) -> Response:
        context, endpoint = open_item(request, methods)
        return answer(context, request, describe.resource(context, endpoint, ()))

    return refuse, describe_action
