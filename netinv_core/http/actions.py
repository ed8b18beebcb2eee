"""Actions: routes below a resource's objects or its list, added by the directive ``config.add_netinv_action``.

Example, in a module that an application names in ``includes``::

    def includeme(config):
        config.add_netinv_action("dcim/racks", "elevation", get=elevation, permission="view")
"""

from __future__ import annotations

import dataclasses
import functools
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from pyramid.exceptions import ConfigurationError
from pyramid.request import Request

from netinv_core.errors import RequestError
from netinv_core.http import conditional, options, standard_parameters, views
from netinv_core.http.methods import METHODS, UNSAFE_METHODS, allow_header
from netinv_core.http.security_policy import API_ACCESS, OF_METHOD
from netinv_core.http.serialization import body_of
from netinv_core.http.traversal import root_of
from netinv_core.write import strict_bodies

if TYPE_CHECKING:
    from netinv_core.app import App
    from netinv_core.endpoint import Endpoint
    from netinv_core.registry import Registry

View = Callable[[Request], Any]
ViewT = TypeVar("ViewT")
OWN_RESOURCE = "*"  # in place of a label: the resource that the action is of
_LITERAL = re.compile(r"[\w-]+")  # the name of one resource
_SCHEMA_ATTRIBUTE = "operation_schema"


@dataclasses.dataclass(frozen=True)
class BodyOf:
    """A body like that of a new object of a resource, as a schema called ``name``: without the members that the action
    sets, and with ``members`` of its own, each with its OpenAPI schema. All but the ``optional`` ones are required.
    """

    name: str
    label: str
    without: Collection[str]
    members: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    optional: Collection[str] = ()


SchemaRef = str | Mapping[str, Any] | BodyOf | None


@dataclasses.dataclass(frozen=True)
class OperationSchema:
    """The bodies of a view's requests and answers, for the OpenAPI document; see :func:`documented`."""

    response: SchemaRef = None
    form: str = "one"
    request_body: SchemaRef = None
    status: int | None = None
    query: Sequence[Mapping[str, Any]] = ()
    media_types: Sequence[str] = ()
    errors: Sequence[type[RequestError]] = ()
    no_content: str = ""
    filtered: bool = False
    ignores_unknown: bool = False


UNDOCUMENTED = OperationSchema(request_body={})


def documented(
    response: SchemaRef = None,
    *,
    form: str = "one",
    request_body: SchemaRef = None,
    status: int | None = None,
    query: Sequence[Mapping[str, Any]] = (),
    media_types: Sequence[str] = (),
    errors: Sequence[type[RequestError]] = (),
    no_content: str = "",
    filtered: bool = False,
    ignores_unknown: bool = False,
) -> Callable[[ViewT], ViewT]:
    """Decorator that gives a view its :class:`OperationSchema`. A schema is the label of a resource, an OpenAPI
    schema, or for ``request_body`` a :class:`BodyOf`.

    ``response`` is the schema of the answer, :data:`OWN_RESOURCE` for an object as lists show it; ``form`` is ``one``
    object of it, a ``list``, a ``page``, the page of a ``query``, or ``some``: one, or a list of them. ``request_body``
    is the schema of the body; where the form is ``some``, that of each object in it. ``status`` is the status of
    success (default: 201 for POST, 204 for DELETE, else 200).
    ``query`` are the query parameters (:func:`netinv_core.http.query_parameters.query`). ``media_types`` names media
    types of the answer beside JSON. ``errors`` are answers beside those of every read or write. ``no_content``
    describes a further answer 204. A ``filtered`` view takes the filters of a list, and refuses others itself.
    Members of a body that the schema does not have are refused, but for ``ignores_unknown``: there, clients of
    version 1 may send others, which are ignored unless bodies are strict.
    """
    schema = OperationSchema(
        response=response,
        form=form,
        request_body=request_body,
        status=status,
        query=query,
        media_types=media_types,
        errors=errors,
        no_content=no_content,
        filtered=filtered,
        ignores_unknown=ignores_unknown,
    )

    def mark(view: ViewT) -> ViewT:
        setattr(view, _SCHEMA_ATTRIBUTE, schema)
        return view

    return mark


def schema_of(view: Any) -> OperationSchema:
    """The schema that :func:`documented` gave a view."""
    schema: OperationSchema = getattr(view, _SCHEMA_ATTRIBUTE, UNDOCUMENTED)
    return schema


@dataclasses.dataclass(frozen=True)
class ActionRoute:
    """A route below the objects, or below the list, of the resources of an application whose name matches ``pattern``.

    ``views`` holds a view for each method, in lower case, and ``permissions`` the permission on the resource that it
    needs; the views write nothing if it is ``read_only``. ``offered`` tells the OpenAPI document which of the matching
    resources have it.
    """

    app: App
    pattern: str
    name: str
    views: Mapping[str, View]
    permissions: Mapping[str, str]
    offered: Callable[[Endpoint], bool]
    on_list: bool = False
    read_only: bool = False

    @property
    def path(self) -> str:
        """The path of the route, with a pattern for the name of the resource."""
        return f"{self.app.path}{{model:{self.pattern}}}/{self.below}"

    @property
    def below(self) -> str:
        """The path below the list of a resource: ``available-ips`` → ``{id}/available-ips/``."""
        return f"{self.name}/" if self.on_list else f"{{id}}/{self.name}/"

    def matching_resources(self, registry: Registry) -> list[Endpoint]:
        """The resources whose name matches."""
        endpoints = [registry.by_path[self.app.name, resource.name] for resource in self.app.resources]
        return [endpoint for endpoint in endpoints if re.fullmatch(self.pattern, endpoint.resource.name)]

    def endpoints(self, registry: Registry) -> list[Endpoint]:
        """The resources that have it."""
        return [endpoint for endpoint in self.matching_resources(registry) if self.offered(endpoint)]


def add_netinv_action(
    config: Any,
    resource: str,
    name: str,
    *,
    permission: str | Mapping[str, str],
    on_list: bool = False,
    offered: Callable[[Endpoint], bool] = lambda endpoint: True,
    offers: Sequence[str] | Callable[[Request], Sequence[str]] = (),
    read_only: bool = False,
    runs_aside: bool = False,
    **method_views: View,
) -> None:
    """Adds the route ``…/<resource>/{id}/<name>/``, or ``…/<resource>/<name>/`` with ``on_list``.

    Two actions with one path are a conflict of the configuration: an action has all methods of its path. Those without
    a view are answered 405, OPTIONS with a description.

    :param resource: ``application/resource``, such as ``"ipam/prefixes"``; a regular expression after the slash
    :param name: the rest of the path; ``{words}`` in it go to ``request.matchdict``
    :param permission: the permission on the resource that the views need: one for all of them, or one for each method
    :param offered: selects, for the OpenAPI document, those of the matching resources that have the action
    :param offers: media types of the answer beside JSON and HTML, or a function of the request that gives them
    :param read_only: the views write nothing, whatever their method
    :param runs_aside: the views start a run, which a change request takes (:mod:`netinv_core.aside`)
    :param method_views: a view for each method in lower case: ``get=…``
    :raises ConfigurationError: for a method without a permission, or a resource that is not there
    """
    registry: Registry = config.registry.netinv
    permissions = dict.fromkeys(method_views, permission) if isinstance(permission, str) else permission
    app, pattern = _app_of(registry, resource, name), resource.partition("/")[2]
    action = ActionRoute(app, pattern, name, method_views, permissions, offered, on_list, read_only)
    if missing := method_views.keys() - permissions.keys():
        raise ConfigurationError(f"The action {action.path} has no permission for {', '.join(sorted(missing))}.")
    registry.permitted_actions.update(permissions.values())
    _reserve_paths(config, action)
    common = {"route_name": action.path, "read_only": read_only, "runs_aside": runs_aside, "renderer": "orjson"}
    common["allow"] = allow_header([method.upper() for method in method_views])
    traverse = "/{model}" if on_list else "/{model}/{id}"
    config.add_route(action.path, action.path, factory=root_of(action.app), traverse=traverse)
    for lowered, view in method_views.items():
        method = lowered.upper()
        view = taking_documented_members(_taking_standard_parameters(view), schema_of(view))
        if method in UNSAFE_METHODS and not (on_list or read_only):
            view = conditional.with_precondition(view)
        config.add_view(view, request_method=method, permission=permissions[lowered], offers=offers, **common)
    if without_view := tuple(method for method in METHODS if method.lower() not in method_views):
        config.add_view(views.not_allowed, request_method=without_view, permission=OF_METHOD, offers=offers, **common)
    config.add_view(describe_action, request_method="OPTIONS", permission=API_ACCESS, **common)
    config.registry.netinv_actions.append(action)


def _app_of(registry: Registry, resource: str, action: str) -> App:
    """The application of an action of a resource, which may be of a disabled feature.

    :raises ConfigurationError: for an application, or a resource given by its name, that is not there
    """
    app_name, _, pattern = resource.partition("/")
    if app_name not in registry.apps:
        raise ConfigurationError(f"The action {action} is one of {resource}, but there is no application {app_name}.")
    unserved = {(endpoint.app.name, endpoint.resource.name) for endpoint in registry.unserved.values()}
    if _LITERAL.fullmatch(pattern) and (app_name, pattern) not in registry.by_path.keys() | unserved:
        raise ConfigurationError(f"The action {action} is one of {resource}, but {app_name} has no resource {pattern}.")
    return registry.apps[app_name]


def _taking_standard_parameters(view: View) -> View:
    """The view, which takes those of the standard parameters that it documents. A query has them in its body."""
    schema = schema_of(view)
    if schema.form == "query":
        return view
    paging = {standard_parameters.LIMIT, standard_parameters.OFFSET} if schema.form == "page" else set()
    return standard_parameters.with_parameters(view, schema.query, paging, filtered=schema.filtered)


def taking_documented_members(view: View, schema: OperationSchema) -> View:
    """The view; its writes take the members that it documents and no others (see :func:`documented`).

    Without a documented body they take none, unless they make objects of a resource (``some``), which says what it has.
    """
    body: SchemaRef = {"properties": {}} if schema.request_body is None else schema.request_body
    if not isinstance(body, Mapping) or "properties" not in body or schema.form == "some":
        return view
    taken = body

    @functools.wraps(view)
    def wrapper(request: Request) -> Any:
        registry: Registry = request.registry.netinv
        if request.method in UNSAFE_METHODS and (not schema.ignores_unknown or strict_bodies.is_strict(registry)):
            strict_bodies.check(body_of(request), taken)
        return view(request)

    return wrapper


def _reserve_paths(config: Any, action: ActionRoute) -> None:
    """Claims the path of an action below each resource; Pyramid reports two claims of one path as a conflict."""
    for endpoint in action.matching_resources(config.registry.netinv):
        config.action(("netinv action", f"{endpoint.path}{action.below}"))


def describe_action(request: Request) -> dict[str, Any]:
    """The answer to OPTIONS of an action."""
    return options.resource(request.uow, request.context.endpoint, ())


def actions_of(configured: Any) -> list[ActionRoute]:
    """Every action that packages added to a Pyramid registry, by path."""
    actions: list[ActionRoute] = configured.netinv_actions
    return sorted(actions, key=lambda action: action.path)


def includeme(config: Any) -> None:
    """Adds the directive."""
    config.registry.netinv_actions = []
    config.add_directive("add_netinv_action", add_netinv_action)
