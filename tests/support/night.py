"""Tests that the gate leaves to ``make test-all``, which each night runs: they are marked ``night``.

A test that is heavy and finds little has the mark itself. On PostgreSQL and MariaDB all tests have it but those below:
what depends on locks, constraints, orders, notations, plans or types of the database.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support import REPOSITORY
from tests.support.databases import DIALECT

ON_SERVERS = (  # modules and folders that the gate runs on both
    "tests/core/db",
    "tests/core/read",
    "tests/core/tasks",
    "tests/core/write/test_concurrency.py",
    "tests/core/write/test_deleted_targets.py",
    "tests/core/write/test_dry_run.py",
    "tests/core/write/test_lock_order.py",
    "tests/core/write/test_lock_order_of_batches.py",
    "tests/core/write/test_lost_links.py",
    "tests/core/write/test_on_error.py",
    "tests/core/write/test_races.py",
    "tests/core/write/test_races_of_rules.py",
    "tests/core/write/test_savepoints.py",
    "tests/core/write/test_upsert.py",
    "tests/core/write/test_write_budgets.py",
    "tests/extras/change_requests/test_every_resource.py",
    "tests/extras/change_requests/test_merges_at_once.py",
    "tests/extras/changelog/test_as_of.py",
    "tests/extras/changelog/test_feed.py",
    "tests/extras/changelog/test_revert.py",
    "tests/extras/custom_fields",
    "tests/extras/dynamic_groups",
    "tests/extras/relationships",
    "tests/extras/webhooks/test_webhook_claims.py",
    "tests/extras/webhooks/test_webhook_worker.py",
    "tests/dcim/test_cables.py",
    "tests/dcim/test_power.py",
    "tests/dcim/test_rack_position.py",
    "tests/ipam/test_families_in_order.py",
    "tests/ipam/test_full_ranges.py",
    "tests/ipam/test_networks.py",
    "tests/ipam/test_prefix_locks.py",
    "tests/ipam/test_prefix_space.py",
    "tests/ipam/test_prefix_tree.py",
    "tests/ipam/test_utilization.py",
    "tests/properties/test_available_properties.py",
    "tests/properties/test_network_lookups_properties.py",
    "tests/properties/test_ordering_properties.py",
    "tests/properties/test_paging_properties.py",
    "tests/properties/test_prefix_level_properties.py",
    "tests/properties/test_reference_lookups_properties.py",
    "tests/properties/test_text_lookups_properties.py",
    "tests/properties/test_value_lookups_properties.py",
    "tests/specification/test_specified_filtering.py",
    "tests/specification/test_specified_network_filters.py",
    "tests/specification/test_specified_webhooks.py",
    "tests/test_contract.py",
)
ON_POSTGRESQL = (  # and those that it runs on PostgreSQL alone
    "tests/core/maintenance/test_backup.py",
    "tests/core/test_two_processes.py",
    "tests/crash/test_crash.py",
)
ON = {"mysql": ON_SERVERS, "postgresql": (*ON_SERVERS, *ON_POSTGRESQL)}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Marks the tests of other modules on a server."""
    for item in items:
        if not runs_on(DIALECT, item.path.relative_to(REPOSITORY)):
            item.add_marker("night")


def runs_on(dialect: str, module: Path) -> bool:
    """Tells if the gate runs a module on a database."""
    return dialect not in ON or any(module.is_relative_to(part) for part in ON[dialect])
