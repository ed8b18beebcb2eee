"""Packages of ``plugin_fixtures``, installed for a test or a module."""

from __future__ import annotations

import contextlib
import importlib
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from sqlalchemy.engine import Engine

from tests.support import SUPPORT

PLUGIN_FIXTURES = SUPPORT / "plugin_fixtures"


@contextlib.contextmanager
def installation(folder: Path, patches: pytest.MonkeyPatch) -> Iterator[Callable[[str], None]]:
    """``install("guest")``, which installs the package ``plugin_fixtures/guest`` by files in an empty folder.

    Its module is forgotten at the end; ``patches`` restore the search path.
    """
    names: list[str] = []

    def install(name: str) -> None:
        add_distribution(folder, name)
        patches.syspath_prepend(str(folder))
        patches.syspath_prepend(str(PLUGIN_FIXTURES / name))
        importlib.invalidate_caches()
        names.append(f"netinv_{name}")

    yield install
    for name in names:
        sys.modules.pop(name, None)


def create_tables(engine: Engine, name: str) -> None:
    """Makes the table that the installed package ``guest`` has no migration for."""
    if name == "guest":
        importlib.import_module(f"netinv_{name}").tally.create(engine, checkfirst=True)


def add_distribution(folder: Path, name: str) -> None:
    """Writes the metadata of an installed distribution, whose package is the module ``netinv_<name>``."""
    information = folder / f"netinv_{name}-1.0.dist-info"
    information.mkdir()
    (information / "METADATA").write_text(f"Metadata-Version: 2.1\nName: netinv-{name}\nVersion: 1.0\n")
    (information / "entry_points.txt").write_text(f"[netinv]\n{name} = netinv_{name}\n")
