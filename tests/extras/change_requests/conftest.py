"""Fixtures of the tests of change requests."""

from __future__ import annotations

from typing import Any

import pytest

from netinv_testing import Api, Unique


@pytest.fixture
def site(api: Api, unique: Unique) -> Any:
    """A site."""
    return api.post("/api/dcim/sites/", {"name": unique(), "status": "active"})
