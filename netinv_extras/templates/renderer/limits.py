"""Limits of the renderer's process, which it sets itself before it reads the first message.

A limit that the system does not have, or does not let be set, is left out.
"""

from __future__ import annotations

import contextlib
import resource
import sys
from typing import Any

_REFUSED = ("open", "import", "os.", "socket.", "subprocess.", "ctypes.", "shutil.", "fcntl.", "mmap.", "pty.", "syslog.")


def set_limits(memory: int) -> None:
    """Bounds memory; no files are written, no further descriptors opened, no processes started, no core dumped."""
    wanted = {"AS": memory, "FSIZE": 0, "CORE": 0, "NOFILE": 0, "NPROC": 0}
    for name, value in wanted.items():
        number = getattr(resource, f"RLIMIT_{name}", None)
        if number is None:
            continue
        with contextlib.suppress(OSError, ValueError):
            hard = resource.getrlimit(number)[1]
            value = value if hard == resource.RLIM_INFINITY else min(value, hard)
            resource.setrlimit(number, (value, value))


def allow_processor(seconds: float) -> None:
    """Has the system end this process when it uses more processor time than that from now on: nobody else may be there any more to kill it."""
    hard = resource.getrlimit(resource.RLIMIT_CPU)[1]
    wanted = int(processor_seconds() + seconds) + 1
    with contextlib.suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_CPU, (wanted if hard == resource.RLIM_INFINITY else min(wanted, hard), hard))


def refuse_system() -> None:
    """Has the interpreter refuse files, sockets, processes, signals and imports from now on; this cannot be undone."""

    def audit(event: str, _: tuple[Any, ...]) -> None:
        if event.startswith(_REFUSED):
            raise PermissionError(f"{event} is not allowed in the renderer")

    sys.addaudithook(audit)


def processor_seconds() -> float:
    """Processor time that this process has used."""
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime
