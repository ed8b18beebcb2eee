"""Fixtures of the tests of packages; those of packages that are not installed are not collected."""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Callable
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

import pytest

from netinv_import.report import ImportReport
from netinv_testing import Service
from tests.support.dumps import load


def is_installed(name: str) -> bool:
    """True for a package that is installed; its folder here, which pytest puts on the path, is a namespace."""
    spec = importlib.util.find_spec(name)
    return spec is not None and spec.origin is not None


INSTALLED = {point.value.partition(":")[0].partition(".")[0] for point in entry_points(group="netinv")}
FOLDERS = {folder.name for folder in Path(__file__).parent.glob("netinv_*")}
# The applications of the packages that are installed, as the labels of their models begin: "asns."
PACKAGES = [f"{name.removeprefix('netinv_')}." for name in sorted(FOLDERS & INSTALLED)]
collect_ignore = [folder.name for folder in Path(__file__).parent.glob("netinv_*") if not is_installed(folder.name)]


@pytest.fixture
def load_dump(service: Service, tmp_path: Path) -> Callable[..., ImportReport]:
    """``load_dump(item("ipam.vrf", 1, name="blue"), …)``: imports a NetBox dump of these objects, each time from the
    inventory of the test.
    """
    origin = service.unique()

    def imported(*objects: Any) -> ImportReport:
        path = tmp_path / "dump.json"
        path.write_text(json.dumps(objects))
        return load(service, path, origin=origin)

    return imported
