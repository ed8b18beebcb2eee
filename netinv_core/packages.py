"""Discovery of packages: entry points of the group ``netinv``, and the files of the folder ``netinv.plugins_dir``.

A package that fails is quarantined: the service starts without it, and reports it (:class:`FailedPackage`).
"""

from __future__ import annotations

import bisect
import contextlib
import functools
import importlib.metadata
import importlib.util
import logging
import os
import re
import sys
import threading
import traceback
from collections.abc import Callable, Collection, Iterator, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar

import sqlalchemy as sa
from packaging.requirements import InvalidRequirement, Requirement

from netinv_core import listeners, shared_state
from netinv_core.app import App, check_names
from netinv_core.presentation import check_menu
from netinv_core.records import FailedPackage as FailedPackage

ENTRY_POINTS = "netinv"
NAME = re.compile(r"[a-z][a-z0-9_-]*")  # of applications and settings
# parts of the paths of files that are no package's
LIBRARIES = tuple(
    f"{os.sep}{name}{os.sep}" for name in ("netinv_core", "sqlalchemy", "importlib", "colander", "cornice")
)
CORE = "core"  # the entry point without which there is no service
CASCADES = "netinv_generic_cascades"  # the hook of disabled features that is called
REFUSAL = "netinv_refusal"  # attribute of a hook module that changed what all share when it was imported: its error
FILE_PREFIX = "netinv_plugin_"  # of the module names of plugins that are one file
SLOW = 30  # seconds that a package may load before the log tells so
MAX_REASON_LENGTH = 1000  # characters of what is told of an exception
log = logging.getLogger(__name__)
T = TypeVar("T")


# Hook modules by the names of their packages, and the packages that are quarantined.
Packages = tuple[list[tuple[str, Any]], list[FailedPackage]]


class PackageError(Exception):
    """Failure of ``package`` while a service is put together. Its cause is the exception of the package."""

    def __init__(self, package: str) -> None:
        super().__init__(f"the package {package} failed")
        self.package = package
        self.others: Sequence[PackageError] = ()  # failures of other packages that were found with it


class PendingMigrations(LookupError):
    """Migrations of a package that the database lacks."""


class GatheredFailures:
    """Failures of packages that are found together, so that the service is not put together anew for each."""

    def __init__(self) -> None:
        self._errors: dict[str, PackageError] = {}

    @contextlib.contextmanager
    def of(self, package: str) -> Iterator[None]:
        """Notes exceptions of the block, of a package as in :func:`errors_of`; the first one of each package counts."""
        try:
            with errors_of(package):
                yield
        except PackageError as error:
            self._errors.setdefault(error.package, error)

    def check(self) -> None:
        """Ends the gathering.

        :raises PackageError: the first failure, with the others
        """
        if self._errors:
            first, *others = self._errors.values()
            first.others = others
            raise first


@contextlib.contextmanager
def errors_of(package: str) -> Iterator[None]:
    """Attributes exceptions of the block to a package, unless they are attributed to another already.

    :raises PackageError: for any exception
    """
    try:
        yield
    except (PackageError, KeyboardInterrupt):
        raise
    except BaseException as error:  # a script that is imported ends with sys.exit()
        raise PackageError(package) from error


def quarantine(packages: Packages, error: PackageError) -> Packages:
    """The packages without those that failed, which are logged with tracebacks and added to those in quarantine.

    :raises Exception: the cause, when the core itself failed
    """
    for failure in (error, *error.others):
        cause = failure.__cause__ or failure
        if failure.package == CORE:
            raise cause
        log.error("package %s failed; the service starts without it", failure.package, exc_info=cause)
        listeners.remove([failure.package])
        modules, broken = packages
        remaining = [(name, module) for name, module in modules if name != failure.package]
        origin, lacks_migrations = _origin(modules, failure.package), isinstance(cause, PendingMigrations)
        failed = FailedPackage(failure.package, origin, reason_of(cause), lacks_migrations)
        packages = remaining, [*broken, failed]
    return packages


def build_without_failing(packages: Packages, build: Callable[[Packages], T], *, searching: bool = False) -> T:
    """Result of ``build`` for the packages, without those that fail, which are quarantined.

    :param searching: also find the plugin without which a failure that is attributed to none is gone
    :raises Exception: of the core, or of the database
    """
    while True:
        try:
            return build(packages)
        except PackageError as error:
            packages = quarantine(packages, error)
        except Exception as error:
            if not searching or isinstance(error, sa.exc.SQLAlchemyError):
                raise
            if (package := _culprit(packages, build, error)) is None:
                raise
            failure = PackageError(package)
            failure.__cause__ = error
            packages = quarantine(packages, failure)


def _culprit(packages: Packages, build: Callable[[Packages], Any], error: Exception) -> str | None:
    """The plugin without which a failure is gone: the first one of the fewest plugins at the end that have to be left
    out for it. ``None`` for a failure that is there without any plugin.
    """
    plugins = [name for name, module in packages[0] if is_plugin(module)]

    def is_gone(count: int) -> bool:
        left_out = plugins[len(plugins) - count :]
        try:
            with listeners.without_listeners(left_out):
                build(([item for item in packages[0] if item[0] not in left_out], packages[1]))
        except Exception as other:
            return reason_of(other) != reason_of(error)
        return True

    count = bisect.bisect_left(range(len(plugins) + 1), True, key=is_gone)
    return plugins[-count] if 0 < count <= len(plugins) else None


def is_plugin(module: Any) -> bool:
    """True for the hook module of a plugin, not of a built-in application."""
    app = app_of(module)
    return app is None or app.plugin or is_one_file(module)


def _origin(modules: Sequence[tuple[str, Any]], package: str) -> str:
    """The distribution of a package, or its file if it is one."""
    if package in (installed := distributions()):
        return installed[package]
    return "".join(Path(module.__file__).name for name, module in modules if name == package and is_one_file(module))


def reason_of(error: BaseException) -> str:
    """Class and message of an exception, in one line of at most :data:`MAX_REASON_LENGTH` characters that print."""
    try:
        text = str(error)
    except Exception as failure:
        text = f"its message cannot be made: {type(failure).__name__}"
    printed = "".join(character if character.isprintable() else " " for character in text[: 2 * MAX_REASON_LENGTH])
    reason = f"{type(error).__name__}: {' '.join(printed.split())}"
    return reason if len(reason) <= MAX_REASON_LENGTH else f"{reason[:MAX_REASON_LENGTH]} …"


def as_exception(error: BaseException) -> Exception:
    """The exception to raise in place of what is none, such as ``SystemExit``: that would end the thread or the
    process, and with it other requests.

    :raises KeyboardInterrupt: for Ctrl-C
    """
    if isinstance(error, KeyboardInterrupt) and threading.current_thread() is threading.main_thread():
        raise error
    found = RuntimeError(f"a request does not end the service: {reason_of(error)}")
    found.__cause__ = error
    return found


@contextlib.contextmanager
def exceptions_only() -> Iterator[None]:
    """Context manager that raises what is no ``Exception`` as one (:func:`as_exception`)."""
    try:
        yield
    except Exception:
        raise
    except BaseException as error:
        raise as_exception(error) from error


def distributions() -> dict[str, str]:
    """The names of the distributions of installed packages, by entry point."""
    entries = importlib.metadata.entry_points(group=ENTRY_POINTS)
    return {entry.name: entry.dist.name for entry in entries if entry.dist is not None}


def discover(plugins_dir: str = "") -> Packages:
    """The hook modules of every installed package and of every file in a folder, and the packages that fail to load."""
    packages: Packages = ([], [])
    named: dict[str, str] = {}  # the distributions by entry point; the first on the search path counts, as for modules
    for entry in sorted(importlib.metadata.entry_points(group=ENTRY_POINTS), key=lambda e: (e.name != CORE, e.name)):
        distribution = entry.dist.name if entry.dist is not None else ""
        unmet = _unmet(entry.dist) if entry.dist is not None else None
        if (first := named.setdefault(entry.name, distribution)) != distribution:
            unmet = f"the distribution {first} has a package of this name"
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
    module: Any = None
    try:
        with errors_of(name), note_registrations(name):
            module = load()
            if (refusal := getattr(module, REFUSAL, None)) is not None:  # modules are imported once in a process
                raise refusal
            app_of(module)
    except KeyboardInterrupt as interrupt:
        place = f"the package {name} of {origin} was imported{_place_of(interrupt)}"
        remedy = "without a Ctrl-C, the package itself raises KeyboardInterrupt: mend or uninstall it"
        raise SystemExit(f"Error: interrupted while {place}; {remedy}") from None
    except PackageError as failure:
        error = failure.__cause__ or failure
        log.error("package %s of %s does not load; the service starts without it", name, origin, exc_info=error)
        listeners.remove([name])
        place = _place_of(error)
        if isinstance(error, shared_state.SharedStateChanged):
            setattr(module, REFUSAL, error)
            place = ""
        broken.append(FailedPackage(name, origin, f"{reason_of(error)}{place}"))
    else:
        modules.append((name, module))


@contextlib.contextmanager
def note_registrations(package: str) -> Iterator[None]:
    """Context manager of the code of a package that is run once in a process: notes what has to be removed with it, and
    tells where it is while it takes long.

    :raises SharedStateChanged: when it changes what all packages share
    """
    thread = threading.get_ident()

    def tell() -> None:
        frames = traceback.extract_stack(sys._current_frames().get(thread))
        place = next((f" ({Path(frame.filename).name}, line {frame.lineno})" for frame in reversed(_own(frames))), "")
        log.warning("the package %s has been loading for %s seconds%s", package, SLOW, place)

    timer = threading.Timer(SLOW, tell)
    timer.daemon = True
    timer.start()
    try:
        with shared_state.preserve(), listeners.note_listeners(package):
            yield
    finally:
        timer.cancel()


def _place_of(error: BaseException) -> str:
    """The file and the line of a package in which an exception was raised, or a library that it called raised it."""
    own = _own(traceback.extract_tb(error.__traceback__))
    return f" ({Path(own[-1].filename).name}, line {own[-1].lineno})" if own else ""


def _own(frames: Sequence[traceback.FrameSummary]) -> list[traceback.FrameSummary]:
    """The frames whose files may be a package's."""
    files = [frame for frame in frames if not frame.filename.startswith("<")]
    return [frame for frame in files if not any(place in frame.filename for place in LIBRARIES)]


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


def is_one_file(module: Any) -> bool:
    """True for the module of a plugin that is one file."""
    return str(module.__name__).startswith(FILE_PREFIX)


def app_of(module: Any) -> App | None:
    """The application of a hook module; ``None`` when it has none.

    :raises TypeError: when the hook returns anything else, a feature is none, or a setting is not a pair of a reader
        and a default
    :raises ValueError: for the name of an application or a setting that is none, and for a menu that is too long
    """
    if not hasattr(module, "netinv_app"):
        return None
    app = module.netinv_app()
    if not isinstance(app, App):
        raise TypeError(f"netinv_app returns {type(app).__name__} instead of App")
    if not (isinstance(app.name, str) and NAME.fullmatch(app.name)):
        raise ValueError(f"the application is called {app.name!r}; expected small letters, digits, '_' and '-'")
    _check_texts(app)
    check_menu("the menu of the application has", app.without(()).menu)
    check_names(app)
    for name, definition in app.every_setting().items():
        if not NAME.fullmatch(name):
            raise ValueError(f"a setting is called {name!r}; expected small letters, digits, '_' and '-'")
        if not (isinstance(definition, tuple) and len(definition) == 2 and callable(definition[0])):
            raise TypeError(f"the setting {name} is not a pair of a reader and a default")
    return app


def _check_texts(app: App) -> None:
    """Checks what lists of packages tell of an application.

    :raises TypeError: for anything else than texts
    """
    for name in ("title", "description", "author", "version", "distribution"):
        if not isinstance(text := getattr(app, name), str):
            raise TypeError(f"the {name} of the application is {text!r}; expected a text")


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
    """The first requirement of a package on netinv's packages that the installed versions do not meet, or that cannot
    be read, as a sentence.
    """
    for text in distribution.requires or ():
        try:
            requirement = Requirement(text)
        except InvalidRequirement as error:
            return f"its requirement {text!r} cannot be read: {' '.join(str(error).split())}"
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
