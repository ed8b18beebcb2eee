"""Message loop of the renderer: renders or compiles templates, and requests the attributes that they mention.

The service kills a renderer that does not answer in time. This is rarely necessary: a timer ends templates that
execute Python code at the end of their time, and a memory limit those that need too much. The renderer then reports
the failure and exits, because its state may be inconsistent.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Mapping, Sequence
from types import FrameType
from typing import Any, NoReturn

from jinja2 import TemplateError, TemplateSyntaxError
from jinja2.exceptions import SecurityError

from netinv_extras.templates.renderer import frames, limits
from netinv_extras.templates.renderer.objects import Batches
from netinv_extras.templates.renderer.sandbox import Templates

BUFFERED = 1 << 16  # bytes of buffered results after which they are sent
LINGER = 0.01  # seconds since the last write after which buffered results are sent
SPARE = 5.0  # seconds of processor time in addition to the time limit of a message
LONGEST_REASON = 1000  # characters of an error text
MAX_FAILED = 20  # names of filters that are told
LONGEST_NAME = 500  # characters of the name of an attribute
TOO_DEEP = "it is nested too deeply or calls itself without end"


class TimeUp(BaseException):
    """The time of a template is over. A BaseException, so that no filter catches it."""


class Timer:
    """Raises :class:`TimeUp` in the main thread when a job's time is over (SIGALRM), repeatedly until it is stopped.

    As a context manager it postpones the exception to the end of the block.
    """

    def __init__(self) -> None:
        self._running = self._busy = self._due = False
        signal.signal(signal.SIGALRM, self._ring)

    def start(self, seconds: float) -> None:
        """Starts the timer for a job."""
        self._running, self._due = True, False
        signal.setitimer(signal.ITIMER_REAL, max(seconds, 0.001), 0.05)

    def stop(self) -> None:
        """Stops the timer."""
        self._running = False
        signal.setitimer(signal.ITIMER_REAL, 0)

    def _ring(self, number: int, frame: FrameType | None) -> None:
        if self._busy:
            self._due = True
        elif self._running:
            raise TimeUp

    def __enter__(self) -> None:
        self._busy = True

    def __exit__(self, *_: object) -> None:
        self._busy = False
        if self._due and self._running:
            raise TimeUp


class Worker:
    """Serves the socket ``descriptor``; writes a byte to the pipe ``progress`` at the start of each job."""

    def __init__(self, descriptor: int, progress: int, filters: Mapping[str, Any], failed: Sequence[str] = ()) -> None:
        self._failed = list(failed)[:MAX_FAILED]
        self._descriptor, self._progress = descriptor, progress
        self._buffer = bytearray()
        self._sent = time.monotonic()
        self._timer = Timer()
        self._late = "time"  # reported on a timeout: "time" for the limit of the job, "late" for that of the message
        self._templates = Templates(filters)
        # loads the modules that Jinja2 imports on first use
        warm_up = "{% for x in [1] %}{{ x|tojson }}{{ 'a'|wordwrap(3) }}{% endfor %}"
        self._templates.compile(warm_up, lines=False).render()

    def serve(self) -> None:
        """Answers messages until the service closes the socket."""
        self._send({"is": "ready", "failed": self._failed})
        while (frame := frames.read(self._receive, 1 << 32, 0)) is not None:
            self._answer(frame[0])
            self._send({"is": "done", "cpu": limits.processor_seconds()})

    def _answer(self, message: dict[str, Any]) -> None:
        """Does the jobs of a message, each ``[number, source, variables]`` with indexes into the lists of the message.

        Without variables a source is compiled only.
        """
        limits.allow_processor(message["total"] + SPARE)
        batches = Batches(self._load)
        for batch, name, answer in message["columns"]:
            batches.keep(batch, name, answer)
        end = time.monotonic() + message["total"]
        for number, source, variables in message["jobs"]:
            os.write(self._progress, b".")
            left = end - time.monotonic()
            if left <= 0:
                self._report(number, "late")
                continue
            self._late = "time" if message["seconds"] < left else "late"
            scope = None if variables is None else message["variables"][variables]
            text, lines = message["sources"][source]
            self._job(number, text, lines, scope, batches, min(message["seconds"], left), message["longest"])
            if len(self._buffer) > BUFFERED or time.monotonic() - self._sent > LINGER:
                self._flush()

    def _job(
        self, number: int, source: str, lines: bool, variables: Any, batches: Batches, seconds: float, longest: int
    ) -> None:
        try:
            try:
                self._timer.start(seconds)
                text = self._render(source, lines, variables, batches, longest)
            finally:
                self._timer.stop()
        except TimeUp:
            self._end(number, self._late)
        except MemoryError:
            self._end(number, "memory")
        except RecursionError:
            self._report(number, "failed", TOO_DEEP)
        except TemplateSyntaxError as error:
            self._report(number, "failed", f"Line {error.lineno}: {error.message}")
        except Exception as error:  # any error of a filter or an operator
            self._report(number, "failed", f"{_place(error)}{_explain_error(error)}")
        else:
            self._report(number, "text", text)

    def _render(self, source: str, lines: bool, variables: Any, batches: Batches, longest: int) -> str:
        template = self._templates.compile(source, lines=lines)
        if variables is None:
            return ""
        parts, length = [], 0
        for part in template.generate({name: batches.decode(value) for name, value in variables.items()}):
            parts.append(part)
            length += len(part)
            if length > longest:
                raise SecurityError("it makes too much text (netinv.template_max_output)")
        return "".join(parts)

    def _end(self, number: int, kind: str) -> NoReturn:
        self._report(number, kind)
        self._flush()
        raise SystemExit(0)

    # -- the socket

    def _load(self, batch: int, name: str) -> dict[str, Any]:
        """Requests an attribute of all objects of a batch from the service (:class:`Batches`).

        :raises SecurityError: when the service refuses to load more
        """
        with self._timer:
            self._send({"is": "load", "batch": batch, "name": name[:LONGEST_NAME]})
            frame = frames.read(self._receive, 1 << 32, 0)
        if frame is None:
            raise SystemExit(0)
        if "refused" in frame[0]:
            raise SecurityError(frame[0]["refused"])
        return frame[0]

    def _report(self, number: int, kind: str, text: str = "") -> None:
        text = text if kind == "text" else text[:LONGEST_REASON]
        head = {"is": "result", "number": number, "kind": kind}
        self._buffer += frames.pack(head, text.encode("utf-8", "surrogatepass"))

    def _send(self, head: dict[str, Any]) -> None:
        self._buffer += frames.pack(head)
        self._flush()

    def _flush(self) -> None:
        content = memoryview(bytes(self._buffer))
        self._buffer.clear()
        while content:
            content = content[os.write(self._descriptor, content) :]
        self._sent = time.monotonic()

    def _receive(self, count: int) -> bytes:
        parts = []
        while count:
            part = os.read(self._descriptor, min(count, 1 << 20))
            if not part:
                break
            parts.append(part)
            count -= len(part)
        return b"".join(parts)


def _place(error: Exception) -> str:
    """Returns the line of the template in which an error was raised, as the beginning of a message."""
    line, step = 0, error.__traceback__
    while step is not None:
        template = step.tb_frame.f_globals.get("__jinja_template__")
        if template is not None:
            line = template.get_corresponding_lineno(step.tb_lineno)
        step = step.tb_next
    return f"Line {line}: " if line else ""


def _explain_error(error: Exception) -> str:
    if isinstance(error, TemplateError):
        return error.message or type(error).__name__
    try:
        return f"{type(error).__name__}: {error}"
    except Exception:  # str() of an error may call objects of the template
        return type(error).__name__
