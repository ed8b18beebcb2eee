"""Imports of job modules: those of Nautobot's job API name netinv's, and errors say the line and what to do."""

from __future__ import annotations

import ast
import traceback

from netinv_extras.jobs.declarations import GUIDE

JOB_API = "netinv_extras.jobs"
SAME = dict.fromkeys(("nautobot.extras.jobs", "nautobot.apps.jobs", "nautobot.core.celery"), JOB_API)
PARENTS = {"nautobot.extras", "nautobot.apps"}
ELSEWHERE = {"celery", "django", "extras", "nautobot"}  # packages of Nautobot that are not here


def translate_imports(code: bytes, origin: str) -> ast.Module:
    """Returns the syntax tree of a module, with ``nautobot.extras.jobs`` and ``nautobot.apps.jobs`` as netinv's.

    :raises SyntaxError, ValueError: if it is not valid Python
    """
    tree: ast.Module = _Translation().visit(ast.parse(code, origin))
    return tree


class _Translation(ast.NodeTransformer):
    """Changes the names of modules in import statements."""

    def visit_ImportFrom(self, node: ast.ImportFrom) -> ast.AST:
        if node.level == 0:
            if node.module in SAME:
                node.module = SAME[node.module]
            elif node.module in PARENTS and {alias.name for alias in node.names} == {"jobs"}:
                node.module = JOB_API.partition(".")[0]
        return node

    def visit_Import(self, node: ast.Import) -> ast.AST:
        for alias in node.names:
            if alias.asname:
                alias.name = SAME.get(alias.name, alias.name)
        return node


def reason_of(error: BaseException) -> str:
    """Returns an exception as text; that of an import from Nautobot or Django says what to do."""
    if isinstance(error, ModuleNotFoundError) and (error.name or "").partition(".")[0] in ELSEWHERE:
        return f"there is no module {error.name} in netinv: see {GUIDE}, and `netinv jobs check` for all such lines"
    if isinstance(error, ImportError) and error.name == JOB_API:
        return f"{error} (what jobs import is listed in docs/jobs.md and {GUIDE})"
    return str(error)


def import_error_text(error: BaseException, origin: str) -> str:
    """Returns the error of a module's import as text, with the line of the module."""
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == origin]
    place = f"line {lines[-1]}: " if lines else ""
    return f"{place}{type(error).__name__}: {reason_of(error)}"
