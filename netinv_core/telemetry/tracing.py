"""Traces of requests and deliveries, with OpenTelemetry if ``netinv.otel_endpoint`` is set."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from netinv_core.caches import lru_cache

if TYPE_CHECKING:
    from netinv_core.telemetry.otel import Tracing

SETTING = "otel_endpoint"


def tracing_of(settings: Mapping[str, Any]) -> Tracing | None:
    """The tracing of this process for a service; ``None`` without ``netinv.otel_endpoint``."""
    endpoint = settings.get(SETTING)
    return _tracing(endpoint) if endpoint else None


@lru_cache("connections", 16)
def _tracing(endpoint: str) -> Tracing:
    from netinv_core.telemetry.otel import Tracing  # the library is an extra

    return Tracing.exporting_to(endpoint)
