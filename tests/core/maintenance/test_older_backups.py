"""Backups of a database that lacks revisions of the installed packages: they are restored, and migrated then."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import alembic.command
import alembic.script
import pytest
import sqlalchemy as sa
from click.testing import CliRunner, Result
from sqlalchemy.engine import Engine

from netinv_admin import migrate, restore
from netinv_admin.commands.cli import cli
from netinv_core.backups import archive
from netinv_core.backups import writing as backup
from netinv_core.backups.archive import ArchiveError
from netinv_core.db import revisions
from netinv_testing import Service
from tests.support.databases import empty_database, migrated_database

if TYPE_CHECKING:
    from netinv_core.app import App
    from netinv_core.registry import Registry

pytestmark = [pytest.mark.slow, pytest.mark.night]
SECRET = "a random text of more than 32 characters"
LACKING = [  # branches, and the number of their newest revisions that a database lacks
    ("core", 1),
    ("core", 8),
    ("extras", 1),
    ("extras", 3),
    ("extras", 10),
    ("dcim", 2),
    ("ipam", 2),
    ("virtualization", 2),
    ("web", 2),
]


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory, database_template: str) -> Iterator[tuple[Path, Registry]]:
    """A backup with two objects of each resource, at the newest revisions."""
    folder = tmp_path_factory.mktemp("newest")
    with migrated_database(folder, database_template) as engine:
        service = Service(engine, {"netinv.secret": SECRET, "netinv.media_root": str(folder / "media")})
        service.examples["dcim.rackreservation"] = {"user": service.admin.id}
        for endpoint in service.registry.endpoints.values():
            if not endpoint.label.startswith("extras.job"):
                service.population.objects(endpoint, 2)
        backup.write(folder / "newest.zip", engine, service.registry)
        yield folder / "newest.zip", service.registry


def app_of(registry: Registry, label: str) -> App:
    """The application of a branch."""
    return next(app for app in revisions.sort_apps(registry) if revisions.label(app) == label)


def newest(registry: Registry, label: str) -> list[str]:
    """The revisions of a branch, the newest first."""
    config = migrate._configuration(app_of(registry, label))
    return [step.revision for step in alembic.script.ScriptDirectory.from_config(config).walk_revisions()]


def downgrade(engine: Engine, registry: Registry, label: str, steps: int) -> None:
    """Undoes the newest revisions of a branch."""
    with migrate._changing_tables(engine) as connection:
        config = migrate._configuration(app_of(registry, label), connection)
        alembic.command.downgrade(config, newest(registry, label)[steps])


def contents(engine: Engine, registry: Registry) -> dict[str, list[str]]:
    """The rows of every table, in any order."""
    with engine.connect() as connection:
        return {
            table.name: sorted(archive.encode(list(row)).decode() for row in connection.execute(sa.select(table)))
            for table in archive.stored_tables(engine, registry)
        }


@pytest.fixture
def older(file: tuple[Path, Registry], tmp_path: Path) -> Iterator[Callable[[str, int], Engine]]:
    """``older(label, steps)``: a database that lacks revisions of a branch, with the objects of the backup."""
    path, registry = file
    with empty_database(tmp_path) as engine:

        def older(label: str, steps: int) -> Engine:
            restore.restore(path, engine, registry, restore.Options(replace=True))
            downgrade(engine, registry, label, steps)
            return engine

        yield older


@pytest.mark.parametrize(("label", "steps"), LACKING)
def test_a_backup_of_an_older_database_is_restored_as_if_the_database_were_migrated(
    label: str, steps: int, file: tuple[Path, Registry], older: Callable[[str, int], Engine], tmp_path: Path
) -> None:
    engine, registry = older(label, steps), file[1]
    before = contents(engine, registry)
    backup.write(tmp_path / "older.zip", engine, registry)
    migrate.upgrade(engine, registry)
    migrated = contents(engine, registry)
    (tmp_path / "other").mkdir()
    with empty_database(tmp_path / "other") as other:
        restore.restore(tmp_path / "older.zip", other, registry, restore.Options(replace=True))
        assert revisions.pending_heads(other, registry) == []
        restored = contents(other, registry)
    assert sum(map(len, before.values())) > 300
    assert [name for name in migrated if migrated[name] != restored.get(name)] == []


def test_a_database_with_tables_is_not_replaced_by_an_older_backup(
    file: tuple[Path, Registry], older: Callable[[str, int], Engine], tmp_path: Path
) -> None:
    engine, registry = older("extras", 1), file[1]
    before = contents(engine, registry)
    backup.write(tmp_path / "older.zip", engine, registry)
    with pytest.raises(ArchiveError, match="is restored to a database without tables"):
        restore.restore(tmp_path / "older.zip", engine, registry, restore.Options(replace=True))
    assert contents(engine, registry) == before


def test_an_older_backup_with_other_columns_is_refused_and_leaves_no_table(
    file: tuple[Path, Registry], older: Callable[[str, int], Engine], tmp_path: Path
) -> None:
    engine, registry = older("extras", 1), file[1]
    backup.write(tmp_path / "older.zip", engine, registry)
    with zipfile.ZipFile(tmp_path / "older.zip") as members:
        contents = {name: members.read(name) for name in members.namelist()}
    manifest = json.loads(contents[archive.MANIFEST])
    manifest["revisions"]["extras"] = ["extras_0016"]
    contents[archive.MANIFEST] = json.dumps(manifest).encode()
    with zipfile.ZipFile(tmp_path / "other.zip", "w") as members:
        for name, content in contents.items():
            members.writestr(name, content)
    (tmp_path / "other").mkdir()
    with empty_database(tmp_path / "other") as other:
        with pytest.raises(ArchiveError, match="has other columns of extras_"):
            restore.restore(tmp_path / "other.zip", other, registry, restore.Options(replace=True))
        assert sa.inspect(other).get_table_names() == []


@pytest.fixture
def netinv(tmp_path: Path) -> Callable[..., Result]:
    """``netinv(engine, *words, name=value)``: the result of a command for a database, with settings."""

    def run(engine: Engine, *words: str, **settings: str) -> Result:
        url = engine.url.render_as_string(hide_password=False)
        given = {"database_url": url, "secret": SECRET, "media_root": tmp_path / "media", **settings}
        lines = "".join(f"netinv.{name} = {value}\n" for name, value in given.items())
        (tmp_path / "netinv.ini").write_text(f"[app:main]\nuse = egg:netinv-core\n{lines}")
        (tmp_path / "media").mkdir(exist_ok=True)
        return CliRunner().invoke(cli, ["-c", str(tmp_path / "netinv.ini"), *words])

    return run


def test_an_upgrade_backs_up_migrates_and_checks(
    file: tuple[Path, Registry], older: Callable[[str, int], Engine], netinv: Callable[..., Result], tmp_path: Path
) -> None:
    engine, registry = older("extras", 2), file[1]
    done = netinv(engine, "upgrade", "--backup", str(tmp_path / "before.zip"))
    assert done.exit_code == 0, done.output
    names = newest(registry, "extras")
    assert [f"applied {name}" in done.output for name in names[:3]] == [True, True, False]
    assert "wrote" in done.output and "migrations: the " in done.output
    assert revisions.pending_heads(engine, registry) == []
    assert archive.BackupReader(tmp_path / "before.zip").manifest.revisions["extras"] == [names[2]]
    again = netinv(engine, "upgrade", "--backup", str(tmp_path / "again.zip"))
    assert again.exit_code == 0 and "nothing to upgrade" in again.output and not (tmp_path / "again.zip").exists()


def test_an_upgrade_begins_only_with_a_backup_and_without_problems(
    older: Callable[[str, int], Engine], netinv: Callable[..., Result], file: tuple[Path, Registry], tmp_path: Path
) -> None:
    engine, registry = older("extras", 2), file[1]
    missing = revisions.pending_heads(engine, registry)
    assert "--backup FILE, or say --no-backup" in netinv(engine, "upgrade").output
    (tmp_path / "there.zip").touch()
    refused = netinv(engine, "upgrade", "--backup", str(tmp_path / "there.zip"))
    assert refused.exit_code == 1 and "exists already" in refused.output
    wrong = netinv(engine, "upgrade", "--no-backup", queue_url="nothing://")
    assert wrong.exit_code == 1 and "nothing was changed: solve these problems first" in wrong.output
    assert "the setting netinv.queue_url" in wrong.output and "lacks migrations" not in wrong.output
    assert revisions.pending_heads(engine, registry) == missing


def test_an_upgrade_that_stops_says_the_way_back(
    older: Callable[[str, int], Engine],
    netinv: Callable[..., Result],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    engine, file = older("extras", 2), tmp_path / "before.zip"

    def fail(*arguments: Any, **options: Any) -> None:
        raise LookupError("a row is in the way")

    monkeypatch.setattr(migrate, "apply", fail)
    stopped = netinv(engine, "upgrade", "--backup", str(file))
    assert stopped.exit_code == 1
    assert "a row is in the way; to go back instead, install the former release" in stopped.output
    assert f"restore {file}`" in stopped.output and file.exists()
    assert "to go back" not in netinv(engine, "upgrade", "--no-backup").output
