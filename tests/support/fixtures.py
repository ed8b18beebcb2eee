"""Fixtures of all tests: the service under test, on a database of its own for each pytest process, and its clients.

``NETINV_TEST_DATABASE`` names the server (``postgresql://postgres@127.0.0.1/postgres``, ``mysql://root@127.0.0.1/test``);
without it tests run on a SQLite file. Tests share the database and use names that nothing else has, so nothing is
cleaned.
"""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Callable, Iterator
from pathlib import Path

import argon2
import pytest
from sqlalchemy.engine import Engine

from netinv_core import crypto
from netinv_testing import Service
from tests.support.databases import DIALECT, SERVER, drop_abandoned, drop_unused, migrated_database, unsynced_commits
from tests.support.jobs import JOBS, fork_server, jobs_service
from tests.support.plugins import create_tables, installation
from tests.support.seed import seed_deliveries, seed_job_results

__all__ = ["fork_server", "jobs_service"]
crypto._hasher = argon2.PasswordHasher(time_cost=1, memory_cost=64, parallelism=1)  # tests make hundreds of users
# Tests build many registries, whose objects live long: with the default thresholds half of their processor time goes to
# garbage collections; with 50,000, a tenth. With 500,000 a process grows to 1.5 GB.
COLLECTED_AFTER = (100_000, 20, 10)
gc.set_threshold(*COLLECTED_AFTER)


# names of tests.support.databases: a module that imports one makes databases or queues without a fixture
MAKERS = {"SERVER", "DIALECT", "empty_database", "migrated_database", "template_database", "new_queue_url"}


def pytest_configure(config: pytest.Config) -> None:
    """Drops the databases that killed runs left. Lets the commits of the whole run on MariaDB not wait for the disk.
    The processes of pytest-xdist leave both to the one that starts them. Drops what is left of databases at the end.
    """
    is_first = not hasattr(config, "workerinput")
    if SERVER and is_first:
        drop_abandoned()
    if DIALECT == "mysql" and is_first:
        commits = contextlib.ExitStack()
        commits.enter_context(unsynced_commits())
        config.add_cleanup(commits.close)
    config.add_cleanup(drop_unused)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Marks tests that have neither a database nor a queue as ``any_database``."""
    for item in items:
        if (
            isinstance(item, pytest.Function)
            and "database_template" not in item.fixturenames
            and not MAKERS & vars(item.module).keys()
        ):
            item.add_marker("any_database")


def pytest_runtest_setup() -> None:
    """Sets the thresholds of the garbage collector again: a service that starts sets its own."""
    gc.set_threshold(*COLLECTED_AFTER)


@pytest.fixture(scope="session")
def service(engine: Engine, tmp_path_factory: pytest.TempPathFactory) -> Service:
    """The service, with an administrator."""
    service = Service(engine, {**JOBS, "netinv.media_root": str(tmp_path_factory.mktemp("media"))})
    if "dcim.rackreservation" in service.registry.endpoints:  # always its maker's
        service.examples["dcim.rackreservation"] = {"user": service.admin.id}
    if "web.savedview" in service.registry.endpoints:  # a default view would lead the administrator's list elsewhere
        service.examples["web.savedview"] = {"is_default": False}
    seed_deliveries(service)
    seed_job_results(service)
    gc.collect()
    gc.freeze()  # the service lives until the process ends
    return service


@pytest.fixture(scope="session")
def sending_service(tmp_path_factory: pytest.TempPathFactory, database_template: str) -> Iterator[Service]:
    """A service on a database of its own, so that nobody else's webhooks are in its outbox; it may send to this
    machine.

    Receivers have so much time that none is too slow on a busy machine; tests of those that do not answer set less
    (``impatient``).
    """
    settings = {
        "allow": "127.0.0.0/8",
        "connect_timeout": "60",
        "read_timeout": "60",
        "total_timeout": "60",
        "threads": "16",
    }
    with migrated_database(tmp_path_factory.mktemp("outbox"), database_template) as engine:
        yield Service(engine, {f"netinv.webhook_{name}": value for name, value in settings.items()})


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], None]]:
    """``install("guest")`` installs the package ``tests/support/plugin_fixtures/guest`` for the test."""
    with installation(tmp_path, monkeypatch) as install:
        yield install


@pytest.fixture
def installed(engine: Engine, install: Callable[[str], None]) -> Callable[..., Service]:
    """``installed("guest")``: a service in whose environment the package ``tests/support/plugin_fixtures/guest`` is
    installed.

    It has the jobs folder of ``service``, on whose database it is: else a refresh would mark these jobs as not
    installed.
    """

    def start(name: str, settings: dict[str, str] | None = None) -> Service:
        install(name)
        create_tables(engine, name)
        return Service(engine, {**JOBS, **(settings or {})})

    return start
