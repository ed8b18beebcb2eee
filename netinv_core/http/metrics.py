"""``/metrics``: figures of the service in the text format of Prometheus, the core's and those of every package.

What is counted is in the database, so every process gives the same figures; it takes a token, as the API does.
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
from netinv_core.uow import UnitOfWork

ALLOW = "GET, HEAD"
COUNTER, GAUGE = "counter", "gauge"
MEDIA_TYPE = "text/plain; version=0.0.4; charset=utf-8"


@dataclasses.dataclass(frozen=True)
class Sample:
    """One figure: the metric's ``name``, what it says (``help``), its ``type`` (:data:`COUNTER`, which only grows, or :data:`GAUGE`).

    ``labels`` tell it from the metric's other figures; give them few values.
    """

    name: str
    help: str
    value: float
    type: str = GAUGE
    labels: Mapping[str, str] = dataclasses.field(default_factory=dict)


def samples(uow: UnitOfWork) -> list[Sample]:
    """The core's figures and those of every package."""
    release = {"version": importlib.metadata.version("netinv-core"), "database": uow.registry.dialect}
    changes = sequence.numbers(uow.connection).given
    return [
        Sample("netinv_info", "The release of netinv and the kind of its database.", 1, labels=release),
        Sample("netinv_packages_broken", "Packages that could not be started.", len(uow.registry.broken)),
        Sample("netinv_changes_total", "Changes of the inventory that got their number in the log.", changes, COUNTER),
        *[sample for found in uow.registry.hooks.netinv_metrics(uow=uow) for sample in found],
    ]


def text(found: Iterable[Sample]) -> str:
    """Samples in the text format, version 0.0.4: those of one metric together, in the order in which metrics came first."""
    metrics: dict[str, list[Sample]] = {}
    for sample in found:
        metrics.setdefault(sample.name, []).append(sample)
    lines = []
    for name, those in metrics.items():
        lines += [f"# HELP {name} {_escaped(those[0].help)}", f"# TYPE {name} {those[0].type}"]
        lines += [f"{name}{_labels(sample.labels)} {sample.value:.15g}" for sample in those]
    return "".join(f"{line}\n" for line in lines)


def _labels(labels: Mapping[str, str]) -> str:
    quote = '"'
    pairs = [f'{name}="{_escaped(value).replace(quote, chr(92) + quote)}"' for name, value in labels.items()]
    return f"{{{','.join(pairs)}}}" if pairs else ""


def _escaped(words: str) -> str:
    return words.replace("\\", "\\\\").replace("\n", "\\n")


def metrics(request: Request) -> Response:
    """The figures, for any account that is active."""
    response = Response(body=text(samples(request.uow)).encode())
    response.headers.update({"Content-Type": MEDIA_TYPE, "Cache-Control": "no-store"})
    return response


def includeme(config: Any) -> None:
    """Adds the route."""
    config.add_route("metrics", "/metrics")
    config.add_view(metrics, route_name="metrics", permission=AUTHENTICATED, allow=ALLOW, read_only=True, versioned=False)
