"""Heartbeats of workers: in the metrics and on the system page."""

from __future__ import annotations

import datetime
import os
import socket
import uuid
from pathlib import Path

import pytest
import sqlalchemy as sa

from netinv_core import worker_tasks
from netinv_core.models.base import now, table_of
from netinv_core.tasks import queue as task_queue
from netinv_core.tasks import workers
from netinv_core.tasks.queue import Task
from netinv_testing import Service
from tests.support.databases import new_queue_url
from tests.support.waiting import until

_worker = table_of(workers.WorkerProcess)


@pytest.fixture
def queue_url(tmp_path: Path) -> str:
    """Where tasks wait."""
    return new_queue_url(tmp_path)


def alive(service: Service) -> float:
    lines = service.api.send("GET", "/metrics", status=200).text.splitlines()
    return float(next(line for line in lines if line.startswith("netinv_workers ")).split()[1])


@pytest.mark.night
def test_a_worker_is_seen_with_its_task_until_it_ends(
    service: Service, queue_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker_tasks, "tasks_of", lambda registry: [Task("nothing", lambda engine, registry: None)])
    monkeypatch.setattr(workers, "INTERVAL", 0.05)
    others = alive(service)
    huey = task_queue.queue(queue_url)
    huey.flush()
    tasks = worker_tasks.add_tasks(huey, service.engine, service.registry)
    tasks["nothing"]()
    assert task_queue.length(queue_url) == 1
    consumer = task_queue.start_embedded(huey)
    try:
        of_process = sa.select(_worker.c.host, _worker.c.task).where(_worker.c.process == os.getpid())
        until(lambda: (socket.gethostname(), "nothing") in map(tuple, service.rows(of_process)))
        assert alive(service) == others + 1
    finally:
        consumer.stop(graceful=True)
    until(lambda: alive(service) == others)


def test_a_worker_that_ended_without_a_word_is_known_for_a_day(service: Service) -> None:
    options = service.registry.driver.connection_options(writing=True)
    ages = {"gone": datetime.timedelta(minutes=3), "forgotten": datetime.timedelta(days=2)}
    with service.engine.connect().execution_options(**options) as connection, connection.begin():
        for host, age in ages.items():
            words = {"host": host, "process": 1, "task": "deliver", "started": now() - age, "seen": now() - age}
            connection.execute(sa.insert(_worker).values(id=uuid.uuid4(), **words))
    heartbeat = workers.Heartbeat(service.engine)
    heartbeat.start()
    try:
        until(lambda: "forgotten" not in [row.host for row in service.rows(sa.select(_worker))])
        with service.engine.connect() as connection:
            assert {row.host: row.alive for row in workers.workers(connection)}["gone"] in (False, 0)
    finally:
        heartbeat.stop()


def test_a_queue_that_is_away_has_no_length() -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        assert task_queue.length(f"redis://127.0.0.1:{closed.getsockname()[1]}/0") is None


def test_a_worker_goes_on_while_the_database_is_away(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workers, "INTERVAL", 0.01)
    away = sa.create_engine(f"sqlite:///{tmp_path}/no/such/folder.sqlite")
    heartbeat = workers.Heartbeat(away)
    with caplog.at_level("DEBUG", logger=workers.__name__):
        heartbeat.start()
        until(lambda: sum("no heartbeat" in message for message in caplog.messages) >= 2)
        heartbeat.stop()
