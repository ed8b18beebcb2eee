"""SIGHUP: a service or a worker rereads its ini file and takes what can change while it runs, with one log line.

A handler of the signal notes the request, and the loop of the main thread carries it out. What cannot be read leaves
everything as it was. Gunicorn has its own SIGHUP, which starts its processes anew
(:mod:`netinv_core.telemetry.gunicorn_hooks`).
"""

from __future__ import annotations

import dataclasses
import logging
import os
import signal
import threading
from collections.abc import Mapping
from typing import Any

from netinv_core import ini_files
from netinv_core.app import App
from netinv_core.settings import HAS_SECRETS, parse
from netinv_core.telemetry import log_settings

log = logging.getLogger(__name__)
# Settings that are read with each request and kept nowhere else.
TAKEN = (
    "rate_limit_address",
    "rate_limit_token",
    "sign_in_window",
    "sign_in_failures_account",
    "sign_in_failures_address",
    "sign_in_failures_pair",
)
# Secrets, as the value at the start may be that of a file; the levels of loggers are compared by themselves.
NOT_COMPARED = HAS_SECRETS - {"queue_url"} | {"log_level"}
_requested = threading.Event()


@dataclasses.dataclass(frozen=True)
class Reloadable:
    """Settings of a process as the ini file configures them, which are changed in place. They include those of its
    packages' applications; with ``incomplete`` some of them failed.
    """

    ini: str
    options: Mapping[str, str]
    settings: dict[str, Any]
    apps: Mapping[str, App]
    incomplete: bool

    def reload(self) -> None:
        """Rereads the ini file, and logs what changed or why nothing is taken."""
        try:
            levels = ini_files.logger_levels(self.ini)
            texts = ini_files.app_settings(self.ini, self.options)
            values, mistakes = parse(texts, self.apps, incomplete=self.incomplete, variables=os.environ)
            if mistakes:
                raise ValueError(mistakes[0])
            former_names = log_settings.by_logger(self.settings["log_level"])
            levels = {
                **dict.fromkeys(former_names, logging.NOTSET),
                **levels,
                **log_settings.by_logger(values["log_level"]),
            }
        except Exception as error:  # a reader of a package's setting may fail in any way
            log.error("SIGHUP: nothing of %s is taken, the former settings stay: %s", self.ini, error)
            return
        changed = [
            f"netinv.{name} from {self.settings[name]} to {values[name]}"
            for name in TAKEN
            if self.settings[name] != values[name]
        ]
        former = {name: logging.getLogger(name).level for name in levels}
        changed += [
            f"the level of {name or 'root'} from {logging.getLevelName(former[name])} to {logging.getLevelName(level)}"
            for name, level in levels.items()
            if former[name] != level
        ]
        was_told = log.isEnabledFor(logging.INFO)
        line = f"SIGHUP: {self.ini} was read; {'changed: ' if changed else 'nothing changed'}{', '.join(changed)}"
        line += self._restart(values)
        if was_told:
            log.info(line)
        self.settings.update({name: values[name] for name in (*TAKEN, "log_level")})
        for name, level in levels.items():
            logging.getLogger(name).setLevel(level)
        if not was_told:
            log.info(line)

    def _restart(self, values: Mapping[str, Any]) -> str:
        """Half a sentence with the other settings that differ now, without their values."""
        others = [
            f"netinv.{name}"
            for name, value in values.items()
            if name not in TAKEN and name not in NOT_COMPARED and self.settings.get(name) != value
        ]
        return f"; taken by a restart: {', '.join(others)}" if others else ""


_process: list[Reloadable] = []  # of this process; the last one counts


def watch(reloadable: Reloadable) -> None:
    """Names what SIGHUP rereads in this process."""
    _process[:] = [reloadable]


def listen() -> None:
    """Sets the handler of SIGHUP; call it in the main thread. A terminal that is closed still ends the process."""
    had_terminal = os.isatty(0)

    def note(number: int, frame: Any) -> None:
        if had_terminal and not os.isatty(0):
            os.kill(os.getpid(), signal.SIGTERM)
        else:
            _requested.set()

    signal.signal(signal.SIGHUP, note)


def reload_if_requested() -> None:
    """Carries out what SIGHUP asked for since the last call."""
    if _requested.is_set():
        _requested.clear()
        for reloadable in _process:
            reloadable.reload()
