"""Extensions of pages, which packages return from the hooks of :mod:`netinv_web.hookspecs`.

Hooks without a request are called once, when the service starts; a package with a wrong result is quarantined
(:mod:`netinv_core.packages`). A function that fails for a request is logged under an id, which its place shows.
"""

from __future__ import annotations

import copy
import dataclasses
import functools
import itertools
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from markupsafe import Markup
from pyramid.renderers import render
from pyramid.request import Request

from netinv_core import declared_types
from netinv_core.errors import Denied, Invalid
from netinv_core.hook_results import check_functions
from netinv_core.http.time_limits import TakesTooLong, in_time
from netinv_core.package_faults import package_at_fault
from netinv_core.packages import errors_of, exceptions_only
from netinv_core.registry_cache import cached_in_registry
from netinv_web.failures import log_failure
from netinv_web.file_imports import FileImport
from netinv_web.lists.columns import ListColumn
from netinv_web.lists.facet_counts import ListFacet
from netinv_web.menu import may

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.registry import Registry
    from netinv_core.uow import UnitOfWork
    from netinv_web.lists.list_query import ListQuery

Content = Callable[..., Any]
WARNING = "netinv_web:templates/warning.jinja2"  # template of a panel that warns of something by a ``text``


@dataclasses.dataclass(frozen=True)
class Panel:
    """A panel on the page of an object: ``content(request, endpoint, object)`` returns markup, or ``None`` for no
    panel.

    The object is its representation. ``side`` is ``main`` or ``aside``, ``lead`` above the fields, or ``head`` for
    links and buttons beside those of the object, without a heading. ``lazy`` panels are loaded after the page, all in
    one request. ``template`` is an asset specification; ``content`` then returns the values of the template.
    """

    name: str
    title: str
    content: Content
    side: str = "aside"
    lazy: bool = False
    template: str = ""
    position: int = 500


@dataclasses.dataclass(frozen=True)
class Tab:
    """A tab at ``…/<id>/<name>/``: ``content(request, endpoint, object)`` returns markup, or the values of
    ``template``.

    ``permission`` is a further permission, as a pair of a label and an action. ``count(request, object)`` is the number
    beside the title. ``applies(request, object)`` selects the objects that have the tab.
    """

    name: str
    title: str
    content: Content
    template: str = ""
    permission: tuple[str, str] | None = None
    count: Callable[[Request, Mapping[str, Any]], int | None] | None = None
    applies: Callable[[Request, Mapping[str, Any]], bool] = lambda request, item: True
    position: int = 500


@dataclasses.dataclass(frozen=True)
class ListTab:
    """A tab with the list of the resource ``label``, limited by the conditions that ``within(request, object)``
    returns. The label may depend on the object: a function of it.

    ``preset(object)`` returns the fields that the form for a new object begins with, ``None`` for a list to which
    nothing is added. ``filters(object)`` are those with which the list of the API has the same objects, for the link to
    it and *as code*. Where no filters do, ``api_path(object)`` may name the path in the API that has them. A list that
    takes long to count is not ``counted`` with every page of the object: scripts ask ``api_path`` for the number then.

    The page of the object begins with the ``first`` rows of a tab that names columns for them: what people open it for.
    """

    name: str
    title: str
    label: str | Callable[[Mapping[str, Any]], str]
    within: Callable[[Request, Mapping[str, Any]], Sequence[Any]]
    preset: Callable[[Mapping[str, Any]], Mapping[str, Any] | None] = lambda item: {}
    position: int = 500
    filters: Callable[[Mapping[str, Any]], Mapping[str, str]] = lambda item: {}
    api_path: Callable[[Mapping[str, Any]], str] = lambda item: ""
    counted: bool = True
    first: Sequence[str] = ()

    def label_for(self, item: Mapping[str, Any]) -> str:
        """The label of the resource that is listed on the page of an object."""
        return self.label if isinstance(self.label, str) else self.label(item)


def referring_tab(name: str, title: str, label: str, reference: Any, position: int, **options: Any) -> ListTab:
    """The tab with the objects whose ``reference``, a column such as ``vrf_id``, is the object of the page. New ones
    begin with it, unless ``options``, further arguments of :class:`ListTab`, have another preset.
    """
    member = str(reference.name).removesuffix("_id")
    return ListTab(
        name,
        title,
        label,
        lambda request, item: [reference == item["id"]],
        position=position,
        filters=lambda item: {reference.name: str(item["id"])},
        **{"preset": lambda item: {member: item["id"]}, **options},
    )


@dataclasses.dataclass(frozen=True)
class Action:
    """A link or button. ``scope`` is ``object``, ``selection``, ``list``, or ``query`` for an entry in the menu *Views*
    of a list. A page may have a scope of its own, such as ``gap`` on prefixes (:mod:`netinv_ipam.web.gap`).

    ``path(endpoint, object)`` is where it leads; with ``method`` POST it is a button. For ``list`` and ``query`` the
    object is the query of the list (:class:`netinv_web.lists.list_query.ListQuery`), ``None`` for a ``selection``.
    One on a selection is a button in any case, whose page reads the selected rows by
    :func:`netinv_web.bulk.selection.selected`.
    ``permission`` is the action that the user needs on the resource, ``further_permission`` one on another resource, as
    a pair of a label and an action. ``applies(object)`` selects the objects that have it. A ``prominent`` one is a
    button of its own on the page of an object.
    """

    name: str
    title: str
    path: Callable[..., str]
    scope: str = "object"
    method: str = "GET"
    permission: str = "view"
    further_permission: tuple[str, str] | None = None
    icon: str = ""
    applies: Callable[[Any], bool] = lambda item: True
    prominent: bool = False


@dataclasses.dataclass(frozen=True)
class Spread:
    """Places of several objects that one form creates by a pattern, such as front ports on the positions of rear ports.

    ``spread(uow, bodies)`` returns the bodies with values of the ``fields`` for each object; it may raise ``Invalid``
    for the form. ``shown(uow, bodies)`` returns the texts of these fields for the preview, for each object.
    """

    name: str
    fields: Sequence[str]
    spread: Callable[..., list[dict[str, Any]]]
    shown: Callable[..., Sequence[Sequence[str]]]
    position: int = 500


@dataclasses.dataclass(frozen=True)
class FormPart:
    """A part below the form of an object, new or stored: ``content(request, endpoint, form)`` returns markup, or the
    values of ``template``; ``None``: not shown.

    The part is within the form (:class:`netinv_web.forms.form.Form`), which holds what was entered. A button of it with
    the name ``_show_again`` and ``data-refreshes="part-<name>"`` asks for the part anew; nothing is written.
    """

    name: str
    title: str
    content: Content
    template: str = ""
    position: int = 500


@dataclasses.dataclass(frozen=True)
class Widget:
    """A widget of the home page: ``content(request)`` returns markup, or the values of ``template``; ``None``: not
    shown. ``lazy`` widgets are loaded after the page, all in one request; ``applies(request)`` tells whether it has the
    widget.
    """

    name: str
    title: str
    content: Content
    template: str = ""
    wide: bool = False
    position: int = 500
    lazy: bool = False
    applies: Callable[[Any], bool] = lambda request: True


@dataclasses.dataclass(frozen=True)
class Snippet:
    """A form of *as code*: ``code(request, endpoint, parameters, key)`` returns the text.

    ``parameters`` are the query's filters as pairs; ``key`` is the id of the object, ``None`` on a list.
    """

    name: str
    title: str
    code: Callable[..., str]
    language: str = "text"
    position: int = 500


@dataclasses.dataclass(frozen=True)
class Banner:
    """A sentence on every page; ``kind``: ``info``, ``warning`` or ``danger``; links and buttons: title and path."""

    text: str
    kind: str = "info"
    links: Sequence[tuple[str, str]] = ()
    buttons: Sequence[tuple[str, str]] = ()


@dataclasses.dataclass(frozen=True)
class SaveButton:
    """A button beside *Save*, for a view deriver; ``instead`` says why there is no *Save*, ``hint`` what it refuses."""

    title: str
    name: str = ""
    value: str = ""
    help: str = ""
    failure: str = ""
    instead: str = ""
    hint: str = ""


@dataclasses.dataclass(frozen=True)
class Attention:
    """A sentence about what needs somebody's attention, on the home page, and a link to where it is dealt with."""

    text: str
    path: str = ""
    link_text: str = "Show"


@dataclasses.dataclass(frozen=True)
class CountedAttention(Attention):
    """An entry about the objects of the resource ``label`` that meet ``condition``, an SQL expression on its table. It
    is shown if the user may view any of them.

    ``text`` has ``{:,}`` in the place of their number; ``one`` is the sentence for a single one. The objects of all
    entries are counted in one statement.
    """

    one: str = ""
    label: str = ""
    condition: Any = None


@dataclasses.dataclass(frozen=True)
class FirstStep:
    """A way to begin, on the home page of an empty inventory; with ``method`` POST it is a button."""

    title: str
    path: str
    description: str = ""
    method: str = "GET"


@dataclasses.dataclass(frozen=True)
class Export:
    """A file in the export menu of a list: ``parameters`` are added to the filters at the list's path in the API."""

    title: str
    parameters: Mapping[str, str] = dataclasses.field(default_factory=dict)


@dataclasses.dataclass(frozen=True)
class Rendered:
    """A rendered extension. ``failure`` is a sentence about the exception that it raised, with the id in the log."""

    name: str
    title: str
    markup: Markup | str = ""
    failure: str = ""


@dataclasses.dataclass(frozen=True)
class ActionLink:
    """An action of a page. ``failure`` is the id in the log of the exception that it raised instead of its path."""

    name: str
    title: str
    path: str = ""
    method: str = "GET"
    icon: str = ""
    failure: str = ""
    prominent: bool = False


# Types of the items that hooks return: of those that are called for each resource, and once for the service.
RESOURCE_HOOKS: Mapping[str, tuple[type, ...]] = {
    "netinv_web_panels": (Panel,),
    "netinv_web_tabs": (Tab, ListTab),
    "netinv_web_actions": (Action,),
    "netinv_web_spreads": (Spread,),
    "netinv_web_form_parts": (FormPart,),
    "netinv_web_file_imports": (FileImport,),
    "netinv_web_columns": (ListColumn,),
    "netinv_web_facets": (ListFacet,),
}
SERVICE_HOOKS: Mapping[str, tuple[type, ...]] = {
    "netinv_web_widgets": (Widget,),
    "netinv_web_snippets": (Snippet,),
}


def extensions_of(hook: Any, endpoint: Endpoint | None = None, *, registry: Registry) -> list[Any]:
    """The extensions that all packages return from a hook, in order of their position.

    :raises PackageError: when a package fails, or returns anything else
    """
    return list(_collect(registry, hook.name, endpoint))


@cached_in_registry
def _collect(registry: Registry, hook: str, endpoint: Endpoint | None) -> tuple[Any, ...]:
    arguments = {"registry": registry} if endpoint is None else {"registry": registry, "endpoint": endpoint}
    item_types = RESOURCE_HOOKS.get(hook) or SERVICE_HOOKS[hook]
    items: list[Any] = []
    for package, result in registry.call_each(hook, **arguments):
        with errors_of(package):
            items += (found := [_of_start(hook, item, *item_types) for item in result])
            _givers(registry).update({id(item): package for item in found})
    return tuple(sorted(items, key=lambda item: getattr(item, "position", 500)))


@cached_in_registry
def _givers(registry: Registry) -> dict[Any, str]:
    """The packages of the extensions that are collected, and live as long as the registry, by their identity."""
    return {}


def _check_item(hook: str, item: Any, *item_types: type) -> Any:
    if not isinstance(item, item_types):
        names = " or ".join(item_type.__name__ for item_type in item_types)
        raise TypeError(f"{hook} returns {type(item).__name__} instead of {names}")
    given: Any = item
    for field in dataclasses.fields(given):
        annotation = str(field.type)
        is_valid = isinstance(getattr(given, field.name), declared_types.SCALARS.get(annotation, object))
        if not is_valid or annotation in declared_types.LISTS:
            for mistake in declared_types.mistakes(item):
                raise TypeError(f"{hook} returns {mistake}")
    return item


# Settings of time limits: of a part beside others, and of one that is a page.
PART, TAB = "panel_timeout", "tab_timeout"


def _of_start(hook: str, item: Any, *item_types: type) -> Any:
    """An item that is asked for once, whose functions are checked, too."""
    check_functions(_check_item(hook, item, *item_types))
    return item


def check_hooks(registry: Registry) -> None:
    """Calls the hooks for every resource.

    :raises PackageError: when a package fails, or returns anything else than extensions
    """
    for hook in SERVICE_HOOKS:
        _collect(registry, hook, None)
    for endpoint in registry.endpoints.values():
        for hook in RESOURCE_HOOKS:
            _collect(registry, hook, endpoint)


def items_for(
    request: Request, hook: str, item_type: type, failed: Callable[[str], Any], **arguments: Any
) -> list[Any]:
    """The items that packages return from a hook with a request. ``failed`` makes the item of a package that fails,
    from a sentence with the id in the log.
    """
    return [item for _, item in owned_items_for(request, hook, item_type, failed, **arguments)]


def owned_items_for(
    request: Request, hook: str, item_type: type, failed: Callable[[str], Any], **arguments: Any
) -> list[tuple[str, Any]]:
    """:func:`items_for` with the packages of the items."""
    items: list[tuple[str, Any]] = []
    for package, caller in request.registry.netinv.callers(hook):
        try:
            results = _answers_of(request, package, caller, arguments, flat=True)
            items += [(package, _check_item(hook, item, item_type)) for item in results]
        except Exception as error:
            failure = log_failure(request.registry.netinv, "%s failed on %s", hook, request.path, package=package)
            items.append((package, failed(_left_out(f"A part of the package {package}", error, failure))))
    return items


def _answers_of(
    request: Request, package: str, caller: Any, arguments: Mapping[str, Any], *, flat: bool = False
) -> list[Any]:
    """Answers of a package to a hook with a request; with ``flat`` the items of the lists that it answers."""

    def answers(own: Request) -> list[Any]:
        results = caller(request=own, **arguments)
        return list(itertools.chain.from_iterable(results)) if flat else list(results)

    found: list[Any] = call_of_package(request, package, (caller.name, package), answers)
    return found


def call_of_package(
    request: Request, package: str | None, key: Hashable, function: Callable[[Request], Any], setting: str = PART
) -> Any:
    """The result of a function of a package, which gets the request; that of a plugin has a time limit.

    :raises TakesTooLong: when the time is over
    """
    registry: Registry = request.registry.netinv
    if package is None or not registry.is_plugin(package):
        return function(request)
    with exceptions_only():
        return in_time(request, key, function, registry.settings[setting])


def copy_for_plugin(request: Request, extension: Any, item: Any) -> Any:
    """The representation of an object for a function of an extension: a copy for a plugin, which may change it."""
    registry: Registry = request.registry.netinv
    package = _givers(registry).get(id(extension))
    is_copied = isinstance(item, dict) and package is not None and registry.is_plugin(package)
    return copy.deepcopy(item) if is_copied else item


def call_of_extension(request: Request, extension: Any, what: str, function: Callable[[Request], Any]) -> Any:
    """The result of a function of an extension, such as its ``count``; that of a plugin has a time limit.

    :raises TakesTooLong: when the time is over
    """
    package = _givers(request.registry.netinv).get(id(extension))
    return call_of_package(request, package, (id(extension), what), function)


def _left_out(part: str, error: BaseException, failure: str) -> str:
    """The sentence in place of a part that failed, or took too long."""
    if isinstance(error, TakesTooLong):
        return f"{part} is left out, as {error}. The log has it under {failure}."
    return f"{part} failed. The log has the reason under {failure}."


def render_safely(request: Request, extension: Panel | Tab | FormPart | Widget, *arguments: Any) -> Rendered | None:
    """Renders an extension; ``None`` when it has nothing to show, or nothing that the user may view. Its failure is
    logged, and shown in its place.

    :raises Invalid: for a value of a parameter that the extension reads
    """
    registry: Registry = request.registry.netinv
    package, kind = _givers(registry).get(id(extension)), type(extension).__name__
    arguments = tuple(copy_for_plugin(request, extension, item) for item in arguments)
    key, setting = (id(extension), "content"), TAB if isinstance(extension, Tab) else PART
    try:
        markup = call_of_package(request, package, key, lambda own: _markup_of(own, extension, arguments), setting)
        return None if markup is None else Rendered(extension.name, extension.title, markup)
    except Denied:
        return None
    except Invalid:  # a parameter of the page
        raise
    except Exception as error:
        package = package_at_fault(registry, error, package) or package
        failure = log_failure(registry, "%s %r failed on %s", kind, extension.name, request.path, package=package)
        is_of_plugin = package is not None and registry.is_plugin(package)
        part = f"A part of the package {package}" if is_of_plugin else "This part"
        told = _left_out(part, error, failure)
    return Rendered(extension.name, extension.title, failure=told)


def _markup_of(request: Request, extension: Any, arguments: Sequence[Any]) -> Markup | None:
    """Renders an extension; ``None`` where it shows nothing."""
    content = extension.content(request, *arguments)
    if content is not None and extension.template:
        content = Markup(render(extension.template, content, request))
    return None if content is None else Markup("{}").format(content)


def first_answer(request: Request, hook: str, **arguments: Any) -> Any:
    """The first answer of packages to a hook with a request; ``None`` without one. What fails is logged."""
    for package, caller in request.registry.netinv.callers(hook):
        try:
            if found := _answers_of(request, package, caller, arguments):
                return found[0]
        except Exception:
            log_failure(request.registry.netinv, "%s failed on %s", hook, request.path, package=package)
    return None


def may_further(uow: UnitOfWork, permission: tuple[str, str] | None) -> bool:
    """True when the user has the further permission of an extension, a pair of a label and an action."""
    if permission is None:
        return True
    endpoint = uow.registry.get(permission[0])
    return endpoint is not None and may(uow, endpoint, permission[1])


def _path_of(action: Action, endpoint: Endpoint, item: Any, request: Request) -> str | None:
    """The path of an action on an object, a query or a selection; ``None`` where it does not apply."""
    return action.path(endpoint, item) if item is None or action.applies(item) else None


def actions_of(
    request: Request, endpoint: Endpoint, scope: str, item: Mapping[str, Any] | ListQuery | None = None
) -> list[ActionLink]:
    """The actions of packages that the user may take on an object or a query (``item``), a selection or a list."""
    links: list[ActionLink] = []
    registry = endpoint.registry
    for action in extensions_of(registry.hooks.netinv_web_actions, endpoint, registry=registry):
        permitted = may(request.uow, endpoint, action.permission) and may_further(
            request.uow, action.further_permission
        )
        if action.scope != scope or not permitted:
            continue
        try:
            shown = copy_for_plugin(request, action, item) if isinstance(item, dict) else item
            path_of = functools.partial(_path_of, action, endpoint, shown)
            path = call_of_extension(request, action, "path", path_of)
            if path is not None:
                links.append(
                    ActionLink(action.name, action.title, path, action.method, action.icon, "", action.prominent)
                )
        except Exception:
            failure = log_failure(registry, "Action %r failed on %s", action.name, request.path)
            links.append(ActionLink(action.name, action.title, failure=failure))
    return links
