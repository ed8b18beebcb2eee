"""Levels of loggers and the form of log lines by the settings ``netinv.log_level`` and ``netinv.log_format``.

They have environment variables as every setting. They win over the sections of the ini file for the log, which hold
without them.
"""

from __future__ import annotations

import importlib.metadata
import logging
from collections.abc import Mapping

from netinv_core.telemetry.formatters import JsonFormatter, TextFormatter

TEXT, JSON = "text", "json"
LINE = "%(asctime)s %(levelname)-7s %(name)s: %(message)s"  # as in production.ini
ENTRY_POINTS = "netinv"  # of packages, whose loggers begin with the names of their modules
CORE = "netinv_core"


def levels(text: str) -> dict[str, int]:
    """The level of the loggers of netinv's packages, and of others as NAME=LEVEL, with white space between them.

    :raises ValueError: for anything else
    """
    known = logging.getLevelNamesMapping()
    found = {}
    for word in text.split():
        name, is_named, level = word.rpartition("=")
        if level.upper() not in known or bool(is_named) != bool(name):
            raise ValueError(text)
        found[name] = known[level.upper()]
    return found


def log_format(text: str) -> str:
    """The form of log lines: text or json; empty for that of the ini file.

    :raises ValueError: for anything else
    """
    if text.strip().lower() not in (TEXT, JSON, ""):
        raise ValueError(text)
    return text.strip().lower()


def by_logger(given: Mapping[str, int]) -> dict[str, int]:
    """The levels by the names of loggers, for a value of the setting."""
    named = {name: level for name, level in given.items() if name}
    if "" not in given:
        return named
    entries = importlib.metadata.entry_points(group=ENTRY_POINTS)
    packages = {CORE, *(entry.module.partition(".")[0] for entry in entries)}
    return {**dict.fromkeys(sorted(packages), given[""]), **named}


def configure(texts: Mapping[str, str]) -> None:
    """Sets levels and the form of lines for the texts of settings; call it once the ini file has configured the log.

    Texts that cannot be read are left to the check of all settings.
    """
    try:
        found, form = levels(texts.get("netinv.log_level", "")), log_format(texts.get("netinv.log_format", ""))
    except ValueError:
        return
    for name, level in by_logger(found).items():
        logging.getLogger(name).setLevel(level)
    if form:
        for logger in (logging.getLogger(), *logging.root.manager.loggerDict.values()):
            for handler in logger.handlers if isinstance(logger, logging.Logger) else ():
                handler.setFormatter(JsonFormatter() if form == JSON else TextFormatter(LINE))
