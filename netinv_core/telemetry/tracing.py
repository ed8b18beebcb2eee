"""Traces of requests and deliveries, with OpenTelemetry if ``netinv.otel_endpoint`` is set."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from netinv_core.telemetry.otel import Tracing

SETTING = "otel_endpoint"


def tracing_of(settings: Mapping[str, Any]) -> Tracing | None:
    """The tracing of this process for a service; ``None`` without ``netinv.otel_endpoint``."""
    endpoint = settings.get(SETTING)
    return _tracing(endpoint) if endpoint else None


@functools.lru_cache(maxsize=4)
def _tracing(endpoint: str) -> Tracing:
    from netinv_core.telemetry.otel import Tracing  # the library is an extra

    return Tracing.exporting_to(endpoint)
