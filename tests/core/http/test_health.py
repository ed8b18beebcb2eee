"""Probes: `/health/live` and `/health/ready`, which answer without credentials and tell no addresses."""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy.engine import Engine

from netinv_core.db.engine import engine_from
from netinv_core.http import health
from netinv_testing import Service
from tests.support.databases import empty_database, new_queue_url

LIVE, READY = "/health/live", "/health/ready"


@pytest.fixture
def probe(service: Service, monkeypatch: pytest.MonkeyPatch) -> Any:
    """``probe(engine, queue_url)``: the answer to READY of a service on another database or queue."""
    monkeypatch.setattr(health, "KEPT", 0)

    def ready(engine: Engine | None = None, queue_url: str = "") -> tuple[int, Any]:
        service.registry.derived.clear()
        monkeypatch.setattr(service.app.registry, "netinv_engine", engine or service.engine)
        with service.configured(queue_url=queue_url):
            answer = service.anonymous.send("GET", READY, status=(200, 503))
        return answer.status_int, answer.json

    yield ready
    service.registry.derived.clear()


@contextlib.contextmanager
def silent_server() -> Iterator[int]:
    """The port of a server that accepts connections and says nothing."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


def test_a_live_process_answers_without_its_database(service: Service, statements: Any) -> None:
    with statements() as found:
        assert service.anonymous.get(LIVE) == {"status": "live"}
    assert not found
    assert service.anonymous.send("HEAD", LIVE, status=200).body == b""


def test_a_service_with_database_and_queue_is_ready(probe: Any, tmp_path: Path) -> None:
    names = [{"name": name, "result": "ok"} for name in ("database", "queue")]
    assert probe(queue_url=new_queue_url(tmp_path)) == (200, {"status": "ready", "checks": names})


def test_a_service_without_queue_is_ready(probe: Any) -> None:
    assert probe() == (200, {"status": "ready", "checks": [{"name": "database", "result": "ok"}]})


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://someone:hidden@127.0.0.1:{}/none",
        "mysql://someone:hidden@127.0.0.1:{}/none",
        "sqlite:////nowhere/there/{}.sqlite",
    ],
)
def test_a_database_that_is_away_is_named_without_its_address(probe: Any, closed_port: int, url: str) -> None:
    checks = [{"name": "database", "result": "unreachable"}]
    assert probe(engine_from(url.format(closed_port))) == (503, {"status": "unavailable", "checks": checks})


def test_a_database_that_does_not_answer_is_not_waited_for(probe: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(health, "TIMEOUT", 0.1)
    with silent_server() as port:
        engine = engine_from(f"postgresql://someone@127.0.0.1:{port}/none", connect_timeout=2)
        assert probe(engine)[1]["checks"] == [{"name": "database", "result": "no answer"}]


@pytest.mark.parametrize("answers", [False, True])
def test_a_queue_that_is_away_is_named_and_the_service_stays_ready(
    probe: Any, closed_port: int, monkeypatch: pytest.MonkeyPatch, answers: bool
) -> None:
    """Requests do not wait for the queue: without the service, its outage would be one of the whole inventory."""
    monkeypatch.setattr(health, "TIMEOUT", 0.5)
    with silent_server() as silent:
        port, result = (silent, "no answer") if answers else (closed_port, "unreachable")
        status, body = probe(queue_url=f"redis://:hidden@127.0.0.1:{port}/0")
    checks = [{"name": "database", "result": "ok"}, {"name": "queue", "result": result}]
    assert (status, body) == (200, {"status": "ready", "checks": checks})


def test_a_service_without_database_and_queue_is_not_ready(probe: Any, closed_port: int) -> None:
    engine = engine_from("sqlite:////nowhere/there/none.sqlite")
    status, body = probe(engine, f"redis://:hidden@127.0.0.1:{closed_port}/0")
    assert (status, {check["result"] for check in body["checks"]}) == (503, {"unreachable"})


def test_a_database_without_migrations_is_not_ready(probe: Any, tmp_path: Path) -> None:
    with empty_database(tmp_path) as engine:
        assert probe(engine)[1]["checks"] == [{"name": "database", "result": "migrations are missing"}]


def test_a_result_is_used_for_many_probes(service: Service, monkeypatch: pytest.MonkeyPatch, statements: Any) -> None:
    monkeypatch.setattr(health, "KEPT", 1000)
    service.anonymous.get(READY)
    with statements() as found:
        service.anonymous.get(READY)
    assert not found


def test_a_check_takes_few_statements(service: Service, probe: Any, statements: Any) -> None:
    with statements() as found:
        probe()
    assert len(found) <= 4


def test_probes_come_by_address(service: Service) -> None:
    with service.configured(allowed_hosts=("netinv.example.net",)):
        for path in (LIVE, READY):
            service.anonymous.send("GET", path, status=200)
        service.anonymous.send("GET", "/api/", status=400)


def test_probes_are_read_only(service: Service) -> None:
    for path in (LIVE, READY):
        answer = service.anonymous.send("POST", path, {}, status=405)
        assert answer.headers["Allow"] == "GET, HEAD"


def test_a_check_with_a_bug_has_failed(service: Service, monkeypatch: pytest.MonkeyPatch, caplog: Any) -> None:
    def broken() -> str:
        raise ZeroDivisionError

    check = health.HealthCheck("x", broken)
    assert check.result(1e9) == "failed"
    assert [record.message for record in caplog.records] == ["the check x of the readiness failed"]
