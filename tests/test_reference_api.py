"""Reference of the public API: every name, function and hook is described, with an example that is code of a package."""

from __future__ import annotations

import ast
import functools
import importlib
import inspect
import re
from collections.abc import Iterator
from typing import Any

import pytest

import netinv_core
from release import reference_packages
from release.docstrings import Doc, signature
from release.public_modules import described_modules
from release.reference_api import ApiPages, functions_of, hook_specifications, public_modules
from tests.support import REPOSITORY
from tests.support.registry import REGISTRY

pytestmark = pytest.mark.any_database
EXAMPLE = re.compile(r"^Example, from `(\S+)`:\n\n```python\n(.*?)\n```\n", flags=re.DOTALL | re.MULTILINE)
ENTRY = re.compile(r"^#{2,3} ([\w.]+)\n\n(.*?)(?=^#{2,3} [\w.]|\Z)", flags=re.DOTALL | re.MULTILINE)


def public() -> Iterator[tuple[str, str]]:
    """The page and the heading of everything that is public."""
    modules = public_modules()
    yield from (("names.md", name) for name in sorted(netinv_core._MODULES) if name not in modules)
    for module, value in modules.items():
        yield "functions.md", module
        yield from (("functions.md", f"{module}.{name}") for name in functions_of(value))
    yield from (("hooks.md", name) for name in hook_specifications(REGISTRY))


@functools.cache
def entries() -> dict[tuple[str, str], str]:
    """The entries of the pages of the API, by page and heading. All Python of the repository is parsed for them."""
    pages = ApiPages(REGISTRY).pages()
    return {(page, name): text for page, whole in pages.items() for name, text in ENTRY.findall(whole)}


@functools.cache
def package_entries() -> dict[str, str]:
    """The entries of the page about packages, by heading."""
    return dict(ENTRY.findall(reference_packages.page()))


@pytest.mark.parametrize(("page", "name"), list(public()))
def test_everything_public_has_a_description_and_an_example_of_the_repository(page: str, name: str) -> None:
    text = entries()[page, name]
    ((path, code),) = EXAMPLE.findall(text)
    source = (REPOSITORY / path).read_text()
    lines = [line.strip() for line in code.splitlines() if line.strip() != "…"]
    assert "\n".join(lines) in "\n".join(line.strip() for line in source.splitlines())
    assert re.search(rf"\b{name.rpartition('.')[2]}\b", code)
    about = re.sub(r"```python\n.*?\n```", "", EXAMPLE.sub("", text), flags=re.DOTALL)
    assert re.search(r"\w{3,}.* \w+", about), "it has no docstring"
    assert " at 0x" not in text
    assert re.search(r":(class|func|meth|attr|data|mod|raises|param|returns)\b", about) is None


def test_signatures_and_errors_are_those_of_the_code() -> None:
    def counted(uow: netinv_core.UnitOfWork, *names: str, most: int | None = None, label: str = "x") -> list[str]:
        """Counts objects (:class:`netinv_core.registry.Registry`).

        :param names: of the ``objects``
        :returns: the counts
        :raises Invalid: for a name
            that is not there
        """
        return [label, *names]

    assert signature("counted", counted) == (
        "counted(\n    uow: netinv_core.UnitOfWork,\n    *names: str,\n    most: int | None = None,\n    label: str = 'x',\n"
        ") -> list[str]"
    )
    doc = Doc(counted.__doc__ or "")
    assert list(doc.lines()) == [
        "Counts objects (`registry.Registry`).",
        "",
        "- `names`: of the `objects`",
        "",
        "Returns the counts",
        "",
        "Errors:",
        "",
        "- `Invalid` for a name that is not there",
        "",
    ]
    assert "status: Mapped[str] = choice(STATUSES" in entries()["names.md", "choice"]


@pytest.mark.parametrize(("module", "names"), described_modules().items())
def test_each_public_name_of_other_modules_has_a_signature_and_a_sentence(module: str, names: dict[str, Any]) -> None:
    assert names
    for name in names:
        entry = package_entries()[f"{module}.{name}"]
        assert re.match(rf"```python\n(class )?{name}\b", entry)
        assert re.search(r"\w+ \w+", re.sub(r"```python\n.*?\n```", "", entry, flags=re.DOTALL))
        assert " at 0x" not in entry and re.search(r":(class|func|meth|attr|data|mod)\b", entry) is None


def test_what_plugins_of_the_repository_import_of_other_modules_is_described() -> None:
    described = described_modules()
    imported = {
        (module, name)
        for path in (REPOSITORY / "plugins").glob("*/netinv_*/*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.ImportFrom)
        for module, name in [(node.module or "", alias.name) for alias in node.names]
        if module in described
    }
    functions = {pair for pair in imported if inspect.isfunction(getattr(importlib.import_module(pair[0]), pair[1]))}
    assert len(functions) > 5
    assert {(module, name) for module, name in functions if name not in described[module]} == set()


def test_a_signature_is_the_same_in_each_build() -> None:
    first = entries()["names.md", "GenericCascade"]
    assert "applies: Callable[[Endpoint], bool] = …" in first
    assert "(\n    name: str,\n    title: str,\n" in entries()["names.md", "App"]
