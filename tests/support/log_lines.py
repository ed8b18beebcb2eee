"""Log lines as an ini file would write them."""

from __future__ import annotations

import io
import json
import logging
from collections.abc import Iterator
from typing import Any

import pytest

from netinv_core.telemetry.formatters import JsonFormatter

LOGGERS = ("netinv.access", "netinv.audit", "netinv_core", "netinv_extras")


class LogLines:
    """The lines written since the fixture began; ``handler`` has the formatter."""

    def __init__(self) -> None:
        self._stream = io.StringIO()
        self.handler = logging.StreamHandler(self._stream)
        self.handler.setFormatter(JsonFormatter())

    @property
    def text(self) -> str:
        """All lines."""
        return self._stream.getvalue()

    def of(self, logger: str) -> list[dict[str, Any]]:
        """The JSON lines of a logger."""
        return [line for line in map(json.loads, self.text.splitlines()) if line["logger"] == logger]

    def events(self, *names: str) -> list[dict[str, Any]]:
        """The lines of the audit log, of these events if any are named, without time and level."""
        lines = [line for line in self.of("netinv.audit") if not names or line["event"] in names]
        return [
            {name: line[name] for name in line if name not in ("time", "level", "logger", "message")} for line in lines
        ]


@pytest.fixture
def log_lines(monkeypatch: pytest.MonkeyPatch) -> LogLines:
    """Log lines of netinv from the level INFO on, as JSON."""
    lines = LogLines()
    for name in LOGGERS:
        logger = logging.getLogger(name)
        monkeypatch.setattr(logger, "disabled", False)  # an ini file of a test of commands may have disabled it
        monkeypatch.setattr(logger, "handlers", [lines.handler])
        logger.setLevel(logging.INFO)
    return lines


@pytest.fixture(autouse=True)
def log_levels() -> Iterator[None]:
    """Restores the levels of the loggers: commands set those of their ini file."""
    loggers = [logging.getLogger(name) for name in (None, *LOGGERS)]
    levels = [logger.level for logger in loggers]
    yield
    for logger, level in zip(loggers, levels, strict=True):
        logger.setLevel(level)
