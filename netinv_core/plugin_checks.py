"""Checks of what plugins declare, while the registry is completed: what is wrong quarantines its package at the start,
in place of failing requests.

Built-in applications, which the tests of this repository cover, are not checked: reads of all their resources take
0.5 s to compile.
"""

from __future__ import annotations

import difflib
import importlib.metadata
import logging
import re
from collections.abc import Callable, Collection, Iterator
from typing import TYPE_CHECKING, Any

from netinv_core import deletion_checks, hook_results
from netinv_core.app import App, needs
from netinv_core.db import revisions
from netinv_core.declaration_checks import DeclarationError, check_call, check_json
from netinv_core.fields.read_only import Computed
from netinv_core.models.columns import column_info
from netinv_core.nearest import advice
from netinv_core.presentation import NAME_IN_CONTEXT
from netinv_core.read import ordering
from netinv_core.resource import WRITES
from netinv_core.sql import relations
from netinv_core.sql.plan import ReadPlan
from netinv_core.sql.plans import new_plan
from netinv_core.write.reading_rules import ReadingRule

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.fields import Field
    from netinv_core.read.filters import Filter
    from netinv_core.registry import Registry

SHAPES = ("full", "brief", "nested", "assigned", NAME_IN_CONTEXT)
PREFIX = "netinv_"  # of hooks
NAME = re.compile(r"[a-z_][a-z0-9_]*")
SIMILAR = 0.8  # share of equal letters from which a name is taken for a misspelled one
log = logging.getLogger(__name__)


def check(registry: Registry) -> None:
    """Checks the hooks of plugins, their resources, and what they attach to others'.

    :raises PackageError: when a plugin is wrong
    """
    failures = registry.failures
    check_hooks(registry)
    for app in registry.apps.values():
        if registry.is_plugin(registry.packages[app.name]):
            with failures.of(registry.packages[app.name]):
                _check_app(registry, app)
    hook_results.check(registry, hook_results.OF_RESOURCE)
    deletion_checks.check(registry)
    for endpoint in registry.by_path.values():
        if registry.is_plugin(endpoint.package):
            with failures.of(endpoint.package):
                _check_references(endpoint)
        for kind, name, package in _attachments(registry, endpoint):
            with failures.of(package), named(f"the {kind} {name!r} of {endpoint.label}"):
                _check_given(endpoint, kind, name)
    failures.check()
    for endpoint in registry.by_path.values():
        if registry.is_plugin(endpoint.package):
            with failures.of(endpoint.package):
                _check_resource(endpoint)
    failures.check()


def _check_app(registry: Registry, app: App) -> None:
    """Checks the distribution, the migrations and the needed features of a plugin.

    :raises DeclarationError: for a distribution that is not installed, migrations that cannot be read, a feature that
        no package has, or a default that the setting cannot have
    """
    if app.distribution:
        try:
            importlib.metadata.version(app.distribution)
        except importlib.metadata.PackageNotFoundError:
            raise DeclarationError(f"the distribution {app.distribution!r} of {app.name} is not installed") from None
    if app.migrations is not None:
        with named(f"App(migrations={app.migrations!r})"):
            revisions.check(app)
    features = {name for other in registry.apps.values() for name in other.modules()} | registry.disabled
    for name, needed in needs(app):
        if needed not in features and not lacks_packages(registry):
            hint = advice(needed, sorted(features))
            if needed.rpartition(".")[2] in registry.apps:
                hint = "needs= names features (application.feature), not applications"
            raise DeclarationError(f"{name} needs the feature {needed}, which no package has; {hint}")
    for name, (read, default) in app.settings.items():
        if isinstance(default, str):
            _check_default(f"the default of the setting {name} of {app.name}", read, default)


def _check_default(declared: str, read: Callable[[str], Any], default: str) -> None:
    """Checks a default that is a text: the reader of the setting makes a text of it.

    :raises DeclarationError: for another one
    """
    with named(declared):
        value = read(default)
    if not isinstance(value, str):
        raise DeclarationError(f"{declared} is the text {default!r}; expected a value such as {value!r}")


class named:
    """Context manager that names what is declared in the errors of its checks."""

    def __init__(self, declared: str) -> None:
        self._declared = declared

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: Any, error: BaseException | None, traceback: Any) -> None:
        if isinstance(error, Exception) and not isinstance(error, DeclarationError):
            reason = f"there is no {error}" if isinstance(error, KeyError) else str(error)
            raise DeclarationError(f"{self._declared} cannot be used: {reason}") from error


# -- hooks


def check_hooks(registry: Registry) -> None:
    """Finds implementations of hooks that no package specifies, as pluggy's ``check_pending``.

    :raises PackageError: for a misspelled hook of a plugin
    """
    known = [name for name in vars(registry.hooks) if name.startswith(PREFIX)]
    specified = {name for name in known if getattr(registry.hooks, name).has_spec()}
    for name in sorted(set(known) - specified):
        for implementation in getattr(registry.hooks, name).get_hookimpls():
            package = registry.package_of(implementation.plugin_name)
            if registry.is_plugin(package) and not implementation.optionalhook:
                _check_unspecified(registry, package, name, specified)


def _check_unspecified(registry: Registry, package: str, name: str, specified: set[str]) -> None:
    """Finds out whether a hook is misspelled, or one of a package that is not there, which it may wait for.

    :raises PackageError: for a misspelled one
    """
    names = {other.removeprefix(PREFIX): other for other in specified}
    similar = [names[other] for other in difflib.get_close_matches(name.removeprefix(PREFIX), names, 1, SIMILAR)]
    if not similar and (lacks_packages(registry) or _is_of_absent_package(name, specified)):
        log.warning("no package that is served specifies the hook %s of the package %s", name, package)
        return
    hint = f"did you mean {similar[0]}?" if similar else "those there are stand in docs/plugins.md"
    with registry.failures.of(package):
        raise DeclarationError(f"no package specifies the hook {name}; {hint}")


def lacks_packages(registry: Registry) -> bool:
    """True while a distribution is in quarantine: what others name may be its."""
    return any(not failed.distribution.endswith(".py") for failed in registry.broken)


def _is_of_absent_package(hook: str, specified: set[str]) -> bool:
    """True for a hook such as ``netinv_web_panels`` while no hook that begins like it is specified."""
    package, _, rest = hook.removeprefix(PREFIX).partition("_")
    return bool(rest) and not any(other.startswith(f"{PREFIX}{package}_") for other in specified)


# -- fields, filters, relations


def _attachments(registry: Registry, endpoint: Endpoint) -> Iterator[tuple[str, str, str]]:
    """The kind, name and package of each field and filter that a plugin attached to a resource."""
    for (kind, name), package in endpoint.givers.items():
        if registry.is_plugin(package):
            yield kind, name, package


def _check_given(endpoint: Endpoint, kind: str, name: str) -> None:
    """Compiles the reads of a field, or the paths of a filter.

    :raises Exception: when they cannot be compiled
    """
    if kind != "relation":
        check_name(f"the {kind}", name)
    if kind == "field" and name in endpoint.fields:
        _check_field(endpoint, endpoint.fields[name])
        ReadPlan(endpoint.registry, endpoint).finish([endpoint.fields[name]])
    elif kind == "filter":
        _check_filter(endpoint, endpoint.filters[name])
    elif kind == "relation":
        endpoint.relations[name].exists(endpoint.table)


def _check_field(endpoint: Endpoint, field: Field) -> None:
    """Checks the functions of a field, and what is said of it in the document of the API.

    :raises DeclarationError: for a function that takes other values, and what JSON cannot hold
    """
    hook_results.check_functions(field)
    if isinstance(field, Computed):
        declared = f"the function of the field {field.name!r} of {endpoint.label}"
        check_call(declared, field.function, len(field.paths))
    check_json(f"openapi of the field {field.name!r} of {endpoint.label}", field.openapi)


def _check_filter(endpoint: Endpoint, item: Filter) -> None:
    """Follows the paths of a filter.

    :raises ValueError: for a name that is not there
    """
    if item.relation is not None and item.relation.steps:
        relations.exists(endpoint, endpoint.table, item.relation.steps)
    for path in (*item.paths, *(path.partition(":")[0] for path in item.searched)):
        relations.compare(endpoint, endpoint.table, path.split("."), _is_null)


def _is_null(column: Any) -> Any:
    return column.is_(None)


# -- resources of plugins


def _check_references(endpoint: Endpoint) -> None:
    """Finds references to models that an installed application does not have.

    :raises DeclarationError: for such a reference
    """
    registry = endpoint.registry
    targets = [(name, link.target) for name, column in endpoint.table.c.items() if (link := _link(column))]
    targets += [(name, to) for name, field in endpoint.fields.items() if (to := getattr(field, "to", None))]
    for name, target in targets:
        if not isinstance(target, str) or registry.get(target) or target in registry.unserved:
            continue
        if target.partition(".")[0] in registry.apps:
            raise DeclarationError(f"{endpoint.label}.{name} refers to {target}, which is not a model")


def _link(column: Any) -> Any:
    return column_info(column).foreign_key


def _compile(endpoint: Endpoint, shape: str) -> None:
    """Compiles the reads of a resource in a shape.

    :raises DeclarationError: naming the field that cannot be compiled
    """
    try:
        new_plan(endpoint, shape)
    except Exception:
        for name, field in endpoint.fields.items():
            with named(f"the field {name!r} of {endpoint.label}"):
                ReadPlan(endpoint.registry, endpoint).finish([field])
        raise


def _check_resource(endpoint: Endpoint) -> None:
    """Compiles the reads of a plugin's resource in every shape, its orders and the paths of its filters.

    :raises DeclarationError: naming what cannot be compiled
    """
    label = endpoint.label
    checks: list[tuple[str, Callable[[], Any]]] = [
        *((f"the form {shape!r} of {label}", lambda shape=shape: _compile(endpoint, shape)) for shape in SHAPES),
        (f"the order of {label}", lambda: ordering.check(endpoint)),
        *(
            (f"the filter {n!r} of {label}", lambda i=i: _check_filter(endpoint, i))
            for n, i in endpoint.filters.items()
        ),
    ]
    for declared, compile_it in checks:
        with named(declared):
            compile_it()
    _check_names(endpoint)


def check_name(declared: str, name: Any) -> None:
    """Checks the name of a field or a filter, which documents and queries have.

    :raises DeclarationError: for anything else than a name in small letters
    """
    if not (isinstance(name, str) and NAME.fullmatch(name)):
        raise DeclarationError(f"{declared} is called {name!r}; expected small letters, digits and '_'")


def _check_names(endpoint: Endpoint) -> None:
    """Finds names in the declaration of a plugin's resource that nothing has, or that cannot be.

    :raises DeclarationError: for the first one
    """
    for name, field in endpoint.fields.items():
        check_name(f"a field of {endpoint.label}", name)
        _check_field(endpoint, field)
    label, resource, columns = endpoint.label, endpoint.resource, endpoint.table.c.keys()
    members = {*endpoint.fields, *(field.name for field in endpoint.brief), *columns, *resource.omit}
    natural = [resource.natural] if resource.natural else []
    changing = [name for rule in resource.rules if isinstance(rule, ReadingRule) for name in rule.changing]
    naming = [resource.name_attribute] if resource.name_attribute else []
    about = [name for pair in resource.about for name in pair]
    listed = {*resource.brief, *resource.only_fields, *natural, *resource.natural_within}
    example = resource.example if resource.writes else ()
    checks: list[tuple[str, Collection[str], Collection[str], str]] = [
        (label, sorted(listed), members, "neither a field nor a column"),
        (f"a rule of {label}", changing, members, "neither a field nor a column"),
        (f"name_attribute of {label}", naming, columns, "no column"),
        (f"about of {label}", about, columns, "no column"),
        (f"example of {label}", example, endpoint.writable, "no field that can be written"),
        (f"writes of {label}", sorted(resource.writes), sorted(WRITES), "no action"),
    ]
    for declared, names, known, is_none in checks:
        check_names(declared, names, known, is_none)


def check_names(declared: str, names: Collection[str], known: Collection[str], is_none: str = "no field") -> None:
    """Finds names that are not among the known ones.

    :raises DeclarationError: for the first one, with the nearest one that is known
    """
    for name in names:
        if name not in known:
            raise DeclarationError(f"{declared} names {name!r}, which is {is_none}; {advice(name, sorted(known))}")
