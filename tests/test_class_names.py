"""Names of classes: one name, one class."""

from __future__ import annotations

import ast
from collections import defaultdict
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parent.parent
# Protocols, which have the names of the classes that fulfil them.
PROTOCOLS = ("netinv_core/types.py", "netinv_core/plain_types.py")
# Names that plugins and users know for two things.
TWICE = {
    "Job": "the base class of jobs, and the model",
    "Service": "the model of IPAM, and the service under test",
    "Status": "the model, and the field that refers to one",
}


def classes() -> dict[str, list[str]]:
    """The modules that define a class, by the name of the class; protocols left out."""
    found: dict[str, list[str]] = defaultdict(list)
    for folder in sorted(REPOSITORY.glob("netinv_*")):
        for path in sorted(folder.rglob("*.py")):
            name = path.relative_to(REPOSITORY).as_posix()
            if name not in PROTOCOLS:
                for node in ast.parse(path.read_text()).body:
                    if isinstance(node, ast.ClassDef):
                        found[node.name].append(name)
    return found


@pytest.mark.night
def test_a_name_is_that_of_one_class() -> None:
    """Two classes of one name mislead who reads a traceback, an annotation or the index of an editor."""
    homonyms = {name: paths for name, paths in classes().items() if len(paths) > 1}
    assert homonyms.keys() == TWICE.keys(), {name: paths for name, paths in homonyms.items() if name not in TWICE}
