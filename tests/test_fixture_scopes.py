"""Scopes of fixtures: a module whose tests run in two parts finds what it made in a shared service."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support import REPOSITORY

SHARED = {"service", "demo_service"}  # services of scope "session"


def fixtures(module: ast.Module) -> Iterator[tuple[ast.FunctionDef, str]]:
    """The fixtures of a module in their order, each with its scope."""
    for node in module.body:
        for decorator in node.decorator_list if isinstance(node, ast.FunctionDef) else ():
            if ast.unparse(decorator).startswith("pytest.fixture"):
                keywords = decorator.keywords if isinstance(decorator, ast.Call) else []
                scopes = [ast.literal_eval(keyword.value) for keyword in keywords if keyword.arg == "scope"]
                yield node, scopes[0] if scopes else "function"


def made_twice(path: Path) -> list[str]:
    """Fixtures that leave objects in a shared service and are called again when the module is entered again."""
    module, found = ast.parse(path.read_text()), set[str]()
    scopes = {function.name: scope for function, scope in fixtures(module)}
    imported = {
        alias.name for node in ast.walk(module) if isinstance(node, ast.ImportFrom) for alias in node.names
    }  # a service of its own, such as that of tests.support.runs
    for function, scope in fixtures(module):
        arguments = {argument.arg for argument in function.args.args}
        shared = {name for name in arguments & SHARED if scopes.get(name, "session") == "session"} - imported
        own = {name for name in arguments if scopes.get(name) == "module" or name in imported} - found
        cleans_up = any(isinstance(node, ast.Yield) for node in ast.walk(function))
        if scope in ("class", "module") and (shared or arguments & found) and not own and not cleans_up:
            found.add(function.name)
    return [f"{path.relative_to(REPOSITORY)}: {name}" for name in sorted(found)]


@pytest.mark.night
def test_objects_of_a_module_in_a_shared_service_are_made_once() -> None:
    """xdist gives the tests of a module to a worker in several parts: a fixture of the module is set up for each."""
    files = sorted([*(REPOSITORY / "tests").rglob("*.py"), *(REPOSITORY / "plugins").rglob("tests/*.py")])
    assert len(files) > 300
    found = [line for path in files for line in made_twice(path)]
    assert found == [], 'Their scope is "session".'
