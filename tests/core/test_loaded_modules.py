"""Modules that a service loads when it starts: each takes memory of every process, and time of every start."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from sqlalchemy.engine import Engine

from tests.support.databases import migrated_database

START = """
import sys
from netinv_core.main import main
main(**{"netinv.database_url": sys.argv[1], "netinv.secret": "a" * 40, "netinv.queue_url": sys.argv[2]})
print(*sys.modules)
"""
WORKER = """
import sys
from netinv_core.main import read_settings, registry_for
settings, packages = read_settings({"netinv.secret": "a" * 40})
registry = registry_for("sqlite", settings, packages)
pages = {name for app in registry.apps.values() for name in app.web}
print(len(pages), *pages & sys.modules.keys())
"""
# Libraries of commands, of workers, or of what few requests need.
LATER = {"alembic", "graphql", "jsonschema", "mako", "pygments", "requests", "urllib3"}
LATER |= {"click", "cryptography.hazmat", "markdown_it", "opentelemetry", "pymysql", "regex", "yaml", "zxcvbn"}


@pytest.mark.night
def test_a_service_starts_without_the_libraries_of_commands_and_workers(tmp_path: Path, database_template: str) -> None:
    with migrated_database(tmp_path, database_template) as engine:
        loaded = _loaded(engine, f"sqlite:///{tmp_path}/queue.sqlite")
    assert {"sqlalchemy", "pyramid", "netinv_extras"} <= loaded
    driver = {"cryptography.hazmat", "pymysql"} if engine.dialect.name in ("mysql", "mariadb") else set()
    assert loaded & LATER == driver


def test_a_worker_loads_no_pages() -> None:
    done = subprocess.run([sys.executable, "-c", WORKER], capture_output=True, text=True, check=True)
    count, *loaded = done.stdout.split()
    assert (int(count) > 50, loaded) == (True, [])


def _loaded(engine: Engine, queue: str) -> set[str]:
    url = engine.url.render_as_string(hide_password=False)
    done = subprocess.run([sys.executable, "-c", START, url, queue], capture_output=True, text=True, check=True)
    return set(done.stdout.split())
