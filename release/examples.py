"""Examples of public names and hooks: the shortest statement of a package that uses one. Those of the example plugin
come first, then other packages, at last the core itself.
"""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from release import REPOSITORY

# Where examples come from, the best first.
FOLDERS = (
    "plugins/example/netinv_example",
    "plugins/netinv_*/netinv_*",
    "netinv_[!ct]*",
    "netinv_[ct][!oe]*",
    "netinv_tenancy",
    "tests/support/plugin_fixtures/*",
    "netinv_core",
)
LONGEST = 16  # lines of an example; of longer functions and classes the beginning
LEFT_OUT = {"versions", "build", "testing"}
Definition = ast.FunctionDef | ast.ClassDef


class Example(NamedTuple):
    """A piece of code and its file. Those that come first are better."""

    is_mention: bool  # not a call, decorator or base class
    folder: int  # its place in FOLDERS
    is_within_function: bool
    lines: int
    path: str
    code: str


class Examples:
    """Finder of examples. ``modules`` has the module of each public name, ``functions`` the names of the modules whose
    functions are public, by module.
    """

    def __init__(self, modules: Mapping[str, str], functions: Mapping[str, str]) -> None:
        self._modules, self.functions = modules, functions
        self._best: dict[str, Example] = {}
        for number, folder in enumerate(FOLDERS):
            for root in sorted(REPOSITORY.glob(folder)):
                for path in sorted(root.rglob("*.py")):
                    if LEFT_OUT.isdisjoint(path.parts):
                        _Reader(self, path, number).read()

    def of(self, name: str) -> Example | None:
        """The example of a public name (``"column"``), of a function of a module (``"listing.rows_of"``), or of a
        hook.
        """
        return self._best.get(name)

    def names(self, module: ast.Module) -> dict[str, str]:
        """The public names of a module of Python by those that it gives them."""
        found = {}
        imports = [node for node in ast.walk(module) if isinstance(node, ast.ImportFrom) and not node.level]
        for node in imports:
            for alias in node.names:
                if node.module in ("netinv_core", self._modules.get(alias.name, "")):
                    found[alias.asname or alias.name] = alias.name
                elif owner := self.functions.get(node.module or ""):
                    found[alias.asname or alias.name] = f"{owner}.{alias.name}"
        return found

    def own_names(self, path: str, module: ast.Module) -> dict[str, str]:
        """The functions of a module of public functions, which uses them itself."""
        owner = self.functions.get(path.removesuffix(".py").replace("/", "."))
        functions = [node.name for node in module.body if isinstance(node, ast.FunctionDef)]
        return {name: f"{owner}.{name}" for name in functions} if owner else {}

    def add(self, name: str, example: Example) -> None:
        """Keeps an example if it is the best one so far."""
        self._best[name] = min(example, self._best.get(name, example))


class _Reader:
    """Reader of the examples of one file."""

    def __init__(self, examples: Examples, path: Path, folder: int) -> None:
        self._examples, self._folder = examples, folder
        self._path = path.relative_to(REPOSITORY).as_posix()
        text = path.read_text()
        self._lines, self._tree = text.splitlines(), ast.parse(text)
        self._names = examples.names(self._tree) | examples.own_names(self._path, self._tree)

    def read(self) -> None:
        """Adds the examples of the file."""
        for statement in self._tree.body:
            self._read(statement, within=False)

    def _read(self, statement: ast.stmt, *, within: bool) -> None:
        if isinstance(statement, ast.Import | ast.ImportFrom):
            return
        own = list(_own_nodes(statement))
        calls: dict[ast.AST, ast.expr] = {node.func: node for node in own if isinstance(node, ast.Call)}
        heading = _heading(statement)
        for name, node in self._used(own):
            is_mention = not (node in calls or node in heading)
            self._add(name, statement, calls.get(node, node), is_mention=is_mention, within=within)
        is_function = isinstance(statement, ast.FunctionDef)
        if isinstance(statement, ast.FunctionDef) and any(self._is_hookimpl(node) for node in statement.decorator_list):
            self._add(statement.name, statement, statement, is_mention=False, within=within)
        for child in _statements_in(statement):
            self._read(child, within=within or is_function)

    def _is_hookimpl(self, node: ast.expr) -> bool:
        node = node.func if isinstance(node, ast.Call) else node
        return isinstance(node, ast.Name) and node.id == "hookimpl"

    def _used(self, nodes: list[ast.AST]) -> Iterator[tuple[str, ast.expr]]:
        """The public names that expressions use, with the nodes."""
        for node in nodes:
            if isinstance(node, ast.Name) and node.id in self._names:
                yield self._names[node.id], node
            elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
                owner = self._names.get(node.value.id, "")
                if owner in self._examples.functions.values():
                    yield f"{owner}.{node.attr}", node

    def _add(self, name: str, statement: ast.stmt, use: ast.stmt | ast.expr, *, is_mention: bool, within: bool) -> None:
        code = self._code(statement, use)
        example = Example(is_mention, self._folder, within, code.count("\n") + 1, self._path, code)
        self._examples.add(name, example)

    def _code(self, statement: ast.stmt, use: ast.stmt | ast.expr) -> str:
        """The code of a statement; of a long one the beginning, or the part that uses the name."""
        decorators = statement.decorator_list if isinstance(statement, Definition) else []
        first = min([statement.lineno, *(node.lineno for node in decorators)])
        last = statement.end_lineno or first
        indent = statement.col_offset + 4
        if last - first >= LONGEST and use.lineno >= first + LONGEST - 1:
            first, last, indent = use.lineno, use.end_lineno or use.lineno, use.col_offset + 4
        lines = self._lines[first - 1 : last]
        if len(lines) > LONGEST:
            lines = [*lines[: LONGEST - 1], f"{' ' * indent}…"]
        return textwrap.dedent("\n".join(lines)).removesuffix(",")


def _statements_in(statement: ast.AST) -> Iterator[ast.stmt]:
    """The statements directly within a statement."""
    for child in ast.iter_child_nodes(statement):
        if isinstance(child, ast.stmt):
            yield child
        elif not isinstance(child, ast.expr):  # a handler of exceptions, a case
            yield from _statements_in(child)


def _own_nodes(statement: ast.stmt) -> Iterator[ast.AST]:
    """The expressions of a statement, without those of the statements within it."""
    nodes: list[ast.AST] = [child for child in ast.iter_child_nodes(statement) if not isinstance(child, ast.stmt)]
    while nodes:
        node = nodes.pop()
        yield node
        nodes += [child for child in ast.iter_child_nodes(node) if not isinstance(child, ast.stmt)]


def _heading(statement: ast.stmt) -> list[ast.expr]:
    """The decorators of a definition and the bases of a class."""
    bases = statement.bases if isinstance(statement, ast.ClassDef) else []
    return [*bases, *(statement.decorator_list if isinstance(statement, Definition) else [])]
