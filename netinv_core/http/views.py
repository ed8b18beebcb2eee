"""Views of lists and objects, and functions that views of actions share with them.

A view is called when its request is negotiated, authenticated and permitted (:mod:`netinv_core.http.pipeline`). It uses
``request.uow`` and the resource ``request.context.endpoint``, and returns data for the renderer ``orjson``, or a
response.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from pyramid.request import Request
from pyramid.response import Response

from netinv_core import answer_size
from netinv_core.auth.audit import audit
from netinv_core.errors import NO_DATA, Invalid, NotAllowed, NotFound, not_an_object
from netinv_core.fields import Count
from netinv_core.http import (
    bulk_writes,
    conditional,
    list_bodies,
    list_formats,
    options,
    pagination,
    representations,
    sparse_fields,
    versions,
)
from netinv_core.http.representations import downgrade_representation as downgrade_representation
from netinv_core.http.representations import shape_of, upgrade_bodies
from netinv_core.http.request_uow import RequestUnitOfWork, negotiation_of
from netinv_core.http.serialization import body_of, single_value
from netinv_core.read import entity_tags, listing, pages, past_states
from netinv_core.read.ordering import PARAMETER as ORDERING
from netinv_core.write import delete, save, strict_bodies
from netinv_core.write.item_results import ON_ERROR
from netinv_core.write.upsert import MATCH

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint

RESERVED = frozenset({"brief", "include", "api_version", "format"})
_OF_LISTS = pagination.PARAMETERS | {ORDERING}


def parameters_of(
    uow: RequestUnitOfWork, endpoint: Endpoint, own: frozenset[str] | None = None
) -> list[tuple[str, list[str]]]:
    """The query's parameters that are filters, or the order: all but the ``own`` ones, by default those of lists."""
    if not uow.query:
        return []
    own = own_parameters(endpoint) - {ORDERING} if own is None else own
    return [(name, values) for name, values in uow.query.items() if name not in own]


def own_parameters(endpoint: Endpoint) -> frozenset[str]:
    """The parameters of a list that are not filters; a filter of one of the newer names takes precedence."""
    return _item_parameters(endpoint) | {"limit", "offset"} | (_OF_LISTS - endpoint.filters.keys())


def _item_parameters(endpoint: Endpoint) -> frozenset[str]:
    exclude = frozenset({"exclude"}) if endpoint.costly else frozenset()
    return RESERVED | exclude | ({sparse_fields.PARAMETER} - endpoint.filters.keys())


def get_list(request: Request) -> dict[str, Any] | Response:
    """A page of a resource, or another form of its list."""
    uow, endpoint = request.uow, request.context.endpoint
    list_format = list_formats.requested_format(request, endpoint)
    if list_format is None:
        conditional.tag_read(request)
        return list_page(request, endpoint, parameters_of(uow, endpoint))
    audit("export.sent", type=endpoint.label, format=list_format.media_type or list_format.parameter)
    if list_format.media_type:
        return list_format.render(uow, endpoint, list_format.media_type, parameters_of(uow, endpoint))
    value = single_value(uow.query, list_format.parameter)
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
    part = pagination.page_window(uow.query, uow.registry.settings, endpoint.filters)
    page = pages.page(uow, endpoint, parameters, part, within, of=request.path)
    most = uow.registry.settings["max_answer_objects"]
    if most and len(page.keys) > most:
        answer_size.check(uow.registry, len(page.keys), 0)
    results = representations.list_representations(uow, endpoint, page.keys, shape, without)
    return pagination.body(request, page, results)


def post(request: Request) -> Any:
    """One new object, or a list of them; answered without counters, which nothing can have raised yet."""
    uow, endpoint = request.uow, request.context.endpoint
    items = list_bodies.new_items(request)
    if ON_ERROR in uow.query and bulk_writes.continues(request):
        return bulk_writes.create_each(request, items)
    with items.numbered_errors():
        items.raise_errors(range(len(items.bodies)))
        newest = save.create(uow, endpoint, items.bodies, single=items.single)
    created = downgrade_representation(uow, endpoint, newest)
    counters = counters_of(endpoint)
    uncounted = [{n: v for n, v in item.items() if n not in counters} for item in created] if counters else created
    uncounted = conditional.tag_written(request, newest, uncounted, single=items.single)
    request.response.status_int = 201
    if items.single:
        request.response.headers["Location"] = created[0]["url"]
    return uncounted[0] if items.single else uncounted


def counters_of(endpoint: Endpoint) -> frozenset[str]:
    """The counter fields, which only the resource's own representations have."""
    return frozenset(
        name for name, field in endpoint.fields.items() if isinstance(field, Count) and field.nested == "absent"
    )


def change_list(request: Request) -> list[dict[str, Any]]:
    """PUT or PATCH of several objects: all or none, unless asked to go on; with ``match`` an upsert."""
    uow, endpoint = request.uow, request.context.endpoint
    if MATCH in uow.query:
        return bulk_writes.upsert(request)
    items = list_bodies.changed_items(request)
    optional = versions.absent(endpoint, uow.version)
    if ON_ERROR in uow.query and bulk_writes.continues(request):
        return bulk_writes.change_each(request, items, optional)
    partial, preconditions = request.method == "PATCH", conditional.of_items(request, items.bodies)
    with items.numbered_errors(), conditional.shows_current(request, single=False):
        items.raise_errors(range(len(items.bodies)))
        newest = save.update(
            uow,
            endpoint,
            items.bodies,
            partial=partial,
            optional=optional,
            listed=items.rows is not None,
            preconditions=preconditions,
        )
    changed = downgrade_representation(uow, endpoint, newest)
    return conditional.tag_written(request, newest, changed, single=False)


def delete_list(request: Request) -> list[dict[str, Any]] | Response:
    """DELETE of several objects: all or none, unless asked to go on."""
    bodies = list_bodies.items_of(body_of(request))
    if bulk_writes.continues(request):
        return bulk_writes.delete_each(request, bodies)
    preconditions = conditional.of_items(request, bodies)
    with conditional.shows_current(request, single=False):
        delete.delete(request.uow, request.context.endpoint, bodies, preconditions=preconditions)
    return no_content()


def get_item(request: Request) -> dict[str, Any]:
    """One object; with the parameter ``as_of`` as it was at a point in time."""
    uow, endpoint = request.uow, request.context.endpoint
    times = uow.query.pop(past_states.PARAMETER, None)
    shape, without = shape_of(uow, endpoint)
    if times is not None:
        return _past_item(request, single_value({past_states.PARAMETER: times}, past_states.PARAMETER), shape, without)
    key = key_of(request)
    # Read before the representation: what changes in between makes the tag too old, never too new.
    shows_revision = representations.has_revision(endpoint, shape, without)
    tagged = conditional.is_included(uow)
    reads_revision = not shows_revision and (tagged or entity_tags.has_time(endpoint))
    revision = entity_tags.revisions(uow, endpoint, [key]).get(key, "") if reads_revision else ""
    parameters = parameters_of(uow, endpoint, _item_parameters(endpoint)) if uow.query else ()
    newest = listing.detail(uow, endpoint, key, parameters, shape, without)
    if shows_revision:
        revision = entity_tags.revision_of(endpoint, newest)
    shown = downgrade_representation(uow, endpoint, [newest])[0] if shape == "full" else newest
    if sparse_fields.PARAMETER in uow.query:
        (shown,) = representations.sparse(uow, endpoint, [shown])
    if tagged:
        shown = representations.with_tag(shown, revision)
    conditional.tag_read(request, revision, shown.get(representations.TAG_MEMBER))
    return shown


def _past_item(request: Request, text: str, shape: str, without: frozenset[str]) -> dict[str, Any]:
    """One object as it was at a point in time."""
    uow, endpoint = request.uow, request.context.endpoint
    moment = past_states.moment_of(endpoint, text)
    if shape != "full":
        raise Invalid.field(past_states.PARAMETER, "The brief form is that of the present only.")
    state = past_states.state_at(
        uow, endpoint, key_of(request), moment, parameters_of(uow, endpoint, _item_parameters(endpoint)), without
    )
    return representations.sparse(uow, endpoint, downgrade_representation(uow, endpoint, [state]))[0]


def change_item(request: Request) -> dict[str, Any]:
    """PUT or PATCH of one object."""
    uow, endpoint, key = request.uow, request.context.endpoint, key_of(request)
    (body,) = upgrade_bodies(uow, endpoint, [body_of(request, endpoint)], new=False)
    if not isinstance(body, dict):
        raise Invalid.whole(NO_DATA) if body is None else Invalid(not_an_object(body))
    partial, optional = request.method == "PATCH", versions.absent(endpoint, uow.version)
    preconditions = conditional.of_object(request, body)
    with conditional.shows_current(request, single=True):
        newest = save.update(
            uow,
            endpoint,
            [{**body, "id": key}],
            partial=partial,
            optional=optional,
            single=True,
            preconditions=preconditions,
        )
    changed = downgrade_representation(uow, endpoint, newest)
    return conditional.tag_written(request, newest, changed, single=True)[0]


def delete_item(request: Request) -> Response:
    """DELETE of one object. A body is ignored, or refused where bodies are strict."""
    if strict_bodies.is_strict(request.uow.registry) and request.body:
        raise Invalid.whole("DELETE of one object takes no body.")
    bodies, preconditions = [{"id": key_of(request)}], conditional.of_object(request)
    with conditional.shows_current(request, single=True):
        delete.delete(request.uow, request.context.endpoint, bodies, single=True, preconditions=preconditions)
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
    """The description of a resource: fields, permitted methods, names to order the list by and to match objects by."""
    return options.collection(request.uow, request.context.endpoint)


def options_item(request: Request) -> dict[str, Any]:
    """The description of an object: its fields, and whether it may be replaced."""
    return options.resource(request.uow, request.context.endpoint, ("PUT",))


def not_allowed(request: Request) -> Response:
    """The view of a method that a path does not have.

    :raises NotAllowed: always
    """
    raise NotAllowed(request.method, negotiation_of(request).allow)
