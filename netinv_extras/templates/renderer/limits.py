"""Resource limits that the renderer process sets for itself before it reads the first message.

Limits that the system lacks or refuses are left out.
"""

from __future__ import annotations

import contextlib
import resource
import sys
from typing import Any

_REFUSED = (
    "open",
    "import",
    "os.",
    "socket.",
    "subprocess.",
    "ctypes.",
    "shutil.",
    "fcntl.",
    "mmap.",
    "pty.",
    "syslog.",
)


def set_limits(memory: int) -> None:
    """Limits the address space to ``memory`` bytes. Forbids writing files, descriptors, processes and core dumps."""
    limits = {"AS": memory, "FSIZE": 0, "CORE": 0, "NOFILE": 0, "NPROC": 0}
    for name, value in limits.items():
        number = getattr(resource, f"RLIMIT_{name}", None)
        if number is None:
            continue
        with contextlib.suppress(OSError, ValueError):
            hard = resource.getrlimit(number)[1]
            value = value if hard == resource.RLIM_INFINITY else min(value, hard)
            resource.setrlimit(number, (value, value))


def allow_processor(seconds: float) -> None:
    """Limits the processor time from now on (RLIMIT_CPU). The system kills the process even if its parent is gone."""
    hard = resource.getrlimit(resource.RLIMIT_CPU)[1]
    soft = int(processor_seconds() + seconds) + 1
    with contextlib.suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_CPU, (soft if hard == resource.RLIM_INFINITY else min(soft, hard), hard))


def refuse_system() -> None:
    """Installs an audit hook that refuses files, sockets, processes and imports. It cannot be removed."""

    def audit(event: str, _: tuple[Any, ...]) -> None:
        if event.startswith(_REFUSED):
            raise PermissionError(f"{event} is not allowed in the renderer")

    sys.addaudithook(audit)


def processor_seconds() -> float:
    """Returns the processor time of this process so far."""
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime
