"""Docstrings and signatures in Markdown, for the reference of the public API."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterator
from typing import Any

LONGEST_LINE = 100  # of a signature
_FIELD = re.compile(r"^:(param|raises|returns?)\s*([\w. |]*):\s*", re.MULTILINE)
_ROLE = re.compile(r":(?:class|func|meth|attr|data|mod|exc):`(?:[^`<]*<)?~?([^`>]*)>?`")
_ADDRESS = re.compile(r"<[^<>]*(?:<[^<>]*>)?[^<>]*>")
_SET = re.compile(r"\{([^{}:]+)\}")  # of defaults that are a set or frozenset


def markdown(text: str) -> str:
    """A text in reStructuredText, as docstrings have it, in Markdown."""
    text = _ROLE.sub(lambda match: f"`{match[1].removeprefix('netinv_core.')}`", text)
    return text.replace("``", "`").replace("* `", "- `").strip()


class Doc:
    """Parts of a docstring: its text, and what it says of parameters, errors and the result."""

    def __init__(self, docstring: str) -> None:
        first, *rest = _FIELD.split(inspect.cleandoc(docstring))
        self.text = markdown(first)
        self.parameters: list[tuple[str, str]] = []
        self.errors: list[tuple[str, str]] = []
        self.result = ""
        for kind, name, about in zip(rest[::3], rest[1::3], rest[2::3], strict=True):
            about = " ".join(markdown(about).split())
            if kind == "param":
                self.parameters.append((name, about))
            elif kind == "raises":
                self.errors.append((name, about))
            else:
                self.result = about

    @property
    def first(self) -> str:
        """The first paragraph in one line."""
        return " ".join(self.text.partition("\n\n")[0].split())

    def lines(self) -> Iterator[str]:
        """The docstring as lines of a page."""
        yield from (self.text, "")
        if self.parameters:
            yield from (*(f"- `{name}`: {about}" for name, about in self.parameters), "")
        if self.result:
            yield from (f"Returns {self.result}", "")
        if self.errors:
            yield from ("Errors:", "", *(f"- `{name}` {about}" for name, about in self.errors), "")


def signature(name: str, value: Any) -> str:
    """The signature of a function or class as it would stand in a module; the same in each build."""
    try:
        found = inspect.signature(value)
    except (TypeError, ValueError):
        return name
    parts, keywords = [], False
    for parameter in found.parameters.values():
        if parameter.kind is parameter.KEYWORD_ONLY and not keywords:
            parts.append("*")
            keywords = True
        keywords = keywords or parameter.kind is parameter.VAR_POSITIONAL
        parts.append(_annotated(str(parameter)))
    result = "" if found.return_annotation is found.empty else f" -> {found.return_annotation}"
    line = f"{name}({', '.join(parts)}){result}"
    if len(line) <= LONGEST_LINE:
        return line
    return f"{name}(\n" + "".join(f"    {part},\n" for part in parts) + f"){result}"


def _annotated(parameter: str) -> str:
    """A parameter without the quotes of its annotation, and with a default that is the same in each build: without
    addresses, members of sets in order.
    """
    parameter = re.sub(r"""^([*\w]+): (["'])(.*?)\2(?=$| = )""", r"\1: \3", parameter)
    parameter = _SET.sub(lambda match: f"{{{', '.join(sorted(match[1].split(', ')))}}}", parameter)
    return _ADDRESS.sub("…", parameter)


def _assignments(source: str) -> Iterator[tuple[str, ast.stmt]]:
    """The assignments of a module, with the names that they set."""
    for node in ast.parse(source).body:
        if isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            yield from ((target.id, node) for target in targets if isinstance(target, ast.Name))


def comments(source: str) -> dict[str, str]:
    """The comments ``#: …`` above assignments of a module, by name."""
    lines = source.splitlines()
    found = {}
    for name, node in _assignments(source):
        first = node.lineno - 1
        while first > 0 and lines[first - 1].startswith("#: "):
            first -= 1
        if first < node.lineno - 1:
            found[name] = " ".join(line.removeprefix("#: ") for line in lines[first : node.lineno - 1])
    return found


def definition(source: str, name: str) -> str:
    """The assignment of a name in a module."""
    node = dict(_assignments(source))[name]
    return "\n".join(source.splitlines()[node.lineno - 1 : node.end_lineno])
