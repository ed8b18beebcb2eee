"""Packages at fault: the plugin that an unexpected exception of a request or command belongs to.

Functions of plugins are called in many places: rules, fields, filters, hooks, views. The traceback tells which failed,
so that none of these places has to note it.
"""

from __future__ import annotations

import collections
import contextlib
import logging
import os
import threading
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from sqlalchemy.exc import SQLAlchemyError

from netinv_core import miscalled
from netinv_core.packages import PackageError, exceptions_only, is_plugin
from netinv_core.telemetry import metrics
from netinv_core.wrong_results import WithoutJsonForm, WrongResult

if TYPE_CHECKING:
    from netinv_core.registry import Registry

log = logging.getLogger(__name__)
WINDOW = 600.0  # seconds in which failures are counted
# Hooks without which more would be allowed.
SAFEGUARDS = ("netinv_change_guards", "netinv_identity_providers", "netinv_rules", "netinv_written_rules")
# Modules that call views and what is around them: what is around a view is not at fault for what fails within it.
CALLERS_OF_VIEWS = frozenset({"pyramid.router", "pyramid.viewderivers"})

COMPUTING = "netinv_core.fields.read_only"  # the module that calls the functions of computed fields
UNITS_OF_WORK = frozenset({"self", "uow"})  # names of variables that hold the unit of work of a statement


class Faults:
    """Failures of plugins while the service runs. A plugin that fails ``netinv.package_failures`` times within
    :data:`WINDOW` is set aside, once, unless it has :data:`SAFEGUARDS`.
    """

    def __init__(self) -> None:
        self.set_aside: Callable[[str, int, BaseException], None] | None = None
        self._times: dict[str, collections.deque[float]] = {}
        self._aside: set[str] = set()
        self._lock = threading.Lock()

    def note(self, registry: Registry, package: str, error: BaseException) -> None:
        """Counts a failure."""
        metrics.PACKAGE_FAILURES.labels(package).inc()
        limit = registry.settings["package_failures"]
        with self._lock:
            if self.set_aside is None or not limit or package in self._aside or _safeguards(registry, package):
                return
            now, times = time.monotonic(), self._times.setdefault(package, collections.deque())
            times.append(now)
            while times[0] < now - WINDOW:
                times.popleft()
            if len(times) < limit:
                return
            self._aside.add(package)
        self.set_aside(package, limit, error)


def _safeguards(registry: Registry, package: str) -> bool:
    """True for a package that refuses changes or sign-ins, which would pass without it."""
    return any(package == name for hook in SAFEGUARDS for name, _ in registry.callers(hook))


def package_at_fault(registry: Registry, error: BaseException, renderer: str | None = None) -> str | None:
    """The plugin whose code raised an exception, called what raised it, or returned a wrong result; ``None`` for none.

    Of several plugins, it is the one that was called last.

    :param renderer: the package that gave a template its values, which is at fault before the one that has its file
    """
    places = _places(registry)
    for cause in _causes(error):
        if isinstance(cause, PackageError):
            return cause.package if registry.is_plugin(cause.package) else None
        if isinstance(cause, WrongResult):
            package = cause.package or _plugin_of(registry, places, cause.module)
            return package if package and registry.is_plugin(package) else None
        if isinstance(cause, WithoutJsonForm):
            module, giver = cause.sources(registry)
            package = _plugin_of(registry, places, module) or giver
            if package is not None:
                return package
    for cause in _causes(error):
        for module in (*miscalled.modules(cause), *_modules(cause), *_modules_of_sql(cause)):
            package = _plugin_of(registry, places, module)
            if package is not None:
                is_template = os.sep in module
                return renderer if is_template and renderer and registry.is_plugin(renderer) else package
    return next(filter(None, (_user_of_builtin(registry, cause) for cause in _causes(error))), None)


def package_among(modules: Sequence[tuple[str, Any]], error: BaseException) -> str | None:
    """The plugin of ``modules`` whose code raised an exception, for a command that has built no registry."""
    places = {place: name for name, module in modules if is_plugin(module) for place in _places_of(module)}
    owners = (_owner(places, module) for cause in _causes(error) for module in _modules(cause))
    return next(filter(None, owners), None)


def log_faults(registry: Registry, function: Callable[[], None]) -> Callable[[], None]:
    """A function for which nothing can be undone any more: where a plugin is at fault for its failure, it is logged."""

    def call() -> None:
        try:
            with exceptions_only():
                function()
        except Exception as error:
            package = package_at_fault(registry, error)
            if package is None:
                raise
            registry.faults.note(registry, package, error)
            log.exception("a function of the package %s failed after the commit, which stands", package)

    return call


@contextlib.contextmanager
def errors_of_plugins(registry: Registry) -> Iterator[None]:
    """Attributes exceptions of the block, which puts a service together, to the plugins whose code raised them.

    :raises PackageError: for the exception of a plugin
    """
    try:
        yield
    except (PackageError, KeyboardInterrupt):
        raise
    except BaseException as error:
        package = package_at_fault(registry, error)
        if package is None:
            raise
        raise PackageError(package) from error


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    """The exception, and those that it was raised from."""
    while error is not None:
        yield error
        error = error.__cause__


def _modules(error: BaseException) -> Iterator[str]:
    """The modules of the frames of a traceback, the innermost first, up to the call of the view."""
    names = [str(frame.f_globals.get("__name__", "")) for frame, _ in traceback.walk_tb(error.__traceback__)]
    for name in reversed(names):
        if name in CALLERS_OF_VIEWS:
            return
        yield name


def _modules_of_sql(error: BaseException) -> Iterator[str]:
    """The modules of the functions that gave SQL to the unit of work whose statement failed, the last one first."""
    if isinstance(error, SQLAlchemyError):  # raised when the statement is run, or when its rows are read
        for frame, _ in traceback.walk_tb(error.__traceback__):
            for name in UNITS_OF_WORK & frame.f_locals.keys():
                yield from reversed(getattr(frame.f_locals[name], "sql_modules", {}))


def _user_of_builtin(registry: Registry, error: BaseException) -> str | None:
    """The plugin that computes a field by a function without frames, such as ``int``, which failed."""
    frames = [frame for frame, _ in traceback.walk_tb(error.__traceback__)]
    if not frames or frames[-1].f_globals.get("__name__") != COMPUTING:
        return None
    function = frames[-1].f_locals.get("function")
    found = {
        endpoint.givers.get(("field", name), endpoint.package)
        for endpoint in registry.endpoints.values()
        for name, field in endpoint.fields.items()
        if getattr(field, "function", None) is function
    }
    plugins = [package for package in found if registry.is_plugin(package)]
    return plugins[0] if len(plugins) == 1 else None


def _places(registry: Registry) -> dict[str, str]:
    """The packages by the names of their packages of Python, which the names of their modules begin with, and by the
    paths of their folders, in which their templates are.
    """
    places: dict[str, str] = {}
    for name, module in registry.manager.list_name_plugin():
        places.update(dict.fromkeys(_places_of(module), registry.package_of(name)))
    return places


def _places_of(module: Any) -> list[str]:
    """The name of the package of Python that a module of hooks is in, and the paths of its folders."""
    full_name, folders = getattr(module, "__name__", ""), list(getattr(module, "__path__", ()))
    return [full_name if folders else full_name.rpartition(".")[0] or full_name, *folders]


def _owner(places: dict[str, str], module: str) -> str | None:
    """The package that has a module, or a template by its path."""
    separator = os.sep if os.sep in module else "."
    while module:
        if module in places:
            return places[module]
        module = module.rpartition(separator)[0]
    return None


def plugin_of_module(registry: Registry, module: str) -> str | None:
    """The plugin that has a module, by its name; ``None`` where a built-in application has it, or nothing does."""
    return _plugin_of(registry, _places(registry), module)


def _plugin_of(registry: Registry, places: dict[str, str], module: str) -> str | None:
    """The plugin that has a module, or a template by its path; ``None`` where a built-in application has it, or nothing
    does.
    """
    package = _owner(places, module)
    return package if package is not None and registry.is_plugin(package) else None
