"""Tests that run on PostgreSQL, on MariaDB, or on both."""

from __future__ import annotations

from tests.support import REPOSITORY
from tests.support.database_shares import ON_BOTH, SHARES, is_left_to_another

MODULES = [path.relative_to(REPOSITORY) for path in (REPOSITORY / "tests").rglob("test_*.py")]


def test_each_module_runs_on_a_server() -> None:
    """About half of the modules that the servers share are on each."""
    servers = {module: sum(not is_left_to_another(module, share) for share in SHARES.values()) for module in MODULES}
    assert set(servers.values()) == {1, 2}
    shared = [module for module, count in servers.items() if count == 1]
    first = [module for module in shared if not is_left_to_another(module, 0)]
    assert 0.4 < len(first) / len(shared) < 0.6


def test_parts_of_both_servers_exist() -> None:
    assert [part for part in ON_BOTH if not (REPOSITORY / part).exists()] == []
