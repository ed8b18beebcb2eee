"""Formatters of log lines for the ini file: text, or one JSON object a line.

    [formatter_json]
    class = netinv_core.telemetry.formatters.JsonFormatter

Both add the fields of the present request or task (:mod:`netinv_core.telemetry.log_context`), and those that the caller
gave as ``extra={FIELDS: {…}}``. Control characters are escaped, so that no logged value can begin a line of its own, or
send sequences to a terminal.
"""

from __future__ import annotations

import datetime
import json
import logging
import re
from collections.abc import Mapping
from typing import Any

from netinv_core.telemetry import log_context

FIELDS = "netinv_fields"
TRACEBACK_PREFIX = "  | "
# C0 and C1 controls, line and paragraph separators, marks that change the direction of text, lone surrogates.
_UNSAFE = re.compile("[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
_QUOTED = re.compile(r"[\s\"=\\]|^$")


def escape(text: str) -> str:
    """A text with ``\\uXXXX`` for characters that end lines or control terminals."""
    return _UNSAFE.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def fields_of(record: logging.LogRecord) -> dict[str, Any]:
    """The fields of a record: those of the caller, and those of the present request or task."""
    given: Mapping[str, Any] = getattr(record, FIELDS, {})
    context = log_context.current()
    return {**(context.fields() if context is not None else {}), **given}


class TextFormatter(logging.Formatter):
    """Lines of text: ``format`` of the ini file, then ``name=value`` for each field; tracebacks indented below."""

    def formatMessage(self, record: logging.LogRecord) -> str:
        """The line of a record."""
        record.message = escape(record.message)
        line = super().formatMessage(record)
        fields = [f"{name}={_value(value)}" for name, value in fields_of(record).items()]
        return " ".join([line, *fields])

    def format(self, record: logging.LogRecord) -> str:
        """The line of a record, and the lines of its traceback."""
        record.message = record.getMessage()
        if self.usesTime():
            record.asctime = self.formatTime(record, self.datefmt)
        lines = [self.formatMessage(record)]
        for text in _tracebacks(self, record):
            lines += [TRACEBACK_PREFIX + escape(line) for line in text.split("\n")]
        return "\n".join(lines)


def _tracebacks(formatter: logging.Formatter, record: logging.LogRecord) -> list[str]:
    texts = [formatter.formatException(record.exc_info)] if record.exc_info else []
    return [*texts, formatter.formatStack(record.stack_info)] if record.stack_info else texts


def _value(value: Any) -> str:
    text = str(value)
    return json.dumps(text) if _QUOTED.search(text) else escape(text)


class JsonFormatter(logging.Formatter):
    """One JSON object a line, in ASCII: ``time`` (RFC 3339, UTC), ``level``, ``logger``, ``message``, the fields, and
    ``exception`` with the traceback.
    """

    def format(self, record: logging.LogRecord) -> str:
        """The line of a record."""
        time = datetime.datetime.fromtimestamp(record.created, datetime.UTC)
        line = {
            "time": f"{time:%Y-%m-%dT%H:%M:%S}.{time.microsecond // 1000:03}Z",
            "level": record.levelname,
            "logger": record.name,
            "message": record.getMessage(),
            **fields_of(record),
        }
        if texts := _tracebacks(self, record):
            line["exception"] = "\n".join(texts)
        return json.dumps(line, default=str)
