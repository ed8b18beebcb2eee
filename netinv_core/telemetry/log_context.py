"""Log context of a thread: the request, or the task of the worker. Log lines carry its fields."""

from __future__ import annotations

import contextlib
import contextvars
import dataclasses
import time
import uuid
from collections.abc import Iterator
from typing import Any

from sqlalchemy import event
from sqlalchemy.engine import Engine


@dataclasses.dataclass(slots=True, eq=False)
class LogContext:
    """A request, or a task.

    * ``client``: the client's IP address; ``user``: the name of the authenticated account;
    * ``request_id``: the id of the request, or of the one whose change caused the task;
    * ``route``: the pattern of the path (:mod:`netinv_core.telemetry.access_log`);
    * ``statements``, ``statement_seconds``: SQL statements so far, and their time without fetching results;
    * ``began``: when the request began (:func:`time.perf_counter`);
    * ``trace_id``: the id of the trace (:mod:`netinv_core.telemetry.tracing`);
    * ``inflated``, ``most_inflated``: bytes read from compressed rows, and how many may be (0: any number).
    """

    request_id: uuid.UUID | None = None
    client: str = ""
    user: str = ""
    task: str = ""
    route: str = "unmatched"
    statements: int = 0
    statement_seconds: float = 0.0
    statement_began: float = 0.0
    began: float = 0.0
    trace_id: str = ""
    inflated: int = 0
    most_inflated: int = 0

    def fields(self) -> dict[str, Any]:
        """The fields of log lines that are known."""
        fields: dict[str, Any] = {}
        if self.request_id is not None:
            fields["request_id"] = str(self.request_id)
        if self.user:
            fields["user"] = self.user
        if self.client:
            fields["client"] = self.client
        if self.task:
            fields["task"] = self.task
        if self.trace_id:
            fields["trace_id"] = self.trace_id
        return fields


_SENT, _KEPT = "HTTP_X_REQUEST_ID", "netinv.request_id"  # in a WSGI environment
_current: contextvars.ContextVar[LogContext | None] = contextvars.ContextVar("netinv log context", default=None)
current = _current.get
enter = _current.set
leave = _current.reset


def id_of(environ: dict[str, Any]) -> uuid.UUID:
    """The id of the request of a WSGI environment, the same for each attempt at it: that of the header
    ``X-Request-ID``, or a new one. The answer, the log and the change log have it.

    A header that is no UUID (RFC 9562; 32 hexadecimal digits, hyphens or not) is ignored.
    """
    request_id: uuid.UUID | None = environ.get(_KEPT)
    if request_id is None:
        sent: str | None = environ.get(_SENT)
        request_id = environ[_KEPT] = (_parse_id(sent) if sent else None) or uuid.uuid4()
    return request_id


def _parse_id(text: str) -> uuid.UUID | None:
    try:
        return uuid.UUID(text) if len(text) <= 36 else None
    except ValueError:
        return None


def note_user(name: str) -> None:
    """Names the account that the present request was authenticated as."""
    context = _current.get()
    if context is not None:
        context.user = name


@contextlib.contextmanager
def task(name: str, request_id: uuid.UUID | None = None) -> Iterator[LogContext]:
    """Runs the block as a task, caused by the change of a request where that is known."""
    context = LogContext(request_id, task=name)
    token = _current.set(context)
    try:
        yield context
    finally:
        _current.reset(token)


# -- number and time of the SQL statements, for ``Server-Timing``, the access log and the metrics


def count_statements(engine: Engine) -> None:
    """Counts the statements of an engine for the request or task that runs them. Called twice, it counts once."""
    for name, listener in (("before_cursor_execute", _begin_statement), ("after_cursor_execute", _end_statement)):
        if not event.contains(engine, name, listener):
            event.listen(engine, name, listener)


def _begin_statement(*_: Any) -> None:
    running = _current.get()
    if running is not None:
        running.statement_began = time.perf_counter()


def _end_statement(*_: Any) -> None:
    running = _current.get()
    if running is not None:
        running.statements += 1
        running.statement_seconds += time.perf_counter() - running.statement_began
