"""Discovery of packages: entry points of the group ``netinv``, and the files of the folder ``netinv.plugins_dir``.

A package that fails is quarantined: the service starts without it, and reports it (:class:`FailedPackage`).
"""

from __future__ import annotations

import contextlib
import functools
import importlib.metadata
import importlib.util
import logging
import sys
from collections.abc import Callable, Collection, Iterator, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

from packaging.requirements import Requirement

from netinv_core.app import App
from netinv_core.records import FailedPackage as FailedPackage

ENTRY_POINTS = "netinv"
CORE = "core"  # the entry point without which there is no service
CASCADES = "netinv_generic_cascades"  # the hook of disabled features that is called
FILE_PREFIX = "netinv_plugin_"  # of the module names of plugins that are one file
log = logging.getLogger(__name__)


# Hook modules by the names of their packages, and the packages that are quarantined.
Packages = tuple[list[tuple[str, Any]], list[FailedPackage]]


class PackageError(Exception):
    """Failure of ``package`` while a service is put together. Its cause is the exception of the package."""

    def __init__(self, package: str) -> None:
        super().__init__(f"the package {package} failed")
        self.package = package


@contextlib.contextmanager
def errors_of(package: str) -> Iterator[None]:
    """Attributes exceptions of the block to a package, unless they are attributed to another already.

    :raises PackageError: for any exception
    """
    try:
        yield
    except PackageError:
        raise
    except Exception as error:
        raise PackageError(package) from error


def quarantine(packages: Packages, error: PackageError) -> Packages:
    """The packages without the one that failed, which is logged with its traceback and added to those in quarantine.

    :raises Exception: the cause, when the core itself failed
    """
    cause = error.__cause__ or error
    if error.package == CORE:
        raise cause
    log.error("package %s failed; the service starts without it", error.package, exc_info=cause)
    modules, broken = packages
    remaining = [(name, module) for name, module in modules if name != error.package]
    return remaining, [*broken, FailedPackage(error.package, distributions().get(error.package, ""), reason_of(cause))]


def reason_of(error: BaseException) -> str:
    """Class and message of an exception, in one line."""
    return f"{type(error).__name__}: {' '.join(str(error).split())}"


def distributions() -> dict[str, str]:
    """The names of the distributions of installed packages, by entry point."""
    entries = importlib.metadata.entry_points(group=ENTRY_POINTS)
    return {entry.name: entry.dist.name for entry in entries if entry.dist is not None}


def discover(plugins_dir: str = "") -> Packages:
    """The hook modules of every installed package and of every file in a folder, and the packages that fail to load."""
    packages: Packages = ([], [])
    for entry in sorted(importlib.metadata.entry_points(group=ENTRY_POINTS), key=lambda e: (e.name != CORE, e.name)):
        distribution = entry.dist.name if entry.dist is not None else ""
        unmet = _unmet(entry.dist) if entry.dist is not None else None
        if unmet is None:
            _load(packages, entry.name, distribution, entry.load)
        else:
            log.error(
                "package %s of %s does not fit; the service starts without it: %s", entry.name, distribution, unmet
            )
            packages[1].append(FailedPackage(entry.name, distribution, unmet))
    for path in _plugin_files(plugins_dir):
        _load(packages, path.stem, path.name, functools.partial(_load_file, path, packages))
    return packages


def _load(packages: Packages, name: str, origin: str, load: Callable[[], Any]) -> None:
    """Loads a hook module into the lists of ``packages``: that of modules, or that of failed packages."""
    modules, broken = packages
    try:
        module = load()
        app_of(module)
    except Exception as error:
        log.exception("package %s of %s does not load; the service starts without it", name, origin)
        broken.append(FailedPackage(name, origin, reason_of(error)))
    else:
        modules.append((name, module))


def _plugin_files(folder: str) -> list[Path]:
    """The Python files of the folder of plugins, by name; those that begin with an underscore are left out.

    :raises ValueError: when there is no such folder
    """
    if not folder:
        return []
    if not Path(folder).is_dir():
        raise ValueError(f"the setting netinv.plugins_dir names a folder that does not exist: {folder!r}")
    return sorted(path for path in Path(folder).glob("*.py") if not path.name.startswith("_"))


def _load_file(path: Path, packages: Packages) -> ModuleType:
    """The module of a plugin that is one file, imported once in a process.

    :raises ValueError: when a package of this name is installed
    """
    if path.stem in {name for name, _ in packages[0]} | {failed.name for failed in packages[1]}:
        raise ValueError(f"a package with the name {path.stem} is installed")
    name = f"{FILE_PREFIX}{path.stem}"
    loaded = sys.modules.get(name)
    if loaded is not None and loaded.__file__ == str(path):
        return loaded
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module


def app_of(module: Any) -> App | None:
    """The application of a hook module; ``None`` when it has none.

    :raises TypeError: when the hook returns anything else, a feature is none, or a setting is not a pair of a reader
        and a default
    """
    if not hasattr(module, "netinv_app"):
        return None
    app = module.netinv_app()
    if not isinstance(app, App):
        raise TypeError(f"netinv_app returns {type(app).__name__} instead of App")
    for name, definition in app.every_setting().items():
        if not (isinstance(definition, tuple) and len(definition) == 2 and callable(definition[0])):
            raise TypeError(f"the setting {name} is not a pair of a reader and a default")
    return app


def apps_of(modules: Sequence[tuple[str, Any]]) -> dict[str, App]:
    """The applications of hook modules with all of their features, by package.

    :raises PackageError: when a package fails to give its application
    """
    apps: dict[str, App] = {}
    for name, module in modules:
        with errors_of(name):
            app = app_of(module)
            if app is not None:
                apps[name] = app.without(())
    return apps


def implementations(name: str, module: Any, disabled: Collection[str]) -> list[tuple[str, Any]]:
    """The modules with the hook implementations of a package by name, in the order in which pluggy has to get them:
    those of its features, the first of which is called first, then its own.

    Of a disabled feature, the cascades remain: what it attached to objects is deleted together with them.
    """
    app = app_of(module)
    found = [(name, module)]
    for full_name, feature_module in app.modules().items() if app is not None else ():
        if full_name not in disabled:
            found.append((full_name, feature_module))
        elif hasattr(feature_module, CASCADES):
            cascades = ModuleType(full_name)
            setattr(cascades, CASCADES, getattr(feature_module, CASCADES))
            found.append((full_name, cascades))
    return found[::-1]


def _unmet(distribution: importlib.metadata.Distribution) -> str | None:
    """The first requirement of a package on netinv's packages that the installed versions do not meet, as a
    sentence.
    """
    for text in distribution.requires or ():
        requirement = Requirement(text)
        if not requirement.name.startswith("netinv"):
            continue
        if requirement.marker is not None and not requirement.marker.evaluate({"extra": ""}):
            continue
        try:
            version = importlib.metadata.version(requirement.name)
        except importlib.metadata.PackageNotFoundError:
            return f"it requires {requirement.name}, which is not installed"
        if not requirement.specifier.contains(version, prereleases=True):
            return f"it requires {requirement.name}{requirement.specifier}, and {version} is installed"
    return None
