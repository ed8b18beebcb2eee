"""Page about the modules of packages that plugins may import besides ``netinv_core``: each public name with its
signature and its docstring.
"""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Iterator
from typing import Any

from release.docstrings import Doc, signature
from release.public_modules import described_modules

INTRODUCTION = """Names that plugins may import besides [those of netinv_core](names.md): models and resources of
other packages, the types of columns in `netinv_core.models.types`, and the names below. Generated from docstrings."""


def page() -> str:
    """The text of the page."""
    lines = ["# Names of packages", "", INTRODUCTION, ""]
    for name, values in described_modules().items():
        module = importlib.import_module(name)
        lines += [f"## {name}", "", Doc(module.__doc__ or "").first, ""]
        for item, value in values.items():
            lines += [f"### {name}.{item}", "", *_entry(item, value)]
    return "\n".join(lines)


def _entry(name: str, value: Any) -> Iterator[str]:
    """The signature and the docstring of a function or class.

    :raises LookupError: for one without a docstring
    """
    text = vars(value).get("__doc__") if inspect.isclass(value) else value.__doc__
    if not text:
        raise LookupError(f"{value.__module__}.{name} has no docstring")
    head = signature(name, value)
    yield from ("```python", f"class {head}" if inspect.isclass(value) else head, "```", "")
    yield from Doc(text).lines()
