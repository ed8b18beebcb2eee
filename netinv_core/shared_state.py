"""The state that all packages of a process share, such as its working directory: a package that changes it when it is
imported or included breaks others. The change is undone, and the package is quarantined.
"""

from __future__ import annotations

import contextlib
import dataclasses
import locale
import logging
import os
import signal
import socket
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

RESTRICTED = 0o077  # the mask for the moment in which the mask is read: files of other threads are closed to others


unended: set[threading.Thread] = set()  # threads of packages for which the process would wait at its end


class SharedStateChanged(RuntimeError):
    """Change of what is of the whole process."""


@dataclasses.dataclass(frozen=True)
class SharedPart:
    """A part of the state.

    ``broken`` tells whether others are affected by what is there afterwards, given what was there before: what is added
    mostly is of no effect to them.
    """

    name: str
    read: Callable[[], Any]
    restore: Callable[[Any], object]
    broken: Callable[[Any, Any], bool] = lambda before, after: bool(before != after)


def _working_directory() -> Path | None:
    with contextlib.suppress(OSError):
        return Path.cwd()
    return None


def _change_directory(path: Path | None) -> None:
    if path is not None:
        os.chdir(path)


def _mask() -> int:
    mask = os.umask(RESTRICTED)
    os.umask(mask)
    return mask


def _environment() -> tuple[dict[str, str], tuple[str, ...]]:
    return dict(os.environ), time.tzname


def _restore_environment(before: tuple[dict[str, str], tuple[str, ...]]) -> None:
    """Sets variables that were removed, and the time zone."""
    variables = before[0]
    os.environ.update({name: value for name, value in variables.items() if name not in os.environ})
    if time.tzname != before[1]:
        os.environ.pop("TZ", None)
        os.environ.update({name: value for name, value in variables.items() if name == "TZ"})
        time.tzset()


def _handlers() -> dict[int, Any]:
    return {number: signal.getsignal(number) for number in sorted(signal.valid_signals())}


def _restore_handlers(before: dict[int, Any]) -> None:
    for number, handler in before.items():
        if handler is not None and handler is not signal.getsignal(number):
            signal.signal(number, handler)


def _silenced_loggers() -> tuple[int, frozenset[str], tuple[logging.Handler, ...]]:
    """The level up to which nothing is logged, the loggers that are disabled, and the handlers of all of them."""
    loggers = logging.root.manager.loggerDict
    disabled = {name for name, item in list(loggers.items()) if getattr(item, "disabled", False)}
    return logging.root.manager.disable, frozenset(disabled), tuple(logging.root.handlers)


def _is_more_silent(before: Any, after: Any) -> bool:
    return bool(after[0] > before[0] or after[1] - before[1] or set(before[2]) - set(after[2]))


def _restore_logs(before: Any) -> None:
    level, disabled, handlers = before
    logging.disable(level)
    for name in _silenced_loggers()[1] - disabled:
        logging.getLogger(name).disabled = False
    logging.root.handlers[:] = handlers


def _fatal_warnings() -> list[Any]:
    """The filters that raise every warning of a category, in whichever module."""
    return [item for item in warnings.filters if item[0] == "error" and item[1] is None and item[3] is None]


def _restore_warnings(before: list[Any]) -> None:
    filters: Any = warnings.filters
    for item in _fatal_warnings():
        if item not in before:
            filters.remove(item)


def _lasting_threads() -> set[threading.Thread]:
    return {thread for thread in threading.enumerate() if not thread.daemon}


def _note_threads(before: set[threading.Thread]) -> None:
    """Notes threads, which cannot be ended."""
    unended.update(_lasting_threads() - before)


PARTS = (
    SharedPart("the working directory", _working_directory, _change_directory),
    SharedPart("the mask of new files (umask)", _mask, os.umask),
    SharedPart(
        "the environment variables or the time zone",
        _environment,
        _restore_environment,
        lambda before, after: bool(before[0].keys() - after[0].keys() or before[1] != after[1]),
    ),
    SharedPart(
        "the locale", lambda: locale.setlocale(locale.LC_ALL), lambda name: locale.setlocale(locale.LC_ALL, name)
    ),
    SharedPart("the handlers of signals", _handlers, _restore_handlers),
    SharedPart("the log", _silenced_loggers, _restore_logs, _is_more_silent),
    SharedPart(
        "the search path of modules (sys.path)",
        lambda: list(sys.path),
        lambda path: sys.path.__setitem__(slice(None), path),
        lambda before, after: bool(set(before) - set(after)),
    ),
    SharedPart(
        "the limit of recursion",
        sys.getrecursionlimit,
        sys.setrecursionlimit,
        lambda before, after: bool(after < before),
    ),
    SharedPart("the default timeout of sockets", socket.getdefaulttimeout, socket.setdefaulttimeout),
    SharedPart(
        "the filters of warnings",
        _fatal_warnings,
        _restore_warnings,
        lambda before, after: any(item not in before for item in after),
    ),
    SharedPart(
        "the threads for which the process waits at its end",
        _lasting_threads,
        _note_threads,
        lambda before, after: bool(after - before),
    ),
)


@contextlib.contextmanager
def preserve() -> Iterator[None]:
    """Undoes what the block changes of the shared state, also when it fails. While the service runs, other threads may
    change it, so that it is looked at in the main thread alone.

    :raises SharedStateChanged: when others are affected by a change
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = [part.read() for part in PARTS]
    changed: list[str] = []
    try:
        yield
    finally:
        for part, value in zip(PARTS, before, strict=True):
            if part.broken(value, part.read()):
                part.restore(value)
                changed.append(part.name)
    if changed:
        raise SharedStateChanged(f"it changes {' and '.join(changed)}, which all packages share")
