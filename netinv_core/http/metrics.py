"""``/metrics``: metrics of the core and of every package in the text format of Prometheus.

Those of this module and of packages are read from the database, so every process gives the same values. Those of the
process follow them (:mod:`netinv_core.telemetry.metrics`). Like the API, the path needs a token.
"""

from __future__ import annotations

import dataclasses
import datetime
import importlib.metadata
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from prometheus_client import Metric, generate_latest
from pyramid.request import Request
from pyramid.response import Response

from netinv_core.backups import schedule as backups
from netinv_core.changelog import sequence
from netinv_core.http.security_policy import AUTHENTICATED
from netinv_core.http.time_limits import parts_in_time
from netinv_core.models.base import now
from netinv_core.tasks import queue as task_queue
from netinv_core.tasks import workers
from netinv_core.telemetry import metrics as process_metrics

if TYPE_CHECKING:
    from netinv_core.uow import UnitOfWork

ALLOW = "GET, HEAD"
COUNTER, GAUGE = "counter", "gauge"
MEDIA_TYPE = "text/plain; version=0.0.4; charset=utf-8"


@dataclasses.dataclass(frozen=True)
class Sample:
    """One value of the metric ``name``. ``type`` is :data:`COUNTER`, which only grows, or :data:`GAUGE`.

    ``labels`` distinguish the values of one metric; each should have few values.
    """

    name: str
    help: str
    value: float
    type: str = GAUGE
    labels: Mapping[str, str] = dataclasses.field(default_factory=dict)


@dataclasses.dataclass(frozen=True)
class _Families:
    """Metrics as a collector of prometheus_client."""

    families: Sequence[Metric]

    def collect(self) -> Iterable[Metric]:
        """The metrics."""
        return self.families


def samples(request: Request) -> list[Sample]:
    """The metrics of the core and of every package."""
    uow = request.uow
    release = {"version": importlib.metadata.version("netinv-core"), "database": uow.registry.dialect}
    changes = sequence.numbers(uow.connection).last
    alive, seen = workers.summary(uow.connection)
    return [
        Sample("netinv_info", "The release of netinv and the kind of its database.", 1, labels=release),
        Sample("netinv_packages_broken", "Packages that could not be started.", len(uow.registry.broken)),
        Sample("netinv_workers", "Processes that run background tasks, seen in the last minutes.", alive),
        *_heartbeat(seen),
        *_backups(uow),
        *_queue(uow.registry.settings["queue_url"]),
        Sample("netinv_changes_total", "Changes of the inventory that got their number in the log.", changes, COUNTER),
        *[sample for found in parts_in_time(request, "netinv_metrics", _check_samples) for sample in found],
    ]


def _check_samples(found: Iterable[Sample]) -> list[Sample]:
    """The metrics of a package.

    :raises TypeError: for anything else
    """
    checked = list(found)
    text(checked)
    return checked


def _heartbeat(seen: datetime.datetime | None) -> list[Sample]:
    """The time since the last heartbeat; none if no worker is known."""
    if seen is None:
        return []
    age = max((now() - seen).total_seconds(), 0)
    return [Sample("netinv_worker_heartbeat_age_seconds", "Time since the last heartbeat of any worker.", age)]


def _backups(uow: UnitOfWork) -> list[Sample]:
    """The state of the backups of workers, where the settings name a folder for them; no age before the first one."""
    if not uow.registry.settings["backup_folder"]:
        return []
    found = backups.state(uow.connection)
    samples = [Sample("netinv_backup_failed", "1 after a failed backup of a worker.", found.failed)]
    if found.finished is not None:
        age = max((now() - found.finished).total_seconds(), 0)
        samples.append(Sample("netinv_backup_age_seconds", "Time since the last good backup of the worker.", age))
    return samples


def _queue(url: str) -> list[Sample]:
    """The state and length of the queue; none without a queue, and no length while it cannot be reached."""
    if not url:
        return []
    length = task_queue.length(url)
    found = [Sample("netinv_queue_up", "1 while the task queue can be reached.", int(length is not None))]
    if length is not None:
        found.append(Sample("netinv_queue_messages", "Messages in the task queue.", length))
    return found


def text(samples: Iterable[Sample]) -> bytes:
    """Samples in the text format of Prometheus, version 0.0.4."""
    families: dict[str, Metric] = {}
    for sample in samples:
        name = sample.name.removesuffix("_total") if sample.type == COUNTER else sample.name
        if name not in families:
            families[name] = Metric(name, sample.help, sample.type)
        families[name].add_sample(sample.name, dict(sample.labels), sample.value)
    return generate_latest(_Families(list(families.values())))


def metrics(request: Request) -> Response:
    """The metrics, for every active account."""
    process_metrics.sample(request.registry.netinv_engine, now=True)
    response = Response(body=text(samples(request)) + process_metrics.text())
    response.headers.update({"Content-Type": MEDIA_TYPE, "Cache-Control": "no-store"})
    return response


def includeme(config: Any) -> None:
    """Adds the route."""
    config.add_route("metrics", "/metrics")
    options = {"allow": ALLOW, "read_only": True, "versioned": False}
    config.add_view(metrics, route_name="metrics", permission=AUTHENTICATED, **options)
