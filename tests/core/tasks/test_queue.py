"""A queue that is away: writes go on, periodic tasks are run without it, and workers find it again."""

from __future__ import annotations

import contextlib
import logging
import shutil
import signal
import socket
import subprocess
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from netinv_admin import checks
from netinv_core import worker_tasks
from netinv_core.changelog import sequence
from netinv_core.changelog.models import ObjectChange
from netinv_core.models.base import now, table_of
from netinv_core.tasks import queue as task_queue
from netinv_core.tasks import workers
from netinv_testing import Api, Service, Unique
from tests.support.servers import free_port
from tests.support.waiting import until

TENANTS = "/api/tenancy/tenants/"


@pytest.fixture
def port() -> int:
    """A port of this machine on which nobody listens."""
    return free_port()


def unnumbered(service: Service) -> bool:
    """Tells whether changes wait for their number, which the task ``number_changes`` gives them."""
    return bool(
        service.rows(sa.select(table_of(ObjectChange).c.id).where(table_of(ObjectChange).c.number.is_(None)).limit(1))
    )


@pytest.fixture
def numbering(monkeypatch: pytest.MonkeyPatch) -> None:
    """Workers of the test number changes and do nothing else: others would go on delivering the webhooks of later
    tests.
    """
    tasks_of = worker_tasks.tasks_of
    monkeypatch.setattr(
        worker_tasks,
        "tasks_of",
        lambda registry: [task for task in tasks_of(registry) if task.name == "number_changes"],
    )


def test_the_worker_numbers_many_changes_at_once(
    service: Service, api: Api, unique: Unique, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Within a minute it numbers few: but what reads lists and free space looks at each change without a number."""
    messages: list[str] = []
    monkeypatch.setattr(task_queue, "_enqueue", lambda message: messages.extend({message.name} & {"number_changes"}))
    monkeypatch.setattr(sequence, "NUMBERED_AFTER", 4)
    with service.configured(queue_url="redis://127.0.0.1:1/0"):
        api.post(TENANTS, [{"name": unique()} for _ in range(4)])
        task_queue.flush(60)
        assert messages == ["number_changes"]
        api.post(TENANTS, [{"name": unique()} for _ in range(3)])
        task_queue.flush(60)
        assert messages == ["number_changes"]
        api.post(TENANTS, {"name": unique()})
        task_queue.flush(60)
    assert messages == ["number_changes"] * 2


def test_writes_go_on_without_a_queue(service: Service, api: Api, unique: Unique, port: int, caplog: Any) -> None:
    """Nobody waits for the queue: its connection is tried in a thread of its own."""
    told = {
        "name": unique(),
        "content_types": ["tenancy.tenant"],
        "type_create": True,
        "payload_url": "http://receiver.example.com/",
    }
    webhook = api.post("/api/extras/webhooks/", told)
    with caplog.at_level(logging.WARNING), service.configured(queue_url=f"redis://127.0.0.1:{port}/0"):
        for _ in range(3):
            api.post(TENANTS, {"name": unique()})
        task_queue.flush(60)
    assert api.get("/api/extras/webhook-deliveries/", {"webhook": webhook["id"]})["count"] == 3
    assert any("the worker was not woken" in record.getMessage() for record in caplog.records)
    assert not any(record.exc_info for record in caplog.records)
    api.delete(webhook["url"])


@pytest.fixture
def silent_queue() -> Iterator[tuple[str, list[socket.socket]]]:
    """The URL of a queue that accepts connections and answers nothing, as a Redis that hangs; and its connections."""
    connections: list[socket.socket] = []
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def accept() -> None:
            with contextlib.suppress(OSError):
                while True:
                    connections.append(listener.accept()[0])

        threading.Thread(target=accept, daemon=True).start()
        yield f"redis://127.0.0.1:{listener.getsockname()[1]}/0", connections
        listener.shutdown(socket.SHUT_RDWR)
    for connection in connections:
        connection.close()


@pytest.mark.night
def test_a_queue_that_hangs_is_asked_once_and_keeps_no_request_waiting(
    service: Service, api: Api, unique: Unique, silent_queue: tuple[str, list[socket.socket]]
) -> None:
    """Writes ask it in a thread of their own; metrics, the check and readiness wait for one short answer."""
    url, connections = silent_queue
    assert task_queue.queue_at(url).storage.pool.connection_kwargs["socket_timeout"] == task_queue.TIMEOUT <= 1
    with service.configured(queue_url=url):
        assert "netinv_queue_up 0.0" in api.send("GET", "/metrics", status=200).text
        assert len(connections) == 1
        found = checks.queue({"queue_url": url})
        assert (found.level, len(connections)) == ("problem", 2)
        api.post(TENANTS, {"name": unique()})
        task_queue.flush(60)


@pytest.mark.parametrize("scheme", ["redis", "sqlite"])
def test_messages_that_cannot_be_read_are_left_out_and_told_once(
    scheme: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: Any
) -> None:
    """Those beside them are not lost, and none has a traceback: a task of a package that is not installed is one."""
    huey = task_queue.queue("redis://127.0.0.1:1/0" if scheme == "redis" else f"sqlite:///{tmp_path}/queue.sqlite")
    known = huey.serialize_task(huey.task(name="known")(lambda: None).s())
    stranger = task_queue.queue(f"sqlite:///{tmp_path}/other.sqlite")
    strange = stranger.serialize_task(stranger.task(name="strange")(lambda: None).s())
    messages = [b"nonsense", strange, b"", known]
    monkeypatch.setattr(huey.storage, "dequeue", lambda: messages.pop(0))
    monkeypatch.setattr(huey.storage, "read_schedule", lambda timestamp: [b"nonsense", known, strange])
    with caplog.at_level(logging.WARNING, "netinv_core"):
        assert [task and task.name for task in (huey.dequeue() for _ in range(4))] == [None, None, None, "known"]
        assert [task.name for task in huey.read_schedule(now())] == ["known"]
    lines = [record for record in caplog.records if record.name == "netinv_core.tasks.messages"]
    assert len(lines) == 5 and not any(record.exc_info for record in caplog.records)
    assert "strange not found" in lines[1].getMessage()


@pytest.mark.parametrize("server", ["sqlite", "redis"])
def test_the_scheduler_of_the_worker_reads_what_is_due(
    server: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: Any
) -> None:
    """It asks for no time in particular."""
    huey = task_queue.queue("redis://127.0.0.1:1/0" if server == "redis" else f"sqlite:///{tmp_path}/queue.sqlite")
    known = huey.serialize_task(huey.task(name="known")(lambda: None).s())
    asked: list[Any] = []
    monkeypatch.setattr(huey.storage, "read_schedule", lambda timestamp: [asked.append(timestamp), known][1:])
    monkeypatch.setattr(huey, "enqueue", asked.append)
    scheduler = huey.create_consumer(periodic=False)._create_scheduler()
    monkeypatch.setattr(scheduler, "sleep_for_interval", lambda *_: None)
    scheduler.loop()
    assert asked[0].timestamp() and asked[1].name == "known"
    assert not any(record.exc_info for record in caplog.records)


def test_a_task_that_does_not_end_is_told_once(service: Service, monkeypatch: pytest.MonkeyPatch, caplog: Any) -> None:
    heartbeat = workers.Heartbeat(service.engine)
    with caplog.at_level(logging.WARNING, "netinv_core"), heartbeat.of_task("endless"):
        heartbeat.tell_long()
        assert not caplog.records
        monkeypatch.setattr(workers, "LONG", 0.0)
        heartbeat.tell_long()
        heartbeat.tell_long()
    heartbeat.tell_long()
    assert [record.getMessage().partition(" for ")[0] for record in caplog.records] == [
        "the task endless has been running"
    ]


@pytest.mark.parametrize(("waiting", "level"), [(100, "ok"), (101, "warning")])
def test_the_check_warns_of_messages_that_no_worker_takes(waiting: int, level: str, tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/queue.sqlite"
    send = task_queue.queue(url).task(name="untaken")(lambda: None)
    for _ in range(waiting):
        send()
    found = checks.queue({"queue_url": url})
    assert found.level == level and f"{waiting} messages wait" in found.message


@pytest.mark.night
@pytest.mark.usefixtures("numbering")
def test_a_worker_without_its_queue_does_what_is_due_each_minute(
    service: Service, api: Api, unique: Unique, port: int, caplog: Any
) -> None:
    api.post(TENANTS, {"name": unique()})
    assert unnumbered(service)
    huey = task_queue.queue(f"redis://127.0.0.1:{port}/0")
    worker_tasks.add_tasks(huey, service.engine, service.registry)
    with caplog.at_level(logging.WARNING, "netinv_core"):
        consumer = task_queue.start_embedded(huey)
        try:
            until(lambda: not unnumbered(service))
        finally:
            consumer.stop(graceful=True)
    lines = [record for record in caplog.records if record.name == "netinv_core.tasks.redis_queue"]
    assert [line.exc_info for line in lines] == [None] and lines[0].getMessage().startswith(
        "the queue cannot be reached"
    )


if shutil.which("redis-server"):

    @pytest.fixture
    def redis_server(tmp_path: Path, port: int) -> Iterator[Callable[[], subprocess.Popen[bytes]]]:
        """``redis_server()``: a Redis of its own on ``port``, ready."""
        started: list[subprocess.Popen[bytes]] = []

        def start() -> subprocess.Popen[bytes]:
            options = ["--port", str(port), "--bind", "127.0.0.1", "--save", "", "--dir", str(tmp_path)]
            started.append(subprocess.Popen(["redis-server", *options], stdout=subprocess.DEVNULL))
            until(lambda: not socket.socket().connect_ex(("127.0.0.1", port)))
            return started[-1]

        yield start
        for process in started:
            process.kill()
            process.wait()

    @pytest.mark.usefixtures("numbering")
    def test_a_worker_finds_its_queue_again(
        service: Service, api: Api, unique: Unique, port: int, redis_server: Any
    ) -> None:
        url = f"redis://127.0.0.1:{port}/0"
        first = redis_server()
        huey = task_queue.queue(url)
        number_changes = worker_tasks.add_tasks(huey, service.engine, service.registry)["number_changes"]
        consumer = task_queue.start_embedded(huey)
        try:
            for step in ("there", "stopped", "gone", "there again"):
                if step == "stopped":
                    first.send_signal(signal.SIGSTOP)
                    api.post(TENANTS, {"name": unique()})
                    first.send_signal(signal.SIGCONT)
                elif step == "gone":
                    first.kill()
                    first.wait()
                elif step == "there again":
                    redis_server()
                    until(huey.storage.conn.ping)
                api.post(TENANTS, {"name": unique()})
                number_changes()
                until(lambda: not unnumbered(service))
        finally:
            consumer.stop(graceful=True)
