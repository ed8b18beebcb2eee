"""Database servers that tests run on. PostgreSQL and MariaDB share the modules in which they seldom differ: half of these
run on the one, half on the other, and all run on SQLite. Marks the tests that are left to the other server.
"""

from __future__ import annotations

import zlib
from pathlib import Path

import pytest

from tests.support import REPOSITORY
from tests.support.databases import DIALECT

# Parts that run on both servers: statements, locks and transactions, queues, the rows of the specification, the contract.
ON_BOTH = (
    "plugins",
    "tests/core/db",
    "tests/core/maintenance",
    "tests/core/read",
    "tests/core/storage",
    "tests/core/tasks",
    "tests/core/write",
    "tests/crash",
    "tests/extras/change_requests",
    "tests/extras/webhooks",
    "tests/properties",
    "tests/specification",
    "tests/test_contract.py",
    "tests/web/test_contract_pages.py",
)
SHARES = {"postgresql": 0, "mysql": 1}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Marks the tests of modules that the other server has as ``other_server``."""
    if DIALECT not in SHARES:
        return
    for item in items:
        if is_left_to_another(item.path.relative_to(REPOSITORY), SHARES[DIALECT]):
            item.add_marker("other_server")


def is_left_to_another(module: Path, share: int) -> bool:
    """Tells if a module runs on the server with the other share."""
    if any(module.is_relative_to(part) for part in ON_BOTH):
        return False
    return zlib.crc32(module.as_posix().encode()) % len(SHARES) != share
