"""Names of the public API, recorded in ``public_names.txt``: ``python -m release.public_names`` writes the file anew.

A name that vanishes breaks plugins, so a test compares the file; changes of it are listed in the changelog.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import netinv_core
from release.public_modules import described_modules
from release.reference_api import functions_of, public_modules

RECORDED = Path(__file__).with_name("public_names.txt")


def names() -> list[str]:
    """The public names, functions of public modules, and members of public classes, in order."""
    found: set[str] = set()
    for name in sorted(netinv_core._MODULES):
        found |= set(_names_of(name, getattr(netinv_core, name)))
    for package, values in described_modules().items():
        for name, value in values.items():
            found |= set(_names_of(f"{package}.{name}", value))
    for name, module in public_modules().items():
        found |= {f"{name}.{function}" for function in functions_of(module)}
    return sorted(found)


def _names_of(name: str, value: Any) -> Iterator[str]:
    """A name, with the members that a class itself has, or the functions of a module."""
    yield name
    if inspect.isclass(value):
        members = {*vars(value), *inspect.get_annotations(value)}
    else:
        members = set(functions_of(value)) if inspect.ismodule(value) else set()
    yield from (f"{name}.{member}" for member in members if not member.startswith("_"))


if __name__ == "__main__":
    RECORDED.write_text("\n".join(names()) + "\n")
