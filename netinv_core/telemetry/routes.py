"""The route of a request: the pattern of its path, with the name of its resource. It labels log lines and metrics, of
which there are as many as routes, whatever paths are requested.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from pyramid.request import Request
from pyramid.response import Response

from netinv_core.caches import lru_cache
from netinv_core.telemetry import log_context

UNMATCHED = "unmatched"
_MODEL = re.compile(r"\{model(:[^}]*)?\}")


def route_of(request: Request) -> str:
    """The route of a request that was answered: ``/api/dcim/sites/{id}/``; :data:`UNMATCHED` without one."""
    route = getattr(request, "matched_route", None)
    if route is None:
        return UNMATCHED
    endpoint = getattr(getattr(request, "context", None), "endpoint", None)
    return _name(route.pattern, None if endpoint is None else endpoint.resource.name)


@lru_cache("route names", 5000)
def _name(pattern: str, model: str | None) -> str:
    pattern = f"/{pattern.lstrip('/')}"
    return pattern if model is None else _MODEL.sub(model, pattern)


def route_tween(handler: Callable[[Request], Response], registry: Any) -> Callable[[Request], Response]:
    """Tween that notes the route in the log context."""

    def tween(request: Request) -> Response:
        try:
            return handler(request)
        finally:
            context = log_context.current()
            if context is not None:
                context.route = route_of(request)

    return tween


def includeme(config: Any) -> None:
    """Adds the tween."""
    config.add_tween("netinv_core.telemetry.routes.route_tween")
