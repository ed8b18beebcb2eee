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
from netinv_core.auth import permissions
from netinv_core.endpoint import Endpoint
from netinv_core.errors import Invalid, NotAllowed, NotFound, RequestError
from netinv_core.fields import Count
from netinv_core.http import browsable, list_formats, options, pagination, versions
from netinv_core.http.request_uow import RequestUnitOfWork, begin_request
from netinv_core.http.serialization import body_of, json_response
from netinv_core.http.traversal import root_of
from netinv_core.read import listing
from netinv_core.registry import Registry
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


def open_list(request: Request, offers: Sequence[str] = ()) -> tuple[RequestUnitOfWork, Endpoint]:
    """Starts a request to a collection: refuses what is not permitted, then what is not offered; ``offers`` as in :func:`open_item`.

    :raises NotAllowed: for a method that the resource does not have
    """
    return _open(request, METHODS, offers=offers)


def open_item(
    request: Request, methods: tuple[str, ...] = ITEM_METHODS, action: str | None = None, offers: Sequence[str] = (), *, reads: bool = False
) -> tuple[RequestUnitOfWork, Endpoint]:
    """Starts a request to an item, or to an action with its own ``methods`` below an item or a list; as :func:`open_list`.

    ``action`` names the permission to ask for when the method's own is not what is meant; ``offers`` the media types that
    are answered with beside JSON and HTML; what only ``reads`` writes nothing, whatever its method.
    """
    return _open(request, methods, action, offers, reads=reads)


def _open(
    request: Request, methods: tuple[str, ...], action: str | None = None, offers: Sequence[str] = (), *, reads: bool = False
) -> tuple[RequestUnitOfWork, Endpoint]:
    endpoint: Endpoint = request.context.endpoint
    allow = allowed(endpoint, methods)
    uow = begin_request(request, allow, basic=endpoint.resource.allow_basic_auth, offers=offers, reads=reads)
    if request.method != "OPTIONS":
        permissions.check(uow, endpoint, action or ACTIONS.get(request.method, "view"))
        if request.method not in allow:
            raise NotAllowed(request.method, allow)
    return uow, endpoint


def shape_of(uow: RequestUnitOfWork, endpoint: Endpoint, omitted: frozenset[str] = frozenset()) -> tuple[str, frozenset[str]]:
    """The shape the query asks for, and the fields it leaves out: those ``omitted`` among them, unless it asks for them.

    :raises Invalid: for ``include`` or ``exclude`` with a name that is no such field
    """
    included, excluded = (frozenset(filter(None, uow.query.get(name, ()))) for name in ("include", "exclude"))
    if included:  # names that only other resources can add are accepted: clients send one parameter to all of them
        _check_names("include", included, endpoint.fields.keys() | endpoint.registry.opt_in)
    if excluded and endpoint.costly:
        _check_names("exclude", excluded, endpoint.costly)
    if uow.query.get("brief", [""])[-1] not in ("", "0"):
        return "brief", frozenset()
    return "full", (endpoint.costly & excluded) | (endpoint.opt_in | omitted) - included


def _check_names(parameter: str, given: frozenset[str], known: Collection[str]) -> None:
    unknown = sorted(given.difference(known))
    if unknown:
        raise Invalid.field(parameter, *[f"Select a valid choice. {name} is not one of the available choices." for name in unknown])


def parameters_of(uow: RequestUnitOfWork, endpoint: Endpoint) -> list[tuple[str, list[str]]]:
    """The query's parameters that are filters."""
    return [(n, v) for n, v in uow.query.items() if n not in RESERVED and not (n == "exclude" and endpoint.costly)]


def answer(uow: RequestUnitOfWork, request: Request, body: Any, status: int = 200) -> Response:
    """A response in the media type asked for."""
    if uow.media == versions.HTML:
        return browsable.page(request, body, status)
    return json_response(body, status)


def downgrade_representation(uow: RequestUnitOfWork, endpoint: Endpoint, shown: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Representations as the request's version has them."""
    if endpoint.resource.versions:
        shown = [versions.downgrade(endpoint, uow.version, item) for item in shown]
    renderings = {field.name: render for field in endpoint.versioned_fields if (render := field.downgrade(uow, uow.version)) is not None}
    return [_with(renderings, item) for item in shown] if renderings else shown


def upgrade_bodies(uow: RequestUnitOfWork, endpoint: Endpoint, bodies: Sequence[Any], *, new: bool) -> list[Any]:
    """Bodies that were written for the request's version as the newest version has them (``new``: for objects to be created)."""
    found = [versions.upgrade(endpoint, uow.version, item, new=new) for item in bodies]
    readings = {field.name: read for field in endpoint.versioned_fields if (read := field.upgrade(uow, uow.version)) is not None}
    return [_with(readings, item) if isinstance(item, dict) else item for item in found] if readings else found


def _with(functions: Mapping[str, Callable[[Any], Any]], members: dict[str, Any]) -> dict[str, Any]:
    return {name: functions[name](value) if name in functions else value for name, value in members.items()}


def get_list(request: Request) -> Response:
    """A page of a resource, or another form of its list."""
    rendition = list_formats.requested_format(request, request.context.endpoint)
    if rendition is None:
        uow, endpoint = open_list(request)
        return list_page(uow, request, endpoint, parameters_of(uow, endpoint))
    uow, endpoint = open_list(request, list_formats.accepted(request))
    value = uow.query[rendition.parameter][-1]
    return rendition.render(uow, endpoint, value, [(n, v) for n, v in parameters_of(uow, endpoint) if n != rendition.parameter])


def list_page(
    uow: RequestUnitOfWork, request: Request, endpoint: Endpoint, parameters: Any, within: Sequence[Any] = (), omitted: frozenset[str] = frozenset()
) -> Response:
    """A page of what the parameters select, of the objects ``within`` further conditions on the endpoint's table.

    Fields that are ``omitted`` are shown to those who ask for them.
    """
    shape, without = shape_of(uow, endpoint, omitted)
    part = pagination.window(uow.query, uow.registry.settings)
    count, keys = listing.ids(uow, endpoint, parameters, part, within=within)
    former = versions.former_listing(endpoint, uow.version) if shape == "full" else None
    if former is not None:
        results = former(uow, endpoint, keys)
    else:
        results = endpoint.plan(shape, without).represent(uow, keys)
        results = downgrade_representation(uow, endpoint, results) if shape == "full" else results
    following, previous = pagination.links(f"{uow.base}{request.path}", uow.query, part, count)
    return answer(uow, request, {"count": count, "next": following, "previous": previous, "results": results})


def post(request: Request) -> Response:
    """One new object, or a list of them; answered without counters, which nothing can have raised yet."""
    uow, endpoint = open_list(request)
    body = body_of(request, endpoint)
    single = not isinstance(body, list)
    bodies = upgrade_bodies(uow, endpoint, [body] if single else body, new=True)
    made = downgrade_representation(uow, endpoint, save.create(uow, endpoint, bodies, single=single))
    counters = counters_of(endpoint)
    uncounted = [{n: v for n, v in item.items() if n not in counters} for item in made]
    response = answer(uow, request, uncounted[0] if single else uncounted, 201)
    if single:
        response.headers["Location"] = made[0]["url"]
    return response


def counters_of(endpoint: Endpoint) -> frozenset[str]:
    """The fields that only the endpoint's own list and objects show: nothing else counts for them."""
    return frozenset(name for name, field in endpoint.fields.items() if isinstance(field, Count) and field.nested == "absent")


def change_list(request: Request) -> Response:
    """PUT or PATCH of several objects: all or none."""
    uow, endpoint = open_list(request)
    bodies = upgrade_bodies(uow, endpoint, _items(body_of(request)), new=False)
    optional = versions.absent(endpoint, uow.version)
    changed = save.update(uow, endpoint, bodies, partial=request.method == "PATCH", optional=optional)
    return answer(uow, request, downgrade_representation(uow, endpoint, changed))


def delete_list(request: Request) -> Response:
    """DELETE of several objects: all or none."""
    uow, endpoint = open_list(request)
    delete.delete(uow, endpoint, _items(body_of(request)))
    return Response(status=204, content_type=None)


def _items(body: Any) -> list[Any]:
    if not isinstance(body, list):
        raise Invalid.whole(f'Expected a list of items but got type "{type(body).__name__}".')
    return body


def get_item(request: Request) -> Response:
    """One object."""
    uow, endpoint = open_item(request)
    shape, without = shape_of(uow, endpoint)
    shown = listing.detail(uow, endpoint, _key(request), parameters_of(uow, endpoint), shape, without)
    shown = downgrade_representation(uow, endpoint, [shown])[0] if shape == "full" else shown
    return answer(uow, request, shown)


def change_item(request: Request) -> Response:
    """PUT or PATCH of one object."""
    uow, endpoint = open_item(request)
    key = _key(request)
    (body,) = upgrade_bodies(uow, endpoint, [body_of(request, endpoint)], new=False)
    if not isinstance(body, dict):
        raise Invalid.whole(f"Invalid data. Expected a dictionary, but got {type(body).__name__}." if body is not None else "No data provided")
    optional = versions.absent(endpoint, uow.version)
    changed = save.update(uow, endpoint, [{**body, "id": key}], partial=request.method == "PATCH", single=True, optional=optional)
    return answer(uow, request, downgrade_representation(uow, endpoint, changed)[0])


def delete_item(request: Request) -> Response:
    """DELETE of one object."""
    uow, endpoint = open_item(request)
    delete.delete(uow, endpoint, [{"id": _key(request)}], single=True)
    return Response(status=204, content_type=None)


def _key(request: Request) -> Any:
    if request.context.key is None:
        raise NotFound()
    return request.context.key


def options_list(request: Request) -> Response:
    """What may be done with a resource, and with which fields."""
    uow, endpoint = open_list(request)
    return answer(uow, request, options.resource(uow, endpoint, ("POST", "PUT")))


def options_item(request: Request) -> Response:
    """What may be done with an object, and with which fields."""
    uow, endpoint = open_item(request)
    return answer(uow, request, options.resource(uow, endpoint, ("PUT",)))


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
class OperationSchema:
    """What a view answers and takes, for the documentation; see :func:`documented`."""

    shows: Shown = None
    form: str = "one"
    takes: Shown = None
    status: int | None = None
    query: Sequence[Mapping[str, Any]] = ()
    also: Sequence[str] = ()
    errors: Sequence[type[RequestError]] = ()
    nothing: str = ""


def documented(
    shows: Shown = None,
    *,
    form: str = "one",
    takes: Shown = None,
    status: int | None = None,
    query: Sequence[Mapping[str, Any]] = (),
    also: Sequence[str] = (),
    errors: Sequence[type[RequestError]] = (),
    nothing: str = "",
) -> Callable[[View], View]:
    """Says of a view what the documentation shows: the label of a resource, or an OpenAPI schema.

    ``form`` is ``one`` object, a ``list`` or a ``page`` of what it ``shows``, or ``some``: one, or a list of them; ``takes`` is the body, when there is one;
    ``status`` that of success, when it is not the method's usual one (201 for POST, 204 for DELETE); ``query`` its parameters, as
    :func:`netinv_core.http.openapi_parameters.query` makes them; ``also`` names media types of the answer beside JSON; ``errors`` are
    its answers beside those that every read or write may give, ``nothing`` says when it answers 204 instead.
    """

    def mark(view: View) -> View:
        view.shape = OperationSchema(shows, form, takes, status, query, also, errors, nothing)  # type: ignore[attr-defined]
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
        uow, endpoint = open_item(request, methods)
        return answer(uow, request, options.resource(uow, endpoint, ()))

    return refuse, describe_action
