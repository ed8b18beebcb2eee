"""Views of lists and objects, and functions that views of actions share with them.

A view is called when its request is negotiated, authenticated and permitted (:mod:`netinv_core.http.derivers`). It uses
``request.uow`` and the resource ``request.context.endpoint``, and returns data for the renderer ``orjson``, or a response.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from pyramid.request import Request
from pyramid.response import Response

from netinv_core.endpoint import Endpoint
from netinv_core.errors import Invalid, NotAllowed, NotFound
from netinv_core.fields import Count
from netinv_core.http import list_formats, options, pagination, versions
from netinv_core.http.request_uow import RequestUnitOfWork, negotiation_of
from netinv_core.http.serialization import body_of
from netinv_core.read import listing
from netinv_core.write import delete, save

RESERVED = frozenset({"limit", "offset", "brief", "include", "api_version", "format"})


def shape_of(uow: RequestUnitOfWork, endpoint: Endpoint, omitted: frozenset[str] = frozenset()) -> tuple[str, frozenset[str]]:
    """The shape that the query selects, and the fields to leave out: those ``omitted``, unless the query includes them.

    :raises Invalid: for an unknown name in ``include`` or ``exclude``
    """
    included, excluded = (frozenset(filter(None, uow.query.get(name, ()))) for name in ("include", "exclude"))
    if included:  # names of other resources are accepted: clients send one parameter to all resources
        _check_names("include", included, endpoint.fields.keys() | endpoint.registry.opt_in)
    if excluded and endpoint.costly:
        _check_names("exclude", excluded, endpoint.costly)
    if uow.query.get("brief", [""])[-1] not in ("", "0"):
        return "brief", frozenset()
    return "full", (endpoint.costly & excluded) | (endpoint.opt_in | omitted) - included


def _check_names(parameter: str, names: frozenset[str], choices: Collection[str]) -> None:
    unknown = sorted(names.difference(choices))
    if unknown:
        raise Invalid.field(parameter, *[f"Select a valid choice. {name} is not one of the available choices." for name in unknown])


def parameters_of(uow: RequestUnitOfWork, endpoint: Endpoint) -> list[tuple[str, list[str]]]:
    """The query's parameters that are filters."""
    return [(n, v) for n, v in uow.query.items() if n not in RESERVED and not (n == "exclude" and endpoint.costly)]


def downgrade_representation(
    uow: RequestUnitOfWork, endpoint: Endpoint, representations: list[dict[str, Any]]
) -> list[dict[str, Any]]:
    """Representations, converted to the version of the request."""
    if endpoint.resource.versions:
        representations = [versions.downgrade(endpoint, uow.version, item) for item in representations]
    downgrades = {field.name: field.downgrade(uow, uow.version) for field in endpoint.versioned_fields}
    renderings = {name: render for name, render in downgrades.items() if render is not None}
    return [_with(renderings, item) for item in representations] if renderings else representations


def upgrade_bodies(uow: RequestUnitOfWork, endpoint: Endpoint, bodies: Sequence[Any], *, new: bool) -> list[Any]:
    """Bodies, converted from the version of the request to the newest one (``new``: for objects to be created)."""
    upgraded = [versions.upgrade(endpoint, uow.version, item, new=new) for item in bodies]
    upgrades = {field.name: field.upgrade(uow, uow.version) for field in endpoint.versioned_fields}
    readings = {name: read for name, read in upgrades.items() if read is not None}
    return [_with(readings, item) if isinstance(item, dict) else item for item in upgraded] if readings else upgraded


def _with(functions: Mapping[str, Callable[[Any], Any]], members: dict[str, Any]) -> dict[str, Any]:
    return {name: functions[name](value) if name in functions else value for name, value in members.items()}


def get_list(request: Request) -> dict[str, Any] | Response:
    """A page of a resource, or another form of its list."""
    uow, endpoint = request.uow, request.context.endpoint
    list_format = list_formats.requested_format(request, endpoint)
    if list_format is None:
        return list_page(request, endpoint, parameters_of(uow, endpoint))
    value = uow.query[list_format.parameter][-1]
    parameters = [(name, values) for name, values in parameters_of(uow, endpoint) if name != list_format.parameter]
    return list_format.render(uow, endpoint, value, parameters)


def list_page(
    request: Request,
    endpoint: Endpoint,
    parameters: listing.Parameters,
    within: Sequence[Any] = (),
    omitted: frozenset[str] = frozenset(),
) -> dict[str, Any]:
    """A page of the objects that the parameters select, ``within`` further conditions on the endpoint's table.

    Fields that are ``omitted`` are shown to those who ask for them.
    """
    uow: RequestUnitOfWork = request.uow
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
    return {"count": count, "next": following, "previous": previous, "results": results}


def post(request: Request) -> Any:
    """One new object, or a list of them; answered without counters, which nothing can have raised yet."""
    uow, endpoint = request.uow, request.context.endpoint
    body = body_of(request, endpoint)
    single = not isinstance(body, list)
    bodies = upgrade_bodies(uow, endpoint, [body] if single else body, new=True)
    created = downgrade_representation(uow, endpoint, save.create(uow, endpoint, bodies, single=single))
    counters = counters_of(endpoint)
    uncounted = [{n: v for n, v in item.items() if n not in counters} for item in created]
    request.response.status_int = 201
    if single:
        request.response.headers["Location"] = created[0]["url"]
    return uncounted[0] if single else uncounted


def counters_of(endpoint: Endpoint) -> frozenset[str]:
    """The counter fields, which only the resource's own representations have."""
    return frozenset(name for name, field in endpoint.fields.items() if isinstance(field, Count) and field.nested == "absent")


def change_list(request: Request) -> list[dict[str, Any]]:
    """PUT or PATCH of several objects: all or none."""
    uow, endpoint = request.uow, request.context.endpoint
    bodies = upgrade_bodies(uow, endpoint, _items(body_of(request)), new=False)
    optional = versions.absent(endpoint, uow.version)
    changed = save.update(uow, endpoint, bodies, partial=request.method == "PATCH", optional=optional)
    return downgrade_representation(uow, endpoint, changed)


def delete_list(request: Request) -> Response:
    """DELETE of several objects: all or none."""
    delete.delete(request.uow, request.context.endpoint, _items(body_of(request)))
    return no_content()


def _items(body: Any) -> list[Any]:
    if not isinstance(body, list):
        raise Invalid.whole(f'Expected a list of items but got type "{type(body).__name__}".')
    return body


def get_item(request: Request) -> dict[str, Any]:
    """One object."""
    uow, endpoint = request.uow, request.context.endpoint
    shape, without = shape_of(uow, endpoint)
    representation = listing.detail(uow, endpoint, key_of(request), parameters_of(uow, endpoint), shape, without)
    return downgrade_representation(uow, endpoint, [representation])[0] if shape == "full" else representation


def change_item(request: Request) -> dict[str, Any]:
    """PUT or PATCH of one object."""
    uow, endpoint, key = request.uow, request.context.endpoint, key_of(request)
    (body,) = upgrade_bodies(uow, endpoint, [body_of(request, endpoint)], new=False)
    if not isinstance(body, dict):
        raise Invalid.whole(f"Invalid data. Expected a dictionary, but got {type(body).__name__}." if body is not None else "No data provided")
    optional = versions.absent(endpoint, uow.version)
    changed = save.update(uow, endpoint, [{**body, "id": key}], partial=request.method == "PATCH", single=True, optional=optional)
    return downgrade_representation(uow, endpoint, changed)[0]


def delete_item(request: Request) -> Response:
    """DELETE of one object."""
    delete.delete(request.uow, request.context.endpoint, [{"id": key_of(request)}], single=True)
    return no_content()


def no_content() -> Response:
    """An answer without a body (204)."""
    return Response(status=204, content_type=None)


def key_of(request: Request) -> Any:
    """The id of the object that the path names.

    :raises NotFound: for a path that cannot be an id
    """
    if request.context.key is None:
        raise NotFound()
    return request.context.key


def options_list(request: Request) -> dict[str, Any]:
    """The description of a resource: its fields, and the methods that are permitted."""
    return options.resource(request.uow, request.context.endpoint, ("POST", "PUT"))


def options_item(request: Request) -> dict[str, Any]:
    """The description of an object: its fields, and whether it may be replaced."""
    return options.resource(request.uow, request.context.endpoint, ("PUT",))


def not_allowed(request: Request) -> Response:
    """The view of a method that a path does not have.

    :raises NotAllowed: always
    """
    raise NotAllowed(request.method, negotiation_of(request).allow)
