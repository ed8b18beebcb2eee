"""``/metrics``: metrics of the core and of every package in the text format of Prometheus.

Counters are in the database, so every process gives the same values. Like the API, the path needs a token.
"""

from __future__ import annotations

import dataclasses
import importlib.metadata
from collections.abc import Iterable, Mapping
from typing import Any

from pyramid.request import Request
from pyramid.response import Response

from netinv_core.auth.security_policy import AUTHENTICATED
from netinv_core.changelog import sequence
from netinv_core.tasks import workers
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


def samples(uow: UnitOfWork) -> list[Sample]:
    """The metrics of the core and of every package."""
    release = {"version": importlib.metadata.version("netinv-core"), "database": uow.registry.dialect}
    changes = sequence.numbers(uow.connection).last
    return [
        Sample("netinv_info", "The release of netinv and the kind of its database.", 1, labels=release),
        Sample("netinv_packages_broken", "Packages that could not be started.", len(uow.registry.broken)),
        Sample(
            "netinv_workers",
            "Processes that run background tasks, seen in the last minutes.",
            workers.number(uow.connection),
        ),
        Sample("netinv_changes_total", "Changes of the inventory that got their number in the log.", changes, COUNTER),
        *[sample for samples in uow.registry.hooks.netinv_metrics(uow=uow) for sample in samples],
    ]


def text(samples: Iterable[Sample]) -> str:
    """Samples in the text format, version 0.0.4, grouped by metric."""
    metrics: dict[str, list[Sample]] = {}
    for sample in samples:
        metrics.setdefault(sample.name, []).append(sample)
    lines = []
    for name, samples_of_metric in metrics.items():
        lines += [f"# HELP {name} {_escaped(samples_of_metric[0].help)}", f"# TYPE {name} {samples_of_metric[0].type}"]
        lines += [f"{name}{_labels(sample.labels)} {sample.value:.15g}" for sample in samples_of_metric]
    return "".join(f"{line}\n" for line in lines)


def _labels(labels: Mapping[str, str]) -> str:
    quote = '"'
    pairs = [f'{name}="{_escaped(value).replace(quote, chr(92) + quote)}"' for name, value in labels.items()]
    return f"{{{','.join(pairs)}}}" if pairs else ""


def _escaped(value: str) -> str:
    return value.replace("\\", "\\\\").replace("\n", "\\n")


def metrics(request: Request) -> Response:
    """The metrics, for every active account."""
    response = Response(body=text(samples(request.uow)).encode())
    response.headers.update({"Content-Type": MEDIA_TYPE, "Cache-Control": "no-store"})
    return response


def includeme(config: Any) -> None:
    """Adds the route."""
    config.add_route("metrics", "/metrics")
    options = {"allow": ALLOW, "read_only": True, "versioned": False}
    config.add_view(metrics, route_name="metrics", permission=AUTHENTICATED, **options)
