"""Architecture: what modules may import, how large they may be, and where resources get their rules."""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support import REPOSITORY

PACKAGES = sorted(path.parent.name for path in REPOSITORY.glob("netinv_*/setup.cfg"))
REGISTRATIONS = {"prepare", "rule", "after_save", "before_delete", "filter", "base_filter", "permission_check"}

pytestmark = pytest.mark.any_database


@functools.cache
def modules(package: str) -> dict[Path, ast.Module]:
    """The parsed modules of a package, migrations left out, by path."""
    paths = sorted((REPOSITORY / package).rglob("*.py"))
    return {path: ast.parse(path.read_text()) for path in paths if "versions" not in path.parts and "build" not in path.parts}


def imported_names(module: ast.Module) -> set[str]:
    """The names that a module imports at its top level."""
    imports = [node for node in module.body if isinstance(node, ast.ImportFrom)]
    return {alias.asname or alias.name for node in imports for alias in node.names}


def registrations(module: ast.Module) -> Iterator[tuple[str, int]]:
    """The names of the resources with which a module registers functions when it is imported, with lines."""
    for node in module.body:
        calls = node.decorator_list if isinstance(node, ast.FunctionDef) else [node.value] if isinstance(node, ast.Expr) else []
        for call in calls:
            attribute = call.func if isinstance(call, ast.Call) else call
            while isinstance(attribute, ast.Call):
                attribute = attribute.func
            if isinstance(attribute, ast.Attribute) and attribute.attr in REGISTRATIONS and isinstance(attribute.value, ast.Name):
                yield attribute.value.id, call.lineno


@pytest.mark.parametrize("package", PACKAGES)
def test_modules_register_functions_on_import_only_with_resources_of_their_own(package: str) -> None:
    """For those of other modules they have a function ``register``, which the package calls."""
    others = [
        f"{path.relative_to(REPOSITORY)}:{line} {name}"
        for path, module in modules(package).items()
        for name, line in registrations(module)
        if name in imported_names(module)
    ]
    assert others == []


@pytest.mark.parametrize("package", PACKAGES)
def test_a_package_calls_register_of_every_module_that_has_it(package: str) -> None:
    functions = [node for module in modules(package).values() for node in module.body if isinstance(node, ast.FunctionDef)]
    having = [function for function in functions if function.name == "register" and not function.args.args]
    calls = [node.value for node in modules(package)[REPOSITORY / package / "__init__.py"].body if isinstance(node, ast.Expr)]
    called = [call for call in calls if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr == "register"]
    assert len(called) == len(having)
