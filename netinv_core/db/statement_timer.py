"""Number and time of the SQL statements of each request, for the header ``Server-Timing``."""

from __future__ import annotations

import contextlib
import contextvars
import dataclasses
import time
from collections.abc import Iterator
from typing import Any

from sqlalchemy import event
from sqlalchemy.engine import Engine

_STARTED = "netinv statement started"


@dataclasses.dataclass
class StatementTimes:
    """The statements of a request so far. ``seconds`` is the time that they took, results not fetched yet left out."""

    count: int = 0
    seconds: float = 0.0


_current: contextvars.ContextVar[StatementTimes | None] = contextvars.ContextVar("netinv statement times", default=None)


@contextlib.contextmanager
def timed() -> Iterator[StatementTimes]:
    """Counts the statements of the block, which runs in one thread."""
    times = StatementTimes()
    token = _current.set(times)
    try:
        yield times
    finally:
        _current.reset(token)


def listen(engine: Engine) -> None:
    """Lets the statements of an engine count. Listening twice counts once."""
    for name, listener in (("before_cursor_execute", _start), ("after_cursor_execute", _end)):
        if not event.contains(engine, name, listener):
            event.listen(engine, name, listener)


def _start(connection: Any, cursor: Any, statement: str, parameters: Any, context: Any, executemany: bool) -> None:
    connection.info[_STARTED] = time.perf_counter()


def _end(connection: Any, cursor: Any, statement: str, parameters: Any, context: Any, executemany: bool) -> None:
    times = _current.get()
    if times is not None:
        times.count += 1
        times.seconds += time.perf_counter() - connection.info[_STARTED]
