"""The access log: one line for each request, by the logger ``netinv.access``.

Log lines and metrics name the route of a request: the pattern of its path, with the name of its resource. There are as
many of them as routes, whatever paths are requested.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable
from typing import Any

from pyramid.request import Request
from pyramid.response import Response

from netinv_core.caches import lru_cache
from netinv_core.telemetry import log_context
from netinv_core.telemetry.formatters import FIELDS
from netinv_core.telemetry.log_context import LogContext

log = logging.getLogger("netinv.access")
UNMATCHED = "unmatched"
_MODEL = re.compile(r"\{model(:[^}]*)?\}")
QUIET = "/health/"  # probes are logged at the level DEBUG


def write(environ: dict[str, Any], response: Response, context: LogContext, seconds: float) -> None:
    """Logs a request that was answered. Queries are left out: they may contain what is secret."""
    path = environ.get("PATH_INFO", "")
    level = logging.DEBUG if path.startswith(QUIET) else logging.INFO
    if not log.isEnabledFor(level):
        return
    method, status = environ.get("REQUEST_METHOD", ""), response.status_int
    fields = {
        "method": method,
        "path": path,
        "route": context.route,
        "status": status,
        "ms": round(seconds * 1000, 1),
        "statements": context.statements,
        "db_ms": round(context.statement_seconds * 1000, 1),
        "bytes": response.content_length,
    }
    log.log(level, "%s %s %s", method, path, status, extra={FIELDS: fields})


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
    config.add_tween("netinv_core.telemetry.access_log.route_tween")
