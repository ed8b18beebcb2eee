"""``netinv migrate`` that ends in the middle: the next run completes it, with the tables of one that was not broken off."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from click.testing import CliRunner
from sqlalchemy.engine import Engine

from netinv_admin import migrate as migrating
from netinv_admin.commands.cli import cli
from netinv_core.db import revisions
from netinv_core.db.engine import engine_from
from netinv_core.main import registry_for
from tests.support.databases import empty_database

INTERRUPTIONS = 12
BEFORE_ANOTHER = 20  # revisions that are applied before another process begins
MAX_STATEMENTS = 150  # executed by a run before it is broken off


def migrate_until_killed(url: str, number: int, *, after: bool) -> bool:
    """Migrates in a process that kills itself at its statement of this number: before it, or after it.

    :returns: whether it was killed
    """
    process = os.fork()
    if process:
        _, status = os.waitpid(process, 0)
        return os.waitstatus_to_exitcode(status) == -signal.SIGKILL
    count = 0

    def counted(*_: Any) -> None:
        nonlocal count
        count += 1
        if count == number:
            os.kill(os.getpid(), signal.SIGKILL)

    try:
        engine = engine_from(url)
        sa.event.listen(engine, "after_cursor_execute" if after else "before_cursor_execute", counted)
        migrating.upgrade(engine, registry_for(engine.dialect.name, {}))
    finally:
        os._exit(0)


def layout(engine: Engine) -> dict[str, Any]:
    """Columns, indexes and constraints of all tables, in an order that does not depend on the database."""
    inspector = sa.inspect(engine)
    found: dict[str, Any] = {}
    for table in inspector.get_table_names():
        found[table] = {
            "columns": sorted(
                (item["name"], str(item["type"]), item["nullable"], str(item["default"]))
                for item in inspector.get_columns(table)
            ),
            "indexes": sorted(
                (str(item["name"]), [str(name) for name in item["column_names"]], bool(item["unique"]))
                for item in inspector.get_indexes(table)
            ),
            "foreign keys": sorted(
                (str(item["name"]), item["constrained_columns"], item["referred_table"], str(item["options"]))
                for item in inspector.get_foreign_keys(table)
            ),
            "unique": sorted(
                (str(item["name"]), item["column_names"]) for item in inspector.get_unique_constraints(table)
            ),
        }
    return found


def rows(engine: Engine) -> dict[str, int]:
    """The number of rows of each table."""
    with engine.connect() as connection:
        return {
            name: connection.execute(sa.select(sa.func.count()).select_from(sa.table(name))).scalar_one()
            for name in sa.inspect(engine).get_table_names()
        }


@pytest.mark.crash
def test_a_migration_that_ends_anywhere_is_completed_by_the_next(tmp_path: Path) -> None:
    """Each run goes on where the one before was ended, at a random statement."""
    choose = random.Random(11)
    folders = [tmp_path / name for name in ("broken", "whole")]
    for folder in folders:
        folder.mkdir()
    with empty_database(folders[0]) as broken, empty_database(folders[1]) as whole:
        registry = registry_for(broken.dialect.name, {})
        migrating.upgrade(whole, registry)
        url = broken.url.render_as_string(hide_password=False)
        killed = [
            migrate_until_killed(url, choose.randint(1, MAX_STATEMENTS), after=choose.random() < 0.5)
            for _ in range(INTERRUPTIONS)
        ]
        assert sum(killed) >= 3  # the rest may find all applied
        migrating.upgrade(broken, registry)
        assert layout(broken) == layout(whole)
        assert rows(broken) == rows(whole)


def command_of(engine: Engine, folder: Path, *words: str) -> list[str]:
    """The arguments of a command of netinv on a database."""
    ini = folder / "netinv.ini"
    url = engine.url.render_as_string(hide_password=False).replace("%", "%%")
    ini.write_text(f"[app:main]\nuse = egg:netinv_core\nnetinv.database_url = {url}\nnetinv.secret = {'s' * 50}\n")
    return ["-c", str(ini), *words]


@pytest.mark.night
def test_the_plan_lists_what_is_missing_and_each_applied_revision_is_told(tmp_path: Path) -> None:
    with empty_database(tmp_path) as engine:
        plan = CliRunner().invoke(cli, command_of(engine, tmp_path, "migrate", "--plan"))
        assert plan.exit_code == 0, plan.output
        lines = plan.output.splitlines()
        assert lines[0] == "core_0001  initial"
        assert not sa.inspect(engine).get_table_names()
        done = CliRunner().invoke(cli, command_of(engine, tmp_path, "migrate"))
        told = [line.removeprefix("applied ") for line in done.output.splitlines() if line.startswith("applied ")]
        assert told == [line.split()[0] for line in lines]
        assert CliRunner().invoke(cli, command_of(engine, tmp_path, "migrate", "--plan")).output == ""


@pytest.mark.slow
@pytest.mark.night
def test_two_migrations_at_once_both_succeed(tmp_path: Path) -> None:
    with empty_database(tmp_path) as engine:
        program = "from netinv_admin.commands.cli import cli; cli()"
        command = [sys.executable, "-c", program, *command_of(engine, tmp_path, "migrate")]
        both = [
            subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) for _ in range(2)
        ]
        outputs = [process.communicate()[0] for process in both]
        assert [process.returncode for process in both] == [0, 0], outputs
        applied = [line for output in outputs for line in output.splitlines() if line.startswith("applied ")]
        assert len(applied) == len(set(applied)) > 50


@pytest.mark.any_database  # MariaDB commits each change of a table, PostgreSQL those before an index
@pytest.mark.night
def test_the_revisions_of_a_package_are_one_transaction(tmp_path: Path) -> None:
    seen: list[tuple[str, ...]] = []
    with empty_database(tmp_path) as engine:
        registry = registry_for(engine.dialect.name, {})
        other = engine_from(engine.url.render_as_string(hide_password=False))
        migrating.apply(
            engine, registry, lambda _: seen.append(revisions.revisions(other, registry).applied.get("core", ()))
        )
        other.dispose()
    assert seen[:2] == [(), ()] and {len(applied) for applied in seen} == {0, 1}


@pytest.mark.slow
@pytest.mark.night
def test_a_migration_that_begins_during_another_waits_for_it(tmp_path: Path) -> None:
    applied: list[str] = []
    others: list[subprocess.Popen[str]] = []
    with empty_database(tmp_path) as engine:
        registry = registry_for(engine.dialect.name, {})
        program = "from netinv_admin.commands.cli import cli; cli()"
        command = [sys.executable, "-c", program, *command_of(engine, tmp_path, "migrate")]

        def note(revision: str) -> None:
            applied.append(revision)
            if len(applied) == BEFORE_ANOTHER:
                others.append(subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True))
                time.sleep(4)  # for the other one to begin, and to wait

        # From then on the other one is the first that may write, whenever this one has committed.
        sa.event.listen(engine, "begin", lambda _: time.sleep(0.3 if others else 0), insert=True)
        migrating.upgrade(engine, registry, note)
        output = others[0].communicate(timeout=120)[0]
        assert others[0].returncode == 0, output
        assert revisions.pending_heads(engine, registry) == []
    lines = [line.removeprefix("applied ") for line in output.splitlines() if line.startswith("applied ")]
    assert len({*applied, *lines}) == len(applied) + len(lines) > 50


@pytest.mark.night
def test_a_table_in_the_way_is_named_and_the_next_run_goes_on(tmp_path: Path) -> None:
    with empty_database(tmp_path) as engine:
        command = command_of(engine, tmp_path, "migrate")
        with engine.begin() as connection:
            connection.execute(sa.text("CREATE TABLE dcim_site (id INTEGER)"))
        stopped = CliRunner().invoke(cli, command)
        assert stopped.exit_code == 1
        assert "the migration of the application dcim stopped" in stopped.output
        assert "dcim_site" in stopped.output
        with engine.begin() as connection:
            connection.execute(sa.text("DROP TABLE dcim_site"))
        assert CliRunner().invoke(cli, command).exit_code == 0
