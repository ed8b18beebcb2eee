"""Import of Python modules from sources in memory: one package for the jobs folder, one for each Git repository."""

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

from netinv_extras.jobs import imports

_import_lock = threading.Lock()


@dataclasses.dataclass(frozen=True)
class JobSource:
    """Source code of a module, and its origin for tracebacks."""

    code: bytes
    origin: str


class _Package(MetaPathFinder, InspectLoader):
    """Finder and loader of a package whose modules are ``sources``, by name."""

    def __init__(self, name: str, sources: Mapping[str, JobSource]) -> None:
        self.name, self._sources = name, sources

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: types.ModuleType | None = None
    ) -> ModuleSpec | None:
        """Returns the spec of a module of the package, ``None`` for any other."""
        if fullname == self.name:
            return ModuleSpec(fullname, self, is_package=True)
        source = self._sources.get(fullname.removeprefix(f"{self.name}."))
        return ModuleSpec(fullname, self, origin=source.origin) if source is not None else None

    def is_package(self, fullname: str) -> bool:
        """Returns true for the package itself."""
        return fullname == self.name

    def get_source(self, fullname: str) -> str:
        """Returns the source text of a module; that of the package itself is empty."""
        if self.is_package(fullname):
            return ""
        return importlib.util.decode_source(self._source(fullname).code)

    def get_code(self, fullname: str) -> types.CodeType | None:
        """Returns the compiled code of a module."""
        return None if self.is_package(fullname) else compile_source(self._source(fullname))

    def exec_module(self, module: types.ModuleType) -> None:
        """Executes a module's code in its namespace."""
        if not self.is_package(module.__name__):
            module.__file__ = self._source(module.__name__).origin
            super().exec_module(module)

    def _source(self, fullname: str) -> JobSource:
        return self._sources[fullname.removeprefix(f"{self.name}.")]


def compile_source(source: JobSource) -> types.CodeType:
    """Compiles a source.

    :raises SyntaxError, ValueError: if it is not valid Python
    """
    tree = imports.translate_imports(source.code, source.origin)
    code: types.CodeType = compile(tree, source.origin, "exec", dont_inherit=True)
    return code


def load(
    package: str, sources: Mapping[str, JobSource]
) -> tuple[dict[str, types.ModuleType], dict[str, BaseException]]:
    """Imports the modules of a package, replacing its former modules; returns modules and import errors, both by name.

    A module whose name begins with an underscore is only imported by the others (``from ._shared import x``).
    """
    modules: dict[str, types.ModuleType] = {}
    errors: dict[str, BaseException] = {}
    with _import_lock:
        sys.meta_path[:] = [
            finder for finder in sys.meta_path if not (isinstance(finder, _Package) and finder.name == package)
        ]
        for name in [name for name in sys.modules if name == package or name.startswith(f"{package}.")]:
            del sys.modules[name]
        sys.meta_path.append(_Package(package, sources))
        for name in sorted(sources):
            if name.startswith("_"):
                continue
            try:
                modules[name] = importlib.import_module(f"{package}.{name}")
            except (Exception, SystemExit) as error:
                errors[name] = error
    return modules, errors
