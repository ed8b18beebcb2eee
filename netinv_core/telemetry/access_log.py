"""The access log: one line for each request, by the logger ``netinv.access``."""

from __future__ import annotations

import logging
from typing import Any

from pyramid.response import Response

from netinv_core.telemetry.formatters import FIELDS
from netinv_core.telemetry.log_context import LogContext

log = logging.getLogger("netinv.access")
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
