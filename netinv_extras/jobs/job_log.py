"""Log of a job: its entries by level, each optionally about an object, and a logger that writes them."""

from __future__ import annotations

import dataclasses
import datetime
import logging
import traceback
import uuid
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

from netinv_core.models.base import now

DEFAULT, SUCCESS, INFO, WARNING, FAILURE = "default", "success", "info", "warning", "failure"
GROUPING = "run"
_SUCCESS_NUMBER, _FAILURE_NUMBER = 25, 45  # levels of the logger, between INFO, WARNING, ERROR and CRITICAL


@dataclasses.dataclass(frozen=True)
class LogEntry:
    """A log entry of a job, optionally about an object."""

    id: uuid.UUID
    position: int
    created: datetime.datetime
    grouping: str
    log_level: str
    message: str
    log_object: str | None = None
    absolute_url: str | None = None


class JobLog:
    """Log methods of jobs.

    Each takes a message and optionally an object: ``log_info("text", site)``, ``log_info(site, "text")`` as in
    Nautobot, or with the names ``message`` and ``obj``. An object is its representation, or any text.
    """

    def __init__(self, emit: Callable[[LogEntry], None] = lambda entry: None) -> None:
        self.failed = self.post_run_called = False
        self.grouping_of_log = GROUPING
        self._emit = emit
        self._entry_count = 0
        self._counts: dict[str, Counter[str]] = {}
        self._logger: logging.Logger | None = None

    def log(self, *args: Any, message: Any = None, obj: Any = None) -> None:
        """Logs a message."""
        self._log(DEFAULT, *_arguments(args, message, obj))

    def log_debug(self, *args: Any, message: Any = None, obj: Any = None) -> None:
        """Logs a message, as :meth:`log`."""
        self._log(DEFAULT, *_arguments(args, message, obj))

    def log_success(self, *args: Any, message: Any = None, obj: Any = None) -> None:
        """Logs a success."""
        self._log(SUCCESS, *_arguments(args, message, obj))

    def log_info(self, *args: Any, message: Any = None, obj: Any = None) -> None:
        """Logs a message of level info."""
        self._log(INFO, *_arguments(args, message, obj))

    def log_warning(self, *args: Any, message: Any = None, obj: Any = None) -> None:
        """Logs a warning."""
        self._log(WARNING, *_arguments(args, message, obj))

    def log_failure(self, *args: Any, message: Any = None, obj: Any = None) -> None:
        """Logs a failure: the job continues, but its result is failed when it ends."""
        self._log(FAILURE, *_arguments(args, message, obj))
        self.failed = True

    @property
    def logger(self) -> Any:
        """A logger whose records are log entries; ``extra`` may have ``object`` and ``grouping``.

        Beside the usual methods it has ``success`` and ``failure``. None of them makes the job fail.
        """
        if self._logger is None:
            self._logger = _Logger("job", logging.DEBUG)
            self._logger.addHandler(_Handler(self._log))
        return self._logger

    @property
    def results(self) -> dict[str, Any]:
        """Numbers of log entries by level: for each grouping, and in ``total``."""
        total = sum(self._counts.values(), Counter())
        return {name: dict(counts) for name, counts in {"total": total, **self._counts}.items()}

    def _log(self, level: str, message: Any, obj: Any = None, grouping: str = "") -> None:
        text = str(message).replace("\x00", "�")
        url = str(obj.get("url", "")) if isinstance(obj, Mapping) else ""
        path = url[url.find("/api/") :][:255] if "/api/" in url else None
        display = str(obj.get("display", "") if isinstance(obj, Mapping) else obj)[:200] if obj is not None else None
        grouping = (grouping or self.grouping_of_log)[:100]
        self._counts.setdefault(grouping, Counter())[level] += 1
        self._entry_count += 1
        self._emit(LogEntry(uuid.uuid4(), self._entry_count, now(), grouping, level, text, display, path))


def _arguments(args: tuple[Any, ...], message: Any, obj: Any) -> tuple[Any, Any]:
    """Returns message and object of a call, in whichever order they are given.

    Of two values without names, the object is the one that is a representation, or the first of two texts.
    """
    if len(args) > 2 or (len(args) == 2 and (message is not None or obj is not None)):
        raise TypeError("log methods take a message and an object")
    if len(args) == 2:
        first, second = args
        object_first = second is not None and (first is None or isinstance(first, Mapping) or isinstance(second, str))
        return (second, first) if object_first else (first, second)
    if not args:
        return ("" if message is None else message), obj
    (given,) = args
    if message is not None:
        return message, given
    if obj is None and isinstance(given, Mapping) and "url" in given:
        return "", given
    return given, obj


class _Logger(logging.Logger):
    """Logger of a job, with the two levels that only jobs have."""

    def success(self, message: Any, *args: Any, **options: Any) -> None:
        """Logs a success."""
        self.log(_SUCCESS_NUMBER, message, *args, **options)

    def failure(self, message: Any, *args: Any, **options: Any) -> None:
        """Logs a failure."""
        self.log(_FAILURE_NUMBER, message, *args, **options)


class _Handler(logging.Handler):
    """Handler that turns the records of a job's logger into log entries."""

    def __init__(self, log: Callable[[str, Any, Any, str], None]) -> None:
        super().__init__()
        self._log_entry = log

    def emit(self, record: logging.LogRecord) -> None:
        """Logs a record, with the traceback of its exception."""
        text = record.getMessage()
        if record.exc_info and record.exc_info[0] is not None:
            text += "\n```\n" + "".join(traceback.format_exception(*record.exc_info)) + "```"
        extra = vars(record)
        self._log_entry(_level(record.levelno), text, extra.get("object"), str(extra.get("grouping") or ""))


def _level(number: int) -> str:
    """Returns the level of a log entry for the number of a logger's level."""
    if number >= logging.ERROR:
        return FAILURE
    if number >= logging.WARNING:
        return WARNING
    if number >= _SUCCESS_NUMBER:
        return SUCCESS
    return INFO if number >= logging.INFO else DEFAULT
