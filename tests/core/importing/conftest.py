"""Fixtures of the tests of imports."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from netinv_core.importing.netbox import Report
from netinv_core.testing import Service
from tests.support.dumps import load


@pytest.fixture
def run(service: Service, tmp_path: Path, unique: Any) -> Any:
    """``run(item, …)``: imports a dump of these objects, from an inventory that no other test has."""
    origin = unique()

    def load_items(*items: dict[str, Any], username: str = "", origin: str = origin) -> Report:
        path = tmp_path / "dump.json"
        path.write_text(json.dumps(items))
        return load(service, path, username, origin=origin)

    return load_items
