"""Migrations of plugins that cannot be read, or stop: they are named, with the application and the reason."""

from __future__ import annotations

import functools
import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import sqlalchemy as sa
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
    forget()


def forget() -> None:
    """Forgets the modules of plugins, which are read again."""
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


def write_migration(folder: Path, name: str, content: str) -> None:
    """Writes the only migration of a plugin anew."""
    (folder / f"netinv_{name}/migrations/versions/0001.py").write_text(content)


def ini_file(tmp_path: Path, folder: Path, engine: Engine) -> Path:
    """An ini file for a database and a folder of plugins."""
    ini, url = tmp_path / "netinv.ini", engine.url.render_as_string(hide_password=False)
    ini.write_text(
        "[app:main]\nuse = egg:netinv-core\nnetinv.secret = for tests only, 32 characters or more\n"
        f"netinv.database_url = {url}\nnetinv.plugins_dir = {folder}\n"
    )
    return ini


@pytest.mark.any_database
@pytest.mark.night
def test_a_plugin_whose_migrations_cannot_be_read_is_left_out_with_the_reason(engine: Engine, folder: Path) -> None:
    for name, (migrations, _) in UNREADABLE.items():
        write(folder, name, migrations)
    write(folder, "right", [FIRST, SECOND])
    api = Service(engine, {"netinv.plugins_dir": str(folder)}).api
    broken = api.get("/api/status/")["broken-packages"]
    assert "lacks its migrations second" in broken.pop("right"), "it is right, but was not migrated"
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
        ini = ini_file(tmp_path, folder, engine)
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
        assert "the initial rows of the package stopping are not written: KeyError: 'no seeds'" in unseeded.stderr
        assert unseeded.exit_code == 1
        removed = CliRunner().invoke(cli, ["-c", str(ini), "migrate", "--remove", "stopping"])
        assert "the migration of the application stopping stopped (0002.py, line 8): Zero" in removed.stderr


# What a plugin's migration would change of other applications. Rows and tables of its own may be changed.
OF_ANOTHER = {
    "drop_table('dcim_site')": "dcim_site, which the application dcim has",
    "execute('drop table if exists own_thing, `ipam_vrf`')": "ipam_vrf, which the application ipam has",
    "rename_table('tenancy_tenant', 'own_tenant')": "tenancy_tenant, which the application tenancy has",
    "add_column('dcim_site', sa.Column('own', sa.Text()))": "dcim_site, which the application dcim has",
    "execute('ALTER TABLE dcim_site ADD COLUMN own TEXT')": "dcim_site, which the application dcim has",
    "create_index('own_x', 'dcim_rack', ['name'], unique=True)": "dcim_rack, which the application dcim has",
    "execute('CREATE TRIGGER own_t BEFORE DELETE ON core_user BEGIN SELECT 1; END')": "core_user, which the applic",
    "drop_table('owner_thing')": "owner_thing, which the application owner has",
}
OWN = """sa.Column('site', sa.Integer()))
    op.create_index('own_site', 'own_other', ['site'], unique=True)
    op.create_index('own_names', 'dcim_site', ['facility'])
    op.execute(sa.text("UPDATE dcim_site SET comments = 'drop table dcim_site'"))
    op.rename_table('own_other', 'own_last')
    with op.batch_alter_table('own_last') as batch:
        batch.add_column(sa.Column('more', sa.Integer()))
    op.drop_table('own_last')
    op.drop_index('own_names', 'dcim_site'"""


@pytest.mark.night
def test_a_migration_of_a_plugin_changes_no_table_of_another_application(
    folder: Path, tmp_path: Path, database_template: str
) -> None:
    write(folder, "owner", [TABLE.format("owner", "")])
    write(folder, "own", [TABLE.format("own", "")])
    second = folder / "netinv_own/migrations/versions/0002.py"
    head = "import sqlalchemy as sa\nfrom alembic import op\n" + SECOND.replace("'first'", "'own'")
    with migrated_database(tmp_path, database_template) as engine:
        run = functools.partial(CliRunner().invoke, cli)
        ini = str(ini_file(tmp_path, folder, engine))
        assert run(["-c", ini, "migrate"]).exit_code == 0
        for step, table in OF_ANOTHER.items():
            second.write_text(head + UPGRADE.format(f"op.{step}", "pass"))
            refused = run(["-c", ini, "migrate"])
            assert refused.exit_code == 1
            reason = f"(0002.py, line 7): it changes the table {table}"
            assert f"Error: the migration of the application own stopped {reason}" in refused.stderr, step
        second.write_text(head + UPGRADE.format(f"op.create_table('own_other', {OWN})", "op.drop_table('dcim_site')"))
        assert run(["-c", ini, "migrate"]).exit_code == 0
        removed = run(["-c", ini, "migrate", "--remove", "own"])
        assert "line 18): it changes the table dcim_site, which the application dcim has" in removed.stderr
        assert {"dcim_site", "own_thing"} <= set(sa.inspect(engine).get_table_names())


TABLE = (
    "import sqlalchemy as sa\nfrom alembic import op\nrevision = '{0}'\ndown_revision = None\n"
    "def upgrade():\n    op.create_table('{0}_thing', sa.Column('id', sa.Integer(), primary_key=True))\n    {1}\n"
    "def downgrade():\n    op.drop_table('{0}_thing')\n"
)
# Fail, and how; or the reason why they are not migrated. Those between them and after them are.
FAILING = {
    "abroken": ("1 / 0", "the migration of the application abroken stopped (0001.py, line 7): ZeroDivisionError"),
    "dexits": (
        "raise SystemExit(3)",
        "the migration of the application dexits stopped (0001.py, line 7): SystemExit: 3",
    ),
    "funseeded": ("", "the initial rows of the package funseeded are not written: KeyError: 'no seeds'"),
}
MIGRATED = ("bfirst", "esecond", "glast")
LATER = "\n@hookimpl\ndef netinv_changes_recorded(uow, changes):\n    uow.execute(sa.text('SELECT id FROM {}_thing'))\n"


@pytest.mark.night
def test_a_plugin_whose_migration_or_seed_fails_keeps_no_other_from_being_migrated(
    folder: Path, tmp_path: Path, database_template: str
) -> None:
    """Those that fail are named in the end, and the service, its check and its worker leave out those without tables."""
    for name, step in {
        **dict.fromkeys(MIGRATED, ""),
        **{name: step for name, (step, _) in FAILING.items()},
    }.items():
        write(folder, name, [TABLE.format(name, step)])
    write(folder, "calls", [TABLE.format("calls", "op.execute('SELECT x FROM nowhere_at_all')")])
    for name in ("abroken", "calls"):
        code = (folder / f"{name}.py").read_text()
        (folder / f"{name}.py").write_text(f"import sqlalchemy as sa\n{code}{LATER.format(name)}")
    unseeded = (folder / "funseeded.py").read_text().replace('with_name("unseeded")', 'with_name("funseeded.py")')
    (folder / "funseeded.py").write_text(unseeded)
    with migrated_database(tmp_path, database_template) as engine:
        ini = ini_file(tmp_path, folder, engine)
        run = functools.partial(CliRunner().invoke, cli)
        migrated = run(["-c", str(ini), "migrate"])
        lines = migrated.stderr.removeprefix("Error: ").splitlines()
        assert (migrated.exit_code, "Traceback" in migrated.output) == (1, False)
        told = {
            **{name: reason for name, (_, reason) in FAILING.items()},
            "calls": "of the application calls stopped (",
        }
        assert [name for name, reason in told.items() if not any(reason in line for line in lines)] == []
        assert "without abroken, calls, dexits, funseeded, which the service leaves out" in migrated.stdout
        tables = set(sa.inspect(engine).get_table_names())
        assert {f"{name}_thing" for name in (*MIGRATED, "funseeded")} <= tables
        api = Service(engine, {"netinv.plugins_dir": str(folder)}).api
        broken = api.get("/api/status/")["broken-packages"]
        assert broken.keys() == {"abroken", "calls", "dexits"}
        assert broken["calls"] == "PendingMigrations: the database lacks its migrations calls; run `netinv migrate`"
        api.get("/api/dcim/sites/")
        checked = run(["-c", str(ini), "check", "--json"])
        messages = [item["message"] for item in json.loads(checked.stdout)["checks"] if item["check"] == "packages"]
        assert messages == [f"{name} ({name}.py) is not served: {reason}" for name, reason in broken.items()]
        assert checked.exit_code == 1
        assert run(["-c", str(ini), "upkeep"]).exit_code == 0, "a command that needs the database, as the worker does"
        for name in broken:
            write_migration(folder, name, TABLE.format(name, ""))
        (folder / "funseeded.py").write_text(unseeded.replace("raise", "return  #"))
        forget()
        again = run(["-c", str(ini), "migrate"])
        assert again.exit_code == 0, again.output
        assert run(["-c", str(ini), "migrate", "--check"]).exit_code == 0
        assert Service(engine, {"netinv.plugins_dir": str(folder)}).registry.broken == []


STOPPING = (
    "import sqlalchemy as sa\nfrom alembic import op\nrevision = 'second'\ndown_revision = 'gone'\n"
    "def upgrade():\n    {}\n"
)
# Migrations of the application ``gone``, and the statement after which the second one stops.
REMOVED = {
    "as it says": (TABLE.format("gone", ""), None),
    "without a downgrade": (TABLE.format("gone", "").replace("op.drop_table('gone_thing')", "pass"), None),
    "that stopped": (TABLE.format("gone", ""), "op.create_table('gone_other', sa.Column('id', sa.Integer())); 1 / 0"),
    "that nothing can load": (TABLE.format("gone", ""), None),
}


@pytest.mark.night
@pytest.mark.parametrize("kind", REMOVED)
def test_the_tables_of_a_removed_application_are_gone_and_no_others(
    folder: Path, tmp_path: Path, database_template: str, kind: str
) -> None:
    """Whatever its migrations do, also of a plugin in quarantine; not those of one whose name begins like it."""
    first, step = REMOVED[kind]
    write(folder, "gone", [first])
    write(folder, "gone_more", [TABLE.format("gone_more", "")])
    with migrated_database(tmp_path, database_template) as engine:
        ini, before = ini_file(tmp_path, folder, engine), set(sa.inspect(engine).get_table_names())
        run = functools.partial(CliRunner().invoke, cli)
        assert run(["-c", str(ini), "migrate"]).exit_code == 0
        if step is not None:
            (folder / "netinv_gone/migrations/versions/0002.py").write_text(STOPPING.format(step))
            assert run(["-c", str(ini), "migrate"]).exit_code == 1
        if kind == "that nothing can load":
            (folder / "gone.py").write_text(
                (folder / "gone.py").read_text() + "\n@hookimpl\ndef netinv_feilds(): pass\n"
            )
            forget()
        removed = run(["-c", str(ini), "migrate", "--remove", "gone"])
        assert removed.stdout.startswith("removed the tables of gone (gone_"), removed.output
        others = {"gone_more_thing", "gone_more_alembic_version"}
        assert set(sa.inspect(engine).get_table_names()) - before == others
        run(["-c", str(ini), "migrate", "--remove", "gone_more"])
        assert set(sa.inspect(engine).get_table_names()) == before
