"""Steps: the commands of the gate and of the whole, and what each needs.

The gate is a fixed selection of the whole: without what is marked ``night`` (`tests/support/night.py`) or
``repetition``, and on PostgreSQL and MariaDB the modules that depend on the database.
"""

from __future__ import annotations

import dataclasses
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from ci.machine import REPOSITORY, SERVERS

BIN = Path(sys.executable).parent
URLS = {server.name: os.environ.get(server.variable) or server.default for server in SERVERS}
URLS["PostgreSQL by SQLAlchemy"] = f"{URLS['PostgreSQL']}?execution=sqlalchemy"
NOT_HERE = "not browser and not directory"


@dataclasses.dataclass(frozen=True)
class Command:
    """A command that passes with status 0; with ``needed``, later steps cannot run unless it does."""

    name: str
    words: Sequence[object]
    needed: bool = False


@dataclasses.dataclass(frozen=True)
class Pytest:
    """A run of pytest.

    :param marks: expression of the option ``-m``
    :param arguments: further arguments
    :param database: the server in ``URLS``; SQLite if none is named
    :param libraries: folders of ``.venv`` with libraries of these tests alone
    :param seed: draws generated input, so that each database gets another
    :param processes: none runs the tests in the process of pytest itself
    """

    name: str
    marks: str
    arguments: Sequence[str] = ()
    database: str = ""
    libraries: Sequence[str] = ("plugins",)
    seed: int = 0
    processes: int = 2

    @property
    def environment(self) -> Mapping[str, str]:
        """Environment variables of pytest."""
        found = {"PYTHONPATH": os.pathsep.join(str(REPOSITORY / ".venv" / name) for name in self.libraries)}
        if self.database:
            found |= {"NETINV_TEST_DATABASE": URLS[self.database], "NETINV_TEST_QUEUE": URLS["Redis"]}
        return found

    @property
    def parts(self) -> list[str]:
        """Arguments of pytest that divide the tests among processes."""
        return ["-n", str(self.processes), "--dist", "each", "--parts"] if self.processes else []

    @property
    def options(self) -> list[str]:
        """Arguments of pytest, without those that select tests and processes."""
        inputs = os.environ.get("INPUTS") if self.database else None
        return ["-q", f"--input-seed={self.seed}", *([f"--inputs={inputs}"] if inputs else [])]


Step = Command | Pytest
PACKAGES = sorted(path.name.removeprefix("netinv_") for path in REPOSITORY.glob("plugins/netinv_*"))
OF_PACKAGES = (  # the tests of packages, and the checks of the contract for their resources
    *("-k", " or ".join(f"{name}." for name in PACKAGES)),
    *("plugins", "tests/test_contract.py", "tests/web/test_contract_pages.py"),
)
LINT = (
    Command("ruff", [BIN / "ruff", "check", "."]),
    Command("format", [BIN / "ruff", "format", "--check", "--quiet", "."]),
    Command("mypy", [BIN / "mypy"]),
)
QUICK = Pytest("quick", f"not slow and not crash and not repetition and not night and {NOT_HERE}")
DIRECTORIES = ("tests/oidc", "tests/ldap", "tests/agents")
ON_SERVERS = (  # what depends on locks, constraints, orders, notations or types of a database server
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
    "tests/test_contract.py",
)
ON_POSTGRESQL = (  # what the gate runs on PostgreSQL besides
    "tests/core/test_two_processes.py",
    "tests/crash/test_crash.py",
)
LIBRARIES = [f".venv/{name}" for name in ("plugins", "packages", "ldap", "mcp", "provider")]
COMPILED = Command(  # while mypy runs; otherwise both processes of each step compile the same modules
    "compiled", [sys.executable, "-m", "pytest", "-q", "--collect-only", "-m", "not repetition", "tests"]
)
GATED = "not any_database and not night and not repetition"
GATE: tuple[Step, ...] = (
    Command("libraries", ["make", "--silent", "-j2", *LIBRARIES], needed=True),
    *LINT,
    COMPILED,
    Pytest("directories", "directory and not night", DIRECTORIES, libraries=("plugins", "ldap", "mcp")),
    Pytest("browser", "browser and not night", ("tests/browser",)),
    Pytest("packages", "not repetition and not night", OF_PACKAGES, libraries=("plugins", "packages")),
    Pytest("mariadb", GATED, ON_SERVERS, "MariaDB", seed=2),
    Pytest("postgresql", GATED, (*ON_SERVERS, *ON_POSTGRESQL), "PostgreSQL", seed=1),
    Pytest("sqlite", f"not crash and not repetition and not night and {NOT_HERE}"),
)
POSTGRESQL = Pytest("test-postgresql", f"not any_database and {NOT_HERE}", database="PostgreSQL", seed=1)
WHOLE: tuple[Step, ...] = (
    Pytest("test-directories", "directory", DIRECTORIES, libraries=("plugins", "ldap", "mcp")),
    Pytest("test-browser", "browser", ("tests/browser",)),
    *(
        Pytest(name, "not any_database" if database else "", OF_PACKAGES, database, ("plugins", "packages"))
        for name, database in (
            ("test-packages", ""),
            ("test-packages-mariadb", "MariaDB"),
            ("test-packages-postgresql", "PostgreSQL"),
        )
    ),
    Pytest("test-sqlite", NOT_HERE),
    Pytest("test-mariadb", f"not any_database and {NOT_HERE}", database="MariaDB", seed=2),
    POSTGRESQL,
)
# What the gate runs on PostgreSQL, with the other way of execution.
BY_SQLALCHEMY = Pytest("test-postgresql-by-sqlalchemy", GATED, ON_SERVERS, "PostgreSQL by SQLAlchemy", seed=3)
GROUPS: Mapping[str, Sequence[Step]] = {
    "gate": GATE,
    "lint": LINT,
    "quick": (QUICK,),
    "test-all": (*WHOLE, BY_SQLALCHEMY),
    "test-packages": [step for step in WHOLE if step.name.startswith("test-packages")],
    "test-postgresql": [POSTGRESQL, BY_SQLALCHEMY],
}


def steps_of(name: str) -> Sequence[Step]:
    """The steps of a group, or the step with a name.

    :raises KeyError: when there is none
    """
    return GROUPS[name] if name in GROUPS else ({step.name: step for step in (*WHOLE, BY_SQLALCHEMY, *GATE)}[name],)
