"""Migrations of plugins that cannot be read, or stop: they are named, with the application and the reason."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner
from sqlalchemy.engine import Engine

from netinv_admin.commands.cli import cli
from netinv_core.packages import FILE_PREFIX
from netinv_testing import Service
from tests.support.databases import migrated_database

PLUGIN = """
from pathlib import Path
from netinv_core import App, hookimpl

@hookimpl
def netinv_seed(uow):
    if Path(__file__).with_name("unseeded").exists():
        raise KeyError("no seeds")

@hookimpl
def netinv_app():
    return App({name!r}, "Wrong", plugin=True, migrations="netinv_{name}:migrations")
"""
FIRST = "revision = 'first'\ndown_revision = None\n"
SECOND = "revision = 'second'\ndown_revision = 'first'\n"
UNREADABLE = {
    "no_revision": (["down_revision = None\n"], "0001.py assigns no revision"),
    "no_python": ([FIRST, "revision = 'second'\ndown_revision = 'first\n"], "unterminated string literal"),
    "no_text": ([FIRST.encode() + b"# \xff\n"], "0001.py is not UTF-8"),
    "nothing_before": ([FIRST, "revision = 'x'\ndown_revision = 'frist'\n"], "0002.py follows the revision frist"),
    "twice": ([FIRST, FIRST], "0002.py has the revision first of another migration"),
    "two_ends": ([FIRST, SECOND, "revision = 'third'\ndown_revision = 'first'\n"], "found second, third"),
    "a_circle": (["revision = 'x'\ndown_revision = 'y'\n", "revision = 'y'\ndown_revision = 'x'\n"], "in a circle"),
}
UPGRADE = "\ndef upgrade():\n    {}\n\ndef downgrade():\n    {}\n"
STOPS = {
    "an exception": ("1 / 0", "(0002.py, line 5): ZeroDivisionError: division by zero."),
    "an import": ("import nowhere_at_all", "(0002.py, line 5): ModuleNotFoundError: No module named 'nowhere_at_all'."),
    "a statement": ("__import__('alembic').op.execute('SELECT x FROM stopping_none')", "(0002.py, line 5): "),
    "a missing key": ("{}['x']", "(0002.py, line 5): KeyError: 'x'."),
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder for plugins of one file, and for the packages with their migrations."""
    path = tmp_path / "plugins"
    path.mkdir()
    monkeypatch.syspath_prepend(path)
    yield path
    for name in [name for name in sys.modules if name.startswith(FILE_PREFIX)]:
        del sys.modules[name]


def write(folder: Path, name: str, migrations: list[str] | list[bytes]) -> None:
    """Writes a plugin with migrations."""
    (folder / f"{name}.py").write_text(PLUGIN.format(name=name))
    versions = folder / f"netinv_{name}/migrations/versions"
    versions.mkdir(parents=True)
    (folder / f"netinv_{name}/__init__.py").touch()
    for number, content in enumerate(migrations, 1):
        (versions / f"{number:04}.py").write_bytes(content.encode() if isinstance(content, str) else content)


@pytest.mark.any_database
@pytest.mark.night
def test_a_plugin_whose_migrations_cannot_be_read_is_left_out_with_the_reason(engine: Engine, folder: Path) -> None:
    for name, (migrations, _) in UNREADABLE.items():
        write(folder, name, migrations)
    write(folder, "right", [FIRST, SECOND])
    api = Service(engine, {"netinv.plugins_dir": str(folder)}).api
    broken = api.get("/api/status/")["broken-packages"]
    assert broken.keys() == UNREADABLE.keys()
    for name, (_, reason) in UNREADABLE.items():
        assert f"App(migrations='netinv_{name}:migrations') cannot be used: " in broken[name]
        assert reason in broken[name]
    api.get("/api/dcim/sites/")


@pytest.mark.night
def test_a_migration_that_stops_is_named_in_one_line_and_the_next_run_goes_on(
    folder: Path, tmp_path: Path, database_template: str
) -> None:
    write(folder, "stopping", [FIRST + UPGRADE.format("pass", "pass")])
    second = folder / "netinv_stopping/migrations/versions/0002.py"
    with migrated_database(tmp_path, database_template) as engine:
        ini, url = tmp_path / "netinv.ini", engine.url.render_as_string(hide_password=False)
        ini.write_text(
            "[app:main]\nuse = egg:netinv-core\nnetinv.secret = for tests only, 32 characters or more\n"
            f"netinv.database_url = {url}\nnetinv.plugins_dir = {folder}\n"
        )
        for step, reason in STOPS.values():
            second.write_text(SECOND + UPGRADE.format(step, "pass"))
            stopped = CliRunner().invoke(cli, ["-c", str(ini), "migrate"])
            *_, line = stopped.stderr.splitlines()
            assert line.startswith(f"Error: the migration of the application stopping stopped {reason}")
            assert line.endswith("Remove the cause, and run it again: it goes on where it stopped")
            assert (stopped.exit_code, "Traceback" in stopped.output) == (1, False)
        shown = CliRunner().invoke(cli, ["-c", str(ini), "--traceback", "migrate"])
        assert "KeyError: 'x'" in shown.output and "Traceback" in shown.output
        second.write_text(SECOND + UPGRADE.format("pass", "1 / 0"))
        ran = CliRunner().invoke(cli, ["-c", str(ini), "migrate"])
        assert (ran.exit_code, "applied second" in ran.stdout) == (0, True)
        (folder / "unseeded").touch()
        unseeded = CliRunner().invoke(cli, ["-c", str(ini), "migrate"])
        assert "KeyError: 'no seeds' (an error of the package stopping: " in unseeded.stderr
        removed = CliRunner().invoke(cli, ["-c", str(ini), "migrate", "--remove", "stopping"])
        assert "the migration of the application stopping stopped (0002.py, line 8): Zero" in removed.stderr
