"""Checks of the names in presentations and menus of plugins, when the service starts: a page would leave them out, or
fail.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING, Any

from netinv_core import declared_types, fields, plugin_checks
from netinv_core.declaration_checks import DeclarationError
from netinv_core.hook_results import OF_PAGES
from netinv_core.http.errors import exists
from netinv_core.models.base import CUSTOM_FIELD_PREFIX
from netinv_core.nearest import hint
from netinv_core.plugin_checks import check_names, lacks_packages, named
from netinv_core.presentation import MenuEntry, Presentation
from netinv_core.sql.plan import ReadPlan
from netinv_web import menu
from netinv_web.lists.columns import extra_columns
from netinv_web.objects import panels
from netinv_web.objects.tab_links import child_tabs, own_tabs

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.registry import Registry

PRESENTATION = "netinv_web_presentation"  # which imports in the background ask for
REFERENCES = (fields.Reference, fields.ToMany)
Names = tuple[str, Collection[str], Collection[str], str]


def check_hooks(registry: Registry) -> None:
    """Checks the hooks of the modules of pages (:attr:`netinv_core.app.Feature.web`) of plugins.

    :raises PackageError: for a hook that no package specifies, and for one that is asked for without pages, too
    """
    plugin_checks.check_hooks(registry)
    for package, modules in registry.pages.items():
        own = [module for module in modules if registry.manager.get_name(module) != package]  # others than a lone file
        hooks = {caller.name: module for module in own for caller in registry.manager.get_hookcallers(module) or ()}
        for name in hooks if registry.is_plugin(package) else ():
            if not name.startswith(OF_PAGES) or name == PRESENTATION:
                with registry.failures.of(package):
                    raise DeclarationError(
                        f"the module of pages {hooks[name].__name__} has the hook {name}, which workers ask for, too; "
                        "it belongs into the module with netinv_app"
                    )
    registry.failures.check()


def check(registry: Registry) -> None:
    """Checks what plugins state about their resources, and those of other packages.

    Names that nothing has are left alone while a package or a feature is left out: they may be its.

    :raises PackageError: for a name that nothing has
    """
    if registry.disabled or lacks_packages(registry):
        return
    for endpoint in registry.endpoints.values():
        if registry.is_plugin(endpoint.package) and endpoint.resource.of is None:
            with registry.failures.of(endpoint.package):
                _check(endpoint, endpoint.resource.presentation)
        for package, other in registry.call_each(PRESENTATION, registry=registry, endpoint=endpoint):
            if registry.is_plugin(package) and other is not None:
                with registry.failures.of(package):
                    _check(endpoint, other)
    for section, app in menu.declared_sections(registry):
        package = registry.packages.get(app, app)
        if registry.is_plugin(package):
            with registry.failures.of(package):
                names = [entry for entry in section.entries if isinstance(entry, str)]
                known = [path[1] for path in registry.by_path if path[0] == app]
                check_names(
                    f"the section {section.title!r} of the menu", names, known, "no resource of the application"
                )
                for entry in section.entries:
                    if isinstance(entry, MenuEntry) and entry.label and entry.label not in registry.endpoints:
                        message = f"the entry {entry.title!r} of the menu names {entry.label!r}, which is no model"
                        raise DeclarationError(message + hint(entry.label, registry.endpoints))
    registry.failures.check()


def check_paths(event: Any) -> None:
    """Finds entries of the menus of plugins that lead to no page, once the application has all routes.

    :raises PackageError: for a path that no route has
    """
    configured = event.app.registry
    registry: Registry = configured.netinv
    if registry.disabled or lacks_packages(registry):
        return
    for section, app in menu.declared_sections(registry):
        package = registry.packages.get(app, app)
        paths = [(entry.title, entry.path) for entry in section.entries if isinstance(entry, MenuEntry)]
        for title, path in paths if registry.is_plugin(package) else ():
            if "://" not in path and not exists(configured, path.partition("#")[0]):
                with registry.failures.of(package):
                    raise DeclarationError(f"the entry {title!r} of the menu leads to {path!r}, which no route has")
    registry.failures.check()


def _check(endpoint: Endpoint, stated: Presentation) -> None:
    for mistake in declared_types.mistakes(stated):
        raise DeclarationError(f"{endpoint.label} has a {mistake}")
    for member, names, known, is_none in _names(endpoint, stated):
        check_names(f"{member} of the presentation of {endpoint.label}", names, known, is_none)
    if stated.found_with:
        found = fields.Computed(name="found_with", function=str, paths=(stated.found_with,))
        with named(f"found_with of the presentation of {endpoint.label}"):
            ReadPlan(endpoint.registry, endpoint).finish([found])


def _names(endpoint: Endpoint, stated: Presentation) -> Iterator[Names]:
    """The members of a presentation: the names in each, the names that there are, and what another name is not."""
    members, table = endpoint.fields, endpoint.table
    columns = {*members, *extra_columns(endpoint)}
    referring = [incoming.attribute.removesuffix("_id") for incoming in endpoint.incoming_foreign_keys]
    targets = {name: field.target for name, field in members.items() if isinstance(field, REFERENCES)}
    below = [name for name, target in targets.items() if target is endpoint and f"{name}_id" in table.c]
    queries = [name for _, query in stated.queues for name in query if not name.startswith(CUSTOM_FIELD_PREFIX)]
    tabs = [*(name for name, _ in child_tabs(endpoint)), *(tab.name for tab in own_tabs(endpoint))]
    yield "columns", stated.columns, columns, "neither a field nor a column of a package"
    yield "fieldsets", [name for _, group in stated.fieldsets for name in group], members, "no field"
    yield "facets", stated.facets, members, "no field"
    yield "summary", stated.summary, members, "no field"
    yield "hidden", stated.hidden, members, "no field"
    yield "flags", stated.flags, members, "no field"
    yield "unrelated", stated.unrelated, referring, "no reference of another model"
    yield "quick_fields", stated.quick_fields, endpoint.writable, "no field that can be written"
    yield "nested_below", stated.nested_below, below, "no reference to objects of the same resource"
    yield "leading", stated.leading, [panel.name for panel in panels.of_endpoint(endpoint)], "no panel"
    yield "tabs", stated.tabs, tabs, "no tab"
    yield "queues", queries, endpoint.filters, "no filter"
    yield "depends_on", stated.depends_on, targets, "no reference"
    yield "depends_on", [name for narrowed in stated.depends_on.values() for name in narrowed], members, "no field"
    yield "limits", stated.limits, targets, "no reference"
    narrowing = {name: list(narrowed.values()) for name, narrowed in stated.depends_on.items()}
    for member, stated_filters in (("depends_on", narrowing), ("limits", stated.limits)):
        for name, parameters in stated_filters.items():
            if (target := targets.get(name)) is not None:
                yield f"{member}[{name!r}]", parameters, target.filters, f"no filter of {target.label}"
