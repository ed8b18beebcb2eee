"""Background work over a real queue: Redis where ``NETINV_TEST_QUEUE`` names one, an SQLite file otherwise."""

from __future__ import annotations

import datetime
import time
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest
import sqlalchemy as sa
from click.testing import CliRunner

from netinv_admin.commands.cli import cli
from netinv_core import worker_tasks
from netinv_core.changelog import sequence
from netinv_core.changelog.models import ObjectChange
from netinv_core.models.base import now, table_of
from netinv_core.tasks import queue as task_queue
from netinv_core.tasks.retention import delete_old
from netinv_testing import Service, Unique
from tests.support.databases import migrated_database, new_queue_url

SITES = "/api/dcim/sites/"


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory, database_template: str) -> Iterator[Service]:
    """A service on a database of its own: a worker of all tasks runs whatever jobs other tests left in the common one."""
    with migrated_database(tmp_path_factory.mktemp("worker"), database_template) as engine:
        yield Service(engine)


@pytest.fixture
def queue_url(tmp_path: Path) -> str:
    """Where tasks wait."""
    return new_queue_url(tmp_path)


def _changes_of(service: Service, key: str) -> int:
    return service.api.get("/api/extras/object-changes/", {"changed_object_id": key})["count"]


@pytest.mark.night
def test_a_worker_deletes_old_change_records(service: Service, unique: Unique, queue_url: str) -> None:
    """What was recorded longer ago than is kept goes, the rest stays."""
    old, new = (service.api.post(SITES, {"name": unique(), "status": "active"})["id"] for _ in range(2))
    table = table_of(ObjectChange)
    with service.engine.begin() as connection:
        long_ago = now() - datetime.timedelta(days=400)
        connection.execute(sa.update(table).where(table.c.changed_object_id == uuid.UUID(old)).values(time=long_ago))
    huey = task_queue.queue(queue_url)
    huey.flush()
    tasks = worker_tasks.add_tasks(huey, service.engine, service.registry)
    with service.configured(changelog_retention=365):
        consumer = task_queue.start_embedded(huey)
        try:
            tasks["upkeep"]()
            deadline = time.monotonic() + 60
            while _changes_of(service, old) and time.monotonic() < deadline:
                time.sleep(0.05)
        finally:
            consumer.stop(graceful=True)
    assert _changes_of(service, old) == 0
    assert _changes_of(service, new) == 1


@pytest.mark.night
def test_all_records_are_kept_when_the_setting_says_so(service: Service, unique: Unique) -> None:
    """0 days means for ever."""
    with service.configured(changelog_retention=0):
        assert delete_old(service.engine, service.registry, sequence.retention) == 0


def test_another_kind_of_queue_is_refused() -> None:
    """The address names one of the two kinds there are."""
    with pytest.raises(ValueError, match="must be redis"):
        task_queue.queue("amqp://127.0.0.1/")


def test_the_worker_is_given_its_ini_file_as_the_service_is() -> None:
    """``netinv worker production.ini`` reads that file, not the one that ``netinv`` takes by itself."""
    found = CliRunner().invoke(cli, ["worker", "elsewhere.ini"])
    assert found.exit_code == 1 and "there is no elsewhere.ini" in found.output
