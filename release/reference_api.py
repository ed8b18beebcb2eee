"""Pages about the public API for plugins: each name of ``netinv_core``, each function of its public modules and each
hook, with signature, shape, errors and an example, from docstrings and the code of packages.
"""

from __future__ import annotations

import dataclasses
import inspect
import pkgutil
import typing
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import netinv_core
from netinv_core import hookspecs
from netinv_core.registry import Registry
from release.docstrings import Doc, comments, definition, markdown, signature
from release.examples import Examples
from release.reference_models import table

FUNCTIONS_GET = "What functions get"
TITLES = {
    "netinv_core.app": "Applications",
    "netinv_core.auth": "Accounts and permissions",
    "netinv_core.changelog": "Change log",
    "netinv_core.db": "Database",
    "netinv_core.endpoint": FUNCTIONS_GET,
    "netinv_core.errors": "Errors",
    "netinv_core.findings": "Self-check",
    "netinv_core.hookspecs": "Hooks",
    "netinv_core.http": "Views",
    "netinv_core.importing": "Imports",
    "netinv_core.models": "Models and columns",
    "netinv_core.presentation": "Pages",
    "netinv_core.read": "Reading",
    "netinv_core.registry": FUNCTIONS_GET,
    "netinv_core.resource": "Resources and their fields",
    "netinv_core.single_references": "Fields with one reference",
    "netinv_core.sql": "SQL",
    "netinv_core.tasks": "Worker",
    "netinv_core.uow": FUNCTIONS_GET,
    "netinv_core.write": "Writing",
}
INTRODUCTION = "Generated from docstrings; each example is code of a package, which has tests."
HOOK_ERRORS = """A hook that is misspelled, has other parameters or returns anything else than here quarantines its
package when the service starts ([installing](../plugins.md#installing-and-removing)). Hooks of the status, metrics,
dynamic filters and searches, and parts of pages, are left out where they fail, with the traceback in the log. Where any
other hook fails, the request is answered 503, which names the package; what it had changed is rolled back."""


def public_modules() -> dict[str, ModuleType]:
    """The modules whose functions are public, by name."""
    values = {name: getattr(netinv_core, name) for name in sorted(netinv_core._MODULES)}
    return {name: value for name, value in values.items() if inspect.ismodule(value)}


def functions_of(module: ModuleType) -> dict[str, Any]:
    """The public functions of a module, by name."""
    return {
        name: value
        for name, value in vars(module).items()
        if inspect.isfunction(value) and value.__module__ == module.__name__ and not name.startswith("_")
    }


def hook_specifications(registry: Registry) -> dict[str, Any]:
    """The specifications of hooks, by name: those of the core first, then those of applications."""
    modules = [hookspecs, *(app.hooks for app in registry.apps.values() if app.hooks is not None)]
    return {name: value for module in modules for name, value in vars(module).items() if hasattr(value, "netinv_spec")}


class ApiPages:
    """Writer of the pages."""

    def __init__(self, registry: Registry) -> None:
        self._registry = registry
        self._modules = dict(netinv_core._MODULES)
        public = public_modules()
        self._examples = Examples(self._modules, {module.__name__: name for name, module in public.items()})

    def pages(self) -> dict[str, str]:
        """The text of each page, by file."""
        return {"names.md": self._names(), "functions.md": self._functions(), "hooks.md": self._hooks()}

    def _names(self) -> str:
        lines = ["# Public names", "", "Imported as `from netinv_core import App, Resource`.", INTRODUCTION, ""]
        groups: dict[str, list[str]] = {}
        for name in sorted(netinv_core._MODULES):
            if not inspect.ismodule(getattr(netinv_core, name)):
                groups.setdefault(TITLES[".".join(self._modules[name].split(".")[:2])], []).append(name)
        for title, names in sorted(groups.items()):
            lines += [f"## {title}", ""]
            for name in names:
                lines += [f"### {name}", "", *self._about(name), *self._example(name)]
        return "\n".join(lines)

    def _functions(self) -> str:
        lines = ["# Public functions of modules", "", "Imported as `from netinv_core import listing`."]
        lines += [INTRODUCTION, ""]
        for name, module in sorted(public_modules().items()):
            lines += [f"## {name}", "", *Doc(module.__doc__ or "").lines(), *self._example(name)]
            for function, value in functions_of(module).items():
                full = f"{name}.{function}"
                lines += [f"### {full}", "", *_signed(full, value), *self._example(full)]
        return "\n".join(lines)

    def _hooks(self) -> str:
        lines = [
            "# Hooks",
            "",
            "Functions of the module of an entry point, marked with `@hookimpl`; parameters that are",
        ]
        lines += ["not needed can be left out.", INTRODUCTION, "", HOOK_ERRORS, ""]
        for name, value in hook_specifications(self._registry).items():
            package = value.__module__.partition(".")[0]
            lines += [f"## {name}", "", *_signed(name, value), f"Specified by `{package}`.", "", *self._example(name)]
        return "\n".join(lines)

    def _about(self, name: str) -> Iterator[str]:
        """The signature, docstring and members of a public name."""
        value = getattr(netinv_core, name)
        if inspect.isclass(value):
            yield from _of_class(name, value)
        elif inspect.isfunction(value):
            yield from _signed(name, value)
        else:
            source = Path(pkgutil.resolve_name(self._modules[name]).__file__).read_text()
            yield from ("```python", definition(source, name), "```", "", markdown(comments(source)[name]), "")

    def _example(self, name: str) -> Iterator[str]:
        """The example of a name.

        :raises LookupError: when there is none
        """
        example = self._examples.of(name)
        if example is None:
            raise LookupError(f"no package uses {name}, so that it has no example")
        yield from (f"Example, from `{example.path}`:", "", "```python", example.code, "```", "")


def _signed(name: str, value: Any) -> Iterator[str]:
    """The signature and the docstring of a function."""
    yield from ("```python", signature(name, value), "```", "", *Doc(value.__doc__ or "").lines())


def _of_class(name: str, value: type) -> Iterator[str]:
    """The signature, docstring, members and errors of a class."""
    bases = [base.__name__ for base in value.__bases__ if base.__module__.startswith("netinv_")]
    is_model = issubclass(value, netinv_core.Base) or name == "Tree"
    head = f"class {name}({', '.join(bases)})" if is_model else signature(name, value)
    yield from ("```python", head, "```", "", *Doc(value.__doc__ or "").lines())
    if bases and not is_model:
        yield from (f"A subclass of `{'`, `'.join(bases)}`.", "")
    rows = [*_attributes(value), *_methods(value)]
    if rows:
        yield from table(["member", "is"], rows)


def _attributes(value: type) -> Iterator[list[str]]:
    """The annotated attributes of a class that is no dataclass, whose signature has them."""
    if dataclasses.is_dataclass(value):
        return
    for name, annotation in vars(value).get("__annotations__", {}).items():
        if not name.startswith("_"):
            yield [f"`{name}`", f"`{annotation if isinstance(annotation, str) else typing.get_origin(annotation)}`"]


def _methods(value: type) -> Iterator[list[str]]:
    """The public methods and properties of a class, with the first paragraph of their docstrings and their errors."""
    for name, member in vars(value).items():
        function = member.fget if isinstance(member, property) else getattr(member, "__func__", member)
        if name.startswith("_") or not (inspect.isfunction(function) and function.__doc__):
            continue
        doc = Doc(function.__doc__)
        errors = "".join(f" `{error}` {about}." for error, about in doc.errors)
        shown = name if isinstance(member, property) else " ".join(signature(name, function).split())
        yield [f"`{shown}`", doc.first + errors]
