"""Metrics of the processes of a service: requests by route, statements, connections, caches, memory; all in `/metrics`."""

from __future__ import annotations

import datetime
import os
import re
import subprocess
import sys
import types
import uuid
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from prometheus_client.parser import text_string_to_metric_families

from netinv_core import caches
from netinv_core.driver.pool import WatchedPool
from netinv_core.models.base import now, table_of
from netinv_core.tasks import queue as task_queue
from netinv_core.tasks.workers import WorkerProcess
from netinv_core.telemetry import MULTIPROCESS, gunicorn_hooks, metrics
from netinv_testing import Api, Service
from tests.support import REPOSITORY
from tests.support.databases import new_queue_url

SITES = "/api/dcim/sites/"
REQUESTS, DURATION = "netinv_http_requests_total", "netinv_http_request_seconds_count"


@pytest.fixture(scope="module", autouse=True)
def _fresh_metrics() -> None:
    """Forgets the requests of former tests: after those of a whole run an answer of `/metrics` has 30,000 lines."""
    metrics.REQUESTS.clear()
    metrics.DURATION.clear()
    metrics._children.clear()


def figure(api: Api, name: str, **labels: str) -> float:
    """The value of a sample of `/metrics`; 0 if it is not there."""
    text = api.send("GET", "/metrics", status=200).text
    lines = "".join(line for line in text.splitlines(keepends=True) if line.startswith(name))  # parsing all takes 1 s
    samples = [sample for family in text_string_to_metric_families(lines) for sample in family.samples]
    return next((sample.value for sample in samples if sample.name == name and sample.labels == labels), 0)


def test_requests_are_counted_by_route_method_and_class_of_status(api: Api) -> None:
    of_route = {"route": f"{SITES}{{id}}/", "method": "GET"}

    def counts() -> tuple[float, float]:
        return figure(api, REQUESTS, **of_route, status="4xx"), figure(api, DURATION, **of_route)

    before = counts()
    for _ in range(3):
        api.send("GET", f"{SITES}{uuid.uuid4()}/", status=404)
    assert counts() == (before[0] + 3, before[1] + 3)


def test_words_of_clients_are_no_labels(service: Service, unique: Any) -> None:
    """Methods and paths that nobody knows are counted together."""
    method, path = unique().upper(), f"/{unique()}/"
    service.anonymous.send(method, path, status=405)
    service.anonymous.send("GET", path, status=404)
    service.api.send("GET", f"/api/dcim/{unique()}/", status=404)
    text = service.api.send("GET", "/metrics", status=200).text
    assert method not in text and path not in text
    assert figure(service.api, REQUESTS, route="unmatched", method="other", status="4xx") >= 1
    assert figure(service.api, REQUESTS, route="/api/dcim/{model}/", method="GET", status="4xx") >= 1


def test_statements_of_requests_are_counted(api: Api) -> None:
    before = figure(api, "netinv_http_request_statements_sum")
    between = figure(api, "netinv_http_request_statements_sum")
    assert between - before >= 3
    assert figure(api, "netinv_http_statement_seconds_total") > 0


def test_waits_for_a_connection_are_counted(tmp_path: Path) -> None:
    engine = sa.create_engine(
        f"sqlite:///{tmp_path}/x.sqlite", poolclass=WatchedPool, pool_size=1, max_overflow=0, pool_timeout=0.01
    )
    before = metrics.POOL_WAITS._value.get(), metrics.POOL_WAIT_SECONDS._value.get()
    with engine.connect():
        assert metrics.POOL_WAITS._value.get() == before[0]
        with pytest.raises(sa.exc.TimeoutError):
            engine.connect()
    assert metrics.POOL_WAITS._value.get() == before[0] + 1
    assert metrics.POOL_WAIT_SECONDS._value.get() > before[1]
    engine.dispose()


def test_connections_caches_and_memory_are_sampled(service: Service, api: Api) -> None:
    reader = service.user(("view", "dcim.site")).api
    reader.get(SITES)
    assert figure(api, "netinv_database_pool_connections", state="size") == service.engine.pool.size()
    hits = figure(api, "netinv_cache_hits_total", cache="configuration")
    reader.get(SITES)
    assert figure(api, "netinv_cache_hits_total", cache="configuration") > hits
    assert figure(api, "netinv_process_memory_bytes") > 1e6
    assert figure(api, "netinv_process_cpu_seconds") > 0


def test_the_queue_is_measured(service: Service, tmp_path: Path) -> None:
    url = new_queue_url(tmp_path)
    queue = task_queue.queue_at(url)
    queue.flush()
    with service.configured(queue_url=url):
        assert figure(service.api, "netinv_queue_messages") == 0
        queue.task(name="nothing")(lambda: None)()
        assert figure(service.api, "netinv_queue_messages") == 1
    queue.flush()


def test_a_queue_that_cannot_be_reached_is_told_from_none(service: Service, tmp_path: Path) -> None:
    api = service.api
    with service.configured(queue_url=new_queue_url(tmp_path)):
        assert figure(api, "netinv_queue_up") == 1
    with service.configured(queue_url="redis://127.0.0.1:1/0"):
        text = api.send("GET", "/metrics", status=200).text
        assert "netinv_queue_up 0.0" in text
        assert "netinv_queue_messages" not in text
    with service.configured(queue_url=""):
        assert "netinv_queue" not in api.send("GET", "/metrics", status=200).text


@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("configuration", SITES),
        ("plans", f"{SITES}?fields=name"),
        ("registry", "/health/ready"),
        ("route names", SITES),
        ("regular expressions", f"{SITES}?name__re=^a"),
        ("OpenAPI documents", "/api/swagger.json"),
    ],
)
def test_every_cache_counts_hits_and_misses(service: Service, api: Api, name: str, path: str) -> None:
    """The second request for the same finds what the first has put there."""
    reader = service.user(("view", "dcim.site")).api
    for _ in range(2):
        before = {
            metric: figure(api, f"netinv_cache_{metric}", cache=name) for metric in ("hits_total", "misses_total")
        }
        reader.send("GET", path, status=200)
    assert figure(api, "netinv_cache_hits_total", cache=name) > before["hits_total"]
    assert figure(api, "netinv_cache_entries", cache=name) > 0
    assert figure(api, "netinv_cache_misses_total", cache=name) > 0


def test_the_caches_are_documented() -> None:
    named = re.compile(r'\b(?:lru_cache|BoundedCache(?:\[.+\])?|CacheCounts)\(\s*"([^"]+)"')
    sources = [path.read_text() for folder in REPOSITORY.glob("netinv_*") for path in folder.rglob("*.py")]
    page = (REPOSITORY / "docs/watching.md").read_text()
    (row,) = re.findall(r"^\| `netinv_cache_entries` .*$", page, re.MULTILINE)
    documented = set(re.findall(r"`([^`]+)`", row)[2:])
    assert documented == {name for source in sources for name in named.findall(source)}
    assert {name for name, _ in caches.usage()} <= documented


def test_the_age_of_the_last_heartbeat_is_told(service: Service) -> None:
    worker, seen = table_of(WorkerProcess), now() - datetime.timedelta(seconds=20)
    row = {"id": uuid.uuid4(), "host": service.unique(), "process": 1, "started": seen, "seen": seen, "task": ""}
    with service.unit_of_work() as uow:
        uow.execute(sa.delete(worker))
        uow.execute(sa.insert(worker), [row])
    assert 20 <= figure(service.api, "netinv_worker_heartbeat_age_seconds") < 20 + (now() - seen).total_seconds()
    with service.unit_of_work() as uow:
        uow.execute(sa.delete(worker))


@pytest.mark.night
def test_several_processes_report_together(tmp_path: Path) -> None:
    """prometheus_client's multiprocess mode: any process answers for all."""
    code = (
        "from netinv_core.telemetry import log_context, metrics;"
        "metrics.observe('GET', 200, log_context.LogContext(route='/x/'), 0.1);"
        "print(metrics.text().decode())"
    )
    environment = {**os.environ, MULTIPROCESS: str(tmp_path)}
    texts = [
        subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True).stdout
        for _ in range(2)
    ]
    assert 'netinv_http_requests_total{method="GET",route="/x/",status="2xx"} 2.0' in texts[1]


def test_the_gauges_of_an_ended_process_are_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(MULTIPROCESS, str(tmp_path))
    for name in ("gauge_livesum_17.db", "gauge_liveall_17.db", "gauge_livesum_18.db", "counter_17.db"):
        (tmp_path / name).touch()
    gunicorn_hooks.child_exit(None, types.SimpleNamespace(pid=17))
    assert {path.name for path in tmp_path.iterdir()} == {"gauge_livesum_18.db", "counter_17.db"}


def documented() -> dict[str, tuple[str, str]]:
    """Type and labels of the documented metrics, by name."""
    page = (REPOSITORY / "docs" / "watching.md").read_text()
    rows = re.findall(r"^\| `(netinv_\w+)` \| (\w+) \|([^|]*)\|", page, re.MULTILINE)
    return {name: (kind, labels.replace("`", "").strip()) for name, kind, labels in rows}


def test_every_metric_is_documented(service: Service, api: Api, tmp_path: Path) -> None:
    api.get(SITES)
    with service.configured(queue_url=new_queue_url(tmp_path), backup_folder=str(tmp_path)):
        families = text_string_to_metric_families(api.send("GET", "/metrics", status=200).text)
        found = {
            f"{family.name}_total" if family.type == "counter" else family.name: family.type for family in families
        }
    kinds = {name: kind for name, (kind, _) in documented().items()}
    assert {name: kinds.get(name) for name in found} == found
    unseen = {"netinv_worker_heartbeat_age_seconds", "netinv_backup_age_seconds"}  # without a worker, and its backup
    assert kinds.keys() - found.keys() <= unseen


def test_labels_of_metrics_are_documented() -> None:
    families = {family.name: family for family in metrics.REGISTRY.collect()}
    for name, (_, labels) in documented().items():
        family = families.get(name.removesuffix("_total"))
        if family is not None and family.samples:
            used = {label for sample in family.samples for label in sample.labels} - {"le", "pid"}
            assert used == set(labels.replace(",", " ").split()), name
