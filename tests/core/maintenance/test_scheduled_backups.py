"""Backups of the worker: one at a time, whole before older ones go; failures show in the log, metrics, probes and the
check.
"""

from __future__ import annotations

import contextlib
import datetime
import errno
import logging
import threading
import time
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from netinv_admin import checks
from netinv_core import upkeep
from netinv_core.backups import archive, schedule, writing
from netinv_core.http import health
from netinv_core.models.base import now, table_of
from netinv_core.worker_tasks import tasks_of
from netinv_testing import Service

_table = table_of(upkeep.Upkeep)
INTERVAL = 24  # hours


@pytest.fixture
def folder(service: Service, tmp_path: Path) -> Iterator[Path]:
    """The folder of the backups of a service that never made one."""
    forget(service)
    path = tmp_path / "backups"
    with service.configured(backup_folder=str(path), backup_interval=INTERVAL, backup_keep=2):
        yield path
    forget(service)


def forget(service: Service) -> None:
    """Deletes what is known of backups."""
    with service.engine.begin() as connection:
        connection.execute(sa.delete(_table).where(_table.c.id == upkeep.BACKUP_ROW))


def move(service: Service, **hours: float) -> None:
    """Sets the times of the row so many hours from now."""
    values = {name: now() + datetime.timedelta(hours=distance) for name, distance in hours.items()}
    with service.engine.begin() as connection:
        connection.execute(sa.update(_table).where(_table.c.id == upkeep.BACKUP_ROW).values(**values))


def run(service: Service) -> None:
    """Runs the task of a worker."""
    schedule.run_when_due(service.engine, service.registry)


def names(folder: Path) -> list[str]:
    """The names of the files in a folder."""
    return sorted(path.name for path in folder.iterdir())


def found(service: Service) -> dict[str, str]:
    """The findings of the self-check about backups: level by check."""
    with service.engine.connect() as connection:
        return {item.check: item.level for item in checks.backup_state(connection, service.registry.settings)}


def metrics(service: Service) -> dict[str, float]:
    """The metrics of backups."""
    lines = service.api.send("GET", "/metrics", status=200).text.splitlines()
    return {line.split()[0]: float(line.split()[1]) for line in lines if line.startswith("netinv_backup")}


def probe(service: Service) -> str:
    """The result that the probe reports of backups."""
    (check,) = [item for item in health.checks_of(service.engine, service.registry) if item.name == "backup"]
    assert not check.needed
    return check.result(time.monotonic() + 60)


@pytest.mark.night
def test_a_worker_makes_a_backup_once_in_an_interval(service: Service, folder: Path) -> None:
    assert "backup" in {task.name for task in tasks_of(service.registry)}
    assert found(service) == {"backups": "warning"}
    run(service)
    (made,) = folder.iterdir()
    assert made.stat().st_mode & 0o777 == 0o600
    with contextlib.closing(archive.BackupReader(made)) as reader:
        reader.verify()
    assert metrics(service)["netinv_backup_failed"] == 0 and metrics(service)["netinv_backup_age_seconds"] >= 0
    assert (found(service), probe(service)) == ({"backups": "ok"}, "ok")
    run(service)
    assert names(folder) == [made.name]
    move(service, finished=-INTERVAL)
    made.rename(folder / "netinv-20200101-000000.zip")
    run(service)
    assert len(names(folder)) == 2


def test_without_a_folder_there_is_neither_task_nor_metric(service: Service) -> None:
    assert "backup" not in {task.name for task in tasks_of(service.registry)}
    assert metrics(service) == {}
    assert "backup" not in {check.name for check in health.checks_of(service.engine, service.registry)}


def test_of_several_workers_one_makes_the_backup(
    service: Service, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, go_on, write = threading.Event(), threading.Event(), writing.write

    def slow(*arguments: Any) -> Any:
        begun.set()
        assert go_on.wait(60)
        return write(*arguments)

    monkeypatch.setattr(writing, "write", slow)
    worker = threading.Thread(target=run, args=(service,))
    worker.start()
    assert begun.wait(60)
    run(service)
    assert not folder.exists() or names(folder) == []
    go_on.set()
    worker.join()
    assert len(names(folder)) == 1


@pytest.mark.night
def test_the_newest_are_kept_and_nothing_else_is_deleted(service: Service, folder: Path) -> None:
    folder.mkdir()
    others = ["netinv-by-hand.zip", "notes.txt", "netinv-20200101-000000.zip.gpg"]
    old = [f"netinv-2020010{day}-000000.zip" for day in range(1, 5)]
    for name in [*others, *old]:
        (folder / name).write_text("x")
    run(service)
    kept = [name for name in names(folder) if name not in others]
    assert len(kept) == 2 and kept[0] == old[-1] and (folder / kept[1]).stat().st_size > 1
    assert set(others) < set(names(folder))


@pytest.mark.parametrize("fault", ["disk full", "damaged", "no folder"])
@pytest.mark.night
def test_a_failure_deletes_no_backup_leaves_no_part_and_is_told(
    fault: str, service: Service, folder: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    run(service)
    good = names(folder)
    move(service, finished=-3 * INTERVAL)
    assert (found(service), probe(service)) == ({"backups": "problem"}, "overdue")
    with monkeypatch.context() as patches, caplog.at_level(logging.ERROR, schedule.__name__):
        given = {"disk full": (writing, "_write_table", full), "damaged": (archive.BackupReader, "verify", damaged)}
        if fault == "no folder":
            (folder.parent / "file").write_text("")
            with service.configured(backup_folder=str(folder.parent / "file")):
                run(service)
        else:
            patches.setattr(*given[fault])
            run(service)
    (line,) = caplog.messages
    assert "failed, and is tried again in 0:30:00" in line
    assert names(folder) == good
    assert metrics(service)["netinv_backup_failed"] == 1
    assert (found(service), probe(service)) == ({"backups": "problem"}, "failed")
    run(service)
    assert names(folder) == good, "it waits half an hour"
    move(service, claimed_until=-0.1)
    (folder / good[0]).rename(folder / "netinv-20200101-000000.zip")
    run(service)
    assert len(names(folder)) == 2 and (found(service), probe(service)) == ({"backups": "ok"}, "ok")


def full(*arguments: Any) -> Any:
    """A file system without space."""
    raise OSError(errno.ENOSPC, "No space left on device")


def damaged(*arguments: Any) -> Any:
    """An archive that cannot be read again."""
    raise archive.ArchiveError("the backup is damaged")


@pytest.mark.night
def test_a_worker_that_was_killed_counts_as_a_failure_until_another_succeeds(service: Service, folder: Path) -> None:
    run(service)
    with service.engine.begin() as connection:
        connection.execute(sa.update(_table).where(_table.c.id == upkeep.BACKUP_ROW).values(claimed_by=uuid.uuid4()))
    move(service, claimed_until=-0.1, finished=-INTERVAL)
    assert probe(service) == "failed"
    (made,) = folder.iterdir()
    made.rename(folder / "netinv-20200101-000000.zip")
    run(service)
    assert probe(service) == "ok"


@pytest.mark.night
def test_the_upkeep_claims_its_own_row_only(service: Service, folder: Path) -> None:
    run(service)
    dict(upkeep.run(service.engine, service.registry))
    with service.engine.connect() as connection:
        rows = {row.id: row.claimed_until for row in connection.execute(sa.select(_table))}
    assert rows == {upkeep.ROW: None, upkeep.BACKUP_ROW: None}
