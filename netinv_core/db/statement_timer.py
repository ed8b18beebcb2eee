"""Number and time of the SQL statements of each request, for ``Server-Timing``, the access log and the metrics."""

from __future__ import annotations

import time
from typing import Any

from sqlalchemy import event
from sqlalchemy.engine import Engine

from netinv_core.telemetry import log_context


def listen(engine: Engine) -> None:
    """Counts the statements of an engine for the request or task that runs them. Listening twice counts once."""
    for name, listener in (("before_cursor_execute", _start), ("after_cursor_execute", _end)):
        if not event.contains(engine, name, listener):
            event.listen(engine, name, listener)


def _start(connection: Any, cursor: Any, statement: str, parameters: Any, context: Any, executemany: bool) -> None:
    running = log_context.current()
    if running is not None:
        running.statement_began = time.perf_counter()


def _end(connection: Any, cursor: Any, statement: str, parameters: Any, context: Any, executemany: bool) -> None:
    running = log_context.current()
    if running is not None:
        running.statements += 1
        running.statement_seconds += time.perf_counter() - running.statement_began
