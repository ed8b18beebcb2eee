"""``/health/live`` and ``/health/ready``: the probes of load balancers and of process supervisors, without credentials.

``live`` answers while the process serves requests, without the database. ``ready`` checks what requests need, and
reports the queue besides, without which all requests are served. A check runs in a thread of its own, so that the
answer takes no longer than :data:`TIMEOUT`, and its result is kept for :data:`KEPT`, so that many probes cost as little
as one. The answers name checks and kinds of failures; reasons, which may contain addresses, are in the log only.
"""

from __future__ import annotations

import functools
import logging
import threading
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
from pyramid.request import Request
from pyramid.response import Response
from pyramid.security import NO_PERMISSION_REQUIRED
from sqlalchemy.engine import Engine

from netinv_core.backups import schedule as backups
from netinv_core.db import availability, revisions
from netinv_core.db.replicas import Replicas
from netinv_core.errors import NotAllowed
from netinv_core.http.serialization import json_response
from netinv_core.registry_cache import cached_in_registry
from netinv_core.tasks import queue as task_queue

if TYPE_CHECKING:
    from netinv_core.registry import Registry

log = logging.getLogger(__name__)
LIVE, READY = "/health/live", "/health/ready"
PATHS = frozenset({LIVE, READY})
METHODS = ("GET", "HEAD")
stopping = threading.Event()  # is set when the process was told to end
TIMEOUT = 0.9  # seconds for all checks together
KEPT = 1.0  # seconds for which a result is used
OK, UNREACHABLE, NOT_MIGRATED, FAILED, NO_ANSWER = "ok", "unreachable", "migrations are missing", "failed", "no answer"


class HealthCheck:
    """A check that runs in one thread at a time. ``run`` returns its result: :data:`OK`, or the kind of failure.

    Only a check that is ``needed`` decides whether the service is ready; another one is reported.
    """

    def __init__(self, name: str, run: Callable[[], str], *, needed: bool = True) -> None:
        self.name = name
        self.needed = needed
        self._run = run
        self._changed = threading.Condition()
        self._running = False
        self._result, self._finished = "", 0.0

    def result(self, end: float) -> str:
        """The result, not older than :data:`KEPT`; :data:`NO_ANSWER` when there is none until ``end`` (monotonic)."""
        with self._changed:
            if self._result and time.monotonic() - self._finished < KEPT:
                return self._result
            if not self._running:
                self._running = True
                threading.Thread(target=self._work, name=f"netinv-check-{self.name}", daemon=True).start()
            finished = self._changed.wait_for(lambda: not self._running, max(end - time.monotonic(), 0))
            return self._result if finished else NO_ANSWER

    def _work(self) -> None:
        try:
            result = self._run()
        except Exception:
            log.exception("the check %s of the readiness failed", self.name)
            result = FAILED
        with self._changed:
            self._result, self._finished, self._running = result, time.monotonic(), False
            self._changed.notify_all()


def checks_of(engine: Engine, registry: Registry) -> list[HealthCheck]:
    """The checks of a service: of the database with its migrations, which requests need, and of its queue and of the
    backups of workers, if any.
    """
    checks = [HealthCheck("database", functools.partial(_database, engine, registry))]
    if url := registry.settings["queue_url"]:
        run = functools.partial(_queue, url)
        checks.append(HealthCheck("queue", run, needed=False))
    if registry.settings["backup_folder"]:
        checks.append(HealthCheck("backup", functools.partial(_backup, engine, registry), needed=False))
    return checks


def _backup(engine: Engine, registry: Registry) -> str:
    try:
        with engine.connect().execution_options(**registry.driver.connection_options(writing=False)) as connection:
            found = backups.state(connection)
    except sa.exc.SQLAlchemyError:
        return UNREACHABLE  # the check of the database tells why
    if found.failed:
        return FAILED
    return "overdue" if found.is_overdue(registry.settings["backup_interval"]) else OK


def _database(engine: Engine, registry: Registry) -> str:
    try:
        with engine.connect().execution_options(**registry.driver.connection_options(writing=False)) as connection:
            connection.execute(sa.select(1))
            missing = revisions.missing_heads(connection, _heads(registry))
    except sa.exc.SQLAlchemyError as error:
        log.warning("not ready: the database cannot be used: %s", availability.reason(error))
        return UNREACHABLE if availability.is_away(error) else FAILED
    if missing:
        log.warning("not ready: the database lacks the migrations %s", ", ".join(missing))
    return NOT_MIGRATED if missing else OK


def _queue(url: str) -> str:
    return UNREACHABLE if task_queue.length(url) is None else OK


@cached_in_registry
def _heads(registry: Registry) -> dict[str, Sequence[str]]:
    return revisions.heads(registry)


@cached_in_registry
def _checks(registry: Registry, engine: Engine) -> list[HealthCheck]:
    """The checks of a process for a service: all probes share them."""
    return checks_of(engine, registry)


def live(request: Request) -> Response:
    """The process answers."""
    _check_method(request)
    return json_response({"status": "live"}, 200)


def ready(request: Request) -> Response:
    """The results of the checks, 503 when one fails that requests need or the service stops; and the states of the read
    replicas.
    """
    _check_method(request)
    end = time.monotonic() + TIMEOUT
    checks = _checks(request.registry.netinv, request.registry.netinv_engine)
    results = [{"name": check.name, "result": check.result(end)} for check in checks]
    passed = all(result["result"] == OK for check, result in zip(checks, results, strict=True) if check.needed)
    is_ready = passed and not stopping.is_set()
    status = "ready" if is_ready else "stopping" if stopping.is_set() else "unavailable"
    answer = {"status": status, "checks": [*results, *_replicas(request)]}
    return json_response(answer, 200 if is_ready else 503)


def _replicas(request: Request) -> list[dict[str, str]]:
    """The states of the read replicas. A service is ready without them: it reads the primary."""
    replicas: Replicas | None = request.registry.netinv_replicas
    if replicas is None:
        return []
    replicas.start()
    return [{"name": f"replica {n}", "result": replica.state} for n, replica in enumerate(replicas.all, 1)]


def _check_method(request: Request) -> None:
    if request.method not in METHODS:
        raise NotAllowed(request.method, ", ".join(METHODS))


def includeme(config: Any) -> None:
    """Adds the routes."""
    for path, view in ((LIVE, live), (READY, ready)):
        config.add_route(path, path)
        config.add_view(view, route_name=path, permission=NO_PERMISSION_REQUIRED)
