"""Metrics of this process: requests, the pool of database connections, caches, memory and processor time.

They are in :data:`REGISTRY`, or, with the environment variable ``PROMETHEUS_MULTIPROC_DIR``, in files of that folder,
so that any process of a service can report the metrics of all (prometheus_client's multiprocess mode). What changes
without a request is sampled after requests, at most once in :data:`SAMPLE_INTERVAL`.
"""

from __future__ import annotations

import collections
import contextlib
import os
import resource
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    disable_created_metrics,
    generate_latest,
    multiprocess,
)
from sqlalchemy.engine import Engine
from sqlalchemy.pool import QueuePool

from netinv_core import caches
from netinv_core.telemetry import MULTIPROCESS
from netinv_core.telemetry.log_context import LogContext

_several_processes = MULTIPROCESS in os.environ
SAMPLE_INTERVAL = 1.0  # seconds
METHODS = frozenset({"GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"})
SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10)
COUNTS = (1, 2, 3, 5, 8, 12, 20, 30, 50, 100)

disable_created_metrics()
REGISTRY = CollectorRegistry()
_in: dict[str, Any] = {"registry": REGISTRY}
_sum: dict[str, Any] = {**_in, "multiprocess_mode": "livesum"}
_each: dict[str, Any] = {**_in, "multiprocess_mode": "liveall"}
_request = ("route", "method")
REQUESTS = Counter(
    "netinv_http_requests", "Requests that were answered, by class of status.", (*_request, "status"), **_in
)
DURATION = Histogram("netinv_http_request_seconds", "Duration of requests.", _request, buckets=SECONDS, **_in)
STATEMENTS = Histogram("netinv_http_request_statements", "SQL statements of one request.", buckets=COUNTS, **_in)
STATEMENT_SECONDS = Counter("netinv_http_statement_seconds", "Time of SQL statements of requests.", **_in)
RATE_LIMITED = Counter("netinv_http_rate_limited", "Requests answered 429 because of a rate limit.", ("limit",), **_in)
POOL = Gauge(
    "netinv_database_pool_connections", "Database connections: size of the pool, in use, overflow.", ("state",), **_sum
)
POOL_WAITS = Counter("netinv_database_pool_waits", "Waits for a free database connection.", **_in)
POOL_WAIT_SECONDS = Counter("netinv_database_pool_wait_seconds", "Time of waits for a free connection.", **_in)
_worst: dict[str, Any] = {**_in, "multiprocess_mode": "livemin"}
REPLICA_UP = Gauge("netinv_database_replica_up", "1 for a read replica that is in use.", ("replica",), **_worst)
REPLICA_LAG = Gauge(
    "netinv_database_replica_lag_seconds",
    "Time that a read replica is behind the primary; -1 when unknown.",
    ("replica",),
    **_in,
    multiprocess_mode="livemax",
)
READS = Counter(
    "netinv_database_reads",
    "Requests that only read, by the server that they read.",
    ("server",),
    **_in,
)
PACKAGE_FAILURES = Counter(
    "netinv_package_failures", "Failures of a plugin while the service runs.", ("package",), **_in
)
CACHE_ENTRIES = Gauge("netinv_cache_entries", "Entries of a cache.", ("cache",), **_sum)
CACHE_HITS = Counter("netinv_cache_hits", "Values found in a cache.", ("cache",), **_in)
CACHE_MISSES = Counter("netinv_cache_misses", "Values that a cache did not have.", ("cache",), **_in)
MEMORY = Gauge("netinv_process_memory_bytes", "Resident memory of a process.", **_each)
PROCESSOR = Gauge("netinv_process_cpu_seconds", "Processor time of a process, user and system.", **_each)

# The functions that count a request and its seconds.
_Children = tuple[Callable[[], None], Callable[[float], None]]
_children: dict[tuple[str, str, int], _Children] = {}
# Route, method and class of status; seconds; statements and their seconds.
_Observation = tuple[tuple[str, str, int], float, int, float]
_observations: collections.deque[_Observation] = collections.deque()
_last_sample = [0.0]  # monotonic


def observe(method: str, status: int, context: LogContext, seconds: float) -> None:
    """Counts a request that was answered: at the next sample, since many together take a quarter of the time."""
    key = (context.route, method, status // 100)
    _observations.append((key, seconds, context.statements, context.statement_seconds))


def _count_observations() -> None:
    """Adds what was observed to the metrics. Several threads may do so at the same time."""
    with contextlib.suppress(IndexError):  # no more of them
        while True:
            key, seconds, statements, statement_seconds = _observations.popleft()
            count, measure = _children.get(key) or _add_counters(key)
            count()
            measure(seconds)
            STATEMENTS.observe(statements)
            STATEMENT_SECONDS.inc(statement_seconds)


def _add_counters(key: tuple[str, str, int]) -> _Children:
    """The functions that count a request of a route, method and class of status."""
    route, method, status = key
    if method not in METHODS:  # an arbitrary word, which was refused
        method = "other"
        if (route, method, status) in _children:
            return _children[route, method, status]
    labels = route, method
    children = REQUESTS.labels(*labels, f"{status}xx").inc, DURATION.labels(*labels).observe
    _children[route, method, status] = children
    return children


def sample(engine: Engine, *, now: bool = False) -> None:
    """Updates the metrics if the last time is long enough ago, or ``now``."""
    moment = time.monotonic()
    if _several_processes:  # another process may be the one that is scraped next
        _count_observations()
    if moment - _last_sample[0] < SAMPLE_INTERVAL and not now:
        return
    _count_observations()
    _last_sample[0] = moment
    pool = engine.pool
    if isinstance(pool, QueuePool):
        POOL.labels("size").set(pool.size())
        POOL.labels("in use").set(pool.checkedout())
        POOL.labels("overflow").set(max(pool.overflow(), 0))
    for name, usage in caches.usage():
        CACHE_ENTRIES.labels(name).set(usage.entries)
        CACHE_HITS.labels(name).inc(usage.hits)
        CACHE_MISSES.labels(name).inc(usage.misses)
    used = resource.getrusage(resource.RUSAGE_SELF)
    PROCESSOR.set(used.ru_utime + used.ru_stime)
    MEMORY.set(_resident_bytes())


def _resident_bytes() -> int:
    """The resident memory by ``/proc``; 0 on systems without it."""
    try:
        return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()
    except OSError:
        return 0


def text() -> bytes:
    """The metrics of this process, or those of all processes of a service, in the text format of Prometheus."""
    _count_observations()
    if not _several_processes:
        return generate_latest(REGISTRY)
    registry = CollectorRegistry()
    multiprocess.MultiProcessCollector(registry)
    return generate_latest(registry)
