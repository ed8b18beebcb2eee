"""Python modules from sources in memory: those of a folder, and those that a Git repository brought, each as a package of its own."""

from __future__ import annotations

import dataclasses
import importlib
import importlib.util
import sys
import threading
import types
from collections.abc import Mapping, Sequence
from importlib.abc import InspectLoader, MetaPathFinder
from importlib.machinery import ModuleSpec

_loading = threading.Lock()


@dataclasses.dataclass(frozen=True)
class Source:
    """A module's text, and where it comes from, as tracebacks name it."""

    code: bytes
    place: str


class _Package(MetaPathFinder, InspectLoader):
    """A package whose modules are ``sources``, by name."""

    def __init__(self, name: str, sources: Mapping[str, Source]) -> None:
        self.name, self._sources = name, sources

    def find_spec(self, fullname: str, path: Sequence[str] | None = None, target: types.ModuleType | None = None) -> ModuleSpec | None:
        """Where a module comes from, when it is one of the package's."""
        if fullname == self.name:
            return ModuleSpec(fullname, self, is_package=True)
        source = self._sources.get(fullname.removeprefix(f"{self.name}."))
        return ModuleSpec(fullname, self, origin=source.place) if source is not None else None

    def is_package(self, fullname: str) -> bool:
        """Whether it is the package itself."""
        return fullname == self.name

    def get_source(self, fullname: str) -> str:
        """The text of a module; the package itself has none."""
        return "" if self.is_package(fullname) else importlib.util.decode_source(self._source(fullname).code)

    def get_code(self, fullname: str) -> types.CodeType | None:
        """The code of a module."""
        return None if self.is_package(fullname) else compiled(self._source(fullname))

    def exec_module(self, module: types.ModuleType) -> None:
        """Runs a module's code in it."""
        if not self.is_package(module.__name__):
            module.__file__ = self._source(module.__name__).place
            super().exec_module(module)

    def _source(self, fullname: str) -> Source:
        return self._sources[fullname.removeprefix(f"{self.name}.")]


def compiled(source: Source) -> types.CodeType:
    """The code of a source.

    :raises SyntaxError, ValueError: when it is no Python
    """
    code: types.CodeType = compile(source.code, source.place, "exec", dont_inherit=True)
    return code


def load(package: str, sources: Mapping[str, Source]) -> tuple[dict[str, types.ModuleType], dict[str, BaseException]]:
    """The modules of a package by name, and what went wrong with those that cannot be imported; former ones of the package are forgotten.

    A module whose name begins with an underscore is there for the others to import (``from ._shared import x``).
    """
    modules: dict[str, types.ModuleType] = {}
    faults: dict[str, BaseException] = {}
    with _loading:
        sys.meta_path[:] = [finder for finder in sys.meta_path if not (isinstance(finder, _Package) and finder.name == package)]
        for name in [name for name in sys.modules if name == package or name.startswith(f"{package}.")]:
            del sys.modules[name]
        sys.meta_path.append(_Package(package, sources))
        for name in sorted(sources):
            if name.startswith("_"):
                continue
            try:
                modules[name] = importlib.import_module(f"{package}.{name}")
            except (Exception, SystemExit) as error:
                faults[name] = error
    return modules, faults
